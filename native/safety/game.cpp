#include "safety/game.hpp"

#include <algorithm>

#include "util/error.hpp"

namespace misstep::safety {

void MoveSink::clear() {
    entries_.clear();
    outcomes_.clear();
}

void MoveSink::begin(std::uint32_t label) {
    if (!entries_.empty()) entries_.back().last = static_cast<std::uint32_t>(outcomes_.size());
    entries_.push_back({label, static_cast<std::uint32_t>(outcomes_.size())});
}

std::uint32_t* Game::allocate(std::size_t words) {
    if (words > block_words) {  // a block of its own, put before the one that is being filled
        auto block = std::make_unique<std::uint32_t[]>(words);
        std::uint32_t* data = block.get();
        words_ += words;
        blocks_.insert(blocks_.empty() ? blocks_.end() : blocks_.end() - 1, std::move(block));
        return data;
    }
    if (used_ + words > block_words || blocks_.empty()) {
        blocks_.push_back(std::make_unique<std::uint32_t[]>(block_words));
        used_ = 0;
        words_ += block_words;
    }
    std::uint32_t* data = blocks_.back().get() + used_;
    used_ += words;
    return data;
}

void Game::collect(StateId s) {
    sink_.clear();
    if (s < plain_.size() && plain_[s]) {  // known already, only not as the policy likes them
        Moves moves(plain_[s]);
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            sink_.begin(moves[i].label);
            for (StateId t : moves[i].outcomes) sink_.outcome(t);
        }
    } else {
        generate(s, sink_);
    }
    auto& entries = sink_.entries_;
    if (!entries.empty()) entries.back().last = static_cast<std::uint32_t>(sink_.outcomes_.size());
    for (auto& entry : entries) {
        auto first = sink_.outcomes_.begin() + entry.first;
        auto last = sink_.outcomes_.begin() + entry.last;
        std::sort(first, last);
        entry.last = static_cast<std::uint32_t>(std::unique(first, last) - sink_.outcomes_.begin());
    }
}

bool Game::order(StateId s) {
    auto& entries = sink_.entries_;
    labels_.clear();
    for (const auto& entry : entries) labels_.push_back(entry.label);
    const std::optional<std::uint32_t> chosen = ask(s, labels_);
    // What the policy takes comes first, whatever it thinks of the others.
    auto place = chosen ? std::find(labels_.begin(), labels_.end(), *chosen) : labels_.end();
    const bool is_move = place != labels_.end();
    if (is_move) std::rotate(labels_.begin(), place, place + 1);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        auto at = std::find_if(entries.begin() + static_cast<std::ptrdiff_t>(i), entries.end(),
                               [&](const auto& entry) { return entry.label == labels_[i]; });
        std::rotate(entries.begin() + static_cast<std::ptrdiff_t>(i), at, at + 1);
    }
    return is_move;
}

void Game::store(Table& table, StateId s, bool policy_first) {
    const auto& entries = sink_.entries_;
    std::size_t words = 1 + 3 * entries.size();
    for (const auto& entry : entries) words += entry.last - entry.first;
    std::uint32_t* data = allocate(words);
    data[0] = static_cast<std::uint32_t>(entries.size()) << 1 | (policy_first ? 1u : 0u);
    std::size_t at = 1 + entries.size();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        data[1 + i] = static_cast<std::uint32_t>(at);
        data[at] = entries[i].label;
        data[at + 1] = entries[i].last - entries[i].first;
        std::copy(sink_.outcomes_.begin() + entries[i].first, sink_.outcomes_.begin() + entries[i].last,
                  data + at + 2);
        at += 2 + data[at + 1];
    }
    if (table.size() < leaves_.size()) table.resize(leaves_.size(), nullptr);
    table[s] = data;
}

void Game::expand_ordered(StateId s) {
    collect(s);
    store(ordered_, s, order(s));
}

void Game::expand_plain(StateId s) {
    if (s < ordered_.size() && ordered_[s]) {
        if (plain_.size() < leaves_.size()) plain_.resize(leaves_.size(), nullptr);
        plain_[s] = ordered_[s];
        return;
    }
    collect(s);
    store(plain_, s, false);
}

ExplicitGame::ExplicitGame(std::vector<Node> nodes) : nodes_(std::move(nodes)) {
    for (const Node& node : nodes_) {
        add_state(node.unsafe ? Leaf::unsafe : node.goal ? Leaf::goal : Leaf::none);
        for (const Choice& choice : node.choices) {
            if (choice.outcomes.empty()) throw InputError("an action has no outcome");
            for (StateId t : choice.outcomes)
                if (t >= nodes_.size()) throw InputError("an outcome is not a state of the game");
        }
    }
}

void ExplicitGame::generate(StateId s, MoveSink& sink) {
    for (const Choice& choice : nodes_[s].choices) {
        sink.begin(choice.label);
        for (StateId t : choice.outcomes) sink.outcome(t);
    }
}

std::optional<std::uint32_t> ExplicitGame::ask(StateId s, std::vector<std::uint32_t>&) {
    return nodes_[s].has_policy ? std::optional(nodes_[s].policy) : std::nullopt;
}

}  // namespace misstep::safety
