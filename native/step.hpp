// One step of Algorithm 1: cluster the batch once for each visiting order, keep the cheapest,
// remember it.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster.hpp"
#include "predict_labels.hpp"
#include "update_state.hpp"

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
};

// Points of weight 0 took no part; they get the label a prediction would give them.
template <typename Value>
void label_bystanders(const Points<Value>& points, const Penalties& penalties, StepResult& result) {
    if (!points.weights) return;
    std::vector<double> buffer(points.n_features);
    const State& state = result.state;
    const Predictor predictor(state.centers.data(), state.weights.data(), state.ages.data(),
                              state.ids.size(), points.n_features, penalties);
    for (std::size_t i = 0; i < points.n_points; ++i) {
        if (points.weights[i] != 0.0) continue;
        const Choice choice = predictor.choose(points.row(i, buffer.data()), CostTable::kNone);
        result.labels[i] = choice.slot == CostTable::kNone ? kUnlabelled : state.ids[choice.slot];
    }
}

template <typename Value>
StepResult step(const Points<Value>& points, const std::int64_t* orders, std::size_t n_orders,
                const StateView& before, const Penalties& penalties, double elapsed,
                const Means& means, ThreadPool& pool) {
    const Memory memory(before.centers, before.weights,
                        let_time_pass(before.ages, before.n_clusters, elapsed), points.n_features,
                        penalties);
    Clusterer<Value> clusterer(points, memory, penalties, means, pool);
    Solution best;
    for (std::size_t r = 0; r < n_orders; ++r) clusterer.run(orders + r * points.n_points, best);

    const std::size_t d = points.n_features, n_slots = best.counts.size();
    std::vector<std::int64_t> slot_ids(before.ids, before.ids + before.n_clusters);
    std::int64_t next_id = before.next_id;
    while (slot_ids.size() < n_slots) slot_ids.push_back(next_id++);

    StepResult result;
    result.labels.resize(points.n_points);
    for (std::size_t i = 0; i < points.n_points; ++i)
        result.labels[i] = best.labels[i] == kUnlabelled ? kUnlabelled : slot_ids[best.labels[i]];
    for (std::size_t k = 0; k < n_slots; ++k) {
        if (best.counts[k] == 0.0) continue;
        result.ids.push_back(slot_ids[k]);
        result.counts.push_back(best.counts[k]);
        result.centers.insert(result.centers.end(), best.centers.begin() + k * d,
                              best.centers.begin() + (k + 1) * d);
    }
    result.state = update_state(best, memory, penalties, slot_ids, before.counts, elapsed);
    result.state.next_id = next_id;
    result.cost_trace = std::move(best.cost_trace);
    label_bystanders(points, penalties, result);
    return result;
}

}  // namespace dynmeans
