// Random streams through the engine, every result printed to the bit: two builds of this file, for
// two instruction sets or two processors, must print the same.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/step.hpp"
#include "numeric/random.hpp"

using namespace dynmeans;

namespace {

Random random_numbers(7);

// Without functions of the C library, which differ from one processor to the other.
double spread() {
    double sum = -2.0;
    for (int k = 0; k < 4; ++k) sum += random_numbers.uniform();
    return sum;
}

std::uint64_t digest = 0;

void add_bits(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    digest = mix(digest ^ bits);
}

template <typename Value>
void run(std::size_t n_points, std::size_t n_clusters, std::size_t d, bool has_weights,
         bool is_steady, bool is_lattice) {
    InterruptCheck interrupts([] { return false; });
    ThreadPool pool(1, interrupts);
    const std::vector<double> moving(d, 1.0);
    const Penalties penalties{is_lattice ? 2.0 : 0.3 * static_cast<double>(d), 0.05, 0.1, false,
                              is_steady ? moving.data() : nullptr};
    std::vector<double> centers(n_clusters * d), weights(n_points);
    for (double& x : centers) x = 4.0 * spread();
    State state;
    for (std::size_t t = 0; t < 4; ++t) {
        std::vector<Value> values(n_points * d);
        for (std::size_t i = 0; i < n_points; ++i)
            for (std::size_t j = 0; j < d; ++j) {
                const double x = centers[i % n_clusters * d + j] + 0.3 * spread();
                values[i * d + j] = static_cast<Value>(is_lattice ? static_cast<int>(2.0 * x) : x);
            }
        for (double& w : weights) w = static_cast<int>(3.0 * random_numbers.uniform());
        for (double& x : centers) x += 0.1 * spread();
        const Points<Value> points{values.data(), has_weights ? weights.data() : nullptr, n_points,
                                   d};
        for (const bool is_accelerated : {false, true}) {
            MadeOrders orders(VisitingOrders(points, seed_of_step(1, t)), 3, n_points);
            StepResult result =
                step(points, orders, view(state), penalties, 1.0, {is_accelerated, nullptr}, pool);
            for (const std::int64_t label : result.labels) add_bits(static_cast<double>(label));
            for (const auto* column : {&result.centers, &result.cost_trace, &result.state.weights,
                                       &result.state.velocities})
                for (const double value : *column) add_bits(value);
            if (is_accelerated) state = std::move(result.state);
        }
    }
    std::printf("%zu points, %zu clusters, %zu features%s%s%s: %016" PRIx64 "\n", n_points,
                n_clusters, d, has_weights ? ", weights" : "", is_steady ? ", steady" : "",
                is_lattice ? ", lattice" : "", digest);
}

}  // namespace

int main() {
    for (const std::size_t d : {1, 2, 3, 5, 9, 20})
        for (const std::size_t n_points : {10, 75, 300, 1500})
            for (const bool has_weights : {false, true}) {
                run<double>(n_points, n_points / 10 + 1, d, has_weights, d == 2, d == 3);
                run<float>(n_points, 5, d, has_weights, false, d == 1);
            }
    return 0;
}
