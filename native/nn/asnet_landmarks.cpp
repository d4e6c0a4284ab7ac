#include "nn/asnet_landmarks.hpp"

namespace misstep {

AsnetLandmarks::AsnetLandmarks(const StateSpace& space, const AsnetNetwork& net)
    : lmcut_(space), operator_of_action_(space.task.actions.size(), -1), mark_of_(net.operators.size(), 0) {
    for (std::size_t op = 0; op < net.operators.size(); ++op)
        operator_of_action_[static_cast<std::size_t>(net.operators[op])] = static_cast<std::int32_t>(op);
}

const std::vector<AsnetLandmarks::Mark>& AsnetLandmarks::find(const Word* state) {
    marks_.clear();
    if (lmcut_.evaluate(state, landmarks_) == kInfinity) return marks_;
    for (const Landmark& landmark : landmarks_)
        for (ActionId action : landmark.actions) {
            const std::int32_t op = operator_of_action_[action];
            if (op < 0) continue;
            std::uint8_t& mark = mark_of_[static_cast<std::size_t>(op)];
            if (mark == 0) marks_.push_back({op, 0});
            if (mark != kOnlyOne) mark = landmark.actions.size() == 1 ? kOnlyOne : kOneOfSeveral;
        }
    for (Mark& each : marks_) {
        each.mark = mark_of_[static_cast<std::size_t>(each.op)];
        mark_of_[static_cast<std::size_t>(each.op)] = 0;
    }
    return marks_;
}

}  // namespace misstep
