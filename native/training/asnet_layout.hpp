// Where the weights of an ASNet lie in one flat array: rows of channels, padded, so that training sees every
// matrix in place and an optimiser sees one vector.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "nn/asnet_network.hpp"

namespace misstep {

// Offsets count floats. A matrix has `width` rows of `width` floats, one row an input.
struct AsnetLayout {
    explicit AsnetLayout(const AsnetNetwork& net);

    struct FirstModule {  // inputs rows, then the bias
        std::size_t weights, bias;
        std::size_t inputs;
    };
    struct PredicateModule {
        std::vector<std::size_t> pool;  // a matrix a slot
        std::size_t keep;               // of the fact's last vector; absent (0) in the first layer
        std::size_t bias;
    };
    struct ActionModule {
        std::vector<std::size_t> read;  // a matrix a position
        std::size_t own;
        std::size_t bias;
    };
    struct LastModule {  // a row a position, the operator's own row, then the bias in a row of its own
        std::size_t weights, bias;
        std::size_t positions;
    };
    // A part of the array that is updated as a whole; matrices also have a transposed copy.
    struct Piece {
        std::size_t begin, end;
        bool is_matrix;
    };

    int hidden, width;
    bool reads_landmarks;
    std::size_t num_layers;
    std::vector<std::vector<std::pair<int, int>>> predicate_slots;  // by predicate: (schema, position)
    std::vector<FirstModule> first;                                 // by schema
    std::vector<std::vector<PredicateModule>> predicates;           // by layer, then predicate
    std::vector<std::vector<ActionModule>> actions;  // by layer (0 is the second action layer), then schema
    std::vector<LastModule> last;                    // by schema
    std::vector<Piece> pieces;
    std::size_t size = 0;

    // The network's weights in this layout, and back; other fields of the network are left alone.
    std::vector<float> packed(const AsnetNetwork& net) const;
    void unpack(const float* parameters, AsnetNetwork& net) const;
    // Whether another network has modules of the same shapes.
    bool fits(const AsnetNetwork& net) const;

  private:
    // `count` floats of a module's weights or bias, from `from` on, lie at `place`.
    struct Row {
        bool of_action, is_bias;
        std::size_t layer, index;
        std::size_t from, place, count;
    };
    std::size_t add(std::size_t num_rows, bool is_matrix);
    std::size_t add_matrix(bool of_action, std::size_t layer, std::size_t index, std::size_t number);
    std::size_t add_bias(bool of_action, std::size_t layer, std::size_t index, std::size_t count);
    void add_first(std::size_t schema, std::size_t slots);
    void add_last(std::size_t schema, std::size_t slots);

    std::vector<Row> rows_;
};

}  // namespace misstep
