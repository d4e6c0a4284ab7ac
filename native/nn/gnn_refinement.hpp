// Colour refinement of a batch of states: which objects have the same embedding, layer by layer.
//
// An object's embedding after k layers is a function of its embedding before and of the messages it gets, and
// all objects start alike. So objects (of any states of the batch) that cannot be told apart by k rounds of
// colour refinement share one embedding, and atoms whose objects are alike share their messages: each is
// computed once.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "nn/gnn_kernel.hpp"

namespace misstep {

// States as rows of relations. Objects of all states are numbered through: object * num_states + state. Rows
// of the same atom in different states should be neighbours: their numbers are alike, which the kernels make
// use of.
struct GnnBatch {
    std::size_t num_states = 0, num_objects = 0;
    std::vector<std::vector<std::uint32_t>> rows;  // for each relation the objects of its rows, flat
    // For networks that score actions: the objects of the only state from this one on stand for its actions.
    std::size_t first_action = 0;
};

class Refinement {
  public:
    using Class = std::uint32_t;
    using Term = GnnKernels::Term;

    // The distinct rows of a relation, in terms of classes.
    struct RelationRows {
        std::size_t arity = 0;
        std::size_t num_rows = 0;
        std::size_t first_message = 0;  // message number of row u, argument j: first + u * arity + j
        std::vector<std::vector<Class>> classes;  // for each argument the distinct classes there
        std::vector<std::uint32_t> index;         // for each row and argument, which of `classes` it is
    };

    explicit Refinement(std::vector<std::size_t> arities);

    void start(const GnnBatch& batch);
    // One round: groups the rows by the classes of their objects, and the objects by class and messages.
    // Cheap once a round has split no class.
    void refine();

    const std::vector<RelationRows>& relations() const { return relations_; }
    std::size_t num_messages() const { return num_messages_; }
    std::size_t num_old_classes() const { return num_old_classes_; }  // that the rows refer to
    std::size_t num_classes() const { return num_classes_; }          // after the round
    // For each class after the round: the class before, and the messages that its objects get.
    const std::vector<Class>& parent() const { return parent_; }
    const std::vector<std::uint32_t>& term_start() const { return term_start_; }
    const std::vector<Term>& terms() const { return terms_; }
    // For each object and state, numbered as in the batch.
    std::span<const Class> classes() const { return classes_; }

  private:
    struct Incidence {
        std::uint32_t relation, row, argument;
    };
    struct Signature {
        std::uint64_t a, b;
        friend bool operator==(Signature, Signature) = default;
    };
    struct SignatureHash {
        std::size_t operator()(Signature s) const { return s.a; }
    };

    void group_rows();
    void group_objects();
    std::uint32_t message(Incidence incidence) const;

    std::vector<std::size_t> arities_;
    const GnnBatch* batch_ = nullptr;
    bool stable_ = false;
    std::vector<Class> classes_, new_classes_, parent_;
    std::size_t num_classes_ = 0, num_old_classes_ = 0, num_messages_ = 0;
    std::vector<RelationRows> relations_;
    std::vector<std::vector<std::uint32_t>> distinct_;  // for each relation and row, its distinct row
    std::vector<std::uint32_t> incidence_start_;
    std::vector<Incidence> incidences_;
    std::vector<std::uint32_t> term_start_;
    std::vector<Term> terms_;
    std::vector<std::uint32_t> scratch_;
    std::unordered_map<std::uint64_t, std::uint32_t> pair_ids_;
    std::unordered_map<Signature, Class, SignatureHash> signature_ids_;
};

}  // namespace misstep
