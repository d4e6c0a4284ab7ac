// Compiled expressions: three-address code over one array of slots, with jumps for and, or and ite.
//
// Constants, variables and temporaries are all slots of the same frame, so that `x + 1 <= y` is two
// instructions and a guard that is a conjunction of comparisons is one compare-and-jump for each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "jani/expr.hpp"

namespace misstep::jani {

enum class Code : std::uint8_t {
    accept,
    reject,
    result,  // the end of a condition; of a value
    jump,
    jump_if,
    jump_unless,  // dst is the target
    jump_equal,
    jump_unequal,
    jump_less,
    jump_less_equal,  // integers
    jump_not_less,
    jump_not_less_equal,
    jump_equal_real,
    jump_unequal_real,
    jump_less_real,
    jump_less_equal_real,
    jump_not_less_real,
    jump_not_less_equal_real,  // not the reverse: NaN
    move,
    load_cell,  // load_cell: dst = cells[a + frame[b]], extra = length
    add,
    subtract,
    multiply,
    minimum,
    maximum,  // integers
    add_real,
    subtract_real,
    multiply_real,
    other,  // everything rarer: extra packs Op and Type
};

struct Instruction {
    Code code;
    std::uint32_t dst;
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t extra;
};

// Where a value comes from: a slot, after running the code at pc if there is any.
struct Source {
    std::uint32_t slot;
    std::uint32_t pc;
    bool has_code;
};

class Program {
  public:
    // Reserves slots for state variables and the like; returns the first.
    std::uint32_t reserve(std::uint32_t count);
    std::uint32_t compile_condition(const Expr* e);
    Source compile_value(const Expr* e);

    // The initial contents of a frame: constants are in place.
    const std::vector<Value>& frame() const { return frame_; }

    bool test(std::uint32_t pc, Value* frame) const { return run(pc, frame) != 0; }
    Value eval(const Source& source, Value* frame) const {
        return frame[source.has_code ? run(source.pc, frame) : source.slot];
    }

  private:
    // Runs to the end; returns 0 or 1 for conditions, the slot of the result for values.
    std::uint32_t run(std::uint32_t pc, Value* frame) const;
    std::uint32_t emit(Code code, std::uint32_t dst, std::uint32_t a = 0, std::uint32_t b = 0,
                       std::uint32_t extra = 0);
    std::uint32_t value(const Expr* e);
    // Jumps where e == sense, falls through otherwise; the jumps to patch are added to the list.
    void branch(const Expr* e, bool sense, std::vector<std::uint32_t>& jumps);
    void patch(const std::vector<std::uint32_t>& jumps);
    std::uint32_t constant(Value value);

    std::vector<Instruction> code_;
    std::vector<Value> frame_;
    std::unordered_map<std::int64_t, std::uint32_t> constants_;
};

}  // namespace misstep::jani
