// Passes over parts of a batch for Python: arrays in, arrays out, the GIL released in between.
// `labels`, `next` and `own` of a part are written in place; they belong to the worker.
#include <optional>
#include <tuple>
#include <vector>

#include "algorithm/cost.hpp"
#include "bindings/dask_arrays.hpp"
#include "bindings/interrupts.hpp"
#include "dask/border_passes.hpp"
#include "dask/part.hpp"
#include "dask/piece_labels.hpp"
#include "dask/piece_proposals.hpp"
#include "dask/piece_sums.hpp"
#include "dask/replay.hpp"
#include "passes/following_pass.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {

using namespace dask;

namespace {

template <typename Value>
void walk_arrays(PartList<Value> list, std::uint64_t seed, ClusterArrays clusters,
                 ChangeArrays changes, double new_penalty, OneTurn last) {
    nb::gil_scoped_release release;
    const ClusterTable start = view(clusters);
    for (const Part<Value>& part : view(list, seed))
        walk_changes(part, start, view(changes), new_penalty, to_turn(last));
}

template <typename Value>
void settle_arrays(PartList<Value> list, std::uint64_t seed, ClusterArrays clusters,
                   ChangeArrays changes, double new_penalty, OneTurn first, OneTurn last,
                   bool is_first) {
    nb::gil_scoped_release release;
    const ClusterTable start = view(clusters);
    const SlotChanges happened = view(changes);
    SettleLabels<Value> settle(start, happened, new_penalty);
    const TurnRange range{to_turn(first), to_turn(last)};
    for (const Part<Value>& part : view(list, seed)) settle.run(part, range, is_first);
}

using ProposalArrays = std::tuple<Rows<std::uint64_t>, Rows<double>, std::size_t>;

ProposalArrays to_arrays(Proposals&& proposals, std::size_t n_features) {
    const std::size_t n = proposals.turns.size();
    return {to_rows(proposals.turns), rows(std::move(proposals.rows), n, n_features),
            proposals.n_found};
}

template <typename Value>
ProposalArrays propose_unlabeled_arrays(PartList<Value> list, std::uint64_t seed,
                                        ClusterArrays clusters, double new_penalty, OneTurn first,
                                        OneTurn last, std::size_t limit,
                                        std::optional<nb::capsule> sgemm) {
    const Sgemm multiply = sgemm ? reinterpret_cast<Sgemm>(sgemm->data(sgemm->name())) : nullptr;
    Proposals kept = without_gil([&] {
        const std::vector<Part<Value>> parts = view(list, seed);
        const ClusterTable start = view(clusters);
        ProposalList found;
        const TurnRange range{to_turn(first), to_turn(last)};
        UnlabeledProposals<Value>(start, new_penalty, multiply).find(parts, range, found);
        return found.take(parts, limit, start.n_features);
    });
    return to_arrays(std::move(kept), std::get<0>(clusters).shape(1));
}

// numbers, points, weights, labels and places in the piece of the rows in doubt; slacks by slot
using DoubtArrays = std::tuple<Column<std::uint64_t>, Rows<double>, Column<double>, Column<Slot>,
                               Column<std::int64_t>, Column<double>>;

// Rows of the parts, as they are sent.
struct SentRows {
    std::vector<std::uint64_t> numbers;
    std::vector<double> points, weights, slacks;
    std::vector<Slot> labels;
    std::vector<std::int64_t> places;

    template <typename Value>
    SentRows(const std::vector<Part<Value>>& parts, BorderRows& doubt, std::size_t n_features) {
        std::vector<double> buffer(n_features);
        std::vector<std::size_t> edges(1, 0);
        for (const Part<Value>& part : parts) edges.push_back(edges.back() + part.points.n_points);
        for (const BorderRows::Found& found : doubt.take()) {
            const Part<Value>& part = parts[found.part];
            numbers.push_back(part.number(found.row));
            const double* y = part.points.row(found.row, buffer.data());
            points.insert(points.end(), y, y + n_features);
            weights.push_back(part.points.weight(found.row));
            labels.push_back(part.labels[found.row]);
            places.push_back(static_cast<std::int64_t>(edges[found.part] + found.row));
        }
        slacks = doubt.slacks();
    }

