// Steps for Python: arrays and a state in, records out. The GIL is released while a step runs, and
// the caller has checked shapes and values; but step_if_small checks for itself and keeps the GIL.
#include "engine/step.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "algorithm/visiting_orders.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/records.hpp"
#include "bindings/unconverted_arrays.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;

namespace {

constexpr double kLeastElapsed = 1e-12;

Sgemm to_sgemm(const std::optional<nb::capsule>& capsule) {
    return capsule ? reinterpret_cast<Sgemm>(capsule->data(capsule->name())) : nullptr;
}

// Visiting orders that the caller listed, or else a VisitingOrders.
struct AskedOrders {
    const std::int64_t* listed;
    std::size_t n_init;
    std::uint64_t entropy;
    int depth;
};

// Of a search by its name (dynmeans.records.orders).
int depth_of(nb::handle search) {
    return is_text(search, "deep") ? 2 : is_text(search, "split") ? 1 : 0;
}

// A VisitingOrders says itself how deep the search is; `depth` is for listed orders.
AskedOrders read_orders(const RecordTypes& types, nb::handle orders, int depth) {
    const auto field = [&](std::size_t f) { return nb::handle(types.orders.field(orders, f)); };
    if (types.orders.fits(orders))
        return {nullptr, nb::cast<std::size_t>(field(1)), nb::cast<std::uint64_t>(field(0)),
                depth_of(field(2))};
    PyArrayObject* array = plain_array<std::int64_t, 2>(orders);
    if (!array) throw nb::type_error("orders must be a table of integers or a VisitingOrders.");
    return {data_of<std::int64_t>(array), static_cast<std::size_t>(PyArray_DIM(array, 0)), 0,
            depth};
}

template <typename Value>
StepResult step_in(const AskedOrders& asked, const Points<Value>& batch, const GivenState& before,
                   const Penalties& penalties, double elapsed, const Execution& execution,
                   ThreadPool& pool) {
    if (asked.listed) {
        GivenOrders given(asked.listed, asked.n_init, batch.n_points);
        given.depth = asked.depth;
        return step(batch, given, before.view, penalties, elapsed, execution, pool);
    }
    const std::uint64_t seed = seed_of_step(asked.entropy, before.n_steps);
    MadeOrders made(VisitingOrders(batch, seed), asked.n_init, batch.n_points);
    made.depth = asked.depth;
    return step(batch, made, before.view, penalties, elapsed, execution, pool);
}

template <typename Value>
nb::object step_records(Table<Value> points, GivenWeights point_weights, nb::handle orders,
                        nb::handle state, nb::handle given_penalties, GivenMoving moving,
                        double elapsed, int depth, bool is_accelerated, std::size_t n_threads,
                        std::optional<nb::capsule> sgemm, nb::handle records) {
    const RecordTypes& types = record_types(records);
    const Points<Value> batch = points_of(points, point_weights);
    const GivenState before = read_state(types, state, batch.n_features);
    const Penalties penalties = read_penalties(types, given_penalties, data_or_null(moving));
    const Execution execution{is_accelerated, to_sgemm(sgemm)};
    const AskedOrders asked = read_orders(types, orders, depth);
    StepResult result = run_without_gil(n_threads, [&](ThreadPool& pool) {
        return step_in(asked, batch, before, penalties, elapsed, execution, pool);
    });
    return to_records(types, std::move(result), batch.n_features, batch.weights != nullptr,
                      penalties.moving != nullptr, before.n_steps + 1, before.time + elapsed);
}

template <typename Value>
nb::object step_if_small_of(const RecordTypes& types, nb::handle points, nb::handle weights,
                            nb::handle orders, nb::handle state, nb::handle penalties,
                            double elapsed, int depth) {
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
        step_in(read_orders(types, orders, depth), batch, before,
                read_penalties(types, penalties, nullptr), elapsed, {true, nullptr}, nobody_else);
    return to_records(types, std::move(result), d, has_weights, false, before.n_steps + 1,
                      before.time + elapsed);
}

// A whole step in one crossing, checks included, with the GIL held: for a small batch everything
// around it would take as long. None where anything needs more: conversion, a complaint, courses.
nb::object step_if_small(nb::handle points, nb::handle weights, nb::handle orders, nb::handle state,
                         nb::handle penalties, nb::handle elapsed, int depth, nb::handle records) {
    const RecordTypes& types = record_types(records);
    if (!types.state.fits(state) || !types.penalties.fits(penalties) ||
        !is_text(types.penalties.field(penalties, 4), "random_walk") ||
        is_text(types.penalties.field(penalties, 5), "sphere") ||
        !PyFloat_CheckExact(elapsed.ptr()))
        return nb::none();
    const double dt = PyFloat_AS_DOUBLE(elapsed.ptr());
    if (!(dt >= kLeastElapsed && std::isfinite(dt))) return nb::none();
    nb::object made =
        step_if_small_of<double>(types, points, weights, orders, state, penalties, dt, depth);
    if (!made.is_none()) return made;
    return step_if_small_of<float>(types, points, weights, orders, state, penalties, dt, depth);
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<double>> predict(Table<Value> points, nb::handle state,
                                                         nb::handle given_penalties,
                                                         GivenMoving moving, double elapsed,
                                                         bool is_accelerated, std::size_t n_threads,
                                                         std::optional<nb::capsule> sgemm,
                                                         nb::handle records) {
    const Points<Value> batch = points_of(points, std::nullopt);
    const RecordTypes& types = record_types(records);
    const StateView before = read_state(types, state, batch.n_features).view;
    const Penalties penalties = read_penalties(types, given_penalties, data_or_null(moving));
    const Sgemm multiply = to_sgemm(sgemm);
    std::vector<std::int64_t> labels(batch.n_points);
    std::vector<double> costs(batch.n_points);
    run_without_gil(n_threads, [&](ThreadPool& pool) {
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
               "orders"_a, "state"_a, "penalties"_a, "moving"_a.none(), "elapsed"_a, "depth"_a,
               "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none(), "records"_a);
    module.def("predict", &predict<Value>, "points"_a.noconvert(), "state"_a, "penalties"_a,
               "moving"_a.none(), "elapsed"_a, "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none(),
               "records"_a);
}

}  // namespace

void bind_steps(nb::module_& module) {
    module.def("step_if_small", &step_if_small, "points"_a.none(), "point_weights"_a.none(),
               "orders"_a.none(), "state"_a.none(), "penalties"_a.none(), "elapsed"_a.none(),
               "depth"_a, "records"_a);
    bind_steps_of<double>(module);
    bind_steps_of<float>(module);
}

}  // namespace dynmeans::bindings
