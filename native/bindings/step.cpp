// Steps for Python: arrays and a state in, records out. The GIL is released while a step runs, and
// the caller has checked shapes and values; but step_if_small checks for itself and keeps the GIL.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "algorithm/visiting_orders.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/plain_arrays.hpp"
#include "bindings/records.hpp"
#include "engine/sequence.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;
using namespace algorithm;

namespace {

using GivenWeights = std::optional<GivenFloats>;
using GivenMoving = std::optional<GivenFloats>;
constexpr double kLeastElapsed = 1e-12;

const double* data_or_null(const std::optional<GivenFloats>& given) {
    return given ? given->data() : nullptr;
}

Sgemm to_sgemm(const std::optional<nb::capsule>& capsule) {
    return capsule ? reinterpret_cast<Sgemm>(capsule->data(capsule->name())) : nullptr;
}

// Visiting orders that the caller listed, or else a VisitingOrders.
struct AskedOrders {
    const std::int64_t* listed;
    std::size_t n_init;
    std::uint64_t entropy;
    bool by_content;
    bool is_deep;
};

// A VisitingOrders says itself whether the search is deep; `is_deep` is for listed orders.
AskedOrders read_orders(const RecordTypes& types, nb::handle orders, bool is_deep) {
    const auto field = [&](std::size_t f) { return nb::handle(types.orders.field(orders, f)); };
    if (types.orders.fits(orders))
        return {nullptr, nb::cast<std::size_t>(field(1)), nb::cast<std::uint64_t>(field(0)),
                is_text(field(2), "content"), is_text(field(3), "deep")};
    PyArrayObject* array = plain_array<std::int64_t, 2>(orders);
    if (!array) throw nb::type_error("orders must be a table of integers or a VisitingOrders.");
    return {data_of<std::int64_t>(array), static_cast<std::size_t>(PyArray_DIM(array, 0)), 0, false,
            is_deep};
}

template <typename Value>
StepResult step_in(const AskedOrders& asked, const Points<Value>& batch, const GivenState& before,
                   const Penalties& penalties, double elapsed, const Execution& execution,
                   ThreadPool& pool) {
    if (asked.listed) {
        GivenOrders given(asked.listed, asked.n_init, batch.n_points);
        given.is_deep = asked.is_deep;
        return step(batch, given, before.view, penalties, elapsed, execution, pool);
    }
    const std::uint64_t seed = seed_of_step(asked.entropy, before.n_steps);
    MadeOrders made(
        asked.by_content ? VisitingOrders(batch, seed) : VisitingOrders(batch.n_points, seed),
        asked.n_init, batch.n_points);
    made.is_deep = asked.is_deep;
    return step(batch, made, before.view, penalties, elapsed, execution, pool);
}

template <typename Value>
nb::object step_records(GivenTable<Value> points, GivenWeights point_weights, nb::handle orders,
                        nb::handle state, nb::handle given_penalties, GivenMoving moving,
                        double elapsed, bool is_deep, bool is_accelerated, std::size_t n_threads,
                        std::optional<nb::capsule> sgemm, nb::handle records) {
    const RecordTypes& types = record_types(records);
    const Points<Value> batch = view(points, point_weights);
    const GivenState before = read_state(types, state, batch.n_features);
    const Penalties penalties = read_penalties(types, given_penalties, data_or_null(moving));
    const Execution execution{is_accelerated, to_sgemm(sgemm)};
    const AskedOrders asked = read_orders(types, orders, is_deep);
    StepResult result = run_released(n_threads, [&](ThreadPool& pool) {
        return step_in(asked, batch, before, penalties, elapsed, execution, pool);
    });
    return to_records(types, std::move(result), batch.n_features, batch.weights != nullptr,
                      penalties.moving != nullptr, before.n_steps + 1, before.time + elapsed);
}

template <typename Value>
nb::object step_if_small_of(const RecordTypes& types, nb::handle points, nb::handle weights,
                            nb::handle orders, nb::handle state, nb::handle penalties,
                            double elapsed, bool is_deep) {
    PyArrayObject* rows = plain_array<Value, 2>(points);
    PyArrayObject* centers = plain_array<double, 2>(types.state.field(state, 1));
    if (!rows || !centers) return nb::none();
    const std::size_t n = PyArray_DIM(rows, 0), d = PyArray_DIM(rows, 1);
    if (!is_small_batch(n, d, PyArray_DIM(centers, 0)) || d == 0 ||
        !plain_batch<Value>(points, PyArray_DIM(centers, 1)))
        return nb::none();
    const bool has_weights = !weights.is_none();
    PyArrayObject* point_weights = has_weights ? plain_weights(weights, n) : nullptr;
    if (has_weights && !point_weights) return nb::none();
    if (!types.orders.fits(orders) && !plain_orders(orders, n)) return nb::none();
    const GivenState before = read_state(types, state, d);
    const Points<Value> batch{data_of<Value>(rows),
                              has_weights ? data_of<double>(point_weights) : nullptr, n, d};
    InterruptCheck interrupts(is_interrupted);
    ThreadPool nobody_else(1, interrupts);
    StepResult result =
        step_in(read_orders(types, orders, is_deep), batch, before,
                read_penalties(types, penalties, nullptr), elapsed, {true, nullptr}, nobody_else);
    return to_records(types, std::move(result), d, has_weights, false, before.n_steps + 1,
                      before.time + elapsed);
}

// A whole step in one crossing, checks included, with the GIL held: for a small batch everything
// around it would take as long. None where anything needs more: conversion, a complaint, courses.
nb::object step_if_small(nb::handle points, nb::handle weights, nb::handle orders, nb::handle state,
                         nb::handle penalties, nb::handle elapsed, bool is_deep,
                         nb::handle records) {
    const RecordTypes& types = record_types(records);
    if (!types.state.fits(state) || !types.penalties.fits(penalties) ||
        !is_text(types.penalties.field(penalties, 4), "still") ||
        !PyFloat_CheckExact(elapsed.ptr()))
        return nb::none();
    const double dt = PyFloat_AS_DOUBLE(elapsed.ptr());
    if (!(dt >= kLeastElapsed && std::isfinite(dt))) return nb::none();
    nb::object made =
        step_if_small_of<double>(types, points, weights, orders, state, penalties, dt, is_deep);
    if (!made.is_none()) return made;
    return step_if_small_of<float>(types, points, weights, orders, state, penalties, dt, is_deep);
}

// The lives after one more batch, or nothing where those that wait have to be counted first.
nb::object lives_after(const FollowTypes& types, nb::handle lives, nb::handle ids,
                       nb::handle counts) {
    if (Py_TYPE(lives.ptr()) != types.lives || PyTuple_GET_SIZE(lives.ptr()) != 4) return {};
    PyObject* waiting = PyTuple_GET_ITEM(lives.ptr(), 1);
    const Py_ssize_t n = PyLong_AsSsize_t(PyTuple_GET_ITEM(lives.ptr(), 2));
    const Py_ssize_t n_ids = PyLong_AsSsize_t(PyTuple_GET_ITEM(lives.ptr(), 3));
    if (!PyList_CheckExact(waiting) || n < 1 || n != PyList_GET_SIZE(waiting) ||
        n >= types.most_waiting || n_ids >= types.most_ids)
        return {};
    const nb::tuple batch = nb::make_tuple(ids, counts);
    if (PyList_Append(waiting, batch.ptr()) != 0) throw nb::python_error();
    nb::object made = checked_new(types.lives->tp_alloc(types.lives, 4));
    const auto set = [&](Py_ssize_t i, nb::object&& item) {
        PyTuple_SET_ITEM(made.ptr(), i, item.release().ptr());
    };
    set(0, nb::borrow(PyTuple_GET_ITEM(lives.ptr(), 0)));
    set(1, nb::borrow(waiting));
    set(2, nb::int_(n + 1));
    set(3, nb::int_(n_ids + PyArray_SIZE(reinterpret_cast<PyArrayObject*>(ids.ptr()))));
    return made;
}

// One more batch of a stream in one crossing: a step, and the memory after it. The plan of the
// memory says that nothing else is to be done; None where anything needs more, as of step_if_small.
nb::object follow_if_small(nb::handle records, nb::handle more_records, nb::handle memory,
                           nb::handle points, nb::handle elapsed) {
    const RecordTypes& types = record_types(records);
    const FollowTypes& more = follow_types(more_records);
    if (!more.memory.fits(memory) || !PyArray_CheckExact(points.ptr())) return nb::none();
    const auto field = [&](std::size_t f) { return nb::handle(more.memory.field(memory, f)); };
    const nb::handle state = field(0), plan = field(8);
    if (!PyTuple_Check(plan.ptr()) || PyTuple_GET_SIZE(plan.ptr()) != 7 ||
        PyTuple_GET_ITEM(plan.ptr(), 6) != Py_True || !types.state.fits(state) ||
        !PyFloat_CheckExact(elapsed.ptr()) || PyFloat_AS_DOUBLE(elapsed.ptr()) < 1.0)
        return nb::none();
    auto* rows = reinterpret_cast<PyArrayObject*>(points.ptr());
    const Py_ssize_t n = PyArray_NDIM(rows) == 2 ? PyArray_DIM(rows, 0) : 0;
    const Py_ssize_t n_known =
        PyArray_SIZE(reinterpret_cast<PyArrayObject*>(types.state.field(state, 0)));
    if (n == 0 || n_known + n >= more.many_clusters) return nb::none();
    const nb::object made =
        step_if_small(points, nb::none(), nb::handle(PyTuple_GET_ITEM(plan.ptr(), 3)), state,
                      nb::handle(PyTuple_GET_ITEM(plan.ptr(), 2)), elapsed, false, records);
    if (made.is_none()) return nb::none();
    const nb::handle after(PyTuple_GET_ITEM(made.ptr(), 0));
    const nb::handle clustering(PyTuple_GET_ITEM(made.ptr(), 1));
    nb::object lives = lives_after(more, field(6), types.clustering.field(clustering, 1),
                                   types.clustering.field(clustering, 2));
    if (!lives.is_valid()) return nb::none();
    const auto kept = [&](std::size_t f) { return nb::borrow(field(f)); };
    nb::object next = more.memory.make({nb::borrow(after), kept(1), kept(2), kept(3), kept(4),
                                        kept(5), std::move(lives), kept(7), kept(8), kept(9)});
    nb::object step = more.step.make({nb::borrow(state), nb::borrow(elapsed),
                                      nb::borrow(clustering), nb::borrow(after), kept(1)});
    return nb::make_tuple(std::move(next), std::move(step));
}

// Many small batches without coming back to Python in between. The lists hold the arrays as the
// caller has checked them, and keep them alive.
template <typename Value>
struct Sequence {
    std::vector<Points<Value>> points;
    GivenFloats elapsed;
    Penalties penalties;

