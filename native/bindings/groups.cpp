// Many small streams for Python: arrays in, arrays out, the GIL released in between. The caller has
// checked shapes and values.
#include "engine/groups.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/interrupts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {
namespace {

using Seeds = Given<const std::uint32_t, 1>;
// Labels of the rows; clusters, passes and cost of each batch.
using BatchColumns =
    std::tuple<Column<std::int64_t>, Column<std::int64_t>, Column<std::int64_t>, Column<double>>;
// starts, ids, centers, weights, ages, counts and next_ids; velocities and their covariances.
using MemoryArrays = std::tuple<Ints, Ints, Table<double>, Floats, Floats, Floats, Ints,
                                std::optional<Table<double>>, std::optional<Table<double>>>;
using MemoryColumns =
    std::tuple<Column<std::int64_t>, Column<std::int64_t>, Rows<double>, Column<double>,
               Column<double>, Column<double>, Column<std::int64_t>, std::optional<Rows<double>>,
               std::optional<Rows<double>>>;

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& some) {
    all.insert(all.end(), some.begin(), some.end());
}

MemoryColumns to_columns(const std::vector<State>& states, std::size_t n_features, bool is_steady) {
    State all;
    std::vector<std::int64_t> starts{0}, next_ids;
    for (const State& state : states) {
        append(all.ids, state.ids);
        append(all.centers, state.centers);
        append(all.weights, state.weights);
        append(all.ages, state.ages);
        append(all.counts, state.counts);
        append(all.velocities, state.velocities);
        append(all.velocity_covariances, state.velocity_covariances);
        starts.push_back(static_cast<std::int64_t>(all.ids.size()));
        next_ids.push_back(state.next_id);
    }
    const std::size_t n = all.ids.size();
    MemoryColumns columns{column(std::move(starts)),
                          column(std::move(all.ids)),
                          rows(std::move(all.centers), n, n_features),
                          column(std::move(all.weights)),
                          column(std::move(all.ages)),
                          column(std::move(all.counts)),
                          column(std::move(next_ids)),
                          std::nullopt,
                          std::nullopt};
    if (is_steady) {
        std::get<7>(columns) = rows(std::move(all.velocities), n, n_features);
        std::get<8>(columns) = rows(std::move(all.velocity_covariances), n, 2);
    }
    return columns;
}

template <typename Value>
std::tuple<BatchColumns, MemoryColumns> fit_groups(
    Table<Value> points, std::optional<Floats> point_weights, Ints batch_starts, Ints group_starts,
    Floats elapsed, const MemoryArrays& memories, Ints n_steps, Seeds seeds, double new_penalty,
    double revival_penalty, double drift, bool exact_revival, std::optional<Floats> moving,
    bool is_on_sphere, std::size_t n_init, int depth, bool is_accelerated, std::size_t n_threads) {
    const auto& [starts, ids, centers, weights, ages, counts, next_ids, velocities, covariances] =
        memories;
    const GroupedPoints<Value> grouped{points_of(points, point_weights), batch_starts.data(),
                                       group_starts.data(), seeds.size(), elapsed.data()};
    const GroupsRemembered before{
        {ids.data(), centers.data(), weights.data(), ages.data(), counts.data(), ids.size(), 0,
         velocities ? Velocities{velocities->data(), covariances->data()} : Velocities{}},
        starts.data(),
        next_ids.data(),
        n_steps.data()};
    const Penalties penalties{
        new_penalty, revival_penalty, drift, exact_revival, moving ? moving->data() : nullptr,
        is_on_sphere};
    GroupResults results = run_without_gil(n_threads, [&](ThreadPool& pool) {
        return GroupRunner<Value>(grouped, before, seeds.data(), n_init, depth, penalties,
                                  is_accelerated)
            .run(pool);
    });
    return {{column(std::move(results.labels)), column(std::move(results.n_clusters)),
             column(std::move(results.n_iters)), column(std::move(results.costs))},
            to_columns(results.states, points.shape(1), moving.has_value())};
}

std::tuple<Column<std::int64_t>, Column<std::int64_t>> sorted_by_group(Ints groups,
                                                                       std::size_t n_groups) {
    std::vector<std::int64_t> order, starts;
    without_gil([&] { sort_by_group(groups.data(), groups.size(), n_groups, order, starts); });
    return {column(std::move(order)), column(std::move(starts))};
}

template <typename Value>
void bind_fit_groups(nb::module_& module) {
    module.def("fit_groups", &fit_groups<Value>, "points"_a.noconvert(), "point_weights"_a.none(),
               "batch_starts"_a, "group_starts"_a, "elapsed"_a, "memories"_a, "n_steps"_a,
               "seeds"_a, "new_penalty"_a, "revival_penalty"_a, "drift"_a, "exact_revival"_a,
               "moving"_a.none(), "is_on_sphere"_a, "n_init"_a, "depth"_a, "is_accelerated"_a,
               "n_threads"_a);
}

}  // namespace

void bind_groups(nb::module_& module) {
    bind_fit_groups<double>(module);
    bind_fit_groups<float>(module);
    module.def("entropy_of_seed", &entropy_of_seed, "seed"_a);
    module.def("sort_by_group", &sorted_by_group, "groups"_a, "n_groups"_a);
}

}  // namespace dynmeans::bindings
