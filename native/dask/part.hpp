// A part of a batch that lies on many machines: consecutive rows, what is known of them from the
// passes so far, and the key that decides when each is visited. Keys are all different; a pass
// visits the rows in increasing order of key, wherever they lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithm/visiting_orders.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::dask {

using namespace records;
using namespace search;
using namespace threads;
using namespace algorithm;

constexpr Slot kProposer = -2;  // wants an inactive or a new cluster: not for a machine to decide

template <typename Value>
struct Part {
    Points<Value> points;
    std::uint64_t first_row;         // in the whole batch
    std::uint64_t seed;              // of this visiting order
    const std::uint64_t* positions;  // the keys, where the order was given; null: hashed rows
    Slot* labels;                    // after the last pass
    Slot* next;                      // in the pass under way
    double* own;                     // cost of the own cluster
    const std::int64_t* movers;      // rows whose `next` is not their label; null: not known
    std::size_t n_movers;

    std::uint64_t key(std::size_t i) const {
        return positions ? positions[i] : mix((first_row + i) ^ seed);
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

struct KeyRange {
    std::uint64_t first, last;  // both inside

    bool has(std::uint64_t key) const { return first <= key && key <= last; }
    bool is_everything() const { return first == 0 && last == UINT64_MAX; }
};

// What happened to clusters in a pass, in the order it happened: after the visit with this key,
// slot k is as said here.
struct SlotChanges {
    const std::uint64_t* keys;
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
