// Event log and replay: one process replays the proposers: in order of their turns each looks at
// the clusters as they then are, and opens one, revives one, or finds that an earlier proposer made
// a better place for it.
#pragma once

#include <cstdint>
#include <vector>

#include "dask/part.hpp"

namespace dynmeans::dask {

struct SlotChangeLists {
    std::vector<Turn> turns;
    std::vector<std::int64_t> slots;
    std::vector<double> centers;
};

// Slots below the number of `gamma` are remembered, at `theta_old`; on the sphere they are revived
// there.
inline SlotChangeLists replay(ClusterTable& clusters, const Turn* turns, const double* rows,
                              std::size_t n_rows, const double* theta_old,
                              const std::vector<double>& gamma, double new_penalty,
                              bool is_on_sphere) {
    SlotChangeLists changes;
    const std::size_t d = clusters.n_features;
    std::vector<double> center(d);
    for (std::size_t r = 0; r < n_rows; ++r) {
        const double* y = rows + r * d;
        std::size_t k = clusters.table.cheapest(y, new_penalty, CostTable::kNone).slot;
        if (clusters.is_free_to_join(k)) continue;
        if (k == CostTable::kNone) {
            k = clusters.table.size();
            center.assign(y, y + d);
        } else if (is_on_sphere) {
            center.assign(theta_old + k * d, theta_old + (k + 1) * d);
        } else {
            for (std::size_t j = 0; j < d; ++j)
                center[j] = (gamma[k] * theta_old[k * d + j] + y[j]) / (gamma[k] + 1.0);
        }
        clusters.set(k, center.data(), 0.0, 1.0, true);
        changes.turns.push_back(turns[r]);
        changes.slots.push_back(static_cast<std::int64_t>(k));
        changes.centers.insert(changes.centers.end(), center.begin(), center.end());
    }
    return changes;
}

}  // namespace dynmeans::dask
