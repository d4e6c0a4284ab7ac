// One factor's part of a dominance function, and the fixed point inside it while label dominance stands
// still.
#pragma once

#include "dominance/tau.hpp"

namespace misstep {

using DominanceValue = std::int32_t;
inline constexpr DominanceValue kNever = -(1 << 29);     // minus infinity
inline constexpr DominanceValue kFiniteLimit = 1 << 28;  // finite values stay strictly inside
inline constexpr DominanceValue kTruncation = -1000;     // below, a value falls to minus the tau distance

// How one label may be answered inside a factor: by a transition of a group, at D(s',t') plus `bonus`.
struct Answer {
    GroupId group;
    DominanceValue bonus;
    friend bool operator==(const Answer&, const Answer&) = default;
};
using Answers = std::vector<Answer>;  // sorted by group, each once

class Relation {
  public:
    Relation(const FactoredTask& task, const TauMoves& tau, std::size_t factor);

    std::int32_t size() const { return size_; }
    DominanceValue value(std::int32_t s, std::int32_t t) const { return values_[at(s, t)]; }
    const std::vector<DominanceValue>& values() const { return values_; }
    std::size_t bytes() const { return values_.size() * 2 * sizeof(DominanceValue); }
    bool was_truncated() const { return was_truncated_; }

    // What labels of a group may be answered by: every one of `ways` is an obligation of its own.
    void set_answers(GroupId group, std::vector<Answers> ways);
    bool is_stable() const { return queue_.empty(); }
    // Values of a file, as they are; the next run() finds out whether anything is wrong with them. Whether
    // they respect the start values.
    bool load(std::vector<DominanceValue> values);
    bool is_below_fallback() const;
    // Lowers values until every transition is answered, at most so many times round; whether any changed.
    bool run(std::uint64_t rounds, BudgetWatch& watch, std::size_t all_bytes, LimitHit& limit);
    // Minus the distances by tau moves: a dominance function that needs no fixed point.
    void fall_back();
    // D(s,t) becomes at least D(s,x) + D(x,t) for all x, which keeps a fixed point one.
    void close(BudgetWatch& watch, LimitHit& limit);

  private:
    struct Incoming {
        GroupId group;
        std::int32_t target;
        std::vector<std::int32_t> sources;
        bool is_dirty = false;
    };
    std::size_t at(std::int32_t s, std::int32_t t) const {
        return static_cast<std::size_t>(s) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(t);
    }
    void push(std::int32_t target);
    void process(std::int32_t target);
    void answer_row(const DominanceValue* values, const Answers& answers, DominanceValue* row) const;
    void move_first(DominanceValue* row) const;
    void lower(std::int32_t s, const DominanceValue* row, DominanceValue bonus);

    const FactoredTask& task_;
    const Factor& factor_;
    std::int32_t size_;
    std::vector<DominanceValue> values_, floor_;  // by s * size + t
    std::vector<TauEdge> tau_;
    std::vector<std::vector<std::pair<std::int32_t, Cost>>> tau_into_;
    std::vector<std::vector<std::int32_t>> group_from_, group_to_;
    std::vector<std::vector<Answers>> ways_;  // by group
    std::vector<Incoming> incoming_;
    std::vector<std::vector<std::size_t>> incoming_of_target_, incoming_of_group_;
    std::vector<std::int32_t> queue_;
    std::vector<std::uint8_t> is_queued_, is_row_dirty_;
    std::vector<DominanceValue> row_, best_;
    DominanceValue truncation_ = kTruncation;
    bool changed_ = false, was_truncated_ = false;
    std::uint64_t work_ = 0;
};

// D^L(l, l') for all groups of a factor, by group * groups + group: the worst over transitions of one of the
// best of the other from the same state.
std::vector<DominanceValue> label_values(const Factor& factor, const std::vector<DominanceValue>& values);

}  // namespace misstep
