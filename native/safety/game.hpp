// The game a decider plays: states that are expanded on demand, labelled moves, sets of outcomes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace misstep::safety {

using StateId = std::uint32_t;

// A radius without limit, and the value of a state from which unsafety cannot be avoided.
inline constexpr std::uint32_t infinite = 0xffffffffu;

// What is known of a state the moment it is generated. Unsafe is tested before goal (Definition 1).
enum class Leaf : std::uint8_t { none, unsafe, goal };

struct Move {
    std::uint32_t label;
    bool deviates;  // this is not what the policy would do
    std::span<const StateId> outcomes;
};

// The moves of one state; the policy's own move, where it is applicable, is the first.
class Moves {
  public:
    explicit Moves(const std::uint32_t* data) : data_(data) {}
    std::uint32_t size() const { return data_[0] >> 1; }
    bool policy_first() const { return (data_[0] & 1u) != 0; }
    Move operator[](std::uint32_t i) const {
        const std::uint32_t* move = data_ + data_[1 + i];
        return {move[0], !(i == 0 && policy_first()), {move + 2, move[1]}};
    }

  private:
    const std::uint32_t* data_;
};

// Collects the moves of a state while it is generated.
class MoveSink {
  public:
    void clear();
    void begin(std::uint32_t label);
    void outcome(StateId s) { outcomes_.push_back(s); }

  private:
    friend class Game;
    struct Entry {
        std::uint32_t label;
        std::uint32_t first;
        std::uint32_t last = 0;
    };
    std::vector<Entry> entries_;
    std::vector<StateId> outcomes_;
};

// Owns the expansions, at addresses that never move. Deciders share one game; each counts its own expansions.
// The policy is asked about a state when its moves are wanted in the policy's order, never before: with an
// infinite radius nobody needs to know what it would do.
class Game {
  public:
    virtual ~Game() = default;
    Game() = default;
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    Leaf leaf(StateId s) const { return leaves_[s]; }
    std::size_t size() const { return leaves_.size(); }
    // The policy's own move first, the others as it likes them.
    Moves moves(StateId s) {
        if (s >= ordered_.size() || !ordered_[s]) expand_ordered(s);
        return Moves(ordered_[s]);
    }
    // The same moves in an order that stays, whether or not the policy was asked; asks nobody.
    Moves plain_moves(StateId s) {
        if (s >= plain_.size() || !plain_[s]) expand_plain(s);
        return Moves(plain_[s]);
    }
    // h_u: an estimate of how far the state is from unsafety; 0 where nothing is known.
    virtual double distance(StateId) { return 0; }
    // How likely each outcome of a move of s is when a run is drawn; empty: all alike. What can happen, and
    // with it every verdict, does not depend on it.
    virtual void weights(StateId, const Move&, std::vector<double>& weights) { weights.clear(); }
    virtual std::size_t bytes() const {
        return words_ * 4 + leaves_.capacity() + (ordered_.capacity() + plain_.capacity()) * 8;
    }

  protected:
    // Adds the moves of s to the sink.
    virtual void generate(StateId s, MoveSink& sink) = 0;
    // Asks the policy: sorts the labels of s as it likes them, and says which one it takes; nothing where
    // there is no policy, or it takes none.
    virtual std::optional<std::uint32_t> ask(StateId s, std::vector<std::uint32_t>& labels) = 0;
    StateId add_state(Leaf leaf) {
        leaves_.push_back(leaf);
        return static_cast<StateId>(leaves_.size() - 1);
    }

  private:
    static constexpr std::size_t block_words = std::size_t{1} << 16;
    using Table = std::vector<const std::uint32_t*>;
    void expand_ordered(StateId s);
    void expand_plain(StateId s);
    void collect(StateId s);  // the moves of s into the sink, sorted and without repetitions
    bool order(StateId s);    // the moves in the sink; whether the first one is the policy's
    void store(Table& table, StateId s, bool policy_first);
    std::uint32_t* allocate(std::size_t words);

    std::vector<Leaf> leaves_;
    Table ordered_, plain_;
    std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
    std::size_t used_ = block_words;  // of the last block
    std::size_t words_ = 0;           // of all blocks
    MoveSink sink_;
    std::vector<std::uint32_t> labels_;
};

// A game given move by move, for tests and for games that do not come from JANI.
class ExplicitGame final : public Game {
  public:
    struct Choice {
        std::uint32_t label;
        std::vector<StateId> outcomes;
    };
    struct Node {
        std::vector<Choice> choices;
        bool unsafe = false;
        bool goal = false;
        bool has_policy = false;
        std::uint32_t policy = 0;
    };
    explicit ExplicitGame(std::vector<Node> nodes);

  protected:
    void generate(StateId s, MoveSink& sink) override;
    std::optional<std::uint32_t> ask(StateId s, std::vector<std::uint32_t>& labels) override;

  private:
    std::vector<Node> nodes_;
};

}  // namespace misstep::safety
