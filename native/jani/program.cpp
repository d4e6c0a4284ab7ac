#include "jani/program.hpp"

#include <algorithm>
#include <bit>

#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr std::size_t max_code = 50'000'000;

[[noreturn]] void overflow() {
    throw InputError("an integer operation overflows 64 bits");
}

}  // namespace

std::uint32_t Program::reserve(std::uint32_t count) {
    auto first = static_cast<std::uint32_t>(frame_.size());
    frame_.resize(frame_.size() + count, make(std::int64_t{0}));
    return first;
}

std::uint32_t Program::constant(Value value) {
    auto [place, added] = constants_.try_emplace(std::bit_cast<std::int64_t>(value), 0);
    if (added) {
        place->second = reserve(1);
        frame_[place->second] = value;
    }
    return place->second;
}

std::uint32_t Program::emit(Code code, std::uint32_t dst, std::uint32_t a, std::uint32_t b,
                            std::uint32_t extra) {
    if (code_.size() >= max_code) throw InputError("the model's expressions are too large once compiled");
    code_.push_back({code, dst, a, b, extra});
    return static_cast<std::uint32_t>(code_.size() - 1);
}

void Program::patch(const std::vector<std::uint32_t>& jumps) {
    for (std::uint32_t at : jumps) code_[at].dst = static_cast<std::uint32_t>(code_.size());
}

std::uint32_t Program::compile_condition(const Expr* e) {
    auto pc = static_cast<std::uint32_t>(code_.size());
    std::vector<std::uint32_t> failures;
    branch(e, false, failures);
    emit(Code::accept, 0);
    patch(failures);
    emit(Code::reject, 0);
    return pc;
}

Source Program::compile_value(const Expr* e) {
    auto pc = static_cast<std::uint32_t>(code_.size());
    std::uint32_t slot = value(e);
    bool has_code = code_.size() != pc;
    if (has_code) emit(Code::result, slot);
    return {slot, pc, has_code};
}

void Program::branch(const Expr* e, bool sense, std::vector<std::uint32_t>& jumps) {
    auto compare = [&](Code yes, Code no) {
        const bool real = e->args[0]->type == Type::real;
        const auto offset =
            real ? static_cast<int>(Code::jump_equal_real) - static_cast<int>(Code::jump_equal) : 0;
        std::uint32_t a = value(e->args[0]), b = value(e->args[1]);
        jumps.push_back(emit(static_cast<Code>(static_cast<int>(sense ? yes : no) + offset), 0, a, b));
    };
    switch (e->op) {
        case Op::constant:
            if ((e->value.i != 0) == sense) jumps.push_back(emit(Code::jump, 0));
            return;
        case Op::logical_not:
            return branch(e->args[0], !sense, jumps);
        case Op::logical_and:
        case Op::logical_or: {
            if ((e->op == Op::logical_or) == sense) {  // one suffices
                branch(e->args[0], sense, jumps);
                return branch(e->args[1], sense, jumps);
            }
            std::vector<std::uint32_t> skip;
            branch(e->args[0], !sense, skip);
            branch(e->args[1], sense, jumps);
            return patch(skip);
        }
        case Op::ite: {
            std::vector<std::uint32_t> otherwise;
            branch(e->args[0], false, otherwise);
            branch(e->args[1], sense, jumps);
            std::vector<std::uint32_t> end{emit(Code::jump, 0)};
            patch(otherwise);
            branch(e->args[2], sense, jumps);
            return patch(end);
        }
        case Op::equal:
            return compare(Code::jump_equal, Code::jump_unequal);
        case Op::unequal:
            return compare(Code::jump_unequal, Code::jump_equal);
        case Op::less:
            return compare(Code::jump_less, Code::jump_not_less);
        case Op::less_equal:
            return compare(Code::jump_less_equal, Code::jump_not_less_equal);
        default:
            jumps.push_back(emit(sense ? Code::jump_if : Code::jump_unless, 0, value(e)));
    }
}

