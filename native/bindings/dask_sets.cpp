// Visiting orders and splits of sets on a worker for Python: hashes of rows, first members of each
// set, sums of its halves.
#include "algorithm/visiting_orders.hpp"
#include "bindings/dask_arrays.hpp"
#include "bindings/interrupts.hpp"
#include "dask/first_members.hpp"
#include "dask/halves.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {

using namespace dask;

namespace {

// The hash of each row, for the batch after `n_steps` others: what its keys are mixed from.
template <typename Value>
Column<std::uint64_t> hash_rows_array(Table<Value> points, std::uint64_t entropy,
                                      std::size_t n_steps) {
    std::vector<std::uint64_t> hashes(points.shape(0));
    without_gil([&] {
        SplitMix random(seed_of_step(entropy, n_steps));
        hash_rows(points_of(points, std::nullopt), random, hashes.data());
    });
    return column(std::move(hashes));
}

// The seeds of the keys of each order, which follow those of the hash.
Column<std::uint64_t> order_seeds(std::uint64_t entropy, std::size_t n_steps,
                                  std::size_t n_features, std::size_t n_init) {
    SplitMix random(seed_of_step(entropy, n_steps));
    for (std::size_t j = 0; j < n_features; ++j) random.next();
    std::vector<std::uint64_t> seeds(n_init);
    for (std::uint64_t& made : seeds) made = random.next();
    return column(std::move(seeds));
}

// slots, turns, points and weights of members
using MemberArrays = std::tuple<Column<Slot>, Rows<std::uint64_t>, Rows<double>, Column<double>>;

// The first members of each slot, so many at most as `wanted`.
template <typename Value>
MemberArrays first_members_arrays(PartList<Value> list, std::uint64_t seed, Ints wanted,
                                  std::size_t n_features) {
    std::vector<Turn> turns;
    std::vector<Slot> slots;
    std::vector<double> points, weights, buffer(n_features);
    without_gil([&] {
        const std::vector<Part<Value>> parts = view(list, seed);
        const auto found = first_members(parts, values(wanted));
        for (std::size_t k = 0; k < found.size(); ++k)
            for (const Member& member : found[k]) {
                const Points<Value>& from = parts[member.part].points;
                const double* y = from.row(member.row, buffer.data());
                slots.push_back(static_cast<Slot>(k));
                turns.push_back(member.turn);
                points.insert(points.end(), y, y + n_features);
                weights.push_back(from.weight(member.row));
            }
    });
    const std::size_t n = slots.size();
    return {column(std::move(slots)), to_rows(turns), rows(std::move(points), n, n_features),
            column(std::move(weights))};
}

TwoMeans view_means(const Table<double>& means) {
    const std::size_t d = means.shape(1);
    return {means.data(), means.data() + d, d};
}

// rows that changed halves, members of the second one, and its sums in bins
template <typename Value>
std::tuple<std::int64_t, std::int64_t, Column<double>> take_second_arrays(
    PartList<Value> list, Slot set, std::optional<Table<double>> before, Table<double> now,
    SumArrays sums) {
    SecondHalf found = without_gil([&] {
        const TwoMeans old = view_means(before ? *before : now);
        return take_second(view(list, 0), set, before ? &old : nullptr, view_means(now),
                           view(sums));
    });
    return {found.n_changed, found.n_members, column(std::move(found.bins))};
}

template <typename Value>
Column<double> scatter_arrays(PartList<Value> list, Slot set, Table<double> halves,
                              Table<double> means, SumArrays sums) {
    return column(without_gil([&] {
        return scatter_of(view(list, 0), set, view_means(halves), view_means(means), view(sums));
    }));
}

// Labels the second half of a set as another one, in place.
template <typename Value>
void divide_set(PartList<Value> list, Slot set, Table<double> halves, Slot added) {
    nb::gil_scoped_release release;
    const TwoMeans means = view_means(halves);
    for_each_member(view(list, 0), set,
                    [&](const Part<Value>& part, std::size_t i, const double* y) {
                        if (means.is_second(y)) part.labels[i] = added;
                    });
}

// n, and n m by feature, of sums in bins.
std::tuple<Column<double>, Rows<double>> read_bins(Ints n_members, Table<double> bins,
                                                   SumArrays sums) {
    const BatchSums how = view(sums);
    const std::size_t n_sets = n_members.size(), first = how.has_weights ? 1 : 0;
    const std::size_t d = how.columns.n_columns() - first - 2;
    std::vector<double> n(n_sets), totals(n_sets * d);
    for (std::size_t k = 0; k < n_sets; ++k) {
        const double* of_set = bins.data() + k * how.columns.size();
        n[k] = first ? how.columns.total(of_set, 0) : static_cast<double>(n_members.data()[k]);
        for (std::size_t j = 0; j < d; ++j)
            totals[k * d + j] = how.columns.total(of_set, first + j);
    }
    return {column(std::move(n)), rows(std::move(totals), n_sets, d)};
}

// The scatter that these bins add up to.
double read_scatter(Floats bins, SumArrays sums) { return view(sums).costs.total(bins.data(), 0); }

template <typename Value>
void bind_sets_of(nb::module_& module) {
    module.def("hash_rows", &hash_rows_array<Value>, "points"_a.noconvert(), "seed"_a, "n_steps"_a);
    module.def("first_members", &first_members_arrays<Value>, "parts"_a, "seed"_a, "wanted"_a,
               "n_features"_a);
    module.def("take_second", &take_second_arrays<Value>, "parts"_a, "set"_a, "before"_a.none(),
               "now"_a, "sums"_a);
    module.def("scatter_of", &scatter_arrays<Value>, "parts"_a, "set"_a, "halves"_a, "means"_a,
               "sums"_a);
    module.def("divide_set", &divide_set<Value>, "parts"_a, "set"_a, "halves"_a, "added"_a);
}

}  // namespace

void bind_piece_sets(nb::module_& module) {
    bind_sets_of<double>(module);
    bind_sets_of<float>(module);
    module.def("order_seeds", &order_seeds, "seed"_a, "n_steps"_a, "n_features"_a, "n_init"_a);
    module.def("read_bins", &read_bins, "n_members"_a, "bins"_a, "sums"_a);
    module.def("read_scatter", &read_scatter, "bins"_a, "sums"_a);
}

}  // namespace dynmeans::bindings
