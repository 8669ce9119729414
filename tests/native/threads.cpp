// Runs the engine with several threads over random batches, for ThreadSanitizer (make sanitize):
// prints the cost with one and with four threads, and fails if they differ.
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "engine/step.hpp"

using namespace dynmeans;

int main() {
    std::mt19937_64 random(0);
    std::normal_distribution<double> normal;
    for (const std::size_t d : {2, 20}) {
        const std::size_t n = 20000;
        std::vector<double> values(n * d);
        for (double& x : values) x = normal(random);
        std::vector<std::int64_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const Points<double> points{values.data(), nullptr, n, d};
        const Penalties penalties{8.0 * static_cast<double>(d), 0.5, 0.5, false};
        double costs[2];
        for (const std::size_t n_threads : {1, 4}) {
            InterruptCheck interrupts([] { return false; });
            ThreadPool pool(n_threads, interrupts);
            const State nothing;
            GivenOrders orders(order.data(), 1, n), again = orders;
            const StepResult first =
                step(points, orders, view(nothing), penalties, 1.0, {true, nullptr}, pool);
            const StepResult second =
                step(points, again, view(first.state), penalties, 1.0, {true, nullptr}, pool);
            costs[n_threads > 1] = second.cost_trace.back();
        }
        std::printf("d=%zu: cost %.17g with one thread, %.17g with four\n", d, costs[0], costs[1]);
        if (costs[0] != costs[1]) return 1;
    }
    return 0;
}
