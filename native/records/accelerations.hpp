// Ablation switches: accelerations that can be left out one at a time, so that
// `benchmarks/engine/ablation.py` can tell what each brings. They are set between steps and looked
// at once for a pass or a block of points; no result depends on them.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>

namespace dynmeans::records {

enum class Acceleration {
    kGrid,
    kTree,
    kFilter,
    kFilterFeatures,
    kFewFeatures,
    kBounds,
    kMovedRivals,
    kDueDates,
    kLine,
    kReplay,
    kJoining,
    kMemoryOrder,
    kMovedSums,
    kMovedCosts,
    kSweptCosts,
    kSmallTable,
    kBucketSort,
    kPrefetch
};

inline const std::array<std::string, 18> kAccelerationNames = {
    "grid",         "tree",        "filter",      "filter_features", "few_features", "bounds",
    "moved_rivals", "due_dates",   "line",        "replay",          "joining",      "memory_order",
    "moved_sums",   "moved_costs", "swept_costs", "small_table",     "bucket_sort",  "prefetch"};

// Due dates are for batches of many points, from this pass on, counted after the first.
struct DatesFrom {
    std::size_t fewest_points = 30000, first_pass = 4;
};
inline DatesFrom dates;

// A first pass goes on in the order of memory where a block of visited points would be this long,
// and some times as many are left.
inline std::size_t memory_order_from = 8192;

inline std::array<bool, kAccelerationNames.size()> is_left_out{};
static_assert(is_left_out.size() == static_cast<std::size_t>(Acceleration::kPrefetch) + 1);

inline bool uses(Acceleration one) { return !is_left_out[static_cast<std::size_t>(one)]; }

// How many rows before its turn a row is asked for; never, where that is left out.
inline std::size_t look_ahead(std::size_t n_rows) {
    return uses(Acceleration::kPrefetch) ? n_rows : std::numeric_limits<std::size_t>::max() / 2;
}

}  // namespace dynmeans::records
