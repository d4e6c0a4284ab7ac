#include "nn/gnn_refinement.hpp"

#include <algorithm>

namespace misstep {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace

Refinement::Refinement(std::vector<std::size_t> arities)
    : arities_(std::move(arities)), relations_(arities_.size()), distinct_(arities_.size()) {
    for (std::size_t r = 0; r < arities_.size(); ++r) {
        relations_[r].arity = arities_[r];
        relations_[r].classes.resize(arities_[r]);
    }
}

void Refinement::start(const GnnBatch& batch) {
    batch_ = &batch;
    stable_ = false;
    std::size_t num_nodes = batch.num_states * batch.num_objects;
    classes_.assign(num_nodes, 0);
    num_classes_ = 1;
    incidence_start_.assign(num_nodes + 1, 0);
    for (const auto& rows : batch.rows)
        for (std::uint32_t node : rows) ++incidence_start_[node + 1];
    for (std::size_t i = 0; i < num_nodes; ++i) incidence_start_[i + 1] += incidence_start_[i];
    incidences_.resize(incidence_start_.back());
    scratch_.assign(incidence_start_.begin(), incidence_start_.end() - 1);
    for (std::uint32_t r = 0; r < arities_.size(); ++r) {
        std::uint32_t arity = static_cast<std::uint32_t>(arities_[r]);
        for (std::uint32_t at = 0; at < batch.rows[r].size(); ++at)
            incidences_[scratch_[batch.rows[r][at]]++] = {r, at / arity, at % arity};
    }
}

void Refinement::refine() {
    if (stable_) return;  // the same rows, classes and messages as in the last round
    group_rows();
    group_objects();
}

void Refinement::group_rows() {
    num_old_classes_ = num_classes_;
    num_messages_ = 0;
    for (std::size_t r = 0; r < arities_.size(); ++r) {
        const std::vector<std::uint32_t>& rows = batch_->rows[r];
        RelationRows& relation = relations_[r];
        const std::size_t arity = relation.arity, num_rows = rows.size() / arity;
        distinct_[r].resize(num_rows);
        for (std::size_t row = 0; row < num_rows; ++row) distinct_[r][row] = classes_[rows[row * arity]];
        std::size_t count = num_old_classes_;
        // Argument by argument: equal prefixes have equal numbers, a longer prefix is a pair of number and
        // class.
        for (std::size_t j = 0; j < arity; ++j) {
            pair_ids_.clear();
            for (std::size_t row = 0; row < num_rows; ++row) {
                std::uint64_t last = j == 0 ? 0 : classes_[rows[row * arity + j]];
                std::uint64_t key = distinct_[r][row] * std::uint64_t{num_old_classes_} + last;
                distinct_[r][row] =
                    pair_ids_.try_emplace(key, static_cast<std::uint32_t>(pair_ids_.size())).first->second;
            }
            count = pair_ids_.size();
        }
        relation.num_rows = num_rows == 0 ? 0 : count;
        relation.first_message = num_messages_;
        num_messages_ += relation.num_rows * arity;
        relation.index.assign(relation.num_rows * arity, kNone);
        for (std::size_t j = 0; j < arity; ++j) {
            scratch_.assign(num_old_classes_, kNone);
            relation.classes[j].clear();
            for (std::size_t row = 0; row < num_rows; ++row) {
                Class c = classes_[rows[row * arity + j]];
                if (scratch_[c] == kNone) {
                    scratch_[c] = static_cast<std::uint32_t>(relation.classes[j].size());
                    relation.classes[j].push_back(c);
                }
                relation.index[distinct_[r][row] * arity + j] = scratch_[c];
            }
        }
    }
}

std::uint32_t Refinement::message(Incidence i) const {
    const RelationRows& relation = relations_[i.relation];
    return static_cast<std::uint32_t>(relation.first_message + distinct_[i.relation][i.row] * relation.arity +
                                      i.argument);
}

void Refinement::group_objects() {
    std::size_t num_nodes = classes_.size();
    new_classes_.resize(num_nodes);
    signature_ids_.clear();
    parent_.clear();
    term_start_.assign(1, 0);
    terms_.clear();
    for (std::size_t node = 0; node < num_nodes; ++node) {
        // Sums of mixed numbers identify a multiset of messages; with 128 bits, never a wrong one in
        // practice.
        Signature signature{mixed(classes_[node]), mixed(~std::uint64_t{classes_[node]})};
        for (std::uint32_t i = incidence_start_[node]; i < incidence_start_[node + 1]; ++i) {
            std::uint64_t m = message(incidences_[i]);
            signature.a += mixed((m << 1) + 0x9e3779b97f4a7c15ULL);
            signature.b += mixed((m << 32) ^ 0xd6e8feb86659fd93ULL);
        }
        auto [found, is_new] = signature_ids_.try_emplace(signature, static_cast<Class>(parent_.size()));
        new_classes_[node] = found->second;
        if (!is_new) continue;
        parent_.push_back(classes_[node]);
        scratch_.clear();
        for (std::uint32_t i = incidence_start_[node]; i < incidence_start_[node + 1]; ++i)
            scratch_.push_back(message(incidences_[i]));
        std::ranges::sort(scratch_);
        for (std::size_t i = 0; i < scratch_.size(); ++i) {
            if (i > 0 && scratch_[i] == scratch_[i - 1])
                ++terms_.back().count;
            else
                terms_.push_back({scratch_[i], 1});
        }
        term_start_.push_back(static_cast<std::uint32_t>(terms_.size()));
    }
    num_classes_ = parent_.size();
    // Both numberings are by first occurrence, so equally many classes are the same classes.
    stable_ = num_classes_ == num_old_classes_;
    classes_.swap(new_classes_);
}

}  // namespace misstep
