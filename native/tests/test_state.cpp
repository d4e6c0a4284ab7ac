// Packing, registry and successor generator against their plain definitions.
#include <algorithm>
#include <map>

#include "state/registry.hpp"
#include "state/successor_generator.hpp"
#include "tests/check.hpp"
#include "util/rng.hpp"

using namespace misstep;

namespace {

Task random_task(Rng& rng) {
    Task task;
    int num_variables = 1 + static_cast<int>(rng.below(12));
    for (int var = 0; var < num_variables; ++var) {
        int size = 1 + static_cast<int>(rng.below(rng.below(4) == 0 ? 300 : 5));
        Variable variable{"v", {}};
        for (int value = 0; value < size; ++value)
            variable.values.push_back("(f " + std::to_string(var) + " " + std::to_string(value) + ")");
        task.variables.push_back(std::move(variable));
        task.initial.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(size))));
    }
    for (std::uint64_t a = rng.below(30); a > 0; --a) {
        Action action{"(a)", {}, {}, 1};
        for (int var = 0; var < num_variables; ++var) {
            auto value = [&] {
                return static_cast<std::int32_t>(rng.below(
                    static_cast<std::uint64_t>(task.variables[static_cast<std::size_t>(var)].domain_size())));
            };
            if (rng.below(3) == 0) action.precondition.push_back({var, value()});
            if (rng.below(3) == 0) action.effect.push_back({var, value()});
        }
        task.actions.push_back(std::move(action));
    }
    return task;
}

std::vector<std::int32_t> random_values(const Task& task, Rng& rng) {
    std::vector<std::int32_t> values;
    for (const Variable& variable : task.variables)
        values.push_back(
            static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(variable.domain_size()))));
    return values;
}

}  // namespace

TEST(packing_keeps_every_value) {
    Rng rng(1);
    for (int i = 0; i < 300; ++i) {
        Task task = random_task(rng);
        StatePacker packer(task);
        std::vector<std::int32_t> values = random_values(task, rng), back(values.size());
        std::vector<Word> words(packer.num_words());
        packer.pack(values.data(), words.data());
        packer.unpack(words.data(), back.data());
        CHECK(values == back);
    }
}

TEST(successors_follow_the_definition) {
    Rng rng(2);
    for (int i = 0; i < 300; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        std::vector<Word> words(space.num_words()), next(space.num_words());
        for (int k = 0; k < 10; ++k) {
            std::vector<std::int32_t> values = random_values(task, rng);
            space.packer.pack(values.data(), words.data());
            std::vector<ActionId> found, expected;
            space.generator.applicable(words.data(), found);
            for (ActionId a = 0; a < task.actions.size(); ++a) {
                bool holds_all = std::ranges::all_of(task.actions[a].precondition, [&](Fact f) {
                    return values[static_cast<std::size_t>(f.var)] == f.value;
                });
                if (holds_all) expected.push_back(a);
                CHECK(space.generator.is_applicable(words.data(), a) == holds_all);
            }
            std::ranges::sort(found);
            CHECK(found == expected);
            for (ActionId a : found) {
                std::vector<std::int32_t> after = values, back(values.size());
                for (Fact f : task.actions[a].effect) after[static_cast<std::size_t>(f.var)] = f.value;
                space.generator.apply(words.data(), a, next.data());
                space.packer.unpack(next.data(), back.data());
                CHECK(back == after);
            }
        }
    }
}

TEST(registry_gives_every_state_one_id) {
    Rng rng(3);
    for (std::uint32_t num_words : {1u, 2u, 3u, 7u}) {
        StateRegistry registry(num_words, 1);
        std::map<std::vector<Word>, StateId> known;
        for (int i = 0; i < 20000; ++i) {
            std::vector<Word> state(num_words);
            for (Word& word : state) word = static_cast<Word>(rng.below(30));
            auto [id, is_new] = registry.insert(state.data());
            auto [entry, added] = known.try_emplace(state, id);
            CHECK(is_new == added && entry->second == id);
            *registry.extra(id) = id;
        }
        CHECK(registry.size() == known.size());
        for (const auto& [state, id] : known) {
            CHECK(registry.find(state.data()) == id);
            CHECK(std::equal(state.begin(), state.end(), registry.state(id)));
            CHECK(*registry.extra(id) == id);
        }
    }
}
