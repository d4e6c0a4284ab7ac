// From the JSON of a model to Model: automata, edges, synchronisation.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "jani/declarations.hpp"
#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

class Loader : private Declarations {
  public:
    Loader(Model& model, const std::string& file) : Declarations(model, file) {}

    void load() {
        if (!json_.is(Json::Kind::object)) root_.fail("a JANI model is a JSON object");
        if (const Json* name = json_.find("name"); name && name->is(Json::Kind::string))
            m_.name = name->string;
        check_type();
        actions();
        constants();
        functions(json_, root_, m_.globals);
        variables(json_, root_, m_.globals, "");
        system();
        m_.restrict_initial = m_.pool.constant(Type::boolean, make(std::int64_t{1}));
        restrict(json_, root_, m_.globals);
        for (std::size_t i = 0; i < automata_.size(); ++i) instance_body(i);
        synchronise();
        m_.initial_condition = m_.program.compile_condition(m_.restrict_initial);
        m_.reads_transient = m_.reader.reads_transient;
    }

  private:
    void check_type() {
        m_.type = root_.string(json_, "type");
        static const std::set<std::string> plain = {"lts", "mdp", "dtmc"};
        static const std::set<std::string> rates = {"ma", "ctmc", "ctmdp"};
        if (rates.contains(m_.type) && !m_.options.ignore_rates)
            root_.member("type").unsupported(
                "type '" + m_.type + "' has rates; ask for them to be ignored to read it as non-determinism");
        if (!plain.contains(m_.type) && !rates.contains(m_.type))
            root_.member("type").unsupported("model type '" + m_.type + "' (known: lts, mdp, dtmc)");
        for (const Json& feature : root_.array(json_, "features").items)
            if (feature.is(Json::Kind::string) &&
                (feature.string == "datatypes" || feature.string == "named-expressions"))
                root_.member("features").unsupported("feature '" + feature.string + "'");
    }

    void system() {
        const Json& system = root_.need(json_, "system");
        Path path = root_.member("system");
        const Json& elements = path.array(system, "elements");
        if (elements.items.empty()) path.fail("the system has no elements");
        const Json& automata = root_.array(json_, "automata");
        std::map<std::string, int> copies, seen;
        for (const Json& element : elements.items)
            ++copies[path.member("elements").string(element, "automaton")];
        m_.locals.resize(elements.items.size());
        for (std::size_t i = 0; i < elements.items.size(); ++i) {
            Path at = path.member("elements").item(i);
            if (!at.array(elements.items[i], "input-enable").items.empty()) at.unsupported("input-enable");
            std::string name = at.string(elements.items[i], "automaton");
            std::size_t k = 0;
            while (k < automata.items.size() &&
                   root_.member("automata").item(k).string(automata.items[k], "name") != name)
                ++k;
            if (k == automata.items.size()) at.fail("unknown automaton '" + name + "'");
            automata_.push_back({&automata.items[k], k});
            Instance in;
            in.automaton = name;
            in.name = copies[name] == 1 ? name : name + "[" + std::to_string(seen[name]++) + "]";
            m_.locals[i].parent = &m_.globals;
            declare_instance(in, m_.locals[i], automata.items[k], root_.member("automata").item(k));
            m_.instances.push_back(std::move(in));
        }
    }

    void declare_instance(Instance& in, Scope& scope, const Json& automaton, const Path& path) {
        const Json& locations = path.array(automaton, "locations");
        for (std::size_t i = 0; i < locations.items.size(); ++i) {
            Path at = path.member("locations").item(i);
            in.locations.push_back(at.string(locations.items[i], "name"));
            if (locations.items[i].find("time-progress")) at.unsupported("time-progress");
        }
        const Json& initial = path.array(automaton, "initial-locations");
        for (std::size_t i = 0; i < initial.items.size(); ++i) {
            if (!initial.items[i].is(Json::Kind::string))
                path.member("initial-locations").item(i).fail("expected a string");
            in.initial_locations.push_back(
                location(in, initial.items[i].string, path.member("initial-locations").item(i)));
        }
        if (in.initial_locations.empty()) path.fail("the automaton has no initial location");
        in.slot = m_.program.reserve(1);
        in.field = static_cast<std::uint32_t>(m_.layout.fields().size());
        Value lower = make(std::int64_t{0}), upper = make(static_cast<std::int64_t>(in.locations.size()) - 1);
        m_.add_field(in.slot, Type::integer, &lower, &upper, in.name + "@location");
        functions(automaton, path, scope);
        variables(automaton, path, scope, in.name + ".");
    }

