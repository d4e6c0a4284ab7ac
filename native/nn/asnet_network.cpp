#include "nn/asnet_network.hpp"

#include <string>

#include "util/error.hpp"

namespace misstep {
namespace {

void require(bool fits, const std::string& what) {
    if (!fits) throw InputError("ASNet: " + what);
}

void check_starts(const std::vector<std::int32_t>& start, std::size_t groups, std::size_t size,
                  const char* what) {
    bool fits =
        start.size() == groups + 1 && start.front() == 0 && start.back() == static_cast<std::int32_t>(size);
    for (std::size_t i = 0; fits && i < groups; ++i) fits = start[i] <= start[i + 1];
    require(fits, std::string("the groups of ") + what + " do not cover them in order");
}

void check_module(const AsnetModule& module, std::size_t inputs, std::size_t outputs,
                  const std::string& where) {
    require(module.bias.size() == outputs,
            where + " has " + std::to_string(module.bias.size()) + " biases, not " + std::to_string(outputs));
    require(module.weights.size() == inputs * outputs,
            where + " has " + std::to_string(module.weights.size()) + " weights, not " +
                std::to_string(inputs) + " times " + std::to_string(outputs));
}

void check_modules(const AsnetNetwork& net) {
    const std::size_t hidden = static_cast<std::size_t>(net.hidden), layers = net.predicate_modules.size();
    const std::size_t schemas = net.slot_facts.size(), predicates = net.predicate_slots.size();
    require(layers >= 1 && net.action_modules.size() == layers + 1,
            "there must be one action layer more than predicate layers, of which there is at least one");
    for (const auto& layer : net.action_modules)
        require(layer.size() == schemas, "an action layer lacks modules");
    for (const auto& layer : net.predicate_modules)
        require(layer.size() == predicates, "a predicate layer lacks modules");
    const std::size_t more = net.reads_landmarks() ? std::size_t{AsnetNetwork::kLandmarkInputs} : 0;
    for (std::size_t schema = 0; schema < schemas; ++schema) {
        require(static_cast<std::size_t>(net.num_inputs(static_cast<int>(schema))) >= 1 + more,
                "schema " + std::to_string(schema) + " has too few inputs");
        const std::size_t slots = static_cast<std::size_t>(net.num_slots(static_cast<int>(schema)));
        require(slots <= std::size_t{kMaxAsnetSlots}, "schema " + std::to_string(schema) + " has " +
                                                          std::to_string(slots) + " atoms; at most " +
                                                          std::to_string(kMaxAsnetSlots) + " are supported");
        for (std::size_t layer = 0; layer <= layers; ++layer)
            check_module(net.action_modules[layer][schema],
                         layer == 0 ? 2 * slots + 1 + more : (slots + 1) * hidden,
                         layer == layers ? 1 : hidden,
                         "action module " + std::to_string(schema) + " of layer " + std::to_string(layer));
    }
    for (std::size_t predicate = 0; predicate < predicates; ++predicate) {
        const std::size_t slots = net.predicate_slots[predicate].size();
        for (std::size_t layer = 0; layer < layers; ++layer)
            check_module(
                net.predicate_modules[layer][predicate], (slots + (layer > 0 ? 1 : 0)) * hidden, hidden,
                "predicate module " + std::to_string(predicate) + " of layer " + std::to_string(layer));
    }
}

// Every slot belongs to exactly one predicate, and its facts to the same.
void check_slots(const AsnetNetwork& net) {
    std::vector<std::vector<int>> owner(net.slot_facts.size());
    for (int schema = 0; schema < net.num_schemas(); ++schema)
        owner[static_cast<std::size_t>(schema)].assign(static_cast<std::size_t>(net.num_slots(schema)), -1);
    for (int predicate = 0; predicate < net.num_predicates(); ++predicate)
        for (auto [schema, slot] : net.predicate_slots[static_cast<std::size_t>(predicate)]) {
            require(schema >= 0 && schema < net.num_schemas() && slot >= 0 && slot < net.num_slots(schema) &&
                        owner[static_cast<std::size_t>(schema)][static_cast<std::size_t>(slot)] == -1,
                    "slot " + std::to_string(slot) + " of schema " + std::to_string(schema) +
                        " does not exist or has two predicates");
            owner[static_cast<std::size_t>(schema)][static_cast<std::size_t>(slot)] = predicate;
        }
    for (std::size_t schema = 0; schema < net.slot_facts.size(); ++schema) {
        const std::size_t slots = owner[schema].size();
        const std::size_t count =
            static_cast<std::size_t>(net.schema_start[schema + 1] - net.schema_start[schema]);
        require(
            net.slot_facts[schema].size() == count * slots,
            "the facts in the slots of schema " + std::to_string(schema) + " are not one for each operator");
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const int predicate = owner[schema][slot];
            require(predicate >= 0, "slot " + std::to_string(slot) + " of schema " + std::to_string(schema) +
                                        " has no predicate");
            const std::int32_t begin = net.predicate_start[static_cast<std::size_t>(predicate)];
            const std::int32_t end = net.predicate_start[static_cast<std::size_t>(predicate) + 1];
            for (std::size_t at = slot; at < net.slot_facts[schema].size(); at += slots) {
                const std::int32_t fact = net.slot_facts[schema][at];
                require(fact == -1 || (fact >= begin && fact < end),
                        "fact " + std::to_string(fact) + " is in a slot of another predicate");
            }
        }
    }
}

}  // namespace

void check_network(const AsnetNetwork& net, const StateSpace& space) {
    require(net.hidden >= 1 && net.hidden <= kMaxAsnetHidden, "the hidden dimension must be 1 to " +
                                                                  std::to_string(kMaxAsnetHidden) + ", not " +
                                                                  std::to_string(net.hidden));
    check_modules(net);
    check_starts(net.schema_start, net.slot_facts.size(), net.operators.size(), "operators");
    check_starts(net.predicate_start, net.predicate_slots.size(), net.fact_variables.size(), "facts");
    check_slots(net);
    for (std::int32_t action : net.operators)
        require(action >= 0 && action < space.task.num_actions(),
                "the task has no action " + std::to_string(action));
    require(
        net.fact_values.size() == net.fact_variables.size() && net.goal.size() == net.fact_variables.size(),
        "facts need a variable, a value and a goal bit each");
    for (std::size_t fact = 0; fact < net.fact_variables.size(); ++fact) {
        const std::int32_t var = net.fact_variables[fact], value = net.fact_values[fact];
        require(var == -1 || (var >= 0 && var < space.task.num_variables() && value >= 0 &&
                              value < space.task.variables[static_cast<std::size_t>(var)].domain_size()),
                "the task has no fact (" + std::to_string(var) + ", " + std::to_string(value) + ")");
    }
}

}  // namespace misstep
