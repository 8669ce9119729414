// The cost L_t that each iteration lowers (Theorem 1, Eq. 15).
#pragma once

#include "assign_labels.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "squared_distance.hpp"
#include "sums.hpp"

namespace dynmeans {

inline double clustering_cost(const Points& points, const Memory& memory,
                              const Penalties& penalties, const Assignment& assignment) {
    OrderedSum clusters, spread;
    for (std::size_t k = 0; k < assignment.n_members.size(); ++k) {
        if (assignment.n_members[k] == 0) continue;
        if (k >= memory.n_clusters) {
            clusters.add(penalties.new_penalty);
            continue;
        }
        const double moved =
            squared_distance(assignment.table.center(k), memory.center(k), memory.n_features);
        clusters.add(memory.offsets[k] + memory.gamma[k] * moved);
    }
    for (std::size_t i = 0; i < points.n_points; ++i) {
        const Slot k = assignment.labels[i];
        spread.add(k == kUnlabelled
                       ? 0.0
                       : points.weight(i) * squared_distance(points.row(i),
                                                             assignment.table.center(k),
                                                             points.n_features));
    }
    return clusters.total() + spread.total();
}

}  // namespace dynmeans
