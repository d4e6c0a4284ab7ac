#include "state/packer.hpp"

#include <algorithm>
#include <bit>

namespace misstep {

StatePacker::StatePacker(const Task& task) : variables_(task.variables.size()) {
    std::vector<int> order(task.variables.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    auto bits_of = [&task](int var) {
        return std::bit_width(static_cast<unsigned>(task.variables[var].domain_size() - 1));
    };
    // First fit, widest first: close to optimal, as widths are small.
    std::ranges::stable_sort(order, [&](int a, int b) { return bits_of(a) > bits_of(b); });
    std::vector<int> used;
    std::vector<std::size_t> first_candidate(33, 0);  // words before it have too few bits left for this width
    for (int var : order) {
        int bits = bits_of(var);
        std::size_t& word = first_candidate[bits];
        while (word < used.size() && used[word] + bits > 32) ++word;
        if (word == used.size()) used.push_back(0);
        variables_[var] = {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(used[word] & 31),
                           bits == 0 ? 0 : (~Word{0} >> (32 - bits))};
        used[word] += bits;
    }
    num_words_ = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(used.size()));
}

void StatePacker::pack(const std::int32_t* values, Word* state) const {
    std::fill_n(state, num_words_, Word{0});
    for (std::size_t var = 0; var < variables_.size(); ++var)
        state[variables_[var].word] |= static_cast<Word>(values[var]) << variables_[var].shift;
}

std::vector<WordCondition> StatePacker::condition(std::span<const Fact> facts) const {
    std::vector<WordCondition> result;
    for (Fact fact : facts) {
        const PackedVariable& v = variables_[fact.var];
        auto entry = std::ranges::find(result, v.word, &WordCondition::word);
        if (entry == result.end()) entry = result.insert(result.end(), WordCondition{v.word, 0, 0});
        entry->mask |= v.mask << v.shift;
        entry->bits |= static_cast<Word>(fact.value) << v.shift;
    }
    return result;
}

}  // namespace misstep
