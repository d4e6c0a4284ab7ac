// Reading and writing tasks, and what h^2 says of random ones against what can be reached.
#include <string>

#include "fdr/h2.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

// A light that is switched on with a key in the hand.
const std::string kSas =
    "begin_version\n3\nend_version\nbegin_metric\n1\nend_metric\n2\n"
    "begin_variable\nvar0\n-1\n2\nAtom lit(lamp, hall)\nNegatedAtom lit(lamp, hall)\nend_variable\n"
    "begin_variable\nvar1\n-1\n2\nAtom held(key)\n<none of those>\nend_variable\n"
    "0\nbegin_state\n1\n1\nend_state\nbegin_goal\n1\n0 0\nend_goal\n2\n"
    "begin_operator\ntake key\n0\n1\n0 1 1 0\n2\nend_operator\n"
    "begin_operator\nswitch lamp hall\n1\n1 0\n1\n0 0 -1 0\n5\nend_operator\n0\n";

std::string with(std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
}

bool same(const Task& a, const Task& b) {
    bool equal = a.initial == b.initial && a.goal == b.goal && a.has_metric == b.has_metric &&
                 a.variables.size() == b.variables.size() && a.actions.size() == b.actions.size();
    for (std::size_t i = 0; equal && i < a.variables.size(); ++i)
        equal = a.variables[i].name == b.variables[i].name && a.variables[i].values == b.variables[i].values;
    for (std::size_t i = 0; equal && i < a.actions.size(); ++i)
        equal = a.actions[i].name == b.actions[i].name && a.actions[i].cost == b.actions[i].cost &&
                a.actions[i].precondition == b.actions[i].precondition &&
                a.actions[i].effect == b.actions[i].effect;
    return equal;
}

}  // namespace

TEST(sas_files_become_tasks) {
    Task task = parse_sas(kSas, "light.sas");
    CHECK(task.num_variables() == 2 && task.num_actions() == 2 && task.has_metric);
    CHECK(task.variables[0].values == std::vector<std::string>({"(lit lamp hall)", "(not (lit lamp hall))"}));
    CHECK(task.variables[1].values == std::vector<std::string>({"(held key)", ""}));
    CHECK(task.initial == Values({1, 1}) && task.goal == std::vector<Fact>({{0, 0}}));
    CHECK(task.actions[0].name == "(take key)" && task.actions[0].cost == 2);
    CHECK(task.actions[1].precondition == std::vector<Fact>({{1, 0}}));
    CHECK(task.actions[1].effect == std::vector<Fact>({{0, 0}}) && task.min_action_cost() == 2);
    CHECK(same(parse_sas(write_sas(task), "again"), task));
}

TEST(written_tasks_read_back_the_same) {
    Rng rng(31);
    for (int i = 0; i < 200; ++i) {
        Task task = random_task(rng);
        CHECK(same(parse_sas(write_sas(task), "written"), task));
    }
}

// Values without an atom, atoms that differ in case only, and two actions of one name.
TEST(names_tell_values_and_actions_apart) {
    const Task light = parse_sas(kSas, "light.sas");
    Task task =
        parse_sas(with(with(kSas, "Atom lit(lamp, hall)", "red"), "Atom held(key)", "Atom Held(KEY )"), "x");
    CHECK(task.variables[0].values == std::vector<std::string>({"", "(value 0 1)"}));
    CHECK(task.variables[1].values == std::vector<std::string>({"(held key)", ""}));
    CHECK(same(parse_sas(write_sas(task), "again"), task));
    task = parse_sas(with(kSas, "NegatedAtom lit(lamp, hall)", "Atom LIT(lamp hall)"), "x");
    CHECK(task.variables[0].values == std::vector<std::string>({"(lit lamp hall)", "(value 0 1)"}));
    CHECK_THROWS(InputError, parse_sas(with(with(kSas, "NegatedAtom lit(lamp, hall)", "Atom LIT(lamp hall)"),
                                            "Atom held(key)", "Atom value(0, 1)"),
                                       "x"));
    // Switching needs the key, taking it needs that it is not held: never both, so they may share a name.
    task = parse_sas(with(kSas, "switch lamp hall", "take key"), "x");
    CHECK(task.actions[0].name == "(take key)" && task.actions[1].name == "(take key)");
    task = parse_sas(with(with(kSas, "switch lamp hall", "take key"), "1\n1 0\n1\n0 0", "0\n1\n0 0"), "x");
    CHECK(task.actions[0].name == "(take key)" && task.actions[1].name == "(take key #1)");
    CHECK(same(parse_sas(write_sas(task), "again"), task) && !same(task, light));
}

