// One step of Algorithm 1: cluster the batch once for each visiting order, keep the cheapest,
// remember it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cluster.hpp"
#include "predict_labels.hpp"
#include "small_batch.hpp"
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

template <typename Way>
Solution run_all(Way&& way, const std::int64_t* orders, std::size_t n_orders,
                 std::size_t n_points) {
    Solution best;
    for (std::size_t r = 0; r < n_orders; ++r) way.run(orders + r * n_points, best);
    return best;
}

template <std::size_t D, typename Value>
Solution run_small(const Points<Value>& points, const std::int64_t* orders, std::size_t n_orders,
                   const Memory& memory, const Penalties& penalties, const BatchSums& sums) {
    thread_local SmallBatchRoom room;
    return run_all(SmallBatch<Value, D>(points, memory, penalties, sums, room), orders, n_orders,
                   points.n_points);
}

// Algorithm 2 once for each visiting order.
template <typename Value>
Solution best_of_orders(const Points<Value>& points, const std::int64_t* orders,
                        std::size_t n_orders, const Memory& memory, const Penalties& penalties,
                        const Means& means, ThreadPool& pool) {
    const BatchSums sums = sums_of_batch(points, memory, penalties.new_penalty, pool);
    if (means.is_accelerated &&
        is_small_batch(points.n_points, points.n_features, memory.n_clusters)) {
        switch (points.n_features) {
            case 1:
                return run_small<1>(points, orders, n_orders, memory, penalties, sums);
            case 2:
                return run_small<2>(points, orders, n_orders, memory, penalties, sums);
            case 3:
                return run_small<3>(points, orders, n_orders, memory, penalties, sums);
            case 4:
                return run_small<4>(points, orders, n_orders, memory, penalties, sums);
            default:
                return run_small<0>(points, orders, n_orders, memory, penalties, sums);
        }
    }
    return run_all(Clusterer<Value>(points, memory, penalties, means, sums, pool), orders, n_orders,
                   points.n_points);
}

template <typename Value>
StepResult step(const Points<Value>& points, const std::int64_t* orders, std::size_t n_orders,
                const StateView& before, const Penalties& penalties, double elapsed,
                const Means& means, ThreadPool& pool) {
    const Memory memory(before.centers, before.weights,
                        let_time_pass(before.ages, before.n_clusters, elapsed), points.n_features,
                        penalties);
    Solution best = best_of_orders(points, orders, n_orders, memory, penalties, means, pool);

    const std::size_t d = points.n_features, n_slots = best.counts.size();
    std::vector<std::int64_t> slot_ids(n_slots);
    std::copy_n(before.ids, before.n_clusters, slot_ids.begin());
    std::iota(slot_ids.begin() + before.n_clusters, slot_ids.end(), before.next_id);

    StepResult result;
    result.labels.resize(points.n_points);
    for (std::size_t i = 0; i < points.n_points; ++i)
        result.labels[i] = best.labels[i] == kUnlabelled ? kUnlabelled : slot_ids[best.labels[i]];
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
    result.state = update_state(best, memory, penalties, slot_ids, before.counts, elapsed);
    result.state.next_id = before.next_id + static_cast<std::int64_t>(n_slots - before.n_clusters);
    result.cost_trace = std::move(best.cost_trace);
    label_bystanders(points, penalties, result);
    return result;
}

}  // namespace dynmeans
