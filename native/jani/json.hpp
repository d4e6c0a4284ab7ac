// A small JSON reader that is safe on garbage: bounded depth, strict numbers, errors with line and column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace misstep::jani {

struct JsonMember;

struct Json {
    enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };
    Kind kind = Kind::null;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string string;
    std::vector<Json> items;
    std::vector<JsonMember> members;  // in file order; a repeated name is an error

    bool is(Kind k) const { return kind == k; }
    bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
    // The member of this name, or nothing.
    const Json* find(std::string_view name) const;
};

struct JsonMember {
    std::string name;
    Json value;
};

// Throws InputError("file:line:column: ...").
Json parse_json(std::string_view text, const std::string& file);

// Where a value sits, for messages: $.automata[0].edges[3].guard. Cheap to extend, spelled out only on
// demand.
class Path {
  public:
    explicit Path(const std::string& file) : node_(std::make_shared<Node>(Node{nullptr, file, 0, true})) {}
    Path member(std::string_view name) const { return Path({node_, std::string(name), 0, true}); }
    Path item(std::size_t index) const { return Path({node_, {}, index, false}); }
    std::string text() const;
    [[noreturn]] void fail(const std::string& message) const;         // InputError
    [[noreturn]] void unsupported(const std::string& message) const;  // UnsupportedFeature

    // Members of an object, with the errors that belong to them.
    const Json& need(const Json& object, std::string_view name) const;
    const Json& array(const Json& object, std::string_view name) const;  // empty where absent
    std::string string(const Json& object, std::string_view name) const;

  private:
    struct Node {
        std::shared_ptr<const Node> parent;
        std::string name;
        std::size_t index;
        bool named;
    };
    explicit Path(Node node) : node_(std::make_shared<Node>(std::move(node))) {}
    std::shared_ptr<const Node> node_;
};

}  // namespace misstep::jani
