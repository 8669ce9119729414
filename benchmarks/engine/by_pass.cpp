// Runs the steps of one case several times and prints the milliseconds of processor time of every
// pass, the fastest of all rounds; see by_pass.py, which puts the calls of `passes` into the
// engine's headers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

struct Passes {
    std::vector<double> fastest;  // of the passes of all steps, one after the other
    std::size_t at = 0;
    std::clock_t began;

    void begin() { began = std::clock(); }
    void end() {
        const double spent = 1e3 * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        if (at == fastest.size()) fastest.push_back(spent);
        fastest[at] = std::min(fastest[at], spent);
        ++at;
    }
};
inline Passes passes_of_run;

#include "engine/step_double.cpp"
#include "moves/set_moves.cpp"
#include "passes/run_small.cpp"

using namespace dynmeans;

template <typename T>
std::vector<T> read(std::FILE* file, std::size_t n) {
    std::vector<T> values(n);
    if (std::fread(values.data(), sizeof(T), n, file) != n) std::abort();
    return values;
}

int main(int, char** arguments) {
    std::FILE* file = std::fopen(arguments[1], "rb");
    const int n_rounds = std::atoi(arguments[2]);
    const auto sizes = read<std::int64_t>(file, 3);
    const std::size_t n = sizes[0], d = sizes[1], n_steps = sizes[2];
    const auto rule = read<double>(file, 3);
    std::vector<std::vector<double>> rows(n_steps);
    std::vector<std::vector<std::int64_t>> orders(n_steps);
    for (std::size_t t = 0; t < n_steps; ++t) {
        rows[t] = read<double>(file, n * d);
        orders[t] = read<std::int64_t>(file, n);
    }
    const Penalties penalties{rule[0], rule[1], rule[2], false};
    InterruptCheck interrupts([] { return false; });
    ThreadPool pool(1, interrupts);
    std::vector<std::size_t> n_passes(n_steps);
    for (int round = 0; round < n_rounds; ++round) {
        passes_of_run.at = 0;
        State state;
        state.next_id = 0;
        for (std::size_t t = 0; t < n_steps; ++t) {
            const Points<double> points{rows[t].data(), nullptr, n, d};
            GivenOrders given(orders[t].data(), 1, n);
            auto result =
                step<double>(points, given, view(state), penalties, 1.0, {true, nullptr}, pool);
            n_passes[t] = result.cost_trace.size();
            state = result.state;
        }
    }
    std::size_t at = 0;
    std::printf("[");
    for (std::size_t t = 0; t < n_steps; ++t) {
        std::printf(t ? ", [" : "[");
        for (std::size_t p = 0; p < n_passes[t]; ++p)
            std::printf("%s%.4f", p ? ", " : "", passes_of_run.fastest[at++]);
        std::printf("]");
    }
    std::printf("]\n");
}
