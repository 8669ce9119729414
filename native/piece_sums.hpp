// What the means and the cost need of pieces, block by block in the fixed order of sums.hpp: the
// pieces come in the order of their rows, and hold every row of each block they touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pieces.hpp"
#include "squared_distance.hpp"
#include "sums.hpp"

namespace dynmeans {

template <typename Value>
bool starts_block(const Piece<Value>& piece, std::size_t i) {
    return (piece.first_row + i) % kBlock == 0;
}

// Own costs and, from them, the spread term of L_t in each block.
struct Spreads {
    std::vector<double> of_block, highest;  // highest own cost of each slot
};

// Own costs are taken anew for slots that moved, and in pieces that have none.
template <typename Value>
Spreads update_own(const std::vector<Piece<Value>>& pieces, const double* centers,
                   const std::uint8_t* has_moved, std::size_t n_slots) {
    Spreads spreads;
    spreads.highest.assign(n_slots, 0.0);
    double spread = 0.0;
    bool has_begun = false;
    std::vector<double> buffer;
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features;
        buffer.resize(d);
        for (std::size_t i = 0; i < piece.points.n_points; ++i) {
            if (has_begun && starts_block(piece, i)) {
                spreads.of_block.push_back(spread);
                spread = 0.0;
            }
            has_begun = true;
            const Slot k = piece.labels[i];
            if (k == kUnlabelled) continue;
            if (has_moved[k] || !piece.has_own)
                piece.own[i] =
                    squared_distance(piece.points.row(i, buffer.data()), centers + k * d, d);
            spreads.highest[k] = std::max(spreads.highest[k], piece.own[i]);
            spread += piece.points.weight(i) * piece.own[i];
        }
    }
    if (has_begun) spreads.of_block.push_back(spread);
    return spreads;
}

// n_kt and n_kt * m_kt of the slots with a column (-1: none), for each block:
// (n_blocks, n_columns, 1 + n_features).
template <typename Value>
std::vector<double> sum_blocks(const std::vector<Piece<Value>>& pieces, const std::int64_t* columns,
                               std::size_t n_columns) {
    std::vector<double> sums, buffer;
    std::size_t at = 0;
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features, size = n_columns * (d + 1);
        buffer.resize(d);
        for (std::size_t i = 0; i < piece.points.n_points; ++i) {
            if (sums.empty() || starts_block(piece, i)) {
                at = sums.size();
                sums.resize(at + size, 0.0);
            }
            const Slot k = piece.labels[i];
            if (k == kUnlabelled || columns[k] < 0) continue;
            const double weight = piece.points.weight(i);
            const double* y = piece.points.row(i, buffer.data());
            double* sum = sums.data() + at + static_cast<std::size_t>(columns[k]) * (d + 1);
            sum[0] += weight;
            for (std::size_t j = 0; j < d; ++j) sum[1 + j] += weight * y[j];
        }
    }
    return sums;
}

}  // namespace dynmeans
