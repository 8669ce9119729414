// One step of Algorithm 1: cluster the batch once for each visiting order, keep the cheapest,
// remember it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "algorithm/predict_labels.hpp"
#include "algorithm/update_state.hpp"
#include "algorithm/visiting_orders.hpp"
#include "engine/cluster.hpp"
#include "passes/run_small.hpp"

namespace dynmeans {

struct StepResult {
    std::vector<std::int64_t> labels;  // identities
    std::vector<std::int64_t> ids;     // of the active clusters
    std::vector<double> counts, centers, cost_trace;
    State state;
};

struct StateView {
    const std::int64_t* ids;
    const double *centers, *weights, *ages, *counts;
    std::size_t n_clusters;
    std::int64_t next_id;
    Velocities courses = {};
};

inline Velocities courses_of(const State& state) {
    if (state.velocity_covariances.empty()) return {};
    return {state.velocities.data(), state.velocity_covariances.data()};
}

inline StateView view(const State& state) {
    return {state.ids.data(),    state.centers.data(), state.weights.data(), state.ages.data(),
            state.counts.data(), state.ids.size(),     state.next_id,        courses_of(state)};
}

// Points of weight 0 took no part; they get the label a prediction would give them.
template <typename Value>
void label_zero_weight_points(const Points<Value>& points, const Penalties& penalties,
                              StepResult& result) {
    if (!points.weights) return;
    std::vector<double> buffer(points.n_features);
    const State& state = result.state;
    const Predictor predictor(state.centers.data(), state.weights.data(), state.ages.data(),
                              state.ids.size(), points.n_features, penalties, courses_of(state));
    for (std::size_t i = 0; i < points.n_points; ++i) {
        if (points.weights[i] != 0.0) continue;
        const Choice choice = predictor.choose(points.row(i, buffer.data()), CostTable::kNone);
        result.labels[i] = choice.slot == CostTable::kNone ? kUnlabeled : state.ids[choice.slot];
    }
}

// Algorithm 2 once for each visiting order.
template <typename Value>
Solution best_of_orders(const Points<Value>& points, Orders& orders, const Remembered& remembered,
                        const Penalties& penalties, const Execution& execution, ThreadPool& pool) {
    const BatchSums sums = sums_of_batch(points, remembered, penalties.new_penalty, pool);
    if (execution.is_accelerated && is_enabled<acceleration("small_table")>() &&
        !penalties.is_on_sphere &&
        is_small_batch(points.n_points, points.n_features, remembered.n_clusters))
        return run_small(points, orders, remembered, penalties, sums);
    Clusterer<Value> clusterer(points, remembered, penalties, execution, sums, pool);
    Solution best;
    while (orders.advance()) clusterer.run(orders.listed(), best);
    if (orders.depth > 0) clusterer.run_deep_search(orders.listed(), orders.depth, best);
    return best;
}

template <typename Value>
StepResult step(const Points<Value>& points, Orders& orders, const StateView& before,
                const Penalties& penalties, double elapsed, const Execution& execution,
                ThreadPool& pool) {
    const Remembered remembered(before.centers, before.weights,
                                advance_time(before.ages, before.n_clusters, elapsed),
                                points.n_features, penalties, before.courses);
    Solution best = best_of_orders(points, orders, remembered, penalties, execution, pool);

    const std::size_t d = points.n_features, n_slots = best.counts.size();
    std::vector<std::int64_t> slot_ids(n_slots);
    std::copy_n(before.ids, before.n_clusters, slot_ids.begin());
    std::iota(slot_ids.begin() + before.n_clusters, slot_ids.end(), before.next_id);

    StepResult result;
    result.labels.resize(points.n_points);
    for (std::size_t i = 0; i < points.n_points; ++i)
        result.labels[i] = best.labels[i] == kUnlabeled ? kUnlabeled : slot_ids[best.labels[i]];
    result.ids.reserve(n_slots);
    result.counts.reserve(n_slots);
    result.centers.reserve(n_slots * d);
    for (std::size_t k = 0; k < n_slots; ++k) {
        if (best.counts[k] == 0.0) continue;
        result.ids.push_back(slot_ids[k]);
        result.counts.push_back(best.counts[k]);
        result.centers.insert(result.centers.end(), best.centers.begin() + k * d,
                              best.centers.begin() + (k + 1) * d);
    }
    result.state = update_state(best, remembered, penalties, slot_ids, before.counts, elapsed);
    result.state.next_id = before.next_id + static_cast<std::int64_t>(n_slots - before.n_clusters);
    result.cost_trace = std::move(best.cost_trace);
    label_zero_weight_points(points, penalties, result);
    return result;
}

// Most of the time of a build goes into this function: compiled once for each type of values, in
// step_double.cpp and step_float.cpp, not in every file that calls it.
extern template StepResult step(const Points<double>&, Orders&, const StateView&, const Penalties&,
                                double, const Execution&, ThreadPool&);
extern template StepResult step(const Points<float>&, Orders&, const StateView&, const Penalties&,
                                double, const Execution&, ThreadPool&);

}  // namespace dynmeans
