#include "jani/model.hpp"

namespace misstep::jani {

const Variable* Model::find_variable(const std::string& name) const {
    for (const Variable& variable : variables)
        if (variable.name == name) return &variable;
    return nullptr;
}

void Model::add_field(std::uint32_t slot, Type type, const Value* lower, const Value* upper,
                      std::string name) {
    if (field_of_slot.size() <= slot) field_of_slot.resize(slot + 1, 0);
    field_of_slot[slot] = static_cast<std::uint32_t>(layout.fields().size());
    if (type == Type::real) {
        layout.add_real(slot);
        has_reals = true;
    } else if (lower && upper) {
        layout.add_integer(slot, lower->i, upper->i);
    } else {
        layout.add_whole_integer(slot);
    }
    lower_.push_back(lower ? *lower : Value{});
    upper_.push_back(upper ? *upper : Value{});
    bounded_.push_back(lower && upper);
    types_.push_back(type);
    names_.push_back(std::move(name));
}

const Instance& Model::instance(const std::string& name, std::size_t index, const Path& path) const {
    std::size_t seen = 0;
    for (const Instance& instance : instances)
        if (instance.automaton == name && seen++ == index) return instance;
    // PlaJA counts over all instances, whatever their automaton.
    if (index < instances.size() && instances[index].automaton == name) return instances[index];
    path.fail("no instance " + std::to_string(index) + " of automaton '" + name + "'");
}

const Expr* Model::condition(const Json& json, const Path& path) {
    const Expr* result = read_condition(json, path);
    reads_transient |= reader.reads_transient;
    return result;
}

const Expr* Model::read_condition(const Json& json, const Path& path) {
    const Json* op = json.is(Json::Kind::object) ? json.find("op") : nullptr;
    if (!op || !op->is(Json::Kind::string) || op->string != "state-condition")
        return reader.boolean(json, path, globals);
    const Expr* result = pool.constant(Type::boolean, make(std::int64_t{1}));
    if (const Json* exp = json.find("exp")) result = reader.boolean(*exp, path.member("exp"), globals);
    const Json& locations = path.array(json, "locations");
    for (std::size_t i = 0; i < locations.items.size(); ++i) {
        Path at = path.member("locations").item(i);
        const Json* index = locations.items[i].find("index");
        const Instance& in = instance(
            at.string(locations.items[i], "automaton"),
            index && index->is(Json::Kind::integer) ? static_cast<std::size_t>(index->integer) : 0, at);
        std::string wanted = at.string(locations.items[i], "location");
        std::size_t k = 0;
        while (k < in.locations.size() && in.locations[k] != wanted) ++k;
        if (k == in.locations.size()) at.fail("unknown location '" + wanted + "'");
        const Expr* here = pool.make(Op::equal, Type::boolean,
                                     {pool.slot(Type::integer, in.slot),
                                      pool.constant(Type::integer, make(static_cast<std::int64_t>(k)))});
        result = pool.make(Op::logical_and, Type::boolean, {result, here});
    }
    return result;
}

}  // namespace misstep::jani
