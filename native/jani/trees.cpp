// Decision trees over `slot = value` tests, after the successor generators of classical planners.
#include <algorithm>
#include <map>

#include "jani/declarations.hpp"

namespace misstep::jani {

namespace {

using Tests = std::vector<std::pair<std::uint32_t, std::int64_t>>;

struct Item {
    std::uint32_t edge;
    Tests tests;  // those not yet decided
};

std::unique_ptr<EdgeTree> build(const Model& model, std::vector<Item> items, int depth) {
    auto tree = std::make_unique<EdgeTree>();
    std::map<std::uint32_t, std::size_t> counts;
    for (const Item& item : items)
        for (const auto& [slot, value] : item.tests) ++counts[slot];
    auto best = std::max_element(counts.begin(), counts.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 4 || depth > 12) {
        for (const Item& item : items) tree->edges.push_back(item.edge);
        return tree;
    }
    const std::uint32_t field = model.field_of_slot[best->first];
    tree->slot = best->first;
    tree->lower = model.field_lower(field).i;
    const auto values = static_cast<std::size_t>(model.field_upper(field).i - tree->lower + 1);
    std::vector<std::vector<Item>> by_value(values);
    std::vector<Item> others;
    for (Item& item : items) {
        auto test = std::find_if(item.tests.begin(), item.tests.end(),
                                 [&](const auto& t) { return t.first == tree->slot; });
        if (test == item.tests.end()) {
            others.push_back(std::move(item));
            continue;
        }
        const std::int64_t index = test->second - tree->lower;
        std::erase_if(item.tests, [&](const auto& t) { return t.first == tree->slot; });
        if (index >= 0 && index < static_cast<std::int64_t>(values))
            by_value[static_cast<std::size_t>(index)].push_back(std::move(item));
    }
    tree->children.resize(values);
    for (std::size_t i = 0; i < values; ++i)
        if (!by_value[i].empty()) tree->children[i] = build(model, std::move(by_value[i]), depth + 1);
    if (!others.empty()) tree->others = build(model, std::move(others), depth + 1);
    return tree;
}

}  // namespace

void build_trees(const Model& model, Vector& vector,
                 const std::vector<const std::vector<std::uint32_t>*>& edges) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const Instance& in = model.instances[vector.instances[i]];
        auto& trees = vector.trees.emplace_back();
        for (std::size_t location = 0; location < in.locations.size(); ++location) {
            std::vector<Item> items;
            for (std::uint32_t e : *edges[i])
                if (in.edges[e].location == static_cast<std::int64_t>(location))
                    items.push_back({e, in.edges[e].tests});
            trees.push_back(items.empty() ? nullptr : build(model, std::move(items), 0));
        }
    }
}

}  // namespace misstep::jani
