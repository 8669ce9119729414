// What one run of Algorithm 2 comes to, and when it has converged.
#pragma once

#include <vector>

#include "records/points.hpp"

namespace dynmeans::records {

constexpr double kNoFall = 1e-12;  // a relative fall of the cost below this counts as none

// One run of Algorithm 2, by slot.
struct Solution {
    std::vector<Slot> labels;
    std::vector<double> counts;   // n, or total weight
    std::vector<double> centers;  // row-major; those of unseen clusters are as remembered
    std::vector<double> cost_trace;
};

inline bool has_fallen(double cost, double before) { return cost < before * (1.0 - kNoFall); }

// The first of equals is kept: a later run must be cheaper to replace it.
inline bool is_better(const std::vector<double>& cost_trace, const Solution& best) {
    return best.cost_trace.empty() || has_fallen(cost_trace.back(), best.cost_trace.back());
}

}  // namespace dynmeans::records