    void restrict(const Json& json, const Path& path, const Scope& scope) {
        const Json* restriction = json.find("restrict-initial");
        if (!restriction) return;
        Path at = path.member("restrict-initial");
        const Expr* e = m_.reader.boolean(at.need(*restriction, "exp"), at.member("exp"), scope);
        m_.restrict_initial = m_.pool.make(Op::logical_and, Type::boolean, {m_.restrict_initial, e});
    }

    void instance_body(std::size_t i) {
        Instance& in = m_.instances[i];
        const Json& automaton = *automata_[i].json;
        Path path = root_.member("automata");
        Path at = path.item(automata_[i].index);
        const Scope& scope = m_.locals[i];
        restrict(automaton, at, scope);
        transient_values(in, automaton, at, scope);
        in.by_action.resize(actions_.size() + 1);
        const Json& edges = at.array(automaton, "edges");
        Path list = at.member("edges");
        for (std::size_t k = 0; k < edges.items.size(); ++k) edge(in, edges.items[k], list.item(k), scope);
    }

    void transient_values(Instance& in, const Json& automaton, const Path& path, const Scope& scope) {
        const Json& locations = path.array(automaton, "locations");
        in.transient_values.resize(in.locations.size());
        for (std::size_t k = 0; k < locations.items.size(); ++k) {
            Path at = path.member("locations");
            Path location = at.item(k);
            const Json& values = location.array(locations.items[k], "transient-values");
            for (std::size_t j = 0; j < values.items.size(); ++j) {
                Path list = location.member("transient-values");
                Path value = list.item(j);
                const Json& ref = value.need(values.items[j], "ref");
                const Symbol* symbol = ref.is(Json::Kind::string) ? scope.find(ref.string) : nullptr;
                if (!symbol || !symbol->transient) value.member("ref").fail("expected a transient variable");
                if (!symbol->shape.lengths.empty()) value.member("ref").unsupported("a transient array");
                bool before = m_.reader.reads_transient;
                const Expr* e = m_.reader.typed(value.need(values.items[j], "value"), value.member("value"),
                                                scope, symbol->shape.type);
                m_.reader.reads_transient = before;
                in.transient_values[k].emplace_back(symbol->slot, m_.program.compile_value(e));
            }
        }
    }

    void edge(Instance& in, const Json& json, const Path& path, const Scope& scope) {
        Edge e;
        e.location = location(in, path.string(json, "location"), path.member("location"));
        const Json* name = json.find("action");
        std::uint32_t label = silent();
        if (name && !name->is(Json::Kind::null))
            label = action(path.string(json, "action"), path.member("action"));
        if (json.find("rate") && !m_.options.ignore_rates) path.member("rate").unsupported("a rate");
        if (!path.array(json, "assignments").items.empty())
            path.member("assignments").unsupported("assignments of an edge rather than of a destination");
        const Expr* guard = m_.pool.constant(Type::boolean, make(std::int64_t{1}));
        if (const Json* g = json.find("guard")) {
            Path at = path.member("guard");
            guard = m_.reader.boolean(at.need(*g, "exp"), at.member("exp"), scope);
        }
        e.guarded = guard->op != Op::constant || guard->value.i == 0;
        e.guard = m_.program.compile_condition(guard);
        tests(guard, e);
        const Json& destinations = path.array(json, "destinations");
        if (destinations.items.empty()) path.fail("the edge has no destinations");
        Path list = path.member("destinations");
        for (std::size_t i = 0; i < destinations.items.size(); ++i)
            for (const Json& json : unfold(m_, destinations.items[i], list.item(i), scope))
                destination(in, e, json, list.item(i), scope);
        if (e.destinations.empty()) return;
        in.by_action[label].push_back(static_cast<std::uint32_t>(in.edges.size()));
        in.edges.push_back(std::move(e));
    }

