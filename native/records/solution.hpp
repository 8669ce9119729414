// What one run of Algorithm 2 comes to, and when it has converged.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "records/points.hpp"

namespace dynmeans {

constexpr double kNoFall = 1e-12;  // a relative fall or rise of the cost below this is none

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();  // of passes

// One run of Algorithm 2, by slot.
struct Solution {
    std::vector<Slot> labels;
    std::vector<double> counts;   // n, or total weight
    std::vector<double> centers;  // row-major; those of unseen clusters are as remembered
    std::vector<double> cost_trace;
    std::vector<std::int64_t> n_members;  // points of each slot
    std::vector<double> bins;             // n and n m of each slot, before the total is rounded
};

inline bool has_fallen(double cost, double before) { return cost < before * (1.0 - kNoFall); }

// Whether the last pass raised the cost: it takes points that weigh less than 1 (decision 0004).
// The run is then repeated without it: labels change in place, and this way no pass copies them.
inline bool has_risen(const std::vector<double>& cost_trace) {
    const std::size_t n = cost_trace.size();
    return n > 1 && has_fallen(cost_trace[n - 2], cost_trace[n - 1]);
}

// The first of equals is kept: a later run must be cheaper to replace it.
inline bool is_better(const std::vector<double>& cost_trace, const Solution& best) {
    return best.cost_trace.empty() || has_fallen(cost_trace.back(), best.cost_trace.back());
}

}  // namespace dynmeans