TEST(malformed_files_are_refused_with_their_line) {
    CHECK_THROWS_SAYING(InputError, "light.sas:2", parse_sas(with(kSas, "\n3\n", "\n4\n"), "light.sas"));
    CHECK_THROWS_SAYING(InputError, "light.sas:24",
                        parse_sas(with(kSas, "begin_state\n1\n", "begin_state\n7\n"), "light.sas"));
    CHECK_THROWS_SAYING(InputError, "light.sas:", parse_sas(kSas.substr(0, kSas.size() / 2), "light.sas"));
    CHECK_THROWS(UnsupportedFeature, parse_sas(kSas.substr(0, kSas.size() - 2) + "1\n", "light.sas"));
    CHECK_THROWS(UnsupportedFeature,
                 parse_sas(with(kSas, "\n0 0 -1 0\n5", "\n1 1 0 0 -1 0\n5"), "light.sas"));
    // Every prefix that ends before the last line is an error, never a crash.
    for (std::size_t length = 0; length + 2 < kSas.size(); length += 7)
        CHECK_THROWS(InputError, parse_sas(kSas.substr(0, length), "cut"));
}

TEST(h2_keeps_all_that_is_reachable) {
    Rng rng(32);
    int pairs_ruled_out = 0;
    for (int i = 0; i < 150; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        H2Reachability h2 = h2_reachability(task, unlimited());
        for (std::size_t s = 0; s < whole.size(); ++s) {
            if (!whole.is_reachable(s)) continue;
            const Values& values = whole.values(s);
            for (int p = 0; p < task.num_variables(); ++p)
                for (int q = 0; q < task.num_variables(); ++q)
                    CHECK(h2.together({p, values[static_cast<std::size_t>(p)]},
                                      {q, values[static_cast<std::size_t>(q)]}));
            for (ActionId a = 0; a < task.actions.size(); ++a)
                if (whole.is_applicable(s, a)) CHECK(h2.actions[a]);
        }
        for (int p = 0; p < task.num_variables(); ++p)
            for (int value = 0; value < task.variables[static_cast<std::size_t>(p)].domain_size(); ++value)
                pairs_ruled_out += !h2.together({0, task.initial[0]}, {p, value});
    }
    CHECK(pairs_ruled_out > 150);
}

// Two switches of which each can only be turned on while the other is off: never both.
TEST(h2_finds_mutexes_between_variables) {
    Task task;
    task.variables = {{"a", {"(off a)", "(on a)"}}, {"b", {"(off b)", "(on b)"}}};
    task.actions = {{"(on a)", {{0, 0}, {1, 0}}, {{0, 1}}, 1},
                    {"(on b)", {{0, 0}, {1, 0}}, {{1, 1}}, 1},
                    {"(both)", {{0, 1}, {1, 1}}, {{0, 0}, {1, 0}}, 1}};
    task.initial = {0, 0};
    task.goal = {{0, 1}};
    H2Reachability h2 = h2_reachability(task, unlimited());
    CHECK(!h2.together({0, 1}, {1, 1}) && h2.together({0, 1}, {1, 0}) && h2.together({0, 1}, {0, 1}));
    CHECK(h2.actions == std::vector<bool>({true, true, false}));
    CHECK(pruned(task, h2).actions.size() == 2);
}

TEST(pruning_keeps_reachable_states_and_costs) {
    Rng rng(33);
    int smaller = 0;
    for (int i = 0; i < 150; ++i) {
        Task task = random_task(rng);
        Task less = pruned(task, h2_reachability(task, unlimited()));
        StateSpace space(task), less_space(less);
        WholeSpace whole(space), less_whole(less_space);
        auto reachable = [](const WholeSpace& states) {
            std::size_t count = 0;
            for (std::size_t s = 0; s < states.size(); ++s) count += states.is_reachable(s);
            return count;
        };
        CHECK(reachable(whole) == reachable(less_whole));
        CHECK(whole.goal_cost(whole.initial()) == less_whole.goal_cost(less_whole.initial()));
        smaller += less_whole.size() < whole.size();
    }
    CHECK(smaller > 20);
}
