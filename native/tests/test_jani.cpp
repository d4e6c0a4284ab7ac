// Models and expressions against plain functions that mean the same.
#include <cmath>
#include <map>
#include <set>

#include "jani/distance.hpp"
#include "jani/explore.hpp"
#include "jani/interval.hpp"
#include "jani/sample.hpp"
#include "tests/check.hpp"
#include "tests/jani_models.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kModels = 100;

std::vector<Point> all_points() {
    std::vector<Point> points;
    for (std::int64_t x = kLowest; x <= kHighest; ++x)
        for (std::int64_t y = kLowest; y <= kHighest; ++y) points.push_back({x, y});
    return points;
}

// A model's two variables in a frame.
class Variables {
  public:
    explicit Variables(const jani::Model& model)
        : slots_{model.find_variable("x")->slot, model.find_variable("y")->slot} {}
    void write(Point p, jani::Value* frame) const {
        for (std::size_t i = 0; i < 2; ++i) frame[slots_[i]] = jani::make(p[i]);
    }
    Point read(const jani::Value* frame) const { return {frame[slots_[0]].i, frame[slots_[1]].i}; }
    const std::array<std::uint32_t, 2>& slots() const { return slots_; }

  private:
    std::array<std::uint32_t, 2> slots_;
};

using Moves = std::map<std::uint32_t, std::set<Point>>;  // by label

Moves plain_moves(const PlainModel& model, Point from) {
    Moves moves;
    for (const PlainModel::Edge& edge : model.edges)
        if (edge.guard.value(from) != 0)
            for (const auto& outcome : edge.outcomes)
                moves[edge.label].insert({outcome[0].value(from), outcome[1].value(from)});
    return moves;
}

}  // namespace

