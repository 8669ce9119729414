// The engine for Python: arrays in, arrays out, the GIL released in between. The caller has checked
// shapes and values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>

#include "numpy_arrays.hpp"
#include "step.hpp"
#include "visiting_orders.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans {

void bind_pieces(nb::module_& module);      // bindings_pieces.cpp
void bind_samplers(nb::module_& module);    // bindings_samplers.cpp
void bind_groups(nb::module_& module);      // bindings_groups.cpp
void bind_suggestion(nb::module_& module);  // bindings_suggestion.cpp

namespace {

// The fields of a Clustering, those of the ClusterState after it, and the next identity.
using ClusteringArrays = std::tuple<Column<std::int64_t>, Column<std::int64_t>, Column<double>,
                                    Rows<double>, Column<double>>;
using StateArrays =
    std::tuple<Column<std::int64_t>, Rows<double>, Column<double>, Column<double>, Column<double>>;
using StepArrays = std::tuple<ClusteringArrays, StateArrays, std::int64_t>;

StepArrays to_arrays(StepResult&& result, std::size_t n_features) {
    State& state = result.state;
    const std::size_t n_active = result.ids.size(), n_kept = state.ids.size();
    return {
        {column(std::move(result.labels)), column(std::move(result.ids)),
         column(std::move(result.counts)), rows(std::move(result.centers), n_active, n_features),
         column(std::move(result.cost_trace))},
        {column(std::move(state.ids)), rows(std::move(state.centers), n_kept, n_features),
         column(std::move(state.weights)), column(std::move(state.ages)),
         column(std::move(state.counts))},
        state.next_id};
}

// True when a signal handler has raised, as the one of Ctrl-C does; only the main thread runs them.
bool is_interrupted() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

Sgemm to_sgemm(const std::optional<nb::capsule>& capsule) {
    return capsule ? reinterpret_cast<Sgemm>(capsule->data(capsule->name())) : nullptr;
}

template <typename Value>
StepArrays step_arrays(Table<Value> points, std::optional<Floats> point_weights,
                       Table<std::int64_t> orders, Ints ids, Table<double> centers, Floats weights,
                       Floats ages, Floats counts, std::int64_t next_id, double new_penalty,
                       double revival_penalty, double drift, bool exact_revival, double elapsed,
                       bool is_accelerated, std::size_t n_threads,
                       std::optional<nb::capsule> sgemm) {
    const std::size_t d = points.shape(1);
    const Points<Value> batch{points.data(), point_weights ? point_weights->data() : nullptr,
                              points.shape(0), d};
    const StateView before{ids.data(),    centers.data(), weights.data(), ages.data(),
                           counts.data(), ids.size(),     next_id};
    const Penalties penalties{new_penalty, revival_penalty, drift, exact_revival};
    const Means means{is_accelerated, to_sgemm(sgemm)};
    StepResult result;
    try {
        nb::gil_scoped_release release;
        Watch watch(is_interrupted);
        ThreadPool pool(n_threads, watch);
        result =
            step(batch, orders.data(), orders.shape(0), before, penalties, elapsed, means, pool);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
    return to_arrays(std::move(result), d);
}

// Many small batches without coming back to Python in between.
template <typename Value>
std::vector<StepArrays> sequence_arrays(std::vector<Table<Value>> batches,
                                        std::vector<std::optional<Floats>> point_weights,
                                        Floats elapsed, double new_penalty, double revival_penalty,
                                        double drift, bool exact_revival, bool is_accelerated,
                                        std::size_t n_threads, std::uint64_t entropy,
                                        std::size_t n_init) {
    const Penalties penalties{new_penalty, revival_penalty, drift, exact_revival};
    const std::size_t n_features = batches.empty() ? 0 : batches[0].shape(1);
    std::vector<StepResult> results;
    try {
        nb::gil_scoped_release release;
        Watch watch(is_interrupted);
        ThreadPool pool(n_threads, watch);
        results.reserve(batches.size());
        std::vector<std::int64_t> orders;
        const State nothing{};
        for (std::size_t t = 0; t < batches.size(); ++t) {
            const double* weights = point_weights[t] ? point_weights[t]->data() : nullptr;
            const Points<Value> batch{batches[t].data(), weights, batches[t].shape(0), n_features};
            orders.resize(n_init * batch.n_points);
            VisitingOrders made(batch, seed_of_step(entropy, t));
            for (std::size_t r = 0; r < n_init; ++r)
                made.write_next(orders.data() + r * batch.n_points);
            const State& state = results.empty() ? nothing : results.back().state;
            const StateView before{state.ids.data(),  state.centers.data(), state.weights.data(),
                                   state.ages.data(), state.counts.data(),  state.ids.size(),
                                   state.next_id};
            results.push_back(step(batch, orders.data(), n_init, before, penalties,
                                   elapsed.data()[t], {is_accelerated, nullptr}, pool));
            watch.look();
        }
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
    std::vector<StepArrays> arrays;
    arrays.reserve(results.size());
    for (StepResult& result : results) arrays.push_back(to_arrays(std::move(result), n_features));
    return arrays;
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<double>> predict_arrays(
    Table<Value> points, Ints ids, Table<double> centers, Floats weights, Floats ages,
    double new_penalty, double revival_penalty, double drift, bool exact_revival) {
    std::vector<std::int64_t> labels(points.shape(0));
    std::vector<double> costs(points.shape(0));
    {
        nb::gil_scoped_release release;
        const Points<Value> batch{points.data(), nullptr, points.shape(0), points.shape(1)};
        const Predictor predictor(centers.data(), weights.data(), ages.data(), ids.size(),
                                  points.shape(1),
                                  {new_penalty, revival_penalty, drift, exact_revival});
        std::vector<double> buffer(batch.n_features);
        Choice choice{CostTable::kNone, 0.0};
        for (std::size_t i = 0; i < labels.size(); ++i) {
            choice = predictor.choose(batch.row(i, buffer.data()), choice.slot);
            labels[i] = choice.slot == CostTable::kNone ? kUnlabelled : ids.data()[choice.slot];
            costs[i] = choice.cost;
        }
    }
    return {column(std::move(labels)), column(std::move(costs))};
}

// Whether every value is a number of at most this magnitude.
template <typename Value>
bool all_within(Table<Value> points, double limit) {
    nb::gil_scoped_release release;
    const Value* values = points.data();
    const std::size_t n = points.size();
    constexpr unsigned kAll = (1u << kSimd) - 1;
    unsigned both = kAll;
    std::size_t i = 0;
    for (; i + kSimd <= n; i += kSimd) {
        const Doubles x = load(values + i);
        both &= lanes_at_most(x, limit) & lanes_at_most(-x, limit);
    }
    bool rest = true;
    for (; i < n; ++i) rest &= values[i] <= limit && -values[i] <= limit;
    return both == kAll && rest;
}

template <typename Value>
Rows<std::int64_t> visiting_orders(Table<Value> points, std::uint64_t entropy, std::size_t n_steps,
                                   std::size_t n_init) {
    const std::size_t n = points.shape(0);
    std::vector<std::int64_t> orders(n_init * n);
    {
        nb::gil_scoped_release release;
        VisitingOrders made(Points<Value>{points.data(), nullptr, n, points.shape(1)},
                            seed_of_step(entropy, n_steps));
        for (std::size_t r = 0; r < n_init; ++r) made.write_next(orders.data() + r * n);
    }
    return rows(std::move(orders), n_init, n);
}

// The first row that is no permutation of the positions, or -1.
std::int64_t first_bad_order(Table<std::int64_t> orders) {
    nb::gil_scoped_release release;
    const std::size_t n = orders.shape(1);
    std::vector<std::uint8_t> is_visited(n);
    for (std::size_t r = 0; r < orders.shape(0); ++r) {
        std::fill(is_visited.begin(), is_visited.end(), 0);
        for (std::size_t p = 0; p < n; ++p) {
            const auto i = static_cast<std::uint64_t>(orders.data()[r * n + p]);
            if (i >= n || is_visited[i]) return static_cast<std::int64_t>(r);
            is_visited[i] = 1;
        }
    }
    return -1;
}

template <typename Value>
void bind_engine(nb::module_& module) {
    module.def("step", &step_arrays<Value>, "points"_a.noconvert(), "point_weights"_a.none(),
               "orders"_a, "ids"_a, "centers"_a, "weights"_a, "ages"_a, "counts"_a, "next_id"_a,
               "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a, "elapsed"_a,
               "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none());
    module.def("predict", &predict_arrays<Value>, "points"_a.noconvert(), "ids"_a, "centers"_a,
               "weights"_a, "ages"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a,
               "exact_revival"_a);
    module.def("sequence", &sequence_arrays<Value>, "batches"_a.noconvert(), "point_weights"_a,
               "elapsed"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a,
               "is_accelerated"_a, "n_threads"_a, "entropy"_a, "n_init"_a);
    module.def("all_within", &all_within<Value>, "points"_a.noconvert(), "limit"_a);
    module.def("visiting_orders", &visiting_orders<Value>, "points"_a.noconvert(), "entropy"_a,
               "n_steps"_a, "n_init"_a);
}

// The widest instruction set of this machine that a module is built for.
std::string instruction_set() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
    return "baseline";
}

}  // namespace
}  // namespace dynmeans

NB_MODULE(DYNMEANS_MODULE, module) {
    using namespace dynmeans;
    bind_engine<double>(module);
    bind_engine<float>(module);
    module.def("first_bad_order", &first_bad_order, "orders"_a);
    module.def("instruction_set", &instruction_set);
    bind_pieces(module);
    bind_samplers(module);
    bind_groups(module);
    bind_suggestion(module);
}
