#include "safety/policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "util/error.hpp"

namespace misstep::safety {

ScorePolicy::ScorePolicy(std::shared_ptr<const nn::Scorer> network, std::vector<Input> inputs,
                         std::vector<std::uint32_t> outputs, bool filter)
    : network_(std::move(network)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      filter_(filter) {
    if (inputs_.size() != network_->inputs() || outputs_.size() != network_->outputs())
        throw InputError("the network has " + std::to_string(network_->inputs()) + " inputs and " +
                         std::to_string(network_->outputs()) + " outputs, its interface names " +
                         std::to_string(inputs_.size()) + " and " + std::to_string(outputs_.size()));
    in_.resize(inputs_.size());
    out_.resize(outputs_.size());
}

std::uint32_t ScorePolicy::choose(const jani::Value* frame, std::span<const std::uint32_t> applicable,
                                  std::vector<double>& scores) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const jani::Value value = frame[inputs_[i].slot];
        in_[i] = inputs_[i].real ? value.d : static_cast<double>(value.i);
    }
    network_->evaluate(in_.data(), out_.data(), 1);
    auto is_applicable = [&](std::size_t o) {
        return std::binary_search(applicable.begin(), applicable.end(), outputs_[o]);
    };
    std::size_t best = outputs_.size();
    for (std::size_t pass = filter_ ? 0 : 1; pass < 2 && best == outputs_.size(); ++pass)
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            if (pass == 0 && !is_applicable(o)) continue;
            if (std::isnan(out_[o])) throw PolicyError("the network's output is not a number");
            if (best == outputs_.size() || out_[o] > out_[best]) best = o;
        }
    scores.clear();
    for (std::uint32_t label : applicable) {
        auto at = std::find(outputs_.begin(), outputs_.end(), label);
        scores.push_back(at == outputs_.end() ? -std::numeric_limits<double>::infinity()
                                              : out_[static_cast<std::size_t>(at - outputs_.begin())]);
    }
    return outputs_[best];
}

}  // namespace misstep::safety