    // Collects the conjuncts of the form `slot = constant` that a tree can branch on.
    void tests(const Expr* guard, Edge& e) const {
        if (guard->op == Op::logical_and) {
            tests(guard->args[0], e);
            tests(guard->args[1], e);
        } else if (guard->op == Op::equal && guard->args[0]->type == Type::integer) {
            const Expr *a = guard->args[0], *b = guard->args[1];
            if (a->op == Op::constant) std::swap(a, b);
            if (a->op == Op::slot && b->op == Op::constant && is_small(a->slot))
                e.tests.emplace_back(a->slot, b->value.i);
        } else if (guard->type == Type::boolean && guard->op == Op::slot && is_small(guard->slot)) {
            e.tests.emplace_back(guard->slot, 1);
        } else if (guard->op == Op::logical_not && guard->args[0]->op == Op::slot &&
                   is_small(guard->args[0]->slot)) {
            e.tests.emplace_back(guard->args[0]->slot, 0);
        }
    }

    bool is_small(std::uint32_t slot) const {
        if (slot >= m_.field_of_slot.size()) return false;
        std::uint32_t field = m_.field_of_slot[slot];
        if (m_.layout.fields()[field].slot != slot || !m_.field_bounded(field)) return false;
        return m_.field_type(field) != Type::real && m_.field_upper(field).i - m_.field_lower(field).i < 256;
    }

    void destination(const Instance& in, Edge& e, const Json& json, const Path& path, const Scope& scope) {
        Destination d;
        d.location = location(in, path.string(json, "location"), path.member("location"));
        d.certain = true;
        if (const Json* p = json.find("probability")) {
            Path at = path.member("probability");
            const Expr* probability =
                m_.reader.typed(at.need(*p, "exp"), at.member("exp"), scope, Type::real);
            if (probability->op == Op::constant) {
                if (probability->value.d < 0) at.fail("a negative probability");
                if (probability->value.d == 0 && !m_.options.keep_impossible) return;
                d.weight = probability->value.d;
            } else {
                d.certain = false;
                d.probability = m_.program.compile_value(probability);
            }
        }
        const Json& assignments = path.array(json, "assignments");
        Path list = path.member("assignments");
        // Transient variables are reset before assignments are evaluated: whoever reads one takes the long
        // way.
        const bool before = std::exchange(m_.reader.reads_transient, false);
        for (std::size_t i = 0; i < assignments.items.size(); ++i)
            assignment(d, assignments.items[i], list.item(i), scope);
        const bool reads_transient =
            std::exchange(m_.reader.reads_transient, before || m_.reader.reads_transient);
        std::stable_sort(d.assignments.begin(), d.assignments.end(),
                         [](const Assignment& a, const Assignment& b) { return a.order < b.order; });
        d.simple = !reads_transient &&
                   std::all_of(d.assignments.begin(), d.assignments.end(), [&](const Assignment& a) {
                       return a.length == 0 && !a.transient && a.order == d.assignments.front().order;
                   });
        e.destinations.push_back(std::move(d));
    }

    void assignment(Destination& d, const Json& json, const Path& path, const Scope& scope) {
        const Json& ref = path.need(json, "ref");
        Path at = path.member("ref");
        const Json* index = nullptr;
        const Json* target = &ref;
        if (ref.is(Json::Kind::object)) {
            if (at.string(ref, "op") != "aa") at.fail("expected a variable or an array access");
            target = &at.need(ref, "exp");
            index = &at.need(ref, "index");
        }
        if (!target->is(Json::Kind::string)) at.unsupported("assigning to an array inside an array");
        const Symbol* symbol = scope.find(target->string);
        if (!symbol || symbol->kind != Symbol::Kind::variable)
            at.fail("unknown variable '" + target->string + "'");
        const Shape& shape = symbol->shape;
        Assignment a{};
        a.order = 0;
        if (const Json* order = json.find("index")) {
            if (!order->is(Json::Kind::integer)) path.member("index").fail("expected an integer");
            a.order = order->integer;
        }
        a.transient = symbol->transient;
        a.type = shape.type;
        a.bounded = (shape.lower || shape.upper) && !a.transient;
        a.lower = shape.lower.value_or(shape.type == Type::real ? make(-infinity) : make(least));
        a.upper = shape.upper.value_or(shape.type == Type::real ? make(infinity) : make(most));
        m_.assignment_names.push_back(target->string + "' at " + path.text());
        a.name = &m_.assignment_names.back();
        const Json& value = path.need(json, "value");
        if (!index) {
            Cells cells = m_.reader.cells(value, path.member("value"), scope);
            if (cells.lengths != shape.lengths)
                path.member("value").fail("the value has another shape than the variable");
            for (std::uint32_t i = 0; i < cells.cells.size(); ++i)
                add(d, a, symbol->slot + i, convert(cells.cells[i], shape.type, path.member("value")));
            return;
        }
        if (shape.lengths.size() != 1) at.unsupported("assigning to a part of an array of arrays");
        const Expr* e =
            convert(m_.reader.scalar(value, path.member("value"), scope), shape.type, path.member("value"));
        const Expr* i = m_.reader.typed(*index, at.member("index"), scope, Type::integer);
        if (i->op == Op::constant && i->value.i >= 0 && i->value.i < shape.lengths[0])
            return add(d, a, symbol->slot + static_cast<std::uint32_t>(i->value.i), e);
        // One that is out of range is an error where it is carried out, not before.
        a.slot = symbol->slot;
        a.length = shape.lengths[0];
        a.index = m_.program.compile_value(i);
        a.value = m_.program.compile_value(e);
        d.assignments.push_back(a);
    }

