// Many small batches one after the other, from nothing, each in visiting orders of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/visiting_orders.hpp"
#include "engine/step.hpp"

namespace dynmeans {

// on_step(t, result) takes what each step found and returns where its state lies.
template <typename Value, typename OnStep>
void run_sequence(const std::vector<Points<Value>>& batches, const double* elapsed,
                  const Penalties& penalties, bool is_accelerated, std::uint64_t entropy,
                  std::size_t n_init, int depth, ThreadPool& pool, const OnStep& on_step) {
    const State nothing{};
    StateView before = view(nothing);
    for (std::size_t t = 0; t < batches.size(); ++t) {
        MadeOrders orders(VisitingOrders(batches[t], seed_of_step(entropy, t)), n_init,
                          batches[t].n_points);
        orders.depth = depth;
        before = on_step(t, step(batches[t], orders, before, penalties, elapsed[t],
                                 {is_accelerated, nullptr}, pool));
        pool.interrupts().check();
    }
}

}  // namespace dynmeans
