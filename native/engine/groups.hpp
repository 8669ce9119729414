// Many small streams, one for each key, each clustered by itself: what a loop over estimators does,
// without coming back to Python. A stream is the work of one thread, so nothing is shared between
// them, and which thread takes which never matters.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "algorithm/visiting_orders.hpp"
#include "engine/step.hpp"

namespace dynmeans {

// Rows in the order of their keys and, within a key, of their batches.
template <typename Value>
struct GroupedPoints {
    Points<Value> points;
    const std::int64_t* batch_starts;  // first row of each batch, and the end
    const std::int64_t* group_starts;  // first batch of each group, and the end
    std::size_t n_groups;
    const double* elapsed;  // for each batch

    Points<Value> batch(std::size_t b) const {
        const auto first = static_cast<std::size_t>(batch_starts[b]);
        const auto end = static_cast<std::size_t>(batch_starts[b + 1]);
        return {points.values + first * points.n_features,
                points.weights ? points.weights + first : nullptr, end - first, points.n_features};
    }
};

// What each group remembers: clusters of all groups in one table, group after group.
struct GroupsRemembered {
    StateView clusters;          // next_id is not used
    const std::int64_t* starts;  // first cluster of each group, and the end
    const std::int64_t *next_ids, *n_steps;

    State of(std::size_t g, std::size_t d) const {
        const std::int64_t a = starts[g], b = starts[g + 1];
        State state{{clusters.ids + a, clusters.ids + b},
                    {clusters.centers + a * d, clusters.centers + b * d},
                    {clusters.weights + a, clusters.weights + b},
                    {clusters.ages + a, clusters.ages + b},
                    {clusters.counts + a, clusters.counts + b},
                    next_ids[g],
                    {},
                    {}};
        const Velocities& courses = clusters.courses;
        if (courses.velocities) {
            state.velocities.assign(courses.velocities + a * d, courses.velocities + b * d);
            state.velocity_covariances.assign(courses.covariances + a * 2,
                                              courses.covariances + b * 2);
        }
        return state;
    }
};

struct GroupResults {
    std::vector<std::int64_t> labels;               // of each row
    std::vector<std::int64_t> n_clusters, n_iters;  // of each batch
    std::vector<double> costs;
    std::vector<State> states;  // of each group, after its last batch
};

// What the estimators draw from `random_state=seed`: NumPy's RandomState(seed).randint(2**63), the
// Mersenne twister, whose stream NumPy keeps fixed for good.
inline std::uint64_t entropy_of_seed(std::uint32_t seed) {
    std::mt19937 twister(seed);
    const std::uint64_t high = twister(), low = twister();
    return ((high << 32) | low) & 0x7FFFFFFFFFFFFFFFu;
}

template <typename Value>
class GroupRunner {
  public:
    GroupRunner(const GroupedPoints<Value>& grouped, const GroupsRemembered& before,
                const std::uint32_t* seeds, std::size_t n_init, int depth,
                const Penalties& penalties, bool is_accelerated)
        : grouped_(grouped),
          before_(before),
          seeds_(seeds),
          n_init_(n_init),
          depth_(depth),
          penalties_(penalties),
          is_accelerated_(is_accelerated) {}

    GroupResults run(ThreadPool& pool) const {
        GroupResults results;
        const auto n_batches = static_cast<std::size_t>(grouped_.group_starts[grouped_.n_groups]);
        results.labels.resize(grouped_.points.n_points);
        results.n_clusters.resize(n_batches);
        results.n_iters.resize(n_batches);
        results.costs.resize(n_batches);
        results.states.resize(grouped_.n_groups);
        // In rounds: Ctrl-C is looked for in between.
        for (std::size_t first = 0; first < grouped_.n_groups; first += kRound) {
            const std::size_t end = std::min(first + kRound, grouped_.n_groups);
            pool.for_blocks((end - first + kTask - 1) / kTask, [&](std::size_t block, std::size_t) {
                const std::size_t from = first + block * kTask;
                run_groups(from, std::min(from + kTask, end), results);
            });
        }
        return results;
    }

  private:
    static constexpr std::size_t kTask = 64, kRound = 64 * kTask;  // groups

    void run_groups(std::size_t from, std::size_t end, GroupResults& results) const {
        InterruptCheck nobody([] { return false; });  // only the first thread may ask Python
        ThreadPool alone(1, nobody);
        for (std::size_t g = from; g < end; ++g) run_group(g, alone, results);
    }

    void run_group(std::size_t g, ThreadPool& alone, GroupResults& results) const {
        const std::uint64_t entropy = entropy_of_seed(seeds_[g]);
        const auto first = static_cast<std::size_t>(grouped_.group_starts[g]);
        const auto end = static_cast<std::size_t>(grouped_.group_starts[g + 1]);
        State state = before_.of(g, grouped_.points.n_features);
        for (std::size_t b = first; b < end; ++b) {
            const Points<Value> batch = grouped_.batch(b);
            const std::size_t n_steps = before_.n_steps[g] + (b - first);
            MadeOrders orders(VisitingOrders(batch, seed_of_step(entropy, n_steps)), n_init_,
                              batch.n_points);
            orders.depth = depth_;
            StepResult result = step(batch, orders, view(state), penalties_, grouped_.elapsed[b],
                                     {is_accelerated_, nullptr}, alone);
            std::copy(result.labels.begin(), result.labels.end(),
                      results.labels.begin() + grouped_.batch_starts[b]);
            results.n_clusters[b] = static_cast<std::int64_t>(result.ids.size());
            results.n_iters[b] = static_cast<std::int64_t>(result.cost_trace.size());
            results.costs[b] = result.cost_trace.back();
            state = std::move(result.state);
        }
        results.states[g] = std::move(state);
    }

    const GroupedPoints<Value>& grouped_;
    const GroupsRemembered& before_;
    const std::uint32_t* seeds_;
    std::size_t n_init_;
    int depth_;
    const Penalties& penalties_;
    bool is_accelerated_;
};

// Row numbers in the order of their groups, kept in order within each, and where each group begins.
inline void sort_by_group(const std::int64_t* groups, std::size_t n, std::size_t n_groups,
                          std::vector<std::int64_t>& order, std::vector<std::int64_t>& starts) {
    starts.assign(n_groups + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++starts[groups[i] + 1];
    for (std::size_t g = 0; g < n_groups; ++g) starts[g + 1] += starts[g];
    std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
    order.resize(n);
    for (std::size_t i = 0; i < n; ++i) order[next[groups[i]]++] = static_cast<std::int64_t>(i);
}

}  // namespace dynmeans