    DoubtArrays arrays(std::size_t n_features) {
        const std::size_t n = numbers.size();
        return {column(std::move(numbers)), rows(std::move(points), n, n_features),
                column(std::move(weights)), column(std::move(labels)),
                column(std::move(places)),  column(std::move(slacks))};
    }
};

using LabeledArrays = std::tuple<Rows<std::uint64_t>, Rows<double>, std::size_t,
                                 std::vector<Column<std::int64_t>>, std::optional<DoubtArrays>>;

// `moves`, by slot in the last pass, are given where rows in doubt are asked for, `most` of them.
template <typename Value>
LabeledArrays propose_labeled_arrays(PartList<Value> list, std::uint64_t seed,
                                     ClusterArrays clusters, double new_penalty, OneTurn first,
                                     OneTurn last, std::size_t limit, Floats highest_own,
                                     std::size_t most, std::optional<Floats> moves) {
    const std::size_t d = std::get<0>(clusters).shape(1);
    std::vector<std::vector<std::int64_t>> movers;
    std::optional<SentRows> sent;
    Proposals kept = without_gil([&] {
        const std::vector<Part<Value>> parts = view(list, seed);
        const ClusterTable start = view(clusters);
        ProposalList found;
        LabeledProposals<Value> proposals(start, highest_own.data(), new_penalty);
        BorderRows* doubt = moves ? &proposals.gather(most, moves->data()) : nullptr;
        movers = proposals.find(parts, {to_turn(first), to_turn(last)}, found);
        if (doubt) sent.emplace(parts, *doubt, d);
        return found.take(parts, limit, d);
    });
    std::vector<Column<std::int64_t>> columns;
    for (std::vector<std::int64_t>& rows : movers) columns.push_back(column(std::move(rows)));
    auto [turns, points, n_found] = to_arrays(std::move(kept), d);
    std::optional<DoubtArrays> in_doubt;
    if (sent) in_doubt = sent->arrays(d);
    return {std::move(turns), std::move(points), n_found, std::move(columns), std::move(in_doubt)};
}

template <typename Value>
std::tuple<Column<std::int64_t>, Column<std::int64_t>, Rows<std::uint64_t>, Rows<std::uint64_t>>
count_moves_arrays(PartList<Value> list, std::uint64_t seed, std::size_t n_slots, OneTurn last) {
    Moves moves(n_slots);
    without_gil([&] {
        for (const Part<Value>& part : view(list, seed)) moves.add(part, to_turn(last));
    });
    return {column(std::move(moves.n_joined)), column(std::move(moves.n_left)),
            to_rows(moves.first_join), to_rows(moves.last_leave)};
}

// The first `limit` rows of a range that take part, by increasing turn, and how many there are;
// their places in the piece, and their weights.
template <typename Value>
std::tuple<Rows<std::uint64_t>, Rows<double>, std::size_t, Column<std::int64_t>, Column<double>>
rows_in_turn(PartList<Value> list, std::uint64_t seed, OneTurn first, OneTurn last,
             std::size_t limit, std::size_t n_features) {
    std::vector<std::int64_t> places;
    std::vector<double> weights;
    Proposals kept = without_gil([&] {
        const std::vector<Part<Value>> parts = view(list, seed);
        ProposalList found;
        for (std::size_t p = 0; p < parts.size(); ++p)
            found.add_rows(parts[p], p, {to_turn(first), to_turn(last)});
        return found.take(parts, limit, n_features, &places, &weights);
    });
    auto [turns, points, n_found] = to_arrays(std::move(kept), n_features);
    return {std::move(turns), std::move(points), n_found, column(std::move(places)),
            column(std::move(weights))};
}

// The first pass on the sphere, over rows that follow others: labels, and centers, offsets and sums
// of all slots afterwards.
template <typename Value>
std::tuple<Column<Slot>, Rows<double>, Column<double>, Rows<double>> follow_rows(
    Table<Value> points, std::optional<Floats> weights, Given<const Row, 1> order,
    Table<double> centers, Floats offsets, Table<double> sums, double new_penalty,
    std::optional<nb::capsule> sgemm) {
    const Sgemm multiply = sgemm ? reinterpret_cast<Sgemm>(sgemm->data(sgemm->name())) : nullptr;
    const std::size_t d = centers.shape(1), n = centers.shape(0);
    const Remembered slots(centers.data(), d, std::vector<double>(n), values(offsets),
                           std::vector<double>(n, 1.0), true);
    const Points<Value> batch = points_of(points, weights);
    Assignment assignment(batch.n_points, slots);
    std::vector<double> sums_after, offsets_after;
    run_without_gil(1, [&](ThreadPool& pool) {
        FollowingPass<Value> pass(batch, slots, new_penalty, multiply, pool.interrupts());
        assignment.start(slots);
        pass.go_on(values(sums), order.data(), order.size(), assignment);
        sums_after = pass.sums();
        return true;
    });
    const CostTable& table = assignment.table;
    for (std::size_t k = 0; k < table.size(); ++k) offsets_after.push_back(table.offset(k));
    std::vector<double> centers_after(table.center(0), table.center(table.size()));
    return {column(std::move(assignment.labels)), rows(std::move(centers_after), table.size(), d),
            column(std::move(offsets_after)), rows(std::move(sums_after), table.size(), d)};
}

template <typename Value>
std::tuple<Column<double>, double, double> magnitudes_arrays(Table<Value> points,
                                                             std::optional<Floats> weights) {
    Magnitudes found(points.shape(1));
    const Points<Value> batch = points_of(points, weights);
    without_gil([&] { found.add(batch, 0, batch.n_points); });
    return {column(std::move(found.farthest)), found.lightest, found.heaviest};
}

template <typename Value>
Column<double> update_own_arrays(PartList<Value> list, Table<double> centers, Flags has_moved,
                                 std::optional<Floats> highest) {
    return column(without_gil([&] {
        return update_own(view(list, 0), centers.data(), has_moved.data(),
                          highest ? highest->data() : nullptr, centers.shape(0));
    }));
}

template <typename Value>
Rows<double> sum_moves_arrays(PartList<Value> list, std::size_t n_slots, SumArrays sums) {
    const BatchSums how = view(sums);
    return rows(without_gil([&] { return sum_moves(view(list, 0), n_slots, how); }), n_slots,
                how.columns.size());
}

// theta_old, gamma, offsets and scales of the costs of reviving, whether centers have length 1
using MemoryArrays = std::tuple<Table<double>, Floats, Floats, Floats, bool>;

Remembered view(const MemoryArrays& arrays) {
    const auto& [centers, gamma, offsets, scales, is_on_sphere] = arrays;
    return Remembered(centers.data(), centers.shape(1), values(gamma), values(offsets),
                      values(scales), is_on_sphere);
}

// What a batch comes to by slot, and L_t.
using SettledArrays = std::tuple<Column<double>, Rows<double>, double>;

// n, centers and cost, given the members of each slot and their sums in bins.
SettledArrays settle_clusters(Ints n_members, Table<double> bins, MemoryArrays memory,
                              SumArrays sums, double new_penalty) {
    const Remembered remembered = view(memory);
    const BatchSums how = view(sums);
    const Points<double> nobody{nullptr, nullptr, 0, remembered.n_features};
    InterruptCheck interrupts([] { return false; });
    ThreadPool pool(1, interrupts);
    BorderPasses passes(nobody, remembered, new_penalty, how, pool);
    passes.start({{}, {}, {}, {}, values(n_members), values(bins)});
    Solution found = passes.solution();
    return {column(std::move(found.counts)),
            rows(std::move(found.centers), n_members.size(), remembered.n_features),
            found.cost_trace[0]};
}

// labels, members, sums in bins, slots that moved, centers before the last pass, costs, passes in
// which anybody moved, whether the run has converged
using BorderArrays =
    std::tuple<Column<Slot>, Column<std::int64_t>, Rows<double>, Column<std::uint8_t>, Rows<double>,
               Column<double>, std::size_t, bool>;

// Late passes over the rows in doubt; slacks and reaches are of the rows that stayed behind, by
// piece and slot.
BorderArrays pass_border(Table<double> points, std::optional<Floats> weights,
                         Given<const Slot, 1> labels, Ints n_members, Table<double> bins,
                         Table<double> slacks, Table<double> reaches, MemoryArrays memory,
                         SumArrays sums, double new_penalty, std::size_t n_threads) {
    const Remembered remembered = view(memory);
    const BatchSums how = view(sums);
    const Points<double> border = points_of(points, weights);
    const Solution whole{values(labels), {}, {}, {}, values(n_members), values(bins)};
    Solution found;
    std::vector<std::uint8_t> has_moved;
    std::vector<double> last_centers;
    std::size_t n_passes = 0;
    const bool is_over = run_without_gil(n_threads, [&](ThreadPool& pool) {
        BorderPasses passes(border, remembered, new_penalty, how, pool);
        passes.start(whole);
        FixedPoints left_behind(n_members.size(), passes.centers(), values(slacks),
                                values(reaches));
        passes.run(whole, left_behind);
        found = passes.solution();
        has_moved = passes.has_moved;
        last_centers = passes.last_centers;
        n_passes = passes.n_passes;
        return passes.is_over;
    });
    const std::size_t n_slots = found.n_members.size(), d = remembered.n_features;
    return {column(std::move(found.labels)),
            column(std::move(found.n_members)),
            rows(std::move(found.bins), n_slots, how.columns.size()),
            column(std::move(has_moved)),
            rows(std::move(last_centers), n_passes ? n_slots : 0, d),
            column(std::move(found.cost_trace)),
            n_passes,
            is_over};
}

// The within-cluster term of L_t, from these totals; `counts` are n of each slot.
double within_of_totals(Table<double> totals, Table<double> rests, Floats counts,
                        Table<double> centers) {
    const std::size_t d = centers.shape(1), width = totals.shape(1), first = width - d - 2;
    std::vector<double> within(centers.shape(0));
    for (std::size_t k = 0; k < within.size(); ++k) {
        if (counts.data()[k] == 0.0) continue;
        const auto total = [&](std::size_t c) {
            return Pair<double>{totals.data()[k * width + c], rests.data()[k * width + c]};
        };
        const Pair<double> n = first ? total(0) : Pair<double>{counts.data()[k], 0.0};
        within[k] = within_slot(n, centers.data() + k * d, d,
                                [&](std::size_t c) { return total(first + c); });
    }
    return rounded_sum(within.data(), within.size(), 1);
}

std::tuple<Rows<std::uint64_t>, Column<std::int64_t>, Rows<double>> replay_arrays(
    ClusterArrays clusters, Turns turns, Table<double> points, Table<double> theta_old,
    Floats gamma, double new_penalty, bool is_on_sphere) {
    SlotChangeLists changes = without_gil([&] {
        ClusterTable start = view(clusters);
        return replay(start, view(turns), points.data(), points.shape(0), theta_old.data(),
                      values(gamma), new_penalty, is_on_sphere);
    });
    const std::size_t n = changes.turns.size();
    return {to_rows(changes.turns), column(std::move(changes.slots)),
            rows(std::move(changes.centers), n, points.shape(1))};
}

template <typename Value>
void bind_passes(nb::module_& module) {
    module.def("walk_changes", &walk_arrays<Value>, "parts"_a, "seed"_a, "clusters"_a, "changes"_a,
               "new_penalty"_a, "last"_a);
    module.def("settle_labels", &settle_arrays<Value>, "parts"_a, "seed"_a, "clusters"_a,
               "changes"_a, "new_penalty"_a, "first"_a, "last"_a, "is_first"_a);
    module.def("propose_unlabeled", &propose_unlabeled_arrays<Value>, "parts"_a, "seed"_a,
               "clusters"_a, "new_penalty"_a, "first"_a, "last"_a, "limit"_a, "sgemm"_a.none());
    module.def("propose_labeled", &propose_labeled_arrays<Value>, "parts"_a, "seed"_a, "clusters"_a,
               "new_penalty"_a, "first"_a, "last"_a, "limit"_a, "highest_own"_a, "most"_a,
               "moves"_a.none());
    module.def("count_moves", &count_moves_arrays<Value>, "parts"_a, "seed"_a, "n_slots"_a,
               "last"_a);
    module.def("update_own", &update_own_arrays<Value>, "parts"_a, "centers"_a, "has_moved"_a,
               "highest"_a.none());
    module.def("sum_moves", &sum_moves_arrays<Value>, "parts"_a, "n_slots"_a, "sums"_a);
    module.def("rows_in_turn", &rows_in_turn<Value>, "parts"_a, "seed"_a, "first"_a, "last"_a,
               "limit"_a, "n_features"_a);
    module.def("follow_rows", &follow_rows<Value>, "points"_a.noconvert(), "weights"_a.none(),
               "order"_a, "centers"_a, "offsets"_a, "sums"_a, "new_penalty"_a, "sgemm"_a.none());
    module.def("magnitudes", &magnitudes_arrays<Value>, "points"_a.noconvert(), "weights"_a.none());
}

}  // namespace

void bind_pieces(nb::module_& module) {
    bind_passes<double>(module);
    bind_passes<float>(module);
    module.def("replay", &replay_arrays, "clusters"_a, "turns"_a, "points"_a, "theta_old"_a,
               "gamma"_a, "new_penalty"_a, "is_on_sphere"_a);
    module.def("settle_clusters", &settle_clusters, "n_members"_a, "bins"_a, "memory"_a, "sums"_a,
               "new_penalty"_a);
    module.def("pass_border", &pass_border, "points"_a, "weights"_a.none(), "labels"_a,
               "n_members"_a, "bins"_a, "slacks"_a, "reaches"_a, "memory"_a, "sums"_a,
               "new_penalty"_a, "n_threads"_a);
    module.def("within_of_totals", &within_of_totals, "totals"_a, "rests"_a, "counts"_a,
               "centers"_a);
    module.def(
        "rounded_sum", [](Floats values) { return rounded_sum(values.data(), values.size(), 1); },
        "values"_a);
}

}  // namespace dynmeans::bindings
