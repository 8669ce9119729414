// The first members of each slot in a visiting order, for the samples of splits (moves/splits.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dask/part.hpp"

namespace dynmeans::dask {

struct Member {
    Turn turn;
    std::size_t part, row;

    bool operator<(const Member& other) const { return turn < other.turn; }
};

// Of each slot with a place in `wanted` that is not 0, so many members at most, by increasing turn.
template <typename Value>
std::vector<std::vector<Member>> first_members(const std::vector<Part<Value>>& parts,
                                               const std::vector<std::int64_t>& wanted) {
    std::vector<std::vector<Member>> found(wanted.size());  // of each slot, a heap: the last on top
    for (std::size_t p = 0; p < parts.size(); ++p)
        for (std::size_t i = 0; i < parts[p].points.n_points; ++i) {
            const Slot k = parts[p].labels[i];
            if (k == kUnlabeled || wanted[k] == 0) continue;
            std::vector<Member>& members = found[k];
            if (members.size() == static_cast<std::size_t>(wanted[k])) {
                if (!parts[p].is_before(i, members.front().turn)) continue;
                std::pop_heap(members.begin(), members.end());
                members.pop_back();
            }
            members.push_back({parts[p].turn(i), p, i});
            std::push_heap(members.begin(), members.end());
        }
    for (std::vector<Member>& members : found) std::sort_heap(members.begin(), members.end());
    return found;
}

}  // namespace dynmeans::dask
