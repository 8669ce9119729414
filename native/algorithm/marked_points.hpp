// Which points belong to marked slots. The list is made without a branch: the slots of points come
// in no order, so the machine would guess it wrong again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::algorithm {

using namespace threads;
using namespace records;

// Writes the points of the range whose slot is marked, in their order; returns how many.
inline std::size_t list_marked(const std::vector<Slot>& labels, BlockRange range,
                               const std::vector<std::uint8_t>& marks,
                               std::vector<std::uint32_t>& list) {
    if (marks.empty()) return 0;
    list.resize(std::max(list.size(), range.end - range.begin));
    std::size_t n = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const Slot k = labels[i];
        list[n] = static_cast<std::uint32_t>(i);
        n += static_cast<std::size_t>(k != kUnlabelled) & marks[k == kUnlabelled ? 0 : k];
    }
    return n;
}

}  // namespace dynmeans::algorithm
