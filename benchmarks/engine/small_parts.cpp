// Runs recorded small steps many times and prints clock ticks a step, part by part; see
// small_parts.py, which puts the calls of `ticks` into the engine's headers.
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Ticks {
    static constexpr int kParts = 10;
    double of_part[kParts] = {};
    std::uint64_t last = 0;
    void start() { last = __rdtsc(); }
    void end(int part) {
        const std::uint64_t now = __rdtsc();
        of_part[part] += static_cast<double>(now - last);
        last = now;
    }
};
inline Ticks ticks;

#include "algorithm/update_state.hpp"
#include "passes/small_batch.hpp"

using namespace dynmeans;

struct Step {
    std::int64_t n_points, n_clusters;
    std::vector<double> points, centers, weights, ages;
    std::vector<std::int64_t> orders;
};

template <typename T>
void read(std::FILE* file, std::vector<T>& values, std::size_t n) {
    values.resize(n);
    if (std::fread(values.data(), sizeof(T), n, file) != n) std::abort();
}

int main(int, char** arguments) {
    constexpr std::size_t kOrders = 3, kFeatures = 2, kRounds = 2000;
    std::FILE* file = std::fopen(arguments[1], "rb");
    std::vector<Step> steps(std::atoi(arguments[2]));
    for (Step& step : steps) {
        std::vector<std::int64_t> sizes;
        read(file, sizes, 2);
        step.n_points = sizes[0];
        step.n_clusters = sizes[1];
        read(file, step.points, step.n_points * kFeatures);
        read(file, step.orders, kOrders * step.n_points);
        read(file, step.centers, step.n_clusters * kFeatures);
        read(file, step.weights, step.n_clusters);
        read(file, step.ages, step.n_clusters);
    }
    const Penalties penalties{0.04, 0.04 / 6.8, 0.18414, false};
    InterruptCheck interrupts([] { return false; });
    ThreadPool pool(1, interrupts);
    SmallBatch<kFeatures> batch;
    Ticks best;
    double least = 1e300;
    for (std::size_t round = 0; round < kRounds; ++round) {
        ticks = Ticks();
        const std::uint64_t began = __rdtsc();
        for (const Step& step : steps) {
            const std::size_t n = step.n_points;
            const Points<double> points{step.points.data(), nullptr, n, kFeatures};
            const Remembered remembered(step.centers.data(), step.weights.data(),
                                        advance_time(step.ages.data(), step.n_clusters, 1.0),
                                        kFeatures, penalties);
            const auto sums = sums_of_batch(points, remembered, 0.04, pool);
            GivenOrders orders(step.orders.data(), kOrders, n);
            Solution solution;
            ticks.start();
            batch.take(points, remembered, penalties, sums);
            while (orders.advance()) {
                ticks.start();
                batch.run(orders, solution);
            }
        }
        const double whole = static_cast<double>(__rdtsc() - began);
        if (whole >= least) continue;
        least = whole;
        best = ticks;
    }
    std::printf("[");
    for (const double part : best.of_part) std::printf("%.1f, ", part / steps.size());
    std::printf("%.1f]\n", least / steps.size());
}
