// A task as training an ASNet sees it: the graph of operators and facts, and what does not depend on weights.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "nn/asnet_graph.hpp"
#include "nn/asnet_inputs.hpp"
#include "nn/asnet_landmarks.hpp"

namespace misstep {

// Things that occur in several tasks, each under one number.
template <class T>
class Numbering {
  public:
    Index number(Index group, std::vector<T> value) {
        auto [found, added] = numbers_.try_emplace({group, std::move(value)}, static_cast<Index>(size()));
        if (added) entries_.push_back(&found->first);
        return found->second;
    }
    std::size_t size() const { return entries_.size(); }
    Index group(Index number) const { return entries_[static_cast<std::size_t>(number)]->first; }
    const std::vector<T>& value(Index number) const {
        return entries_[static_cast<std::size_t>(number)]->second;
    }

  private:
    using Key = std::pair<Index, std::vector<T>>;
    std::map<Key, Index> numbers_;
    std::vector<const Key*> entries_;  // keys of a map stay where they are
};

// Shared by all tasks of a training set.
struct AsnetShared {
    Numbering<float> rows;   // by schema: the inputs of a first module; equal inputs give equal vectors
    Numbering<Index> kinds;  // by predicate: the slots in which a fact has no operator
};

// What a decision costs against the best one.
struct ActionLabel {
    static constexpr std::uint16_t kWorst = 65534;    // a dead end, or more than can be told
    static constexpr std::uint16_t kUnknown = 65535;  // neither good nor bad
    Index op;
    std::uint16_t regret;
};

class AsnetTask {
  public:
    // The space must outlive the task.
    AsnetTask(const StateSpace& space, const AsnetNetwork& net, AsnetShared& shared);

    // Makes the state known to row_of(): must be called once for a state before it is trained on. Returns
    // the operators in landmarks, where the network reads them.
    std::vector<AsnetLandmarks::Mark> prepare(const Word* state, const std::vector<ActionLabel>& labels,
                                              AsnetShared& shared);
    // Truth bits of the facts; applicable bits of the operators are those of the labels.
    void read(const Word* state, std::vector<std::int32_t>& values, std::vector<std::uint8_t>& truth) const;
    // The number of the inputs that an operator reads.
    Index row_of(std::size_t op, const std::uint8_t* truth, const std::uint8_t* marks) const {
        const std::size_t cls = inputs_.class_of(op);
        const std::uint64_t bits = inputs_.bits(op, truth, marks);
        return first_entry_[cls] >= 0 ? table_[static_cast<std::size_t>(first_entry_[cls]) + bits]
                                      : large_.at({cls, bits});
    }

    const StateSpace& space;
    const AsnetNetwork net;  // its weights mean nothing here
    const AsnetGraph graph;
    std::vector<Index> fact_kind;
    std::vector<Index> missing_slots;       // in which some operator lacks its fact
    std::vector<Index> operator_of_action;  // -1: left out

  private:
    static constexpr std::size_t kMaxTableBits = 12;

    void find_kinds(AsnetShared& shared);

    AsnetInputs inputs_;
    std::unique_ptr<AsnetLandmarks> landmarks_;  // absent where the network reads none
    std::vector<Index> first_entry_;             // by class; -1: too many bits for a table
    std::vector<Index> table_;                   // -1: not met yet
    std::map<std::pair<std::size_t, std::uint64_t>, Index> large_;
};

}  // namespace misstep
