#include "training/asnet_layout.hpp"

#include <algorithm>

#include "nn/asnet_kernel.hpp"

namespace misstep {
namespace {

int padded(int hidden) {
    int width = kChannelLanes;
    while (width < hidden) width *= 2;
    return width;
}

}  // namespace

AsnetLayout::AsnetLayout(const AsnetNetwork& net)
    : hidden(net.hidden),
      width(padded(net.hidden)),
      reads_landmarks(net.reads_landmarks()),
      num_layers(static_cast<std::size_t>(net.num_layers())),
      predicate_slots(net.predicate_slots) {
    std::vector<std::size_t> slots;
    for (int schema = 0; schema < net.num_schemas(); ++schema)
        slots.push_back(static_cast<std::size_t>(net.num_slots(schema)));
    for (std::size_t schema = 0; schema < slots.size(); ++schema) add_first(schema, slots[schema]);
    for (std::size_t layer = 0; layer < num_layers; ++layer) {
        auto& modules = predicates.emplace_back();
        for (std::size_t predicate = 0; predicate < predicate_slots.size(); ++predicate) {
            PredicateModule& module = modules.emplace_back();
            const std::size_t uses = predicate_slots[predicate].size();
            for (std::size_t i = 0; i < uses; ++i)
                module.pool.push_back(add_matrix(false, layer, predicate, i));
            module.keep = layer > 0 ? add_matrix(false, layer, predicate, uses) : 0;
            module.bias = add_bias(false, layer, predicate, static_cast<std::size_t>(hidden));
        }
        if (layer + 1 == num_layers) break;
        auto& next = actions.emplace_back();
        for (std::size_t schema = 0; schema < slots.size(); ++schema) {
            ActionModule& module = next.emplace_back();
            for (std::size_t i = 0; i < slots[schema]; ++i)
                module.read.push_back(add_matrix(true, layer + 1, schema, i));
            module.own = add_matrix(true, layer + 1, schema, slots[schema]);
            module.bias = add_bias(true, layer + 1, schema, static_cast<std::size_t>(hidden));
        }
    }
    for (std::size_t schema = 0; schema < slots.size(); ++schema) add_last(schema, slots[schema]);
}

std::size_t AsnetLayout::add(std::size_t num_rows, bool is_matrix) {
    const std::size_t begin = size;
    size += num_rows * static_cast<std::size_t>(width);
    pieces.push_back({begin, size, is_matrix});
    return begin;
}

std::size_t AsnetLayout::add_matrix(bool of_action, std::size_t layer, std::size_t index,
                                    std::size_t number) {
    const std::size_t h = static_cast<std::size_t>(hidden), w = static_cast<std::size_t>(width);
    const std::size_t place = add(w, true);
    for (std::size_t i = 0; i < h; ++i)
        rows_.push_back({of_action, false, layer, index, (number * h + i) * h, place + i * w, h});
    return place;
}

std::size_t AsnetLayout::add_bias(bool of_action, std::size_t layer, std::size_t index, std::size_t count) {
    const std::size_t place = add(1, false);
    rows_.push_back({of_action, true, layer, index, 0, place, count});
    return place;
}

void AsnetLayout::add_first(std::size_t schema, std::size_t slots) {
    const std::size_t h = static_cast<std::size_t>(hidden), w = static_cast<std::size_t>(width);
    const std::size_t more = reads_landmarks ? std::size_t{AsnetNetwork::kLandmarkInputs} : 0;
    const std::size_t inputs = 2 * slots + 1 + more, place = add(inputs, false);
    for (std::size_t i = 0; i < inputs; ++i)
        rows_.push_back({true, false, 0, schema, i * h, place + i * w, h});
    first.push_back({place, add_bias(true, 0, schema, h), inputs});
}

// The module has one output, so that a vector's weights lie side by side.
void AsnetLayout::add_last(std::size_t schema, std::size_t slots) {
    const std::size_t h = static_cast<std::size_t>(hidden), w = static_cast<std::size_t>(width);
    const std::size_t place = add(slots + 1, false);
    for (std::size_t i = 0; i <= slots; ++i)
        rows_.push_back({true, false, num_layers, schema, i * h, place + i * w, h});
    last.push_back({place, add_bias(true, num_layers, schema, 1), slots});
}

std::vector<float> AsnetLayout::packed(const AsnetNetwork& net) const {
    std::vector<float> result(size);
    for (const Row& row : rows_) {
        const AsnetModule& module =
            (row.of_action ? net.action_modules : net.predicate_modules)[row.layer][row.index];
        const std::vector<float>& from = row.is_bias ? module.bias : module.weights;
        std::copy_n(from.data() + row.from, row.count, result.data() + row.place);
    }
    return result;
}

void AsnetLayout::unpack(const float* parameters, AsnetNetwork& net) const {
    for (const Row& row : rows_) {
        AsnetModule& module =
            (row.of_action ? net.action_modules : net.predicate_modules)[row.layer][row.index];
        std::vector<float>& to = row.is_bias ? module.bias : module.weights;
        std::copy_n(parameters + row.place, row.count, to.data() + row.from);
    }
}

bool AsnetLayout::fits(const AsnetNetwork& net) const {
    if (net.hidden != hidden || static_cast<std::size_t>(net.num_layers()) != num_layers ||
        net.reads_landmarks() != reads_landmarks || net.predicate_slots != predicate_slots ||
        static_cast<std::size_t>(net.num_schemas()) != first.size())
        return false;
    for (std::size_t schema = 0; schema < first.size(); ++schema)
        if (static_cast<std::size_t>(net.num_slots(static_cast<int>(schema))) != last[schema].positions)
            return false;
    return true;
}

}  // namespace misstep
