#include "nn/asnet_inputs.hpp"

#include <map>
#include <tuple>

#include "nn/asnet_landmarks.hpp"

namespace misstep {

std::vector<float> AsnetInputs::Class::inputs(std::uint64_t bits) const {
    std::vector<float> result = constant;
    for (std::size_t i = 0; i < positions.size(); ++i)
        result[static_cast<std::size_t>(positions[i])] = static_cast<float>(bits >> i & 1);
    const std::uint64_t marks = bits >> positions.size();
    float* own = result.data() + result.size() - (reads_landmarks ? 4 : 1);
    own[0] = (marks & AsnetLandmarks::kApplicable) != 0 ? 1.0F : 0.0F;
    if (!reads_landmarks) return result;
    own[1] = (marks & AsnetLandmarks::kOnlyOne) != 0 ? 1.0F : 0.0F;
    own[2] = (marks & AsnetLandmarks::kOneOfSeveral) != 0 ? 1.0F : 0.0F;
    own[3] = own[1] + own[2] == 0 ? 1.0F : 0.0F;
    return result;
}

AsnetInputs::AsnetInputs(const AsnetNetwork& net, const AsnetGraph& graph) {
    std::map<std::tuple<Index, std::vector<float>, std::vector<Index>>, Index> known;
    changing_start_.push_back(0);
    for (Index op = 0; op < graph.num_operators; ++op) {
        const Index schema = graph.schema_of(op);
        auto facts = graph.facts_of(op);
        std::vector<float> inputs(static_cast<std::size_t>(net.num_inputs(schema)));
        std::vector<Index> positions;
        for (std::size_t i = 0; i < facts.size(); ++i) {
            const Index fact = facts[i];
            if (fact == graph.num_facts) {
                inputs[i] = inputs[facts.size() + i] = -1;
                continue;
            }
            inputs[facts.size() + i] = net.goal[static_cast<std::size_t>(fact)] != 0 ? 1.0F : 0.0F;
            if (net.fact_variables[static_cast<std::size_t>(fact)] < 0) {
                inputs[i] = 1;
            } else {
                positions.push_back(static_cast<Index>(i));
                changing_.push_back(fact);
            }
        }
        changing_start_.push_back(static_cast<Index>(changing_.size()));
        auto [found, added] =
            known.try_emplace({schema, inputs, positions}, static_cast<Index>(classes_.size()));
        if (added)
            classes_.push_back({schema, std::move(inputs), std::move(positions), net.reads_landmarks()});
        class_of_operator_.push_back(found->second);
    }
}

}  // namespace misstep
