// Algorithm 2 of Eisenhut et al. (2023): states that differ from t in one variable and that D relates to it.
#include "dominance/dominance.hpp"
#include "util/rng.hpp"

namespace misstep {

std::vector<Morph> Dominance::morph(const Word* t, std::size_t most, std::uint64_t seed) const {
    std::vector<std::int32_t> values(static_cast<std::size_t>(space_.task.num_variables()));
    space_.packer.unpack(t, values.data());
    std::vector<std::int32_t> of_s(num_factors()), of_t(num_factors());
    project(t, of_t.data());
    std::vector<Morph> found;
    Morph morph{std::vector<Word>(space_.num_words()), kNever};
    for (std::size_t var = 0; var < values.size(); ++var) {
        const std::int32_t own = values[var];
        for (std::int32_t value = 0; value < space_.task.variables[var].domain_size(); ++value) {
            if (value == own) continue;
            values[var] = value;
            space_.packer.pack(values.data(), morph.state.data());
            project(morph.state.data(), of_s.data());
            morph.value = this->value(of_s.data(), of_t.data());
            if (morph.value != kNever) found.push_back(morph);
        }
        values[var] = own;
    }
    Rng rng(seed);
    rng.shuffle(found);
    if (found.size() > most) found.resize(most);
    return found;
}

}  // namespace misstep
