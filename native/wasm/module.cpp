// The engine for JavaScript: a stream of batches behind a small C interface. The caller writes a
// batch into memory that the stream lends, asks for a step, and reads columns of what was found;
// addresses are good until the next call. The caller has checked shapes and values.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "description/description_length.hpp"
#include "engine/groups.hpp"
#include "engine/step.hpp"
#include "wasm/principal_axes.hpp"

// The standard library would write its last words to a file, which needs imports from the host.
_LIBCPP_BEGIN_NAMESPACE_STD
void __libcpp_verbose_abort(const char*, ...) noexcept { __builtin_trap(); }
_LIBCPP_END_NAMESPACE_STD

#define DYNMEANS_EXPORT(name) extern "C" __attribute__((export_name(#name), used))

namespace {

using namespace dynmeans;

constexpr double kFinest = 1e-9;  // as in parameters/description_length.py

// What the caller may read, by number; engine.js has the same list.
enum Column {
    kLabels,           // identity of each point
    kIds,              // of the clusters seen
    kCounts,           // points of each
    kCenters,          // row by row
    kCostTrace,        // L_t after every pass
    kStateIds,         // of the clusters remembered
    kStateCenters,     // row by row
    kStateWeights,     // w
    kStateAges,        // steps since last seen
    kStateCounts,      // points so far
    kStateVelocities,  // row by row; none where clusters keep no course
};

struct Stream {
    Penalties penalties;
    std::vector<double> moving;
    std::uint64_t entropy;
    std::size_t n_features, n_init, n_steps = 0;
    int depth;
    std::vector<double> points, weights;
    StepResult found;
    std::vector<double> shown;  // integers, as JavaScript's numbers
};

const std::vector<double>& as_numbers(Stream& stream, const std::vector<std::int64_t>& integers) {
    stream.shown.assign(integers.begin(), integers.end());
    return stream.shown;
}

const std::vector<double>& column_of(Stream& stream, int column) {
    const StepResult& found = stream.found;
    switch (column) {
        case kLabels:
            return as_numbers(stream, found.labels);
        case kIds:
            return as_numbers(stream, found.ids);
        case kCounts:
            return found.counts;
        case kCenters:
            return found.centers;
        case kCostTrace:
            return found.cost_trace;
        case kStateIds:
            return as_numbers(stream, found.state.ids);
        case kStateCenters:
            return found.state.centers;
        case kStateWeights:
            return found.state.weights;
        case kStateAges:
            return found.state.ages;
        case kStateCounts:
            return found.state.counts;
        default:
            return found.state.velocities;
    }
}

}  // namespace

// Destructors at the end of a thread: the one thread ends with the page.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

// A stream without a past. The halves of `entropy` are whole numbers below 2^32.
DYNMEANS_EXPORT(dm_open)
Stream* dm_open(std::size_t n_features, double new_penalty, double revival_penalty, double drift,
                int is_exact, int is_steady, int is_on_sphere, double entropy_low,
                double entropy_high, std::size_t n_init, int depth) {
    auto* stream = new Stream{};
    stream->n_features = n_features;
    stream->n_init = n_init;
    stream->depth = depth;
    stream->entropy =
        static_cast<std::uint64_t>(entropy_high) << 32 | static_cast<std::uint64_t>(entropy_low);
    stream->moving.assign(n_features, 1.0);
    stream->penalties = {new_penalty,
                         revival_penalty,
                         drift,
                         is_exact != 0,
                         is_steady ? stream->moving.data() : nullptr,
                         is_on_sphere != 0};
    return stream;
}

DYNMEANS_EXPORT(dm_close) void dm_close(Stream* stream) { delete stream; }

// One number for each feature: 1 if it keeps a course, else 0.
DYNMEANS_EXPORT(dm_moving) double* dm_moving(Stream* stream) { return stream->moving.data(); }

// Where the next batch is to be written, row by row.
DYNMEANS_EXPORT(dm_points)
double* dm_points(Stream* stream, std::size_t n_points) {
    stream->points.resize(n_points * stream->n_features);
    return stream->points.data();
}

// Where its weights are to be written, if its points weigh differently.
DYNMEANS_EXPORT(dm_weights)
double* dm_weights(Stream* stream, std::size_t n_points) {
    stream->weights.resize(n_points);
    return stream->weights.data();
}

DYNMEANS_EXPORT(dm_step)
void dm_step(Stream* stream, std::size_t n_points, int has_weights, double elapsed) {
    const Points<double> points{stream->points.data(),
                                has_weights ? stream->weights.data() : nullptr, n_points,
                                stream->n_features};
    InterruptCheck never([] { return false; });
    ThreadPool pool(1, never);
    MadeOrders orders(VisitingOrders(points, seed_of_step(stream->entropy, stream->n_steps)),
                      stream->n_init, n_points);
    orders.depth = stream->depth;
    stream->found = step(points, orders, view(stream->found.state), stream->penalties, elapsed,
                         {true, nullptr}, pool);
    ++stream->n_steps;
}

DYNMEANS_EXPORT(dm_column)
const double* dm_column(Stream* stream, int column) { return column_of(*stream, column).data(); }

DYNMEANS_EXPORT(dm_size)
std::size_t dm_size(Stream* stream, int column) { return column_of(*stream, column).size(); }

DYNMEANS_EXPORT(dm_next_id)
double dm_next_id(Stream* stream) { return static_cast<double>(stream->found.state.next_id); }

DYNMEANS_EXPORT(dm_alloc) void* dm_alloc(std::size_t n_bytes) { return std::malloc(n_bytes); }

DYNMEANS_EXPORT(dm_free) void dm_free(void* memory) { std::free(memory); }

// The halves of the key that a seed stands for.
DYNMEANS_EXPORT(dm_entropy_low)
double dm_entropy_low(std::uint32_t seed) {
    return static_cast<double>(entropy_of_seed(seed) & UINT32_MAX);
}
DYNMEANS_EXPORT(dm_entropy_high)
double dm_entropy_high(std::uint32_t seed) {
    return static_cast<double>(entropy_of_seed(seed) >> 32);
}

// The length of a description of the stream, in nats. `starts` has the first row of every batch
// and the end, `labels` one identity for each row; no batch is empty.
DYNMEANS_EXPORT(dm_describe)
double dm_describe(std::size_t n_batches, std::size_t n_features, const double* points,
                   const double* starts, const double* times, const double* labels,
                   const double* moving) {
    const std::vector<std::int64_t> first(starts, starts + n_batches + 1);
    const auto n = static_cast<std::size_t>(first.back());
    const std::vector<std::int64_t> named(labels, labels + n);
    const std::vector<double> ones(n, 1.0);
    const wasm::PrincipalAxes around(points, n, n_features);
    const description::Stream stream{points, ones.data(), first.data(), n_batches, n_features};
    const double floor = kFinest * wasm::variance_within(points, first, n_features);
    const description::Description found = description::describe(
        stream, {times, around.mean.data(), around.axes.data(), around.variances.data()}, floor,
        moving, named.data());
    return -(found.places + found.labels + found.paths + found.lives);
}
