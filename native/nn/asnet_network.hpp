// An action schema network (ASNet; Toyer et al. 2018) for one task as Python hands it over: plain, unpadded.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "state/successor_generator.hpp"

namespace misstep {

struct AsnetModule {
    std::vector<float> weights;  // (inputs, outputs)
    std::vector<float> bias;     // (outputs)
};

// Operators are sorted by schema, facts by predicate; a slot is a position in a schema's list of atoms.
struct AsnetNetwork {
    int hidden = 0;
    std::vector<std::int32_t> operators;                // the action behind each; ascending in a schema
    std::vector<std::int32_t> schema_start;             // into operators, with the end
    std::vector<std::vector<std::int32_t>> slot_facts;  // by schema: (operators, slots), -1 = no such fact
    std::vector<std::int32_t> predicate_start;          // into facts, with the end
    std::vector<std::int32_t> fact_variables;           // -1 = always true
    std::vector<std::int32_t> fact_values;
    std::vector<std::uint8_t> goal;                                 // by fact
    std::vector<std::vector<std::pair<int, int>>> predicate_slots;  // by predicate: (schema, slot)
    std::vector<std::vector<AsnetModule>> action_modules;           // by layer, then schema
    std::vector<std::vector<AsnetModule>> predicate_modules;        // by layer, then predicate

    int num_layers() const { return static_cast<int>(predicate_modules.size()); }
    int num_schemas() const { return static_cast<int>(slot_facts.size()); }
    int num_predicates() const { return static_cast<int>(predicate_slots.size()); }
    int num_operators() const { return static_cast<int>(operators.size()); }
    int num_facts() const { return static_cast<int>(fact_variables.size()); }
    // Inputs of a first module: two a slot, whether the operator is applicable, and in some networks three
    // that say whether it is the only operator of a landmark, one of several, or in none.
    static constexpr int kLandmarkInputs = 3;
    bool reads_landmarks() const { return !action_modules[0].empty() && num_inputs(0) % 2 == 0; }
    int num_inputs(int schema) const {
        return static_cast<int>(action_modules[0][static_cast<std::size_t>(schema)].weights.size() /
                                static_cast<std::size_t>(hidden));
    }
    int num_slots(int schema) const {
        return (num_inputs(schema) - 1 - (reads_landmarks() ? kLandmarkInputs : 0)) / 2;
    }
};

inline constexpr int kMaxAsnetHidden = 64;
inline constexpr int kMaxAsnetSlots = 60;  // their bits fit into a word

// Throws InputError where sizes or numbers do not fit together or do not fit the task.
void check_network(const AsnetNetwork& net, const StateSpace& space);

}  // namespace misstep
