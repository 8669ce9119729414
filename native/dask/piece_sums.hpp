// What the means and the cost need of parts: sums in bins (bins.hpp), which are merged by adding
// them, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "algorithm/slot_mask.hpp"
#include "dask/part.hpp"
#include "numeric/bins.hpp"
#include "numeric/squared_distance.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::dask {

// Visits the rows [begin, end) whose slot is marked. They are first listed.
template <typename Value, typename Visit>
void visit_marked(const Part<Value>& part, std::size_t begin, std::size_t end,
                  const SlotMask& marks, std::vector<std::uint32_t>& list, Visit visit) {
    const std::size_t n = marks.list(part.labels, {begin, end}, list);
    for (std::size_t r = 0; r < n; ++r) visit(static_cast<std::size_t>(list[r]));
}

// Own costs are taken again for slots that moved, or for all; returns the highest of each slot.
// `highest` is that of the other slots, null where no own cost is known.
template <typename Value>
std::vector<double> update_own(const std::vector<Part<Value>>& parts, const double* centers,
                               const std::uint8_t* has_moved, const double* highest,
                               std::size_t n_slots) {
    std::vector<double> found(n_slots), buffer;
    SlotMask taken(n_slots);
    for (std::size_t k = 0; k < n_slots; ++k) {
        taken.set(k, !highest || has_moved[k]);
        if (highest && !has_moved[k]) found[k] = highest[k];
    }
    std::vector<std::uint32_t> list;
    for (const Part<Value>& part : parts) {
        const std::size_t d = part.points.n_features;
        buffer.resize(d);
        const auto take_again = [&](std::size_t i) {
            const Slot k = part.labels[i];
            part.own[i] = squared_distance(part.points.row(i, buffer.data()), centers + k * d, d);
            found[k] = std::max(found[k], part.own[i]);
        };
        for_each_run(part, [&](std::size_t begin, std::size_t end) {
            visit_marked(part, begin, end, taken, list, take_again);
        });
    }
    return found;
}

// The sums of batch_sums.hpp of the rows that joined each slot, less those of the rows that left
// it, in bins: (n_slots, n_bins, n_columns).
template <typename Value>
std::vector<double> sum_moves(const std::vector<Part<Value>>& parts, std::size_t n_slots,
                              const BatchSums& sums) {
    const std::size_t size = sums.columns.size();
    std::vector<double> found(n_slots * size);
    PointAdder adder(sums);
    for (const Part<Value>& part : parts)
        part.for_each_mover([&](std::size_t i) {
            adder.add(part.points, i, found.data() + part.next[i] * size);
            if (part.labels[i] != kUnlabeled)
                adder.take_out(part.points, i, found.data() + part.labels[i] * size);
        });
    return found;
}

}  // namespace dynmeans::dask
