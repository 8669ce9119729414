// Ablation switches: accelerations that can be left out one at a time, so that
// `benchmarks/engine/ablation.py` can tell what each brings. They are set between steps and looked
// at once for a pass or a block of points; no result depends on them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace dynmeans {

inline constexpr std::array<std::string_view, 16> kAccelerationNames = {"grid",
                                                                        "tree",
                                                                        "filter",
                                                                        "filter_features",
                                                                        "few_features",
                                                                        "bounds",
                                                                        "updated_rivals",
                                                                        "deferred_checks",
                                                                        "line",
                                                                        "replay",
                                                                        "slot_fusion",
                                                                        "moved_sums",
                                                                        "updated_distances",
                                                                        "streamed_distances",
                                                                        "small_table",
                                                                        "bucket_sort"};

// The place of a name in that list, beyond its end if it is not there.
constexpr std::size_t acceleration(std::string_view name) {
    std::size_t at = 0;
    while (at < kAccelerationNames.size() && kAccelerationNames[at] != name) ++at;
    return at;
}

// Due dates are for batches of many points, from this pass on, counted after the first.
struct DeferredLimits {
    std::size_t fewest_points = 30000, first_pass = 4;
};
inline DeferredLimits deferred_limits;

inline std::array<bool, kAccelerationNames.size()> disabled{};

template <std::size_t One>
bool is_enabled() {
    static_assert(One < kAccelerationNames.size(), "unknown acceleration");
    return !disabled[One];
}

}  // namespace dynmeans
