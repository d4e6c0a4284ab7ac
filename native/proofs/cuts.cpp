#include "proofs/cuts.hpp"

#include <algorithm>
#include <utility>

namespace misstep {
namespace {

// So many tries take about as long as a new LM-cut, and every one that is saved makes the proof shorter.
constexpr std::size_t kMaxTries = 1000;

}  // namespace

ChargesLibrary::ChargesLibrary(const StateSpace& space)
    : space_(space),
      task_(space),
      lmcut_(space),
      is_reached_(static_cast<std::size_t>(task_.num_facts)),
      is_avoided_(static_cast<std::size_t>(task_.num_actions)),
      is_inside_(static_cast<std::size_t>(task_.num_facts)) {}

std::size_t ChargesLibrary::add(const Word* state) {
    std::vector<Landmark> landmarks;
    if (lmcut_.evaluate(state, landmarks) == kInfinity) landmarks.assign(1, {{}, kInfinity});
    Charges charges;
    for (const Landmark& landmark : landmarks) charges.push_back(find_cut(state, landmark));
    return insert(std::move(charges));
}

std::size_t ChargesLibrary::insert(Charges charges) {
    std::vector<std::pair<std::vector<FactId>, Cost>> content;
    for (const Cut& cut : charges) content.emplace_back(cut.facts, cut.share);
    std::ranges::sort(content);
    auto [place, is_new] = index_.try_emplace(std::move(content), all_.size());
    if (!is_new) return place->second;
    Entry entry;
    for (const Cut& cut : charges) {
        FactBits bits(static_cast<std::size_t>(task_.num_facts + 63) / 64);
        for (FactId fact : cut.facts) bits[fact / 64] |= std::uint64_t{1} << (fact % 64);
        entry.bits.push_back(std::move(bits));
    }
    entry.charges = std::move(charges);
    all_.push_back(std::move(entry));
    return all_.size() - 1;
}

std::size_t ChargesLibrary::use(Charges charges) {
    std::size_t index = insert(std::move(charges));
    put_last(index);
    return index;
}

void ChargesLibrary::put_last(std::size_t index) {
    std::erase(recent_, index);
    recent_.push_back(index);
}

// Facts that the relaxed task reaches from the state without some actions.
void ChargesLibrary::reach_without(const Word* state, const std::vector<ActionId>& avoided) {
    std::ranges::fill(is_reached_, 0);
    std::ranges::fill(is_avoided_, 0);
    for (ActionId action : avoided) is_avoided_[action] = 1;
    unsatisfied_.clear();
    for (std::int32_t action = 0; action < task_.num_actions; ++action)
        unsatisfied_.push_back(static_cast<std::int32_t>(task_.precondition[action].size()));
    queue_.clear();
    auto reach = [this](FactId fact) {
        if (is_reached_[fact]) return;
        is_reached_[fact] = 1;
        queue_.push_back(fact);
    };
    auto apply = [&](std::int32_t action) {
        if (!is_avoided_[action])
            for (FactId fact : task_.effect[action]) reach(fact);
    };
    std::vector<FactId> facts(static_cast<std::size_t>(task_.num_variables));
    task_.facts_of(state, facts.data());
    for (FactId fact : facts) reach(fact);
    for (std::int32_t action : task_.without_precondition) apply(action);
    for (std::size_t next = 0; next < queue_.size(); ++next)
        for (std::int32_t action : task_.needed_by[queue_[next]])
            if (--unsatisfied_[action] == 0) apply(action);
}

// From one goal fact backwards: an action that adds a fact of the set and is not of the landmark has a
// precondition that is not reached without the landmark; that becomes a fact of the set.
Cut ChargesLibrary::find_cut(const Word* state, const Landmark& landmark) {
    reach_without(state, landmark.actions);
    std::ranges::fill(is_inside_, 0);
    Cut cut{{}, landmark.cost};
    auto take = [&](FactId fact) {
        is_inside_[fact] = 1;
        cut.facts.push_back(fact);
    };
    for (FactId fact : task_.goal)
        if (!is_reached_[fact]) {
            take(fact);
            break;
        }
    for (std::size_t next = 0; next < cut.facts.size(); ++next)
        for (std::int32_t action : task_.achieved_by[cut.facts[next]]) {
            if (is_avoided_[action]) continue;
            auto needs = task_.precondition[action];
            if (std::ranges::any_of(needs, [this](FactId fact) { return is_inside_[fact] != 0; })) continue;
            take(*std::ranges::find_if(needs, [this](FactId fact) { return is_reached_[fact] == 0; }));
        }
    std::ranges::sort(cut.facts);
    return cut;
}

FactBits ChargesLibrary::bits_of(const Word* state) const {
    FactBits bits(static_cast<std::size_t>(task_.num_facts + 63) / 64);
    std::vector<FactId> facts(static_cast<std::size_t>(task_.num_variables));
    task_.facts_of(state, facts.data());
    for (FactId fact : facts) bits[fact / 64] |= std::uint64_t{1} << (fact % 64);
    return bits;
}

Cost ChargesLibrary::value(const Entry& entry, const FactBits& state) const {
    Cost sum = 0;
    for (std::size_t i = 0; i < entry.bits.size(); ++i) {
        bool meets = false;
        for (std::size_t w = 0; w < state.size(); ++w) meets |= (entry.bits[i][w] & state[w]) != 0;
        if (meets) continue;
        if (entry.charges[i].share == kInfinity) return kInfinity;
        sum = add_costs(sum, entry.charges[i].share);
    }
    return sum;
}

std::optional<std::vector<std::size_t>> ChargesLibrary::cover(const Frontier& frontier, Heuristic* known,
                                                              bool& is_known_used) {
    const std::vector<std::size_t> before = recent_;
    std::size_t num_used = 0;  // they are the last ones of recent_
    // The leaves that miss most first: what proves them often proves others too.
    std::vector<std::size_t> order(frontier.missing.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return frontier.missing[i]; });
    for (std::size_t i : order) {
        const Word* leaf = frontier.leaves.data() + i * space_.num_words();
        const Cost missing = frontier.missing[i];
        if (known != nullptr && known->evaluate(leaf) >= missing) {
            is_known_used = true;
            continue;
        }
        const FactBits bits = bits_of(leaf);
        std::size_t tries = 0, found = recent_.size();
        for (std::size_t k = recent_.size(); k-- > 0 && tries < kMaxTries; ++tries)
            if (value(all_[recent_[k]], bits) >= missing) {
                found = k;
                break;
            }
        if (found == recent_.size()) {
            std::size_t index = add(leaf);
            if (value(all_[index], bits) < missing) {
                recent_ = before;
                return std::nullopt;
            }
            found = static_cast<std::size_t>(std::ranges::find(recent_, index) - recent_.begin());
            if (found == recent_.size()) {  // in front of those that are used, as all others are
                found -= num_used;
                recent_.insert(recent_.end() - static_cast<std::ptrdiff_t>(num_used), index);
            }
        }
        if (found + num_used < recent_.size()) ++num_used;
        put_last(recent_[found]);
    }
    return std::vector<std::size_t>(recent_.end() - static_cast<std::ptrdiff_t>(num_used), recent_.end());
}

}  // namespace misstep
