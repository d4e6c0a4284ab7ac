#include "bind/objects.hpp"

#include <algorithm>
#include <functional>

#include "util/error.hpp"

namespace misstep {

TaskObject::TaskObject(Task task_)
    : task(std::move(task_)), space(task), fingerprint(std::hash<std::string>{}(write_sas(task))) {
    for (int var = 0; var < task.num_variables(); ++var)
        for (int value = 0; value < task.variables[var].domain_size(); ++value)
            if (const std::string& atom = task.variables[var].values[value]; !atom.empty())
                fact_by_atom.try_emplace(atom, Fact{var, value});
    for (ActionId a = 0; a < task.actions.size(); ++a) actions_by_name[task.actions[a].name].push_back(a);
}

std::vector<Word> BatchObject::packed() const {
    const std::size_t n = size(), num_variables = values.shape(1), num_words = core->space.num_words();
    std::vector<Word> words(n * num_words);
    const std::int32_t* row = values.data();
    for (std::size_t i = 0; i < n; ++i, row += num_variables) {
        for (std::size_t var = 0; var < num_variables; ++var) {
            int size = core->task.variables[var].domain_size();
            if (row[var] < 0 || row[var] >= size)
                throw InputError("row " + std::to_string(i) + " of the batch has the value " +
                                 std::to_string(row[var]) + " for variable " + std::to_string(var) +
                                 ", which has the values 0 to " + std::to_string(size - 1));
        }
        core->space.packer.pack(row, words.data() + i * num_words);
    }
    return words;
}

StateObject make_state(nb::object task, const TaskObject& core, const std::vector<std::int32_t>& values) {
    if (values.size() != core.task.variables.size())
        throw InputError("a state of this task has " + std::to_string(core.task.variables.size()) +
                         " values, not " + std::to_string(values.size()));
    for (std::size_t var = 0; var < values.size(); ++var)
        if (values[var] < 0 || values[var] >= core.task.variables[var].domain_size())
            throw InputError("value " + std::to_string(values[var]) + " is outside of the " +
                             std::to_string(core.task.variables[var].domain_size()) + " values of variable " +
                             std::to_string(var));
    StateObject state{std::move(task), &core, std::vector<Word>(core.space.num_words())};
    core.space.packer.pack(values.data(), state.words.data());
    return state;
}

BatchObject make_batch(nb::object task, const TaskObject& core, std::size_t num_states,
                       std::vector<std::int32_t> values) {
    auto* owned = new std::vector<std::int32_t>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
    std::size_t num_variables = static_cast<std::size_t>(core.task.num_variables());
    return {std::move(task), &core, BatchArray(owned->data(), {num_states, num_variables}, owner)};
}

std::vector<const Word*> pointers(const std::vector<Word>& packed, std::size_t num_words) {
    std::vector<const Word*> result(packed.size() / num_words);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = packed.data() + i * num_words;
    return result;
}

void require_same_task(const TaskObject& task, const TaskObject& other, const char* what) {
    if (!task.same_as(other)) throw InputError(std::string("the ") + what + " belongs to another task");
}

std::vector<std::string> fact_list(const TaskObject& core, const Word* state) {
    std::vector<std::string> facts;
    for (int var = 0; var < core.task.num_variables(); ++var) {
        const std::string& atom = core.task.variables[var].values[core.space.packer.get(state, var)];
        if (!atom.empty() && !atom.starts_with("(not ")) facts.push_back(atom);
    }
    std::ranges::sort(facts);
    return facts;
}

std::string facts_text(const TaskObject& core, const Word* state) {
    std::string text;
    for (const std::string& atom : fact_list(core, state)) text += (text.empty() ? "" : " ") + atom;
    return text;
}

const char* limit_name(LimitHit limit) {
    switch (limit) {
        case LimitHit::kExpansions:
            return "expansions";
        case LimitHit::kSeconds:
            return "seconds";
        case LimitHit::kMemory:
            return "memory";
        case LimitHit::kStopped:
            return "stopped";
        case LimitHit::kIncomplete:
            return "incomplete";
        case LimitHit::kBound:
            return "bound";
        case LimitHit::kNone:
            break;
    }
    return nullptr;
}

}  // namespace misstep
