// What a game asks of a policy, and the policies that need no Python: networks and tree ensembles.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "jani/model.hpp"
#include "nn/scorer.hpp"
#include "safety/game.hpp"

namespace misstep::safety {

class Policy {
  public:
    virtual ~Policy() = default;
    // The label chosen in the state whose values are in the frame; `infinite` for none. `applicable` is
    // ascending. Scores, one per applicable label, order the alternatives where the policy has an opinion;
    // else left empty.
    virtual std::uint32_t choose(const jani::Value* frame, std::span<const std::uint32_t> applicable,
                                 std::vector<double>& scores) = 0;
};

// Where a network reads one of its inputs.
struct Input {
    std::uint32_t slot;
    bool real;
};

// argmax over the outputs, the first of equals; with the filter only over applicable labels (all, if none of
// the outputs is applicable). PolicyError where one of those that count is not a number.
class ScorePolicy final : public Policy {
  public:
    ScorePolicy(std::shared_ptr<const nn::Scorer> network, std::vector<Input> inputs,
                std::vector<std::uint32_t> outputs, bool filter);
    std::uint32_t choose(const jani::Value* frame, std::span<const std::uint32_t> applicable,
                         std::vector<double>& scores) override;

  private:
    std::shared_ptr<const nn::Scorer> network_;
    std::vector<Input> inputs_;
    std::vector<std::uint32_t> outputs_;  // labels
    bool filter_;
    std::vector<double> in_, out_;
};

}  // namespace misstep::safety
