// Steps for Python: arrays and a state in, records out, the GIL released in between. The caller has
// checked shapes and values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "algorithm/visiting_orders.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/records.hpp"
#include "engine/sequence.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;
using namespace algorithm;

namespace {

using GivenWeights = std::optional<GivenFloats>;
using GivenMoving = std::optional<GivenFloats>;
// lambda, Q, tau and whether the revival rule is "exact".
using GivenPenalties = std::tuple<double, double, double, bool>;

Penalties view(const GivenPenalties& given, const GivenMoving& moving) {
    const auto [new_penalty, revival_penalty, drift, exact_revival] = given;
    return {new_penalty, revival_penalty, drift, exact_revival, moving ? moving->data() : nullptr};
}

Sgemm to_sgemm(const std::optional<nb::capsule>& capsule) {
    return capsule ? reinterpret_cast<Sgemm>(capsule->data(capsule->name())) : nullptr;
}

// In the orders given; else in some that are made here, by what the rows hold or by their numbers.
template <typename Value>
nb::object step_records(GivenTable<Value> points, GivenWeights point_weights,
                        std::optional<GivenTable<std::int64_t>> orders, std::uint64_t entropy,
                        std::size_t n_init, bool by_content, nb::handle state,
                        GivenPenalties given_penalties, GivenMoving moving, double elapsed,
                        bool is_accelerated, std::size_t n_threads,
                        std::optional<nb::capsule> sgemm, nb::handle records) {
    const RecordTypes& types = record_types(records);
    const Points<Value> batch = view(points, point_weights);
    const GivenState before = read_state(types, state, batch.n_features);
    const Penalties penalties = view(given_penalties, moving);
    const Execution execution{is_accelerated, to_sgemm(sgemm)};
    StepResult result = run_released(n_threads, [&](ThreadPool& pool) {
        if (orders) {
            GivenOrders given(orders->data(), orders->shape(0), batch.n_points);
            return step(batch, given, before.view, penalties, elapsed, execution, pool);
        }
        const std::uint64_t seed = seed_of_step(entropy, before.n_steps);
        MadeOrders made(
            by_content ? VisitingOrders(batch, seed) : VisitingOrders(batch.n_points, seed), n_init,
            batch.n_points);
        return step(batch, made, before.view, penalties, elapsed, execution, pool);
    });
    return to_records(types, std::move(result), batch.n_features, batch.weights != nullptr,
                      penalties.moving != nullptr, before.n_steps + 1, before.time + elapsed);
}

// Many small batches without coming back to Python in between.
template <typename Value>
struct Sequence {
    std::vector<GivenTable<Value>> batches;
    std::vector<GivenWeights> weights;
    GivenFloats elapsed;
    Penalties penalties;

