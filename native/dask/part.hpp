// A part of a batch that lies on many machines: some of its rows, what is known of them from the
// passes so far, and the turn of each. A pass visits the rows by increasing turn, wherever they
// lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithm/visiting_orders.hpp"
#include "dask/turns.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::dask {

constexpr Slot kProposer = -2;  // wants an inactive or a new cluster: not for a machine to decide

template <typename Value>
struct Part {
    Points<Value> points;
    std::uint64_t first_row;       // in the whole batch, of consecutive rows
    const std::uint64_t* numbers;  // of the rows in the whole batch; null: consecutive rows
    const std::uint64_t* codes;    // hash of each row, or its place in an order that was given
    std::uint64_t seed;            // of this visiting order, where rows are hashed
    bool is_hashed;
    Slot* labels;                // after the last pass
    Slot* next;                  // in the pass under way
    double* own;                 // cost of the own cluster
    const std::int64_t* movers;  // rows whose `next` is not their label; null: not known
    std::size_t n_movers;

    std::uint64_t key(std::size_t i) const { return is_hashed ? mix(codes[i] ^ seed) : codes[i]; }
    Turn turn(std::size_t i) const {
        return {key(i), is_hashed ? tie_of(points, i) : 0, number(i)};
    }
    std::uint64_t number(std::size_t i) const { return numbers ? numbers[i] : first_row + i; }

    // Rows of equal keys are few: their ties are looked at where that matters.
    bool is_before(std::size_t i, const Turn& other) const {
        const std::uint64_t own_key = key(i);
        return own_key != other.key ? own_key < other.key : turn(i) < other;
    }
    bool is_after(std::size_t i, const Turn& other) const {
        const std::uint64_t own_key = key(i);
        return own_key != other.key ? other.key < own_key : other < turn(i);
    }
    bool is_in(std::size_t i, const TurnRange& range) const {
        const std::uint64_t own_key = key(i);
        if (range.first.key < own_key && own_key < range.last.key) return true;
        return !is_before(i, range.first) && !is_after(i, range.last);
    }

    // The rows that have another slot in the pass under way.
    template <typename Visit>
    void for_each_mover(Visit visit) const {
        const std::size_t n = movers ? n_movers : points.n_points;
        for (std::size_t m = 0; m < n; ++m) {
            const std::size_t i = movers ? static_cast<std::size_t>(movers[m]) : m;
            if (next[i] != labels[i] && next[i] >= 0) visit(i);
        }
    }
};

// Calls `look(begin, end)` for short runs of the rows of a part.
template <typename Value, typename Look>
void for_each_run(const Part<Value>& part, Look look) {
    for (std::size_t begin = 0; begin < part.points.n_points; begin += kPointBlock)
        look(begin, std::min(begin + kPointBlock, part.points.n_points));
}

// What happened to clusters in a pass, in the order it happened: after the visit at this turn,
// slot k is as given here.
struct SlotChanges {
    const Turn* turns;
    const std::int64_t* slots;
    const double *centers, *offsets, *scales;
    const std::uint8_t* is_active;  // opened or revived; else emptied
    std::size_t n_changes;
};

// The clusters as they stand at one moment of a pass.
struct ClusterTable {
    CostTable table;
    std::vector<std::uint8_t> is_active;
    std::size_t n_features;

    ClusterTable(std::size_t n_features, std::size_t capacity)
        : table(n_features, capacity), n_features(n_features) {}

    void set(std::size_t k, const double* center, double offset, double scale, bool active) {
        while (table.size() <= k) {
            table.append();
            is_active.push_back(0);
        }
        table.set(k, center, offset, scale);
        is_active[k] = active;
    }

    void apply(const SlotChanges& changes, std::size_t e) {
        set(changes.slots[e], changes.centers + e * n_features, changes.offsets[e],
            changes.scales[e], changes.is_active[e]);
    }

    bool is_free_to_join(std::size_t choice) const {
        return choice != CostTable::kNone && is_active[choice];
    }
};

}  // namespace dynmeans::dask
