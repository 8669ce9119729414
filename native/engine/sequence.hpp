// Many small batches one after the other, from nothing, each in visiting orders of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/visiting_orders.hpp"
#include "engine/step.hpp"

namespace dynmeans::engine {

using namespace algorithm;

template <typename Value>
std::vector<StepResult> run_sequence(const std::vector<Points<Value>>& batches,
                                     const double* elapsed, const Penalties& penalties,
                                     bool is_accelerated, std::uint64_t entropy, std::size_t n_init,
                                     ThreadPool& pool) {
    std::vector<StepResult> results;
    results.reserve(batches.size());
    const State nothing{};
    for (std::size_t t = 0; t < batches.size(); ++t) {
        MadeOrders orders(VisitingOrders(batches[t], seed_of_step(entropy, t)), n_init,
                          batches[t].n_points);
        const State& state = results.empty() ? nothing : results.back().state;
        results.push_back(step(batches[t], orders, view(state), penalties, elapsed[t],
                               {is_accelerated, nullptr}, pool));
        pool.interrupts().check();
    }
    return results;
}

}  // namespace dynmeans::engine
