// What an ASNet may read of LM-cut: which operators stand in landmarks of a state.
#pragma once

#include <vector>

#include "heuristics/lmcut.hpp"
#include "nn/asnet_network.hpp"

namespace misstep {

// One evaluation at a time. With unit cost an action is in one landmark at most; elsewhere being the only one
// of any landmark counts more than being one of several.
class AsnetLandmarks {
  public:
    struct Mark {
        std::int32_t op;
        std::uint8_t mark;  // kOnlyOne or kOneOfSeveral
    };
    // Bits beside kApplicable in what AsnetInputs reads of an operator; neither: it is in no landmark.
    static constexpr std::uint8_t kApplicable = 1, kOnlyOne = 2, kOneOfSeveral = 4;

    // The space must outlive it.
    AsnetLandmarks(const StateSpace& space, const AsnetNetwork& net);

    // The operators in landmarks of the state, each once; none where it is a dead end for LM-cut.
    const std::vector<Mark>& find(const Word* state);

  private:
    LMCut lmcut_;
    std::vector<std::int32_t> operator_of_action_;  // -1: left out
    std::vector<std::uint8_t> mark_of_;             // by operator; all 0 between calls
    std::vector<Landmark> landmarks_;
    std::vector<Mark> marks_;
};

}  // namespace misstep
