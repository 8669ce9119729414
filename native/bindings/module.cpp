// The engine for Python: arrays in, arrays out, the GIL released in between. The caller has checked
// shapes and values.
#define DYNMEANS_IMPORTS_NUMPY
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "algorithm/visiting_orders.hpp"
#include "bindings/arrays.hpp"
#include "engine/sequence.hpp"
#include "engine/step.hpp"
#include "records/ideas.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {

using namespace algorithm;
using namespace engine;

void bind_pieces(nb::module_& module);      // bindings_pieces.cpp
void bind_samplers(nb::module_& module);    // bindings_samplers.cpp
void bind_groups(nb::module_& module);      // bindings_groups.cpp
void bind_suggestion(nb::module_& module);  // bindings_suggestion.cpp

namespace {

// n as integers, or the total weights as floats where points have weights.
using Counts = Made<nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>, nb::c_contig>,
                    nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>>;
// The fields of a Clustering, those of the ClusterState after it, and the next identity.
using ClusteringArrays =
    std::tuple<Column<std::int64_t>, Column<std::int64_t>, Counts, Rows<double>, Column<double>>;
using StateArrays =
    std::tuple<Column<std::int64_t>, Rows<double>, Column<double>, Column<double>, Column<double>,
               std::optional<Rows<double>>, std::optional<Rows<double>>>;
using StepArrays = std::tuple<ClusteringArrays, StateArrays, std::int64_t>;

Counts to_counts(std::vector<double>&& counts, bool has_weights) {
    if (has_weights) return {frozen(column(std::move(counts))).array};
    return {frozen(column(std::vector<std::int64_t>(counts.begin(), counts.end()))).array};
}

// Rows of clusters that keep a course; None where they do not.
std::optional<Rows<double>> to_courses(std::vector<double>&& values, std::size_t n_rows,
                                       std::size_t n_columns, bool is_steady) {
    if (!is_steady) return std::nullopt;
    return frozen(rows(std::move(values), n_rows, n_columns));
}

StepArrays to_arrays(StepResult&& result, std::size_t n_features, bool has_weights,
                     bool is_steady) {
    State& state = result.state;
    const std::size_t n_active = result.ids.size(), n_kept = state.ids.size();
    return {{frozen(column(std::move(result.labels))), frozen(column(std::move(result.ids))),
             to_counts(std::move(result.counts), has_weights),
             frozen(rows(std::move(result.centers), n_active, n_features)),
             frozen(column(std::move(result.cost_trace)))},
            {frozen(column(std::move(state.ids))),
             frozen(rows(std::move(state.centers), n_kept, n_features)),
             frozen(column(std::move(state.weights))), frozen(column(std::move(state.ages))),
             frozen(column(std::move(state.counts))),
             to_courses(std::move(state.velocities), n_kept, n_features, is_steady),
             to_courses(std::move(state.velocity_covariances), n_kept, 2, is_steady)},
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

// Velocities and their covariances.
using GivenRows = std::optional<GivenTable<double>>;
using GivenMoving = std::optional<GivenFloats>;
using GivenCourses = std::tuple<GivenRows, GivenRows>;

Courses view(const GivenCourses& courses) {
    const auto& [velocities, covariances] = courses;
    return velocities ? Courses{velocities->data(), covariances->data()} : Courses{};
}

const double* view(const GivenMoving& moving) { return moving ? moving->data() : nullptr; }

// What a step takes beside the points and their orders.
struct StepInput {
    GivenInts ids;
    GivenTable<double> centers;
    GivenFloats weights, ages, counts;
    std::int64_t next_id;
    GivenCourses courses;
    Penalties penalties;
    double elapsed;
    Execution execution;
    std::size_t n_threads;
};

template <typename Value, typename MakeOrders>
StepArrays run_step(const Points<Value>& points, MakeOrders make_orders, const StepInput& input) {
    const StateView before{input.ids.data(),  input.centers.data(), input.weights.data(),
                           input.ages.data(), input.counts.data(),  input.ids.size(),
                           input.next_id,     view(input.courses)};
    StepResult result;
    try {
        nb::gil_scoped_release release;
        InterruptCheck interrupts(is_interrupted);
        ThreadPool pool(input.n_threads, interrupts);
        auto orders = make_orders();
        result =
            step(points, orders, before, input.penalties, input.elapsed, input.execution, pool);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
    return to_arrays(std::move(result), points.n_features, points.weights != nullptr,
                     input.penalties.moving != nullptr);
}

template <typename Value>
Points<Value> view(const GivenTable<Value>& points, const std::optional<GivenFloats>& weights) {
    return {points.data(), weights ? weights->data() : nullptr, points.shape(0), points.shape(1)};
}

template <typename Value>
StepArrays step_arrays(GivenTable<Value> points, std::optional<GivenFloats> point_weights,
                       GivenTable<std::int64_t> orders, GivenInts ids, GivenTable<double> centers,
                       GivenFloats weights, GivenFloats ages, GivenFloats counts,
                       std::int64_t next_id, GivenCourses courses, double new_penalty,
                       double revival_penalty, double drift, bool exact_revival, GivenMoving moving,
                       double elapsed, bool is_accelerated, std::size_t n_threads,
                       std::optional<nb::capsule> sgemm) {
    return run_step(view(points, point_weights),
                    [&] { return GivenOrders(orders.data(), orders.shape(0), points.shape(0)); },
                    {std::move(ids),
                     std::move(centers),
                     std::move(weights),
                     std::move(ages),
                     std::move(counts),
                     next_id,
                     std::move(courses),
                     {new_penalty, revival_penalty, drift, exact_revival, view(moving)},
                     elapsed,
                     {is_accelerated, to_sgemm(sgemm)},
                     n_threads});
}

// The same in orders that are made here: by what the rows hold, or by their numbers.
template <typename Value>
StepArrays step_in_random_orders(GivenTable<Value> points, std::optional<GivenFloats> point_weights,
                                 std::uint64_t entropy, std::size_t n_steps, std::size_t n_init,
                                 bool by_content, GivenInts ids, GivenTable<double> centers,
                                 GivenFloats weights, GivenFloats ages, GivenFloats counts,
                                 std::int64_t next_id, GivenCourses courses, double new_penalty,
                                 double revival_penalty, double drift, bool exact_revival,
                                 GivenMoving moving, double elapsed, bool is_accelerated,
                                 std::size_t n_threads, std::optional<nb::capsule> sgemm) {
    const Points<Value> batch = view(points, point_weights);
    return run_step(batch,
                    [&] {
                        const std::uint64_t seed = seed_of_step(entropy, n_steps);
                        return MadeOrders(by_content ? VisitingOrders(batch, seed)
                                                     : VisitingOrders(batch.n_points, seed),
                                          n_init, batch.n_points);
                    },
                    {std::move(ids),
                     std::move(centers),
                     std::move(weights),
                     std::move(ages),
                     std::move(counts),
                     next_id,
                     std::move(courses),
                     {new_penalty, revival_penalty, drift, exact_revival, view(moving)},
                     elapsed,
                     {is_accelerated, to_sgemm(sgemm)},
                     n_threads});
}

// Many small batches without coming back to Python in between.
template <typename Value>
std::vector<StepResult> sequence_results(const std::vector<GivenTable<Value>>& batches,
                                         const std::vector<std::optional<GivenFloats>>& weights,
                                         const GivenFloats& elapsed, const Penalties& penalties,
                                         bool is_accelerated, std::size_t n_threads,
                                         std::uint64_t entropy, std::size_t n_init) {
    std::vector<Points<Value>> points;
    for (std::size_t t = 0; t < batches.size(); ++t) points.push_back(view(batches[t], weights[t]));
    try {
        nb::gil_scoped_release release;
        InterruptCheck interrupts(is_interrupted);
        ThreadPool pool(n_threads, interrupts);
        return run_sequence(points, elapsed.data(), penalties, is_accelerated, entropy, n_init,
                            pool);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

template <typename Value>
std::vector<StepArrays> sequence_arrays(std::vector<GivenTable<Value>> batches,
                                        std::vector<std::optional<GivenFloats>> point_weights,
                                        GivenFloats elapsed, double new_penalty,
                                        double revival_penalty, double drift, bool exact_revival,
                                        GivenMoving moving, bool is_accelerated,
                                        std::size_t n_threads, std::uint64_t entropy,
                                        std::size_t n_init) {
    const Penalties penalties{new_penalty, revival_penalty, drift, exact_revival, view(moving)};
    const std::size_t n_features = batches.empty() ? 0 : batches[0].shape(1);
    std::vector<StepResult> results = sequence_results(batches, point_weights, elapsed, penalties,
                                                       is_accelerated, n_threads, entropy, n_init);
    std::vector<StepArrays> arrays;
    arrays.reserve(results.size());
    for (std::size_t t = 0; t < results.size(); ++t)
        arrays.push_back(to_arrays(std::move(results[t]), n_features, point_weights[t].has_value(),
                                   moving.has_value()));
    return arrays;
}

// Only what a judge of the parameters asks for: the labels of all points that weigh something,
// batch after batch, clusters seen in all batches together, and identities.
template <typename Value>
std::tuple<Column<std::int64_t>, std::size_t, std::int64_t> sequence_labels(
    std::vector<GivenTable<Value>> batches, std::vector<std::optional<GivenFloats>> point_weights,
    GivenFloats elapsed, double new_penalty, double revival_penalty, double drift,
    bool exact_revival, GivenMoving moving, bool is_accelerated, std::size_t n_threads,
    std::uint64_t entropy, std::size_t n_init) {
    const Penalties penalties{new_penalty, revival_penalty, drift, exact_revival, view(moving)};
    const std::vector<StepResult> results = sequence_results(
        batches, point_weights, elapsed, penalties, is_accelerated, n_threads, entropy, n_init);
    std::vector<std::int64_t> labels;
    std::size_t n_seen = 0;
    for (std::size_t t = 0; t < results.size(); ++t) {
        const std::vector<std::int64_t>& found = results[t].labels;
        const double* weights = point_weights[t] ? point_weights[t]->data() : nullptr;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (!weights || weights[i] > 0.0) labels.push_back(found[i]);
        n_seen += results[t].ids.size();
    }
    const std::int64_t next_id = results.empty() ? 0 : results.back().state.next_id;
    return {column(std::move(labels)), n_seen, next_id};
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<double>> predict_arrays(
    GivenTable<Value> points, GivenInts ids, GivenTable<double> centers, GivenFloats weights,
    GivenFloats ages, GivenCourses courses, double new_penalty, double revival_penalty,
    double drift, bool exact_revival, GivenMoving moving, double elapsed) {
    std::vector<std::int64_t> labels(points.shape(0));
    std::vector<double> costs(points.shape(0));
    {
        nb::gil_scoped_release release;
        const Points<Value> batch{points.data(), nullptr, points.shape(0), points.shape(1)};
        const Predictor predictor(
            centers.data(), weights.data(), ages.data(), ids.size(), points.shape(1),
            {new_penalty, revival_penalty, drift, exact_revival, view(moving)}, view(courses),
            elapsed);
        std::vector<double> buffer(batch.n_features);
        Choice choice{CostTable::kNone, 0.0};
        for (std::size_t i = 0; i < labels.size(); ++i) {
            choice = predictor.choose(batch.row(i, buffer.data()), choice.slot);
            labels[i] = choice.slot == CostTable::kNone ? kUnlabeled : ids.data()[choice.slot];
            costs[i] = choice.cost;
        }
    }
    return {column(std::move(labels)), column(std::move(costs))};
}

// Whether every value is a number of at most this magnitude.
template <typename Value>
bool all_within(GivenTable<Value> points, double limit) {
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
Rows<std::int64_t> visiting_orders(GivenTable<Value> points, std::uint64_t entropy,
                                   std::size_t n_steps, std::size_t n_init,
                                   std::optional<GivenFloats> point_weights) {
    const std::size_t n = points.shape(0);
    std::vector<std::int64_t> orders(n_init * n);
    {
        nb::gil_scoped_release release;
        VisitingOrders made(view(points, point_weights), seed_of_step(entropy, n_steps));
        for (std::size_t r = 0; r < n_init; ++r) made.write_next(orders.data() + r * n);
    }
    return rows(std::move(orders), n_init, n);
}

// The first row that is no permutation of the positions, or -1.
std::int64_t find_bad_order(const std::int64_t* orders, std::size_t n_orders, std::size_t n) {
    std::vector<std::uint8_t> is_visited(n);
    for (std::size_t r = 0; r < n_orders; ++r) {
        std::fill(is_visited.begin(), is_visited.end(), 0);
        for (std::size_t p = 0; p < n; ++p) {
            const auto i = static_cast<std::uint64_t>(orders[r * n + p]);
            if (i >= n || is_visited[i]) return static_cast<std::int64_t>(r);
            is_visited[i] = 1;
        }
    }
    return -1;
}

std::int64_t first_bad_order(GivenTable<std::int64_t> orders) {
    nb::gil_scoped_release release;
    return find_bad_order(orders.data(), orders.shape(0), orders.shape(1));
}

// Whether `orders` is an array of permutations that needs neither conversion nor complaint.
bool are_plain_orders(nb::handle orders, std::size_t n_points) {
    const PyArrayObject* array = plain_table<std::int64_t>(orders);
    return array && PyArray_DIM(array, 0) > 0 &&
           static_cast<std::size_t>(PyArray_DIM(array, 1)) == n_points &&
           first_bad_order({nb::borrow(orders)}) < 0;
}

// Whether `points` is an array of rows that needs neither conversion nor complaint.
bool is_plain_batch(nb::handle points, std::size_t n_features, std::size_t most_points,
                    double limit, bool allow_float32) {
    const PyArrayObject* array = plain_table<double>(points);
    const bool is_double = array != nullptr;
    if (!array && allow_float32) array = plain_table<float>(points);
    if (!array || static_cast<std::size_t>(PyArray_DIM(array, 0)) > most_points ||
        static_cast<std::size_t>(PyArray_DIM(array, 1)) != n_features)
        return false;
    return is_double ? all_within<double>({nb::borrow(points)}, limit)
                     : all_within<float>({nb::borrow(points)}, limit);
}

// A record with slots, made without its __init__: the values are right by construction.
nb::object new_record(nb::handle type, nb::handle fields, nb::handle values) {
    auto* made = reinterpret_cast<PyTypeObject*>(type.ptr());
    nb::object record = checked_new(made->tp_alloc(made, 0));
    const Py_ssize_t n = PyTuple_Size(fields.ptr());
    if (n < 0 || n != PyTuple_Size(values.ptr()))
        throw nb::value_error("fields and values must be tuples of one length.");
    for (Py_ssize_t f = 0; f < n; ++f) {
        PyObject* field = PyTuple_GetItem(fields.ptr(), f);
        const auto set = Py_TYPE(field)->tp_descr_set;
        if (!set || set(field, record.ptr(), PyTuple_GetItem(values.ptr(), f)) != 0)
            throw nb::python_error();
    }
    return record;
}

// For benchmarks: the accelerations there are, and all but these from now on.
std::vector<std::string> idea_names() { return {kIdeaNames.begin(), kIdeaNames.end()}; }

void leave_out(const std::vector<std::string>& ideas) {
    for (std::size_t i = 0; i < kIdeaNames.size(); ++i)
        is_left_out[i] = std::find(ideas.begin(), ideas.end(), kIdeaNames[i]) != ideas.end();
}

template <typename Value>
void bind_engine(nb::module_& module) {
    module.def("step", &step_arrays<Value>, "points"_a.noconvert(), "point_weights"_a.none(),
               "orders"_a, "ids"_a, "centers"_a, "weights"_a, "ages"_a, "counts"_a, "next_id"_a,
               "courses"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a,
               "moving"_a.none(), "elapsed"_a, "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none());
    module.def("step_in_random_orders", &step_in_random_orders<Value>, "points"_a.noconvert(),
               "point_weights"_a.none(), "entropy"_a, "n_steps"_a, "n_init"_a, "by_content"_a,
               "ids"_a, "centers"_a, "weights"_a, "ages"_a, "counts"_a, "next_id"_a, "courses"_a,
               "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a,
               "moving"_a.none(), "elapsed"_a, "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none());
    module.def("predict", &predict_arrays<Value>, "points"_a.noconvert(), "ids"_a, "centers"_a,
               "weights"_a, "ages"_a, "courses"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a,
               "exact_revival"_a, "moving"_a.none(), "elapsed"_a);
    module.def("sequence", &sequence_arrays<Value>, "batches"_a.noconvert(), "point_weights"_a,
               "elapsed"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a,
               "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "entropy"_a, "n_init"_a);
    module.def("sequence_labels", &sequence_labels<Value>, "batches"_a.noconvert(),
               "point_weights"_a, "elapsed"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a,
               "exact_revival"_a, "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "entropy"_a,
               "n_init"_a);
    module.def("all_within", &all_within<Value>, "points"_a.noconvert(), "limit"_a);
    module.def("visiting_orders", &visiting_orders<Value>, "points"_a.noconvert(), "entropy"_a,
               "n_steps"_a, "n_init"_a, "point_weights"_a.none() = nb::none());
}

}  // namespace
}  // namespace dynmeans::bindings

NB_MODULE(DYNMEANS_MODULE, module) {
    using namespace dynmeans::bindings;
    if (_import_array() < 0) throw nb::python_error();
    bind_engine<double>(module);
    bind_engine<float>(module);
    module.def("first_bad_order", &first_bad_order, "orders"_a);
    module.def("are_plain_orders", &are_plain_orders, "orders"_a, "n_points"_a);
    module.def("is_plain_batch", &is_plain_batch, "points"_a, "n_features"_a, "most_points"_a,
               "limit"_a, "allow_float32"_a);
    module.def("idea_names", &idea_names);
    module.def("leave_out", &leave_out, "ideas"_a);
    module.def("new_record", &new_record, "type"_a, "fields"_a, "values"_a);
    bind_pieces(module);
    bind_samplers(module);
    bind_groups(module);
    bind_suggestion(module);
}