TEST(json_reads_what_it_should_and_says_where_it_cannot) {
    jani::Json json = jani::parse_json(R"({"a": [1, -2.5e2, true, null, "q\u00e9\n"], "b": {}})", "f");
    const auto& items = json.find("a")->items;
    CHECK(items.size() == 5 && items[0].integer == 1 && items[1].real == -250 && items[2].boolean);
    CHECK(items[3].is(jani::Json::Kind::null) && items[4].string == "q\xc3\xa9\n");
    CHECK(json.find("b")->members.empty() && json.find("c") == nullptr);
    for (const char* wrong : {"", "{", "[1,]", "01", "1.", "{\"a\": 1, \"a\": 2}", "\"\\x\"", "tru", "[1] 2"})
        CHECK_THROWS_SAYING(InputError, "f:1:", jani::parse_json(wrong, "f"));
    CHECK_THROWS_SAYING(InputError, "f:3:2", jani::parse_json("[\n1,\n x]", "f"));
    CHECK_THROWS(InputError, jani::parse_json(std::string(100'000, '['), "f"));
    CHECK(jani::Path("f").member("a").item(3).text().find("a[3]") != std::string::npos);
}

TEST(compiled_expressions_mean_what_they_say) {
    Rng rng(101);
    auto model = load(random_model(rng).json);
    Variables variables(*model);
    for (int i = 0; i < 300; ++i) {
        Formula truth = random_truth(rng, 4), number = random_number(rng, 4);
        const jani::Expr* e = condition(*model, truth.json);
        jani::Json json = jani::parse_json(number.json, "number");
        const jani::Expr* n = model->reader.scalar(json, jani::Path("number"), model->globals);
        jani::Program program = model->program;
        const std::uint32_t code = program.compile_condition(e);
        const jani::Source source = program.compile_value(n);
        std::vector<jani::Value> frame = program.frame();
        for (Point p : all_points()) {
            variables.write(p, frame.data());
            CHECK(program.test(code, frame.data()) == (truth.value(p) != 0));
            CHECK(program.eval(source, frame.data()).i == number.value(p));
        }
    }
}

TEST(intervals_enclose_all_values_and_distances_are_zero_just_where_a_condition_holds) {
    Rng rng(102);
    auto model = load(random_model(rng).json);
    Variables variables(*model);
    for (int i = 0; i < 200; ++i) {
        Formula truth = random_truth(rng, 3);
        const jani::Expr* e = condition(*model, truth.json);
        const jani::Interval all = jani::enclose(e, jani::domains(*model));
        jani::Program program = model->program;
        jani::Distance distance(*model, program, e, 1e-5, i % 2 == 0);
        std::vector<jani::Value> frame = program.frame();
        for (Point p : all_points()) {
            const double value = static_cast<double>(truth.value(p));
            CHECK(all.lower <= value && value <= all.upper);
            std::vector<jani::Interval> exact = jani::domains(*model);
            for (std::size_t k = 0; k < 2; ++k) {
                const double number = static_cast<double>(p[k]);
                exact[variables.slots()[k]] = {number, number};
            }
            const jani::Interval here = jani::enclose(e, exact);
            CHECK(here.lower <= value && value <= here.upper);
            variables.write(p, frame.data());
            CHECK((distance(frame.data()) == 0) == (value != 0));
        }
    }
}

TEST(distances_are_those_of_the_paper) {
    auto model = load(PlainModel({}).json);
    Variables variables(*model);
    auto distance = [&](const std::string& json, Point p) {
        jani::Program program = model->program;
        jani::Distance function(*model, program, condition(*model, json), 1e-5, false);
        std::vector<jani::Value> frame = program.frame();
        variables.write(p, frame.data());
        return function(frame.data());
    };
    const std::string less = R"({"op": "<", "left": "x", "right": 1})";
    const std::string equal = R"({"op": "=", "left": "y", "right": 4})";
    CHECK(distance(less, {4, 0}) == 4 && distance(less, {0, 0}) == 0);
    CHECK(distance(equal, {0, -3}) == 7 && distance(R"({"op": "≠", "left": "y", "right": 4})", {0, 4}) == 1);
    CHECK(distance(R"({"op": "∧", "left": )" + less + R"(, "right": )" + equal + "}", {4, 1}) == 7);
    CHECK(distance(R"({"op": "∨", "left": )" + less + R"(, "right": )" + equal + "}", {4, 1}) == 3);
    CHECK(distance(R"({"op": "¬", "exp": )" + less + "}", {-3, 1}) == 4);
}

TEST(successors_are_those_of_the_edges) {
    Rng rng(103);
    std::uint64_t states = 0;
    for (int i = 0; i < kModels; ++i) {
        PlainModel plain = random_model(rng);
        auto model = load(plain.json);
        Variables variables(*model);
        jani::Successors successors(model);
        std::set<Point> reached{{0, 1}}, open{{0, 1}};
        while (!open.empty()) {
            Point p = open.extract(open.begin()).value();
            for (const auto& [label, outcomes] : plain_moves(plain, p))
                for (Point q : outcomes)
                    if (reached.insert(q).second) open.insert(q);
        }
        jani::Counts counts = jani::explore(successors, 1'000'000, unlimited());
        CHECK(counts.states == reached.size() && counts.expanded == reached.size());
        std::uint64_t deadlocks = 0;
        for (std::uint32_t s = 0; s < counts.states; ++s) {
            Point from = variables.read(successors.load(s));
            CHECK(reached.contains(from));
            successors.expand(s);
            Moves moves;
            for (const jani::Choice& choice : successors.choices())
                for (std::uint32_t k = choice.first; k < choice.last; ++k)
                    moves[choice.label].insert(variables.read(successors.load(successors.outcomes()[k])));
            CHECK(moves == plain_moves(plain, from));
            deadlocks += moves.empty();
        }
        CHECK(counts.deadlocks == deadlocks);
        states += counts.states;
    }
    CHECK(states > 500);
}

TEST(sampled_states_satisfy_the_condition_and_are_distinct) {
    Rng rng(104);
    for (int i = 0; i < kModels; ++i) {
        auto model = load(random_model(rng).json);
        Variables variables(*model);
        Formula truth = random_truth(rng, 2);
        std::size_t satisfying = 0;
        for (Point p : all_points()) satisfying += truth.value(p) != 0;
        jani::Successors successors(model);
        const jani::Expr* e = condition(*model, truth.json);
        const std::uint32_t code = successors.program().compile_condition(e);
        std::vector<std::uint32_t> states =
            jani::sample_states(successors, e, code, 5, rng.next(), 100'000, unlimited());
        std::set<Point> points;
        for (std::uint32_t s : states) {
            Point p = variables.read(successors.load(s));
            CHECK(truth.value(p) != 0 && points.insert(p).second);
        }
        CHECK(states.size() <= 5 && states.empty() == (satisfying == 0));
    }
}

TEST(states_are_packed_without_loss_and_stored_once) {
    Rng rng(105);
    for (int i = 0; i < 100; ++i) {
        jani::Layout layout;
        std::vector<std::pair<std::int64_t, std::int64_t>> bounds;
        for (std::uint32_t slot = 0; slot < 12; ++slot) {
            const std::int64_t lower = static_cast<std::int64_t>(rng.below(2000)) - 1000;
            bounds.emplace_back(lower, lower + static_cast<std::int64_t>(rng.below(1 << rng.below(20))));
            if (slot % 4 == 3)
                layout.add_whole_integer(slot);
            else if (slot % 4 == 2)
                layout.add_real(slot);
            else
                layout.add_integer(slot, bounds.back().first, bounds.back().second);
        }
        jani::Registry registry(layout.words());
        std::vector<jani::Value> frame(12), back(12);
        std::vector<std::uint64_t> words(layout.words());
        for (std::uint32_t n = 0; n < 50; ++n) {
            for (std::size_t slot = 0; slot < 12; ++slot) {
                const auto [lower, upper] = bounds[slot];
                const auto range = static_cast<std::uint64_t>(upper - lower) + 1;
                frame[slot] = jani::make(lower + static_cast<std::int64_t>(rng.below(range)));
                if (slot % 4 == 2) frame[slot] = jani::make(rng.uniform() - 0.5);
            }
            frame[3] = jani::make(static_cast<std::int64_t>(n) - 25);  // makes each state another one
            layout.pack(frame.data(), words.data());
            layout.unpack(words.data(), back.data());
            for (std::size_t slot = 0; slot < 12; ++slot) CHECK(frame[slot].i == back[slot].i);
            bool added = false, again = true;
            const std::uint32_t id = registry.insert(words.data(), added);
            CHECK(added && id == n && registry.insert(words.data(), again) == n && !again);
        }
    }
}

TEST(models_with_mistakes_are_refused_with_their_place) {
    auto broken = [](std::string old, std::string by) {
        PlainModel plain({{0, {"true", {}}, {{Formula{"1", {}}, Formula{"1", {}}}}}});
        return plain.json.replace(plain.json.find(old), old.size(), by);
    };
    CHECK_THROWS_SAYING(InputError, "automata[0].edges[0]",
                        load(broken(R"("ref": "x")", R"("ref": "unknown")")));
    CHECK_THROWS_SAYING(InputError, "small.jani", load(broken(R"("exp": true)", R"("exp": 3)")));
    CHECK_THROWS(InputError, load(broken(R"("automaton": "one")", R"("automaton": "two")")));
    CHECK_THROWS(UnsupportedFeature, load(broken(R"("type": "mdp")", R"("type": "ma")")));
    auto model = load(broken(R"("value": 1})", R"("value": 9})"));
    jani::Successors successors(model);
    CHECK_THROWS(InputError, jani::explore(successors, 100, unlimited()));
}
