// What the means and the cost need of pieces: sums in bins (bins.hpp), which are merged by adding
// them, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bins.hpp"
#include "pieces.hpp"
#include "squared_distance.hpp"
#include "sum_units.hpp"
#include "sums.hpp"

namespace dynmeans {

// Calls `look(begin, end)` for short runs of the rows of a piece.
template <typename Value, typename Look>
void for_each_run(const Piece<Value>& piece, Look look) {
    for (std::size_t begin = 0; begin < piece.points.n_points; begin += kBlock)
        look(begin, std::min(begin + kBlock, piece.points.n_points));
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

// Own costs and, from them, the within-cluster term of L_t in bins.
struct OwnSums {
    std::vector<double> bins, highest;  // highest own cost of each slot
};

template <typename Value>
void raise_highest(const Piece<Value>& piece, std::size_t begin, std::size_t end,
                   std::vector<double>& highest) {
    for (std::size_t i = begin; i < end; ++i) {
        const Slot k = piece.labels[i];
        if (k != kUnlabelled) highest[k] = std::max(highest[k], piece.own[i]);
    }
}

// Own costs are taken again for slots that moved, and in pieces that have none. `highest` is known
// of the other slots, unless null.
template <typename Value>
OwnSums update_own(const std::vector<Piece<Value>>& pieces, const double* centers,
                   const std::uint8_t* has_moved, const double* highest, std::size_t n_slots,
                   const Bins& bins) {
    OwnSums sums{std::vector<double>(bins.n_bins()), std::vector<double>(n_slots)};
    std::vector<std::uint8_t> moved(n_slots + 1, 0), all(n_slots + 1, 1);
    all[0] = 0;
    std::copy(has_moved, has_moved + n_slots, moved.begin() + 1);
    for (std::size_t k = 0; highest && k < n_slots; ++k)
        if (!has_moved[k]) sums.highest[k] = highest[k];
    MarkedRows of_moved(moved), of_all(all);
    std::vector<double> buffer, terms(kBlock + kSimd);
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features;
        buffer.resize(d);
        const auto take_again = [&](std::size_t i) {
            const Slot k = piece.labels[i];
            piece.own[i] = squared_distance(piece.points.row(i, buffer.data()), centers + k * d, d);
            sums.highest[k] = std::max(sums.highest[k], piece.own[i]);
        };
        for_each_run(piece, [&](std::size_t begin, std::size_t end) {
            (piece.has_own ? of_moved : of_all).visit(piece, begin, end, take_again);
            if (!highest && piece.has_own) raise_highest(piece, begin, end, sums.highest);
            for (std::size_t i = begin; i < end; ++i)
                terms[i - begin] =
                    piece.labels[i] == kUnlabelled ? 0.0 : piece.points.weight(i) * piece.own[i];
            bins.add(terms.data(), end - begin, sums.bins.data());
        });
    }
    return sums;
}

// n_kt, where points have weights, and n_kt * m_kt of the slots with a column (-1: none), in bins:
// (n_columns, n_bins, n_terms).
template <typename Value>
std::vector<double> sum_slots(const std::vector<Piece<Value>>& pieces, const std::int64_t* columns,
                              std::size_t n_slots, std::size_t n_columns, const BatchSums& sums) {
    std::vector<std::uint8_t> has_column(n_slots + 1, 0);
    for (std::size_t k = 0; k < n_slots; ++k) has_column[k + 1] = columns[k] >= 0;
    MarkedRows of_columns(has_column);
    std::vector<double> found(n_columns * sums.columns.size());
    PointTerms<0> terms(sums);
    for (const Piece<Value>& piece : pieces)
        for_each_run(piece, [&](std::size_t begin, std::size_t end) {
            of_columns.visit(piece, begin, end, [&](std::size_t i) {
                const auto column = static_cast<std::size_t>(columns[piece.labels[i]]);
                terms.split(piece.points, i);
                terms.add(found.data() + column * sums.columns.size());
            });
        });
    return found;
}

}  // namespace dynmeans
