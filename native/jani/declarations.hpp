// The part of loading that automata and the model share: types, constants, functions, variables.
#pragma once

#include <map>

#include "jani/model.hpp"

namespace misstep::jani {

class Declarations {
  protected:
    Declarations(Model& model, const std::string& file) : m_(model), json_(model.json), root_(file) {}

    void actions();
    std::uint32_t action(const std::string& name, const Path& path) const;
    std::uint32_t silent() const { return static_cast<std::uint32_t>(actions_.size()); }
    void constants();
    void functions(const Json& json, const Path& path, Scope& scope);
    void variables(const Json& json, const Path& path, Scope& scope, const std::string& prefix);
    std::int64_t location(const Instance& in, const std::string& name, const Path& path) const;

    Model& m_;
    const Json& json_;
    Path root_;
    std::map<std::string, std::uint32_t> actions_;

  private:
    void declare(Scope& scope, const std::string& name, Symbol symbol, const Path& path);
    Shape type(const Json& json, const Path& path, const Scope& scope);
    void initial_value(const Json* json, const Path& at, const Scope& scope, Variable& v);
    void fields(const Variable& v);
};

// Sets the trees of a vector whose participants choose among these edges of their instances.
void build_trees(const Model& model, Vector& vector,
                 const std::vector<const std::vector<std::uint32_t>*>& edges);

// The destinations that one with non-deterministic values stands for; itself where it has none.
std::vector<Json> unfold(Model& model, const Json& destination, const Path& path, const Scope& scope);

}  // namespace misstep::jani
