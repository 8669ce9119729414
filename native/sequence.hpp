// Many small batches one after the other, from nothing, each in visiting orders of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "step.hpp"
#include "visiting_orders.hpp"

namespace dynmeans {

template <typename Value>
std::vector<StepResult> run_sequence(const std::vector<Points<Value>>& batches,
                                     const double* elapsed, const Penalties& penalties,
                                     bool is_accelerated, std::uint64_t entropy, std::size_t n_init,
                                     ThreadPool& pool) {
    std::vector<StepResult> results;
    results.reserve(batches.size());
    std::vector<std::int64_t> orders;
    const State nothing{};
    for (std::size_t t = 0; t < batches.size(); ++t) {
        const std::size_t n_points = batches[t].n_points;
        orders.resize(n_init * n_points);
        VisitingOrders made(batches[t], seed_of_step(entropy, t));
        for (std::size_t r = 0; r < n_init; ++r) made.write_next(orders.data() + r * n_points);
        const State& state = results.empty() ? nothing : results.back().state;
        const StateView before{state.ids.data(),  state.centers.data(), state.weights.data(),
                               state.ages.data(), state.counts.data(),  state.ids.size(),
                               state.next_id};
        results.push_back(step(batches[t], orders.data(), n_init, before, penalties, elapsed[t],
                               {is_accelerated, nullptr}, pool));
        pool.watch().look();
    }
    return results;
}

}  // namespace dynmeans