std::uint32_t Program::value(const Expr* e) {
    switch (e->op) {
        case Op::constant:
            return constant(e->value);
        case Op::slot:
            return e->slot;
        case Op::cell: {
            std::uint32_t index = value(e->args[0]);
            std::uint32_t dst = reserve(1);
            emit(Code::load_cell, dst, e->slot, index, e->length);
            return dst;
        }
        case Op::ite: {
            std::uint32_t dst = reserve(1);
            std::vector<std::uint32_t> otherwise;
            branch(e->args[0], false, otherwise);
            emit(Code::move, dst, value(e->args[1]));
            std::vector<std::uint32_t> end{emit(Code::jump, 0)};
            patch(otherwise);
            emit(Code::move, dst, value(e->args[2]));
            patch(end);
            return dst;
        }
        default:
            break;
    }
    if (e->type == Type::boolean && e->op != Op::constant) {
        std::uint32_t dst = reserve(1);
        std::vector<std::uint32_t> failures;
        branch(e, false, failures);
        emit(Code::move, dst, constant(make(std::int64_t{1})));
        std::vector<std::uint32_t> end{emit(Code::jump, 0)};
        patch(failures);
        emit(Code::move, dst, constant(make(std::int64_t{0})));
        patch(end);
        return dst;
    }
    std::uint32_t a = value(e->args[0]);
    std::uint32_t b = e->args.size() > 1 ? value(e->args[1]) : a;
    std::uint32_t dst = reserve(1);
    const bool real = e->args[0]->type == Type::real;
    switch (e->op) {
        case Op::add:
            emit(real ? Code::add_real : Code::add, dst, a, b);
            break;
        case Op::subtract:
            emit(real ? Code::subtract_real : Code::subtract, dst, a, b);
            break;
        case Op::multiply:
            emit(real ? Code::multiply_real : Code::multiply, dst, a, b);
            break;
        default:
            if (!real && (e->op == Op::minimum || e->op == Op::maximum)) {
                emit(e->op == Op::minimum ? Code::minimum : Code::maximum, dst, a, b);
                break;
            }
            emit(Code::other, dst, a, b,
                 static_cast<std::uint32_t>(e->op) << 8 | static_cast<std::uint32_t>(e->args[0]->type));
    }
    return dst;
}

std::uint32_t Program::run(std::uint32_t pc, Value* f) const {
    const Instruction* code = code_.data();
    while (true) {
        const Instruction& x = code[pc++];
        switch (x.code) {
            case Code::accept:
                return 1;
            case Code::reject:
                return 0;
            case Code::result:
                return x.dst;
            case Code::jump:
                pc = x.dst;
                break;
            case Code::jump_if:
                if (f[x.a].i) pc = x.dst;
                break;
            case Code::jump_unless:
                if (!f[x.a].i) pc = x.dst;
                break;
            case Code::jump_equal:
                if (f[x.a].i == f[x.b].i) pc = x.dst;
                break;
            case Code::jump_unequal:
                if (f[x.a].i != f[x.b].i) pc = x.dst;
                break;
            case Code::jump_less:
                if (f[x.a].i < f[x.b].i) pc = x.dst;
                break;
            case Code::jump_less_equal:
                if (f[x.a].i <= f[x.b].i) pc = x.dst;
                break;
            case Code::jump_not_less:
                if (f[x.a].i >= f[x.b].i) pc = x.dst;
                break;
            case Code::jump_not_less_equal:
                if (f[x.a].i > f[x.b].i) pc = x.dst;
                break;
            case Code::jump_equal_real:
                if (f[x.a].d == f[x.b].d) pc = x.dst;
                break;
            case Code::jump_unequal_real:
                if (f[x.a].d != f[x.b].d) pc = x.dst;
                break;
            case Code::jump_less_real:
                if (f[x.a].d < f[x.b].d) pc = x.dst;
                break;
            case Code::jump_less_equal_real:
                if (f[x.a].d <= f[x.b].d) pc = x.dst;
                break;
            case Code::jump_not_less_real:
                if (!(f[x.a].d < f[x.b].d)) pc = x.dst;
                break;
            case Code::jump_not_less_equal_real:
                if (!(f[x.a].d <= f[x.b].d)) pc = x.dst;
                break;
            case Code::move:
                f[x.dst] = f[x.a];
                break;
            case Code::load_cell: {
                std::int64_t index = f[x.b].i;
                if (index < 0 || index >= x.extra)
                    throw InputError("array index " + std::to_string(index) + " is out of range");
                f[x.dst] = f[x.a + static_cast<std::uint32_t>(index)];
                break;
            }
            case Code::add:
                if (__builtin_add_overflow(f[x.a].i, f[x.b].i, &f[x.dst].i)) overflow();
                break;
            case Code::subtract:
                if (__builtin_sub_overflow(f[x.a].i, f[x.b].i, &f[x.dst].i)) overflow();
                break;
            case Code::multiply:
                if (__builtin_mul_overflow(f[x.a].i, f[x.b].i, &f[x.dst].i)) overflow();
                break;
            case Code::minimum:
                f[x.dst].i = std::min(f[x.a].i, f[x.b].i);
                break;
            case Code::maximum:
                f[x.dst].i = std::max(f[x.a].i, f[x.b].i);
                break;
            case Code::add_real:
                f[x.dst].d = f[x.a].d + f[x.b].d;
                break;
            case Code::subtract_real:
                f[x.dst].d = f[x.a].d - f[x.b].d;
                break;
            case Code::multiply_real:
                f[x.dst].d = f[x.a].d * f[x.b].d;
                break;
            case Code::other: {
                const Value args[2] = {f[x.a], f[x.b]};
                f[x.dst] = apply(static_cast<Op>(x.extra >> 8), static_cast<Type>(x.extra & 0xff), args);
                break;
            }
        }
    }
}

}  // namespace misstep::jani
