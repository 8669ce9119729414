// What the means and the cost need of pieces, block by block in the fixed order of sums.hpp: the
// pieces come in the order of their rows, and hold every row of each block they touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pieces.hpp"
#include "squared_distance.hpp"
#include "sums.hpp"

namespace dynmeans {

// Calls `look(begin, end, is_new)` for the rows of a piece in each block; `is_new` where a block
// begins.
template <typename Value, typename Look>
void for_each_block(const Piece<Value>& piece, Look look) {
    const std::size_t n = piece.points.n_points;
    for (std::size_t begin = 0; begin < n;) {
        const std::size_t place = (piece.first_row + begin) % kBlock;
        const std::size_t end = std::min(n, begin + kBlock - place);
        look(begin, end, place == 0);
        begin = end;
    }
}

// Finds the rows [begin, end) whose slot is marked; `is_marked[0]` is for rows without a label.
// The rows lie far apart, so they are first listed, then asked for ahead of their use.
class MarkedRows {
  public:
    explicit MarkedRows(std::vector<std::uint8_t> is_marked) : is_marked_(std::move(is_marked)) {
        rows_.resize(kBlock);
    }

    template <typename Value, typename Visit>
    void visit(const Piece<Value>& piece, std::size_t begin, std::size_t end, Visit visit) {
        std::size_t n = 0;
        for (std::size_t i = begin; i < end; ++i) {
            rows_[n] = static_cast<std::int64_t>(i);
            n += is_marked_[piece.labels[i] + 1];
        }
        for (std::size_t r = 0; r < n; ++r) {
            if (r + kAhead < n) piece.points.prefetch(rows_[r + kAhead]);
            visit(static_cast<std::size_t>(rows_[r]));
        }
    }

  private:
    static constexpr std::size_t kAhead = 8;

    std::vector<std::uint8_t> is_marked_;
    std::vector<std::int64_t> rows_;
};

// Own costs and, from them, the spread term of L_t in each block.
struct Spreads {
    std::vector<double> of_block, highest;  // highest own cost of each slot
};

template <typename Value>
void raise_highest(const Piece<Value>& piece, std::size_t begin, std::size_t end,
                   std::vector<double>& highest) {
    for (std::size_t i = begin; i < end; ++i) {
        const Slot k = piece.labels[i];
        if (k != kUnlabelled) highest[k] = std::max(highest[k], piece.own[i]);
    }
}

template <typename Value>
double add_own(const Piece<Value>& piece, std::size_t begin, std::size_t end, double spread) {
    if (!piece.points.weights) {  // then every row has a label
        for (std::size_t i = begin; i < end; ++i) spread += piece.own[i];
        return spread;
    }
    for (std::size_t i = begin; i < end; ++i)
        if (piece.labels[i] != kUnlabelled) spread += piece.points.weight(i) * piece.own[i];
    return spread;
}

// Own costs are taken anew for slots that moved, and in pieces that have none. `highest` is known
// of the other slots, unless null.
template <typename Value>
Spreads update_own(const std::vector<Piece<Value>>& pieces, const double* centers,
                   const std::uint8_t* has_moved, const double* highest, std::size_t n_slots) {
    Spreads spreads;
    spreads.highest.assign(n_slots, 0.0);
    std::vector<std::uint8_t> moved(n_slots + 1, 0), all(n_slots + 1, 1);
    all[0] = 0;
    std::copy(has_moved, has_moved + n_slots, moved.begin() + 1);
    for (std::size_t k = 0; highest && k < n_slots; ++k)
        if (!has_moved[k]) spreads.highest[k] = highest[k];
    MarkedRows of_moved(moved), of_all(all);
    std::vector<double> buffer;
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features;
        buffer.resize(d);
        const auto take_anew = [&](std::size_t i) {
            const Slot k = piece.labels[i];
            piece.own[i] = squared_distance(piece.points.row(i, buffer.data()), centers + k * d, d);
            spreads.highest[k] = std::max(spreads.highest[k], piece.own[i]);
        };
        for_each_block(piece, [&](std::size_t begin, std::size_t end, bool is_new) {
            if (is_new || spreads.of_block.empty()) spreads.of_block.push_back(0.0);
            (piece.has_own ? of_moved : of_all).visit(piece, begin, end, take_anew);
            if (!highest && piece.has_own) raise_highest(piece, begin, end, spreads.highest);
            double& spread = spreads.of_block.back();
            spread = add_own(piece, begin, end, spread);
        });
    }
    return spreads;
}

// n_kt and n_kt * m_kt of the slots with a column (-1: none), for each block:
// (n_blocks, n_columns, 1 + n_features).
template <typename Value>
std::vector<double> sum_blocks(const std::vector<Piece<Value>>& pieces, const std::int64_t* columns,
                               std::size_t n_slots, std::size_t n_columns) {
    std::vector<std::uint8_t> has_column(n_slots + 1, 0);
    for (std::size_t k = 0; k < n_slots; ++k) has_column[k + 1] = columns[k] >= 0;
    MarkedRows of_columns(has_column);
    std::vector<double> sums, buffer;
    std::size_t at = 0;
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features, size = n_columns * (d + 1);
        buffer.resize(d);
        for_each_block(piece, [&](std::size_t begin, std::size_t end, bool is_new) {
            if (sums.empty() || is_new) {
                at = sums.size();
                sums.resize(at + size, 0.0);
            }
            of_columns.visit(piece, begin, end, [&](std::size_t i) {
                const double weight = piece.points.weight(i);
                const double* y = piece.points.row(i, buffer.data());
                const auto column = static_cast<std::size_t>(columns[piece.labels[i]]);
                double* sum = sums.data() + at + column * (d + 1);
                sum[0] += weight;
                for (std::size_t j = 0; j < d; ++j) sum[1 + j] += weight * y[j];
            });
        });
    }
    return sums;
}

}  // namespace dynmeans
