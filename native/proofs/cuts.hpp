// Lower bounds from sets of facts that a plan must enter, valid for all states and so shared by them.
#pragma once

#include <map>
#include <optional>

#include "heuristics/lmcut.hpp"
#include "search/search.hpp"

namespace misstep {

// A set of facts that contains a goal fact. A state with none of them has to enter the set: every plan from
// there uses an action that adds one of the facts and needs none of them. These actions cross the cut.
struct Cut {
    std::vector<FactId> facts;  // ascending
    Cost share;                 // of the cost of every action that crosses; infinity where none does
};

// Cuts whose shares of no action add up to more than it costs: h* of any state is at least the sum of the
// shares of those cuts that it has no fact of.
using Charges = std::vector<Cut>;

// One bit a fact.
using FactBits = std::vector<std::uint64_t>;

class ChargesLibrary {
  public:
    explicit ChargesLibrary(const StateSpace& space);

    // The index of what LM-cut says of a state, with a cut for each of its landmarks.
    std::size_t add(const Word* state);
    // Takes charges in as cover() would have left them: the last ones that were of use.
    std::size_t use(Charges charges);
    const Charges& charges(std::size_t index) const { return all_[index].charges; }
    std::size_t size() const { return all_.size(); }
    int num_facts() const { return task_.num_facts; }

    // Charges of which for every leaf of a frontier one proves what is missing there; those of earlier
    // frontiers are tried first. `known` may prove some leaves on its own, and says so by `is_known_used`.
    // In the order of their last use, so that use() for each of them repeats what this one remembers.
    // nullopt where LM-cut proves too little; then nothing is remembered.
    std::optional<std::vector<std::size_t>> cover(const Frontier& frontier, Heuristic* known,
                                                  bool& is_known_used);

  private:
    struct Entry {
        Charges charges;
        std::vector<FactBits> bits;  // by cut
    };

    std::size_t insert(Charges charges);
    void put_last(std::size_t index);
    Cut find_cut(const Word* state, const Landmark& landmark);
    void reach_without(const Word* state, const std::vector<ActionId>& avoided);
    FactBits bits_of(const Word* state) const;
    Cost value(const Entry& entry, const FactBits& state) const;

    const StateSpace& space_;
    RelaxedTask task_;
    LMCut lmcut_;
    std::vector<Entry> all_;
    std::map<std::vector<std::pair<std::vector<FactId>, Cost>>, std::size_t> index_;  // by what they say
    std::vector<std::size_t> recent_;  // indices, those that were of use last at the end
    std::vector<std::uint8_t> is_reached_, is_avoided_, is_inside_;
    std::vector<std::int32_t> unsatisfied_;
    std::vector<FactId> queue_;
};

}  // namespace misstep
