// Typed expressions: what the JSON of a JANI expression means once names and types are resolved.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jani/json.hpp"

namespace misstep::jani {

enum class Type : std::uint8_t { boolean, integer, real };

union Value {
    std::int64_t i;
    double d;
};
inline Value make(std::int64_t i) {
    Value v;
    v.i = i;
    return v;
}
inline Value make(double d) {
    Value v;
    v.d = d;
    return v;
}

enum class Op : std::uint8_t {
    constant,
    slot,
    cell,
    to_real,  // leaves and conversions
    logical_not,
    logical_and,
    logical_or,
    ite,  // evaluated with short-circuit
    equal,
    unequal,
    less,
    less_equal,  // of two operands of one type
    add,
    subtract,
    multiply,
    divide,
    modulo,
    minimum,
    maximum,
    power,
    logarithm,
    floor,
    ceiling,
    truncate,
    absolute,
    sign,
    sine,
    cosine,
    tangent,
    exponential,
};

struct Expr {
    Op op;
    Type type;
    Value value{};             // of a constant
    std::uint32_t slot = 0;    // of a slot; the first cell of an array for `cell`
    std::uint32_t length = 0;  // of the array for `cell`
    std::vector<const Expr*> args{};
};

// The shape of a declared variable: a scalar, or an array of fixed length (arrays of arrays nest).
struct Shape {
    Type type = Type::integer;
    std::optional<Value> lower, upper;   // of a bounded scalar
    std::vector<std::uint32_t> lengths;  // outermost first; empty for a scalar
    std::uint32_t cells() const {
        std::uint32_t n = 1;
        for (std::uint32_t length : lengths) n *= length;
        return n;
    }
};

struct Symbol {
    enum class Kind : std::uint8_t { constant, variable, bound } kind;
    Shape shape;
    const Expr* constant = nullptr;  // constants, and names bound by a function or an array constructor
    std::uint32_t slot = 0;          // variables
    bool transient = false;
};

// Owns expressions, folds constants, and refuses models that would grow without end.
class ExprPool {
  public:
    const Expr* constant(Type type, Value value);
    const Expr* slot(Type type, std::uint32_t slot);
    const Expr* cell(Type type, std::uint32_t first, std::uint32_t length, const Expr* index);
    const Expr* make(Op op, Type type, std::vector<const Expr*> args);
    const Expr* as_real(const Expr* e);
    const Expr* negate(const Expr* e) { return make(Op::logical_not, Type::boolean, {e}); }

  private:
    const Expr* add(Expr expr);
    std::deque<Expr> pool_;
};

// The value of a constant expression's operation; throws InputError.
Value apply(Op op, Type operands, const Value* args);

// Names in scope, innermost first.
struct Scope {
    const Scope* parent = nullptr;
    std::unordered_map<std::string, Symbol> symbols{};
    std::unordered_map<std::string, const Json*> functions{};
    const Symbol* find(const std::string& name) const;
    // The function of this name, and the scope that its body sees; nothing if there is none.
    std::pair<const Json*, const Scope*> find_function(const std::string& name) const;
};

// A value that may be an array: its cells in order, one for a scalar.
struct Cells {
    Type type;
    std::vector<std::uint32_t> lengths;
    std::vector<const Expr*> cells;
};

class ExprReader {
  public:
    explicit ExprReader(ExprPool& pool) : pool_(pool) {}

    const Expr* scalar(const Json& json, const Path& path, const Scope& scope);
    const Expr* boolean(const Json& json, const Path& path, const Scope& scope);
    // Integer operands are converted where a real is wanted; nothing else is.
    const Expr* typed(const Json& json, const Path& path, const Scope& scope, Type type);
    Cells cells(const Json& json, const Path& path, const Scope& scope);
    Value constant(const Json& json, const Path& path, const Scope& scope, Type type);

    bool reads_transient = false;  // whether any expression so far reads a transient variable

  private:
    Cells cells_of_op(const std::string& op, const Json& json, const Path& path, const Scope& scope);
    const Expr* of_op(const std::string& op, const Json& json, const Path& path, const Scope& scope);
    const Expr* comparison(Op op, const Expr* a, const Expr* b, const Path& path);
    Cells access(const Json& json, const Path& path, const Scope& scope);
    Cells call(const Json& json, const Path& path, const Scope& scope);
    Cells constructor(const Json& json, const Path& path, const Scope& scope);

    ExprPool& pool_;
    int call_depth_ = 0;
    std::uint64_t calls_ = 0;
    int depth_ = 0;
};

}  // namespace misstep::jani
