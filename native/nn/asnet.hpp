// Policies given by action schema networks (ASNets; Toyer et al. 2018), in single precision.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nn/asnet_first_layer.hpp"
#include "nn/asnet_graph.hpp"
#include "nn/asnet_kernel.hpp"
#include "nn/asnet_landmarks.hpp"
#include "nn/channel_rows.hpp"
#include "policy_graph/policy.hpp"

namespace misstep {

struct ActionScore {
    ActionId action;
    float score;
};

// Chooses the applicable action with the highest score, the lowest number among equals. Operators that the
// network leaves out never compete. Sums have a fixed order that does not depend on the batch.
class AsnetPolicy : public Policy {
  public:
    // Throws InputError where the network is malformed. The space must outlive the policy.
    AsnetPolicy(const StateSpace& space, const AsnetNetwork& net);

    void choose(std::span<const Word* const> states, ActionId* actions) override;
    std::unique_ptr<Policy> copy() const override { return std::make_unique<AsnetPolicy>(*this); }
    // The scores of the applicable actions that compete, by number.
    std::vector<ActionScore> scores(const Word* state);

    Index num_operators() const { return graph_.num_operators; }
    Index num_facts() const { return graph_.num_facts; }

  private:
    // One predicate layer and the action layer after it, cut into matrices.
    struct Layer {
        std::vector<ChannelRows> pool;  // by slot: of the pooled operator vectors
        std::vector<ChannelRows> keep;  // by predicate: of the fact's last vector; absent in the first layer
        ChannelRows fact_base;          // by fact: bias and what slots without operators add
        std::vector<ChannelRows> read;  // by slot: of the fact's vector in the next action layer
        ChannelRows missing;            // by slot: what a fact that does not exist adds there
        std::vector<ChannelRows> own;   // by schema: of the operator's last vector, then the bias
    };
    struct LastModule {
        ChannelRows weights;  // one row a slot, then the operator's own
        float bias;
    };

    Layer make_layer(const AsnetNetwork& net, std::size_t layer) const;
    void make_last(const AsnetNetwork& net);
    void evaluate(const Word* state);
    void predicate_layer(std::size_t layer, const float* vectors, const Index* row);
    void action_layer(std::size_t layer);

    const StateSpace& space_;
    const AsnetKernels& kernels_;
    int width_;
    std::shared_ptr<const AsnetGraph> shared_graph_;  // by all copies
    const AsnetGraph& graph_;
    AsnetFirstLayer first_;
    AsnetDemand demand_;
    std::optional<AsnetLandmarks> landmarks_;  // absent where the network reads none
    std::vector<Layer> layers_;
    std::vector<LastModule> last_;  // by schema
    std::vector<Index> fact_variables_, fact_values_;
    std::vector<ActionId> action_of_operator_;
    std::vector<Index> operator_of_action_;  // -1: left out
    std::vector<Index> identity_;            // 0, 1, 2, ...

    // Scratch of evaluate(); `competing_` and `scores_` are its result.
    std::vector<std::int32_t> values_;
    std::vector<std::uint8_t> truth_, marks_;  // marks as AsnetInputs reads them
    std::vector<ActionId> applicable_actions_;
    std::vector<Index> competing_;
    std::vector<float> scores_;
    ChannelRows facts_, operators_, parts_;
};

}  // namespace misstep
