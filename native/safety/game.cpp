#include "safety/game.hpp"

#include <algorithm>

#include "util/error.hpp"

namespace misstep::safety {

void MoveSink::clear() {
    entries_.clear();
    outcomes_.clear();
    has_policy_ = false;
}

void MoveSink::begin(std::uint32_t label) {
    if (!entries_.empty()) entries_.back().last = static_cast<std::uint32_t>(outcomes_.size());
    entries_.push_back({label, static_cast<std::uint32_t>(outcomes_.size())});
}

void MoveSink::policy(std::uint32_t label) {
    policy_ = label;
    has_policy_ = true;
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

void Game::expand(StateId s) {
    sink_.clear();
    generate(s, sink_);
    auto& entries = sink_.entries_;
    if (!entries.empty()) entries.back().last = static_cast<std::uint32_t>(sink_.outcomes_.size());
    bool policy_first = false;
    if (sink_.has_policy_) {
        auto chosen = std::find_if(entries.begin(), entries.end(),
                                   [this](const auto& entry) { return entry.label == sink_.policy_; });
        if (chosen != entries.end()) {
            std::rotate(entries.begin(), chosen, chosen + 1);
            policy_first = true;
        }
    }
    std::size_t words = 1 + entries.size() + 2 * entries.size();
    for (auto& entry : entries) {
        auto first = sink_.outcomes_.begin() + entry.first;
        auto last = sink_.outcomes_.begin() + entry.last;
        std::sort(first, last);
        entry.last = static_cast<std::uint32_t>(std::unique(first, last) - sink_.outcomes_.begin());
        words += entry.last - entry.first;
    }
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
    if (expansions_.size() < leaves_.size()) expansions_.resize(leaves_.size(), nullptr);
    expansions_[s] = data;
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
    if (nodes_[s].has_policy) sink.policy(nodes_[s].policy);
}

}  // namespace misstep::safety
