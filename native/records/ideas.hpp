// Ablation switches: accelerations that can be left out one at a time, so that
// `benchmarks/engine.py --ablation` can tell what each brings. They are set between steps and
// looked at once for a pass or a block of points; no result depends on them.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace dynmeans::records {

enum class Idea { kGrid, kTree, kFilter, kLine, kSmallTable, kJoining, kReplay, kMovedSums };

inline const std::array<std::string, 8> kIdeaNames = {
    "grid", "tree", "filter", "line", "small_table", "joining", "replay", "moved_sums"};

inline std::array<bool, 8> is_left_out{};

inline bool has(Idea idea) { return !is_left_out[static_cast<std::size_t>(idea)]; }

}  // namespace dynmeans::records