    template <typename OnStep>
    void run(bool is_accelerated, std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
             const OnStep& on_step) const {
        std::vector<Points<Value>> points;
        for (std::size_t t = 0; t < batches.size(); ++t)
            points.push_back(view(batches[t], weights[t]));
        run_released(n_threads, [&](ThreadPool& pool) {
            run_sequence(points, elapsed.data(), penalties, is_accelerated, entropy, n_init, pool,
                         on_step);
        });
    }
};

template <typename Value>
nb::object sequence_records(std::vector<GivenTable<Value>> batches,
                            std::vector<GivenWeights> point_weights, GivenFloats elapsed,
                            GivenPenalties penalties, GivenMoving moving, bool is_accelerated,
                            std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                            nb::handle records) {
    const RecordTypes& types = record_types(records);
    const Sequence<Value> sequence{std::move(batches), std::move(point_weights), elapsed,
                                   view(penalties, moving)};
    nb::list all;
    double time = 0.0;
    sequence.run(is_accelerated, n_threads, entropy, n_init,
                 [&](std::size_t t, StepResult&& result) {
                     nb::gil_scoped_acquire acquire;
                     const std::size_t d = sequence.batches[t].shape(1);
                     time += elapsed.data()[t];
                     nb::tuple made =
                         to_records(types, std::move(result), d, sequence.weights[t].has_value(),
                                    moving.has_value(), t + 1, time);
                     all.append(made);
                     return read_state(types, made[0], d).view;
                 });
    return all;
}

// Only what a judge of the parameters asks for: the labels of all points that weigh something,
// batch after batch, clusters seen in all batches together, and identities.
template <typename Value>
std::tuple<Column<std::int64_t>, std::size_t, std::int64_t> sequence_labels(
    std::vector<GivenTable<Value>> batches, std::vector<GivenWeights> point_weights,
    GivenFloats elapsed, GivenPenalties penalties, GivenMoving moving, bool is_accelerated,
    std::size_t n_threads, std::uint64_t entropy, std::size_t n_init) {
    const Sequence<Value> sequence{std::move(batches), std::move(point_weights), elapsed,
                                   view(penalties, moving)};
    std::vector<std::int64_t> labels;
    std::size_t n_seen = 0;
    State state;
    sequence.run(is_accelerated, n_threads, entropy, n_init,
                 [&](std::size_t t, StepResult&& result) {
                     const GivenWeights& given = sequence.weights[t];
                     const double* weights = given ? given->data() : nullptr;
                     for (std::size_t i = 0; i < result.labels.size(); ++i)
                         if (!weights || weights[i] > 0.0) labels.push_back(result.labels[i]);
                     n_seen += result.ids.size();
                     state = std::move(result.state);
                     return engine::view(state);
                 });
    return {column(std::move(labels)), n_seen, state.next_id};
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<double>> predict(GivenTable<Value> points, nb::handle state,
                                                         GivenPenalties penalties,
                                                         GivenMoving moving, double elapsed,
                                                         nb::handle records) {
    const Points<Value> batch = view(points, std::nullopt);
    const StateView before = read_state(record_types(records), state, batch.n_features).view;
    std::vector<std::int64_t> labels(batch.n_points);
    std::vector<double> costs(batch.n_points);
    {
        nb::gil_scoped_release release;
        const Predictor predictor(before.centers, before.weights, before.ages, before.n_clusters,
                                  batch.n_features, view(penalties, moving), before.courses,
                                  elapsed);
        std::vector<double> buffer(batch.n_features);
        Choice choice{CostTable::kNone, 0.0};
        for (std::size_t i = 0; i < labels.size(); ++i) {
            choice = predictor.choose(batch.row(i, buffer.data()), choice.slot);
            labels[i] = choice.slot == CostTable::kNone ? kUnlabeled : before.ids[choice.slot];
            costs[i] = choice.cost;
        }
    }
    return {column(std::move(labels)), column(std::move(costs))};
}

template <typename Value>
void bind_steps_of(nb::module_& module) {
    module.def("step", &step_records<Value>, "points"_a.noconvert(), "point_weights"_a.none(),
               "orders"_a.none(), "entropy"_a, "n_init"_a, "by_content"_a, "state"_a, "penalties"_a,
               "moving"_a.none(), "elapsed"_a, "is_accelerated"_a, "n_threads"_a, "sgemm"_a.none(),
               "records"_a);
    module.def("predict", &predict<Value>, "points"_a.noconvert(), "state"_a, "penalties"_a,
               "moving"_a.none(), "elapsed"_a, "records"_a);
    module.def("sequence", &sequence_records<Value>, "batches"_a.noconvert(), "point_weights"_a,
               "elapsed"_a, "penalties"_a, "moving"_a.none(), "is_accelerated"_a, "n_threads"_a,
               "entropy"_a, "n_init"_a, "records"_a);
    module.def("sequence_labels", &sequence_labels<Value>, "batches"_a.noconvert(),
               "point_weights"_a, "elapsed"_a, "penalties"_a, "moving"_a.none(), "is_accelerated"_a,
               "n_threads"_a, "entropy"_a, "n_init"_a);
}

}  // namespace

void bind_steps(nb::module_& module) {
    bind_steps_of<double>(module);
    bind_steps_of<float>(module);
}

}  // namespace dynmeans::bindings
