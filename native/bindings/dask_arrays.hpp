// How parts of a batch, turns and clusters on a worker cross from Python: arrays, viewed in place.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "bindings/arrays.hpp"
#include "dask/part.hpp"

namespace dynmeans::bindings {

using Words = Given<const std::uint64_t, 1>;
// key, tie and row of each turn, in this order
using Turns = Given<const std::uint64_t, 2>;
using OneTurn = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
using Flags = Given<const std::uint8_t, 1>;
template <typename T>
using Writable = Given<T, 1>;

// points, weights, first row, numbers of the rows, codes and whether they are hashes, labels, next,
// own, movers
template <typename Value>
using PartArrays =
    std::tuple<Table<Value>, std::optional<Floats>, std::uint64_t, std::optional<Words>, Words,
               bool, Writable<Slot>, Writable<Slot>, Writable<double>, std::optional<Ints>>;
template <typename Value>
using PartList = std::vector<PartArrays<Value>>;
// centers, offsets, scales, is_active
using ClusterArrays = std::tuple<Table<double>, Floats, Floats, Flags>;
// of the whole batch with the remembered centers; its points, whether they have weights, lambda
using SumArrays = std::tuple<Floats, double, double, std::size_t, bool, double>;
// turns, slots, then as a table of clusters
using ChangeArrays = std::tuple<Turns, Ints, Table<double>, Floats, Floats, Flags>;

template <typename T, std::size_t N>
std::vector<std::remove_const_t<T>> values(const Given<T, N>& given) {
    return {given.data(), given.data() + given.size()};
}

template <typename Value>
std::vector<dask::Part<Value>> view(const PartList<Value>& list, std::uint64_t seed) {
    std::vector<dask::Part<Value>> parts;
    for (const auto& [points, weights, first_row, numbers, codes, is_hashed, labels, next, own,
                      movers] : list)
        parts.push_back({points_of(points, weights), first_row, numbers ? numbers->data() : nullptr,
                         codes.data(), seed, is_hashed, labels.data(), next.data(), own.data(),
                         movers ? movers->data() : nullptr, movers ? movers->size() : 0});
    return parts;
}

static_assert(sizeof(dask::Turn) == 3 * sizeof(std::uint64_t));

inline const dask::Turn* view(const Turns& turns) {
    return reinterpret_cast<const dask::Turn*>(turns.data());
}

inline dask::Turn to_turn(const OneTurn& turn) {
    return {std::get<0>(turn), std::get<1>(turn), std::get<2>(turn)};
}

inline Rows<std::uint64_t> to_rows(const std::vector<dask::Turn>& turns) {
    std::vector<std::uint64_t> words;
    words.reserve(3 * turns.size());
    for (const dask::Turn& turn : turns) words.insert(words.end(), {turn.key, turn.tie, turn.row});
    return rows(std::move(words), turns.size(), 3);
}

inline dask::ClusterTable view(const ClusterArrays& arrays) {
    const auto& [centers, offsets, scales, is_active] = arrays;
    const std::size_t n_slots = centers.shape(0), d = centers.shape(1);
    dask::ClusterTable clusters(d, n_slots + 8);
    for (std::size_t k = 0; k < n_slots; ++k)
        clusters.set(k, centers.data() + k * d, offsets.data()[k], scales.data()[k],
                     is_active.data()[k]);
    return clusters;
}

inline dask::SlotChanges view(const ChangeArrays& arrays) {
    const auto& [turns, slots, centers, offsets, scales, is_active] = arrays;
    return {view(turns),   slots.data(),     centers.data(), offsets.data(),
            scales.data(), is_active.data(), slots.size()};
}

inline BatchSums view(const SumArrays& arrays) {
    const auto& [farthest, lightest, heaviest, n_points, has_weights, new_penalty] = arrays;
    Magnitudes magnitudes(farthest.size());
    magnitudes.farthest = values(farthest);
    magnitudes.lightest = lightest;
    magnitudes.heaviest = heaviest;
    return BatchSums(magnitudes, n_points, has_weights, new_penalty);
}

}  // namespace dynmeans::bindings