    void add(Destination& d, Assignment a, std::uint32_t slot, const Expr* e) {
        a.slot = slot;
        a.field = a.transient ? 0 : m_.field_of_slot[slot];
        a.value = m_.program.compile_value(e);
        d.assignments.push_back(a);
    }

    const Expr* convert(const Expr* e, Type type, const Path& path) {
        if (type == Type::real) e = e->type == Type::integer ? m_.pool.as_real(e) : e;
        if (e->type != type) path.fail("the value has another type than the variable");
        return e;
    }

    std::uint32_t label(const std::string& name) {
        auto found = std::find(m_.labels.begin(), m_.labels.end(), name);
        if (found == m_.labels.end()) found = m_.labels.insert(m_.labels.end(), name);
        return static_cast<std::uint32_t>(found - m_.labels.begin());
    }

    void synchronise() {
        const Json& system = root_.need(json_, "system");
        Path path = root_.member("system");
        for (const auto& [name, id] : actions_) m_.labels.push_back(name);
        // Declared order, so that labels are numbered as the model lists them.
        for (const auto& [name, id] : actions_) m_.labels[id] = name;
        const Json* syncs = system.find("syncs");
        if (!syncs && m_.instances.size() == 1) {
            for (const auto& [name, id] : actions_) add_vector(label(name), {0}, {id});
        } else if (syncs) {
            if (!syncs->is(Json::Kind::array)) path.member("syncs").fail("expected an array");
            Path list = path.member("syncs");
            for (std::size_t i = 0; i < syncs->items.size(); ++i) sync(syncs->items[i], list.item(i));
        }
        for (std::uint32_t i = 0; i < m_.instances.size(); ++i)
            if (!m_.instances[i].by_action[silent()].empty()) add_vector(label(""), {i}, {silent()});
    }

    void sync(const Json& json, const Path& path) {
        const Json& entries = path.array(json, "synchronise");
        if (entries.items.size() != m_.instances.size())
            path.member("synchronise").fail("expected one entry per element of the system");
        std::vector<std::uint32_t> instances, actions;
        for (std::uint32_t i = 0; i < entries.items.size(); ++i) {
            if (entries.items[i].is(Json::Kind::null)) continue;
            if (!entries.items[i].is(Json::Kind::string))
                path.member("synchronise").item(i).fail("expected a string or null");
            instances.push_back(i);
            actions.push_back(action(entries.items[i].string, path.member("synchronise").item(i)));
        }
        if (instances.empty()) path.fail("the vector synchronises nothing");
        const Json* result = json.find("result");
        std::string name;
        if (result && !result->is(Json::Kind::null)) name = path.string(json, "result");
        add_vector(label(name), std::move(instances), actions);
    }

    void add_vector(std::uint32_t label, std::vector<std::uint32_t> instances,
                    const std::vector<std::uint32_t>& actions) {
        Vector vector{label, std::move(instances), {}};
        std::vector<const std::vector<std::uint32_t>*> edges;
        for (std::size_t i = 0; i < actions.size(); ++i) {
            edges.push_back(&m_.instances[vector.instances[i]].by_action[actions[i]]);
            if (edges.back()->empty()) return;
        }
        build_trees(m_, vector, edges);
        m_.vectors.push_back(std::move(vector));
    }

    struct Automaton {
        const Json* json;
        std::size_t index;
    };
    std::vector<Automaton> automata_;
};

}  // namespace

std::unique_ptr<Model> load_model(std::string_view text, const std::string& file, Options options) {
    auto model = std::make_unique<Model>();
    model->json = parse_json(text, file);
    model->options = std::move(options);
    Loader(*model, file).load();
    return model;
}

}  // namespace misstep::jani
