// Ablation switches: accelerations that can be left out one at a time, so that
// `benchmarks/engine/ablation.py` can tell what each brings. They are set between steps and looked
// at once for a pass or a block of points; no result depends on them.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace dynmeans {

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
    kMovedSums,
    kMovedCosts,
    kSweptCosts,
    kSmallTable,
    kBucketSort
};

inline const std::array<std::string, 16> kAccelerationNames = {
    "grid",         "tree",        "filter",      "filter_features", "few_features", "bounds",
    "moved_rivals", "due_dates",   "line",        "replay",          "joining",      "moved_sums",
    "moved_costs",  "swept_costs", "small_table", "bucket_sort"};

// Due dates are for batches of many points, from this pass on, counted after the first.
struct DatesFrom {
    std::size_t fewest_points = 30000, first_pass = 4;
};
inline DatesFrom dates;

inline std::array<bool, kAccelerationNames.size()> is_left_out{};
static_assert(is_left_out.size() == static_cast<std::size_t>(Acceleration::kBucketSort) + 1);

inline bool uses(Acceleration one) { return !is_left_out[static_cast<std::size_t>(one)]; }

}  // namespace dynmeans
