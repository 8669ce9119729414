// Moves of whole sets for a batch whose points lie elsewhere: the sums of its sets, and some of
// their members, the first of each in the visiting order.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "bindings/arrays.hpp"
#include "moves/set_moves.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {
namespace {

// of the whole batch with the remembered centers; its points, whether they have weights, lambda
using SumArrays = std::tuple<Floats, double, double, std::size_t, bool, double>;
// n and members of each slot, n and n m in bins
using SetArrays = std::tuple<Floats, Ints, Table<double>>;
// centers, gamma, Q dt
using RememberedArrays = std::tuple<Table<double>, Floats, Floats>;
// whether anything moved; slots of which more members are needed; labels of the members here; where
// all others of each slot went; members of each slot
using Moved = std::tuple<bool, Column<std::int64_t>, Column<std::int64_t>, Column<std::int64_t>,
                         Column<std::int64_t>>;

BatchSums sums_of(const SumArrays& arrays) {
    const auto& [farthest, lightest, heaviest, n_points, has_weights, new_penalty] = arrays;
    Magnitudes magnitudes(farthest.size());
    magnitudes.farthest.assign(farthest.data(), farthest.data() + farthest.size());
    magnitudes.lightest = lightest;
    magnitudes.heaviest = heaviest;
    return BatchSums(magnitudes, n_points, has_weights, new_penalty);
}

Solution solution_of(const Ints& labels, const SetArrays& sets, double cost) {
    const auto& [counts, n_members, bins] = sets;
    Solution found;
    found.labels.assign(labels.data(), labels.data() + labels.size());
    found.counts.assign(counts.data(), counts.data() + counts.size());
    found.n_members.assign(n_members.data(), n_members.data() + n_members.size());
    found.bins.assign(bins.data(), bins.data() + bins.size());
    found.cost_trace = {cost};
    return found;
}

Moved move_sets(Table<double> points, std::optional<Floats> weights, Ints labels, SetArrays sets,
                double cost, SumArrays of_sums, RememberedArrays memory, int depth) {
    const auto& [centers, gamma, offsets] = memory;
    const Points<double> rows = points_of(points, weights);
    const std::vector<double> ones(gamma.size(), 1.0);
    Remembered remembered(centers.data(), ones.data(), ones, rows.n_features, Penalties{});
    remembered.gamma.assign(gamma.data(), gamma.data() + gamma.size());
    remembered.offsets.assign(offsets.data(), offsets.data() + offsets.size());
    nb::gil_scoped_release release;
    const BatchSums sums = sums_of(of_sums);
    std::vector<Row> order(rows.n_points);
    std::iota(order.begin(), order.end(), Row{0});
    SetMoves<double> moves;
    moves.start(rows, remembered, std::get<5>(of_sums), sums);
    const Solution found = solution_of(labels, sets, cost);
    bool has_moved = moves.make(found, order.data(), depth);
    Solution after = moves.after();
    const std::vector<std::int64_t> missing = moves.sets().missing_slots();
    has_moved &= missing.empty();
    std::vector<std::int64_t> slots, slots_after;
    if (has_moved) {
        slots.assign(after.labels.begin(), after.labels.end());
        slots_after = moves.sets().slots_after();
    } else {
        after.n_members.clear();
    }
    nb::gil_scoped_acquire acquire;
    return {has_moved, column(std::vector<std::int64_t>(missing)), column(std::move(slots)),
            column(std::move(slots_after)), column(std::move(after.n_members))};
}

}  // namespace

void bind_moves(nb::module_& module) {
    module.def("move_sets", &move_sets, "points"_a, "weights"_a.none(), "labels"_a, "sets"_a,
               "cost"_a, "sums"_a, "memory"_a, "depth"_a);
}

}  // namespace dynmeans::bindings
