// UpdateC: what is remembered for the next batch (Eq. 14).
#pragma once

#include <cstdint>
#include <vector>

#include "records/remembered.hpp"
#include "records/solution.hpp"

namespace dynmeans {

struct State {
    std::vector<std::int64_t> ids;
    std::vector<double> centers, weights, ages, counts;
    std::int64_t next_id = 0;
    std::vector<double> velocities, velocity_covariances;  // empty where clusters keep no course
};

// dt as the arriving batch sees it: `elapsed` steps after the previous batch, not one.
inline std::vector<double> advance_time(const double* ages, std::size_t n_clusters,
                                        double elapsed) {
    std::vector<double> dt(n_clusters);
    for (std::size_t k = 0; k < n_clusters; ++k) dt[k] = ages[k] - 1.0 + elapsed;
    return dt;
}

// The course of slot k: learned anew where it was seen, kept where not, none yet for a new cluster.
inline void add_course(std::size_t k, const Solution& solution, const Remembered& remembered,
                       const Penalties& penalties, State& state) {
    const std::size_t d = remembered.n_features, first = k * d;
    const double n = solution.counts[k];
    if (k >= remembered.n_clusters) {
        const Covariance p = newborn_covariance(penalties.drift);
        state.velocities.insert(state.velocities.end(), d, 0.0);
        state.velocity_covariances.insert(state.velocity_covariances.end(), {p.p12, p.p22});
        return;
    }
    const double gain = n > 0.0 ? remembered.gamma[k] * remembered.covariances[k].p12 : 0.0;
    for (std::size_t j = 0; j < d; ++j) {
        const double surprise = solution.centers[first + j] - remembered.centers[first + j];
        state.velocities.push_back(remembered.velocities[first + j] +
                                   penalties.moving[j] * (gain * surprise));
    }
    const Covariance p = n > 0.0 ? after_batch(remembered.covariances[k], remembered.gamma[k], n)
                                 : remembered.last_covariances[k];
    state.velocity_covariances.insert(state.velocity_covariances.end(), {p.p12, p.p22});
}

// Seen clusters get age 1, unseen ones grow a batch older, and those too old to be revived at any
// distance are forgotten. The next batch is taken to come at least one step later, unless this
// one came sooner than that itself; then it may come at any moment (decision 0003).
inline State update_state(const Solution& solution, const Remembered& remembered,
                          const Penalties& penalties, const std::vector<std::int64_t>& slot_ids,
                          const double* counts_before, double elapsed) {
    State state;
    const std::size_t d = remembered.n_features;
    state.ids.reserve(slot_ids.size());
    state.centers.reserve(slot_ids.size() * d);
    for (auto* column : {&state.weights, &state.ages, &state.counts})
        column->reserve(slot_ids.size());
    if (penalties.moving) {
        state.velocities.reserve(slot_ids.size() * d);
        state.velocity_covariances.reserve(slot_ids.size() * 2);
    }
    for (std::size_t k = 0; k < slot_ids.size(); ++k) {
        const double n = solution.counts[k];
        const bool is_seen = n > 0.0, is_new = k >= remembered.n_clusters;
        const double age = is_seen ? 1.0 : remembered.ages[k] + 1.0;
        const double earliest_dt = elapsed >= 1.0 ? age : age - 1.0;
        if (!is_seen && penalties.revival_penalty * earliest_dt > penalties.new_penalty) continue;
        state.ids.push_back(slot_ids[k]);
        const double* center =
            is_seen ? solution.centers.data() + k * d : remembered.last_center(k);
        state.centers.insert(state.centers.end(), center, center + d);
        state.weights.push_back(is_seen ? (is_new ? 0.0 : remembered.gamma[k]) + n
                                        : remembered.weights[k]);
        state.ages.push_back(age);
        state.counts.push_back(is_seen ? n : counts_before[k]);
        if (penalties.moving) add_course(k, solution, remembered, penalties, state);
    }
    return state;
}

}  // namespace dynmeans