    Sequence(const nb::list& batches, const nb::list& weights, GivenFloats gaps, Penalties given)
        : elapsed(std::move(gaps)), penalties(given) {
        for (std::size_t t = 0; t < nb::len(batches); ++t) {
            PyArrayObject* rows = plain_array<Value, 2>(PyList_GET_ITEM(batches.ptr(), t));
            PyObject* masses = PyList_GET_ITEM(weights.ptr(), t);
            PyArrayObject* own = masses == Py_None ? nullptr : plain_array<double, 1>(masses);
            if (!rows || (masses != Py_None && !own))
                throw nb::type_error("batches must be tables of one kind of number.");
            points.push_back({data_of<Value>(rows), own ? data_of<double>(own) : nullptr,
                              static_cast<std::size_t>(PyArray_DIM(rows, 0)),
                              static_cast<std::size_t>(PyArray_DIM(rows, 1))});
        }
    }

    template <typename OnStep>
    void run(bool is_accelerated, std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
             bool is_deep, const OnStep& on_step) const {
        run_released(n_threads, [&](ThreadPool& pool) {
            run_sequence(points, elapsed.data(), penalties, is_accelerated, entropy, n_init,
                         is_deep, pool, on_step);
        });
    }
};

// The steps of a sequence, whose records are made when they are looked at.
struct KeptSteps {
    std::vector<StepResult> results;
    std::vector<nb::object> labels;
    std::vector<double> times;
    std::vector<bool> has_weights;
    std::size_t n_features = 0;
    bool is_steady = false;
};

// Points and batches of every identity that was seen.
nb::tuple lives_of(const KeptSteps& kept) {
    const std::int64_t next_id = kept.results.empty() ? 0 : kept.results.back().state.next_id;
    std::vector<double> points(next_id);
    std::vector<std::int64_t> n_batches(next_id);
    for (const StepResult& result : kept.results)
        for (std::size_t k = 0; k < result.ids.size(); ++k) {
            points[result.ids[k]] += result.counts[k];
            ++n_batches[result.ids[k]];
        }
    return nb::make_tuple(column(std::move(points)), column(std::move(n_batches)));
}

// All steps without coming back to Python in between: their labels, the most clusters that were
// remembered, the lives of all identities, and what the records are made of.
template <typename Value>
nb::object sequence_steps_of(const nb::list& batches, const nb::list& point_weights,
                             GivenFloats elapsed, nb::handle penalties, GivenMoving moving,
                             bool is_accelerated, std::size_t n_threads, std::uint64_t entropy,
                             std::size_t n_init, bool is_deep, nb::handle records) {
    const Sequence<Value> sequence(
        batches, point_weights, elapsed,
        read_penalties(record_types(records), penalties, data_or_null(moving)));
    auto kept = std::make_unique<KeptSteps>();
    kept->n_features = sequence.points.empty() ? 0 : sequence.points[0].n_features;
    kept->is_steady = moving.has_value();
    kept->results.reserve(sequence.points.size());
    std::size_t most_clusters = 0;
    sequence.run(is_accelerated, n_threads, entropy, n_init, is_deep,
                 [&](std::size_t, StepResult&& result) {
                     most_clusters = std::max(most_clusters, result.state.ids.size());
                     kept->results.push_back(std::move(result));
                     return engine::view(kept->results.back().state);
                 });
    double time = 0.0;
    nb::list labels;
    for (std::size_t t = 0; t < kept->results.size(); ++t) {
        kept->times.push_back(time += elapsed.data()[t]);
        kept->has_weights.push_back(sequence.points[t].weights != nullptr);
        kept->labels.push_back(to_labels(std::move(kept->results[t].labels)));
        labels.append(kept->labels.back());
    }
    nb::tuple lives = lives_of(*kept);
    nb::capsule capsule(kept.release(),
                        [](void* data) noexcept { delete static_cast<KeptSteps*>(data); });
    return nb::make_tuple(labels, most_clusters, lives, capsule);
}

nb::list as_list(nb::handle object) {
    if (!PyList_CheckExact(object.ptr())) throw nb::type_error("batches must be in a list.");
    return nb::borrow<nb::list>(object);
}

// Whether the first of the arrays has float32.
bool is_single(const nb::list& batches) {
    return nb::len(batches) > 0 && plain_array<float, 2>(PyList_GET_ITEM(batches.ptr(), 0));
}

template <typename... Arguments>
nb::object sequence_steps(const nb::list& batches, const Arguments&... arguments) {
    return is_single(batches) ? sequence_steps_of<float>(batches, arguments...)
                              : sequence_steps_of<double>(batches, arguments...);
}

// The state after step t of a sequence, and its clustering.
nb::object sequence_records(nb::capsule capsule, std::size_t t, nb::handle records) {
    const auto& kept = *static_cast<const KeptSteps*>(capsule.data());
    if (t >= kept.results.size()) throw nb::index_error("there is no such step.");
    return to_records(record_types(records), StepResult(kept.results[t]), kept.n_features,
                      kept.has_weights[t], kept.is_steady, t + 1, kept.times[t], kept.labels[t]);
}

// Only what a judge of the parameters asks for: the labels of all points that weigh something,
// batch after batch, clusters seen in all batches together, and identities.
using SequenceLabels = std::tuple<Column<std::int64_t>, std::size_t, std::int64_t>;

template <typename Value>
SequenceLabels sequence_labels_of(const nb::list& batches, const nb::list& point_weights,
                                  GivenFloats elapsed, nb::handle penalties, GivenMoving moving,
                                  bool is_accelerated, std::size_t n_threads, std::uint64_t entropy,
                                  std::size_t n_init, bool is_deep, nb::handle records) {
    const Sequence<Value> sequence(
        batches, point_weights, elapsed,
        read_penalties(record_types(records), penalties, data_or_null(moving)));
    std::vector<std::int64_t> labels;
    std::size_t n_seen = 0;
    State state;
    sequence.run(is_accelerated, n_threads, entropy, n_init, is_deep,
                 [&](std::size_t t, StepResult&& result) {
                     const double* weights = sequence.points[t].weights;
                     for (std::size_t i = 0; i < result.labels.size(); ++i)
                         if (!weights || weights[i] > 0.0) labels.push_back(result.labels[i]);
                     n_seen += result.ids.size();
                     state = std::move(result.state);
                     return engine::view(state);
                 });
    return {column(std::move(labels)), n_seen, state.next_id};
}

template <typename... Arguments>
SequenceLabels sequence_labels(const nb::list& batches, const Arguments&... arguments) {
    return is_single(batches) ? sequence_labels_of<float>(batches, arguments...)
                              : sequence_labels_of<double>(batches, arguments...);
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<double>> predict(GivenTable<Value> points, nb::handle state,
                                                         nb::handle given_penalties,
                                                         GivenMoving moving, double elapsed,
                                                         bool is_accelerated, std::size_t n_threads,
                                                         std::optional<nb::capsule> sgemm,
                                                         nb::handle records) {
    const Points<Value> batch = view(points, std::nullopt);
    const RecordTypes& types = record_types(records);
    const StateView before = read_state(types, state, batch.n_features).view;
    const Penalties penalties = read_penalties(types, given_penalties, data_or_null(moving));
    const Sgemm multiply = to_sgemm(sgemm);
    std::vector<std::int64_t> labels(batch.n_points);
    std::vector<double> costs(batch.n_points);
    run_released(n_threads, [&](ThreadPool& pool) {
        const Predictor predictor(before.centers, before.weights, before.ages, before.n_clusters,
                                  batch.n_features, penalties, before.courses, elapsed);
        predictor.choose_all(
            batch, is_accelerated, multiply, pool, [&](std::size_t i, const Choice& choice) {
                labels[i] = choice.slot == CostTable::kNone ? kUnlabeled : before.ids[choice.slot];
                costs[i] = choice.cost;
            });
    });
    return {column(std::move(labels)), column(std::move(costs))};
}

template <typename Value>
void bind_steps_of(nb::module_& module) {
    module.def("step", &step_records<Value>, "points"_a.noconvert(), "point_weights"_a.none(),
               "orders"_a, "state"_a, "penalties"_a, "moving"_a.none(), "elapsed"_a, "is_deep"_a,
               "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none(), "records"_a);
    module.def("predict", &predict<Value>, "points"_a.noconvert(), "state"_a, "penalties"_a,
               "moving"_a.none(), "elapsed"_a, "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none(),
               "records"_a);
}

}  // namespace

void bind_steps(nb::module_& module) {
    module.def("step_if_small", &step_if_small, "points"_a.none(), "point_weights"_a.none(),
               "orders"_a.none(), "state"_a.none(), "penalties"_a.none(), "elapsed"_a.none(),
               "is_deep"_a, "records"_a);
    module.def("follow_if_small", &follow_if_small, "records"_a, "more_records"_a,
               "memory"_a.none(), "points"_a.none(), "elapsed"_a.none());
    const auto steps = [](nb::handle batches, nb::handle weights, GivenFloats elapsed,
                          nb::handle penalties, GivenMoving moving, bool is_accelerated,
                          std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                          bool is_deep, nb::handle records) {
        return sequence_steps(as_list(batches), as_list(weights), elapsed, penalties, moving,
                              is_accelerated, n_threads, entropy, n_init, is_deep, records);
    };
    const auto labels = [](nb::handle batches, nb::handle weights, GivenFloats elapsed,
                           nb::handle penalties, GivenMoving moving, bool is_accelerated,
                           std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                           bool is_deep, nb::handle records) {
        return sequence_labels(as_list(batches), as_list(weights), elapsed, penalties, moving,
                               is_accelerated, n_threads, entropy, n_init, is_deep, records);
    };
    module.def("sequence", steps, "batches"_a, "point_weights"_a, "elapsed"_a, "penalties"_a,
               "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "entropy"_a, "n_init"_a,
               "is_deep"_a, "records"_a);
    module.def("sequence_labels", labels, "batches"_a, "point_weights"_a, "elapsed"_a,
               "penalties"_a, "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "entropy"_a,
               "n_init"_a, "is_deep"_a, "records"_a);
    module.def("sequence_records", &sequence_records, "steps"_a, "number"_a, "records"_a);
    bind_steps_of<double>(module);
    bind_steps_of<float>(module);
}

}  // namespace dynmeans::bindings
