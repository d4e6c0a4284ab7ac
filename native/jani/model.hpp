// A JANI model, resolved and compiled: what the successor generator walks over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jani/layout.hpp"
#include "jani/program.hpp"

namespace misstep::jani {

// What happens when a value leaves the bounds of its variable.
enum class OutOfBounds : std::uint8_t { error, clip, drop, allow };

struct Options {
    std::vector<std::pair<std::string, Json>> constants;  // given by the user
    bool ignore_rates = false;                            // read ma and ctmc models as plain non-determinism
    OutOfBounds integers = OutOfBounds::error;            // allow is not possible for packed integers
    OutOfBounds reals = OutOfBounds::allow;
    bool keep_impossible = false;  // outcomes of probability 0 may happen, too
    std::uint32_t box_points = 0;  // how many values stand for a real box; 0: such a model is refused
};

struct Variable {
    std::string name;  // local ones as instance.name
    Shape shape;
    std::uint32_t slot;
    bool transient;
    std::vector<Value> initial;  // per cell; empty: any value of the domain
};

struct Assignment {
    std::uint32_t slot;    // of the cell, or of the first cell of an array
    std::uint32_t length;  // of the array; 0 for a cell that is known at compile time
    std::uint32_t field;   // of the cell, where length == 0
    Source index;          // into the array
    Source value;
    Type type;
    Value lower, upper;
    bool bounded;
    bool transient;
    std::int64_t order;  // JANI's assignment index
    const std::string* name;
};

struct Destination {
    Source probability;
    bool certain;       // the probability is a constant:
    double weight = 1;  // this one
    std::int64_t location;
    std::vector<Assignment> assignments;  // by ascending order
    bool simple;                          // all of one order, no array cell computed, nothing transient
};

struct Edge {
    std::uint32_t guard;
    bool guarded;
    std::int64_t location;
    std::vector<Destination> destinations;
    std::vector<std::pair<std::uint32_t, std::int64_t>> tests;  // slot = value, conjuncts of the guard
};

// Finds the edges whose `slot = value` tests hold without looking at the others.
struct EdgeTree {
    std::vector<std::uint32_t> edges;  // nothing left to distinguish
    std::uint32_t slot = 0;
    std::int64_t lower = 0;
    std::vector<std::unique_ptr<EdgeTree>> children;  // by value; may be null
    std::unique_ptr<EdgeTree> others;                 // edges that do not test the slot
};

struct Instance {
    std::string name;
    std::string automaton;
    std::uint32_t slot;  // of the location
    std::uint32_t field;
    std::vector<std::string> locations;
    std::vector<std::int64_t> initial_locations;
    std::vector<Edge> edges;
    std::vector<std::vector<std::uint32_t>>
        by_action;  // edges of each action; the last entry is the silent one
    // Per location: transient variables that the location sets.
    std::vector<std::vector<std::pair<std::uint32_t, Source>>> transient_values;
};

struct Vector {
    std::uint32_t label;
    std::vector<std::uint32_t> instances;
    std::vector<std::vector<std::unique_ptr<EdgeTree>>> trees;  // per participant, per location
};

struct Model {
    Json json;  // functions are read from it whenever they are called
    std::string name;
    std::string type;
    ExprPool pool;
    ExprReader reader{pool};
    Program program;
    Layout layout;
    Scope globals;
    std::vector<Scope> locals;  // per instance
    std::vector<std::uint32_t> field_of_slot;
    std::vector<Variable> variables;
    std::vector<Instance> instances;
    std::vector<Vector> vectors;               // the silent edges of an instance are a vector of their own
    std::vector<std::string> labels;           // of moves; the silent label is "" where there is one
    std::deque<std::string> assignment_names;  // what is assigned and where, for messages
    const Expr* restrict_initial = nullptr;
    std::uint32_t initial_condition = 0;  // the same, compiled
    bool reads_transient = false;
    bool has_reals = false;
    Options options;

    Model() = default;
    Model(const Model&) = delete;

    const Variable* find_variable(const std::string& name) const;
    // An expression over global names, or PlaJA's state-condition.
    const Expr* condition(const Json& json, const Path& path);
    const Instance& instance(const std::string& name, std::size_t index, const Path& path) const;
    // What packing needs to know about a field's domain.
    Value field_lower(std::uint32_t field) const { return lower_[field]; }
    Value field_upper(std::uint32_t field) const { return upper_[field]; }
    bool field_bounded(std::uint32_t field) const { return bounded_[field]; }
    Type field_type(std::uint32_t field) const { return types_[field]; }
    const std::string& field_name(std::uint32_t field) const { return names_[field]; }
    void add_field(std::uint32_t slot, Type type, const Value* lower, const Value* upper, std::string name);

  private:
    const Expr* read_condition(const Json& json, const Path& path);

    std::vector<Value> lower_, upper_;
    std::vector<bool> bounded_;
    std::vector<Type> types_;
    std::vector<std::string> names_;
};

// Throws InputError or UnsupportedFeature with the file and the JSON path.
std::unique_ptr<Model> load_model(std::string_view text, const std::string& file, Options options);

}  // namespace misstep::jani
