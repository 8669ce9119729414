// What the means and the cost need of pieces: sums in bins (bins.hpp), which are merged by adding
// them, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "algorithm/marked_points.hpp"
#include "dask/pieces.hpp"
#include "numeric/bins.hpp"
#include "numeric/squared_distance.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::dask {

using namespace numeric;
using namespace threads;
using namespace algorithm;

// Calls `look(begin, end)` for short runs of the rows of a piece.
template <typename Value, typename Look>
void for_each_run(const Piece<Value>& piece, Look look) {
    for (std::size_t begin = 0; begin < piece.points.n_points; begin += kPointBlock)
        look(begin, std::min(begin + kPointBlock, piece.points.n_points));
}

// Visits the rows [begin, end) whose slot is marked. They lie far apart, so they are first listed,
// then asked for ahead of their use.
template <typename Value, typename Visit>
void visit_marked(const Piece<Value>& piece, std::size_t begin, std::size_t end,
                  const SlotMarks& marks, std::vector<std::uint32_t>& list, Visit visit) {
    constexpr std::size_t kAhead = 8;
    const std::size_t n = marks.list(piece.labels, {begin, end}, list);
    for (std::size_t r = 0; r < n; ++r) {
        if (r + kAhead < n) piece.points.prefetch(list[r + kAhead]);
        visit(static_cast<std::size_t>(list[r]));
    }
}

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
    SlotMarks moved(n_slots), all(n_slots);
    for (std::size_t k = 0; k < n_slots; ++k) {
        moved.set(k, has_moved[k]);
        all.set(k, true);
        if (highest && !has_moved[k]) sums.highest[k] = highest[k];
    }
    std::vector<std::uint32_t> list;
    std::vector<double> buffer, terms(kPointBlock + kSimd);
    for (const Piece<Value>& piece : pieces) {
        const std::size_t d = piece.points.n_features;
        buffer.resize(d);
        const auto take_again = [&](std::size_t i) {
            const Slot k = piece.labels[i];
            piece.own[i] = squared_distance(piece.points.row(i, buffer.data()), centers + k * d, d);
            sums.highest[k] = std::max(sums.highest[k], piece.own[i]);
        };
        for_each_run(piece, [&](std::size_t begin, std::size_t end) {
            visit_marked(piece, begin, end, piece.has_own ? moved : all, list, take_again);
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
    SlotMarks has_column(n_slots);
    for (std::size_t k = 0; k < n_slots; ++k) has_column.set(k, columns[k] >= 0);
    std::vector<std::uint32_t> list;
    std::vector<double> found(n_columns * sums.columns.size());
    PointAdder<0> adder(sums);
    for (const Piece<Value>& piece : pieces)
        for_each_run(piece, [&](std::size_t begin, std::size_t end) {
            visit_marked(piece, begin, end, has_column, list, [&](std::size_t i) {
                const auto column = static_cast<std::size_t>(columns[piece.labels[i]]);
                adder.add(piece.points, i, found.data() + column * sums.columns.size());
            });
        });
    return found;
}

}  // namespace dynmeans::dask
