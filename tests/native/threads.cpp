// Runs the engine with several threads over random batches, for ThreadSanitizer (make sanitize):
// prints the cost with one and with four threads, and fails if they differ.
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "step.hpp"

using namespace dynmeans;

int main() {
    std::mt19937_64 random(0);
    std::normal_distribution<double> normal;
    for (const std::size_t d : {2, 5, 20}) {
        const std::size_t n = 40000;
        std::vector<double> values(n * d);
        for (double& x : values) x = normal(random);
        std::vector<std::int64_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const Points<double> points{values.data(), nullptr, n, d};
        const Penalties penalties{4.0 * static_cast<double>(d), 0.5, 0.5, false};
        double costs[2];
        for (const std::size_t n_threads : {1, 4}) {
            Watch watch([] { return false; });
            ThreadPool pool(n_threads, watch);
            const State nothing;
            StateView before{nothing.ids.data(),
                             nothing.centers.data(),
                             nothing.weights.data(),
                             nothing.ages.data(),
                             nothing.counts.data(),
                             0,
                             0};
            const StepResult first =
                step(points, order.data(), 1, before, penalties, 1.0, {true, nullptr}, pool);
            const State& state = first.state;
            before = {state.ids.data(),  state.centers.data(), state.weights.data(),
                      state.ages.data(), state.counts.data(),  state.ids.size(),
                      state.next_id};
            const StepResult second =
                step(points, order.data(), 1, before, penalties, 1.0, {true, nullptr}, pool);
            costs[n_threads > 1] = second.cost_trace.back();
        }
        std::printf("d=%zu: cost %.17g with one thread, %.17g with four\n", d, costs[0], costs[1]);
        if (costs[0] != costs[1]) return 1;
    }
    return 0;
}
