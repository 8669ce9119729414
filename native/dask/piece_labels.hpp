// The second half of a pass over parts: labels from the clusters as they stood, and the list of
// what happened to them since.
//
// A label is a function of the row, its turn, the clusters at the start of the pass and the changes
// at earlier turns, and of nothing else. So it can be computed again anywhere, at any time
// (`walk_changes`); `settle_labels` is the fast form for a machine that still holds the row's
// choice among the clusters at the beginning of a range of turns. Within such a range no cluster
// empties, or none that anybody wants to join afterwards: only opened and revived ones matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dask/part.hpp"
#include "passes/center_bounds.hpp"

namespace dynmeans::dask {

using Visit = std::pair<Turn, std::size_t>;  // row of the part

// Visits these rows in order of turn, and lets the changes happen on the way.
template <typename Value>
void make_visits(const Part<Value>& part, std::vector<Visit>& visits, ClusterTable clusters,
                 const SlotChanges& changes, double new_penalty) {
    std::sort(visits.begin(), visits.end());
    std::vector<double> buffer(clusters.n_features);
    std::size_t e = 0;
    for (const auto& [turn, i] : visits) {
        for (; e < changes.n_changes && changes.turns[e] < turn; ++e) clusters.apply(changes, e);
        const double* y = part.points.row(i, buffer.data());
        std::size_t slot = clusters.table.cheapest(y, new_penalty, CostTable::kNone).slot;
        if (!clusters.is_free_to_join(slot)) {  // then the row itself opened or revived a cluster
            if (e == changes.n_changes || !(changes.turns[e] == turn) || !changes.is_active[e])
                throw std::logic_error("the changes do not belong to these rows");
            slot = static_cast<std::size_t>(changes.slots[e]);
        }
        part.next[i] = static_cast<Slot>(slot);
    }
}

// Labels every row up to the turn `last`, given the clusters at the start of the pass.
template <typename Value>
void walk_changes(const Part<Value>& part, const ClusterTable& clusters, const SlotChanges& changes,
                  double new_penalty, const Turn& last) {
    std::vector<Visit> visits;
    for (std::size_t i = 0; i < part.points.n_points; ++i)
        if (part.points.takes_part(i) && !part.is_after(i, last))
            visits.push_back({part.turn(i), i});
    make_visits(part, visits, clusters, changes, new_penalty);
}

template <typename Value>
class SettleLabels {
  public:
    // The clusters at the beginning of the range, and the changes within it.
    SettleLabels(const ClusterTable& clusters, const SlotChanges& changes, double new_penalty)
        : clusters_(clusters),
          changes_(changes),
          new_penalty_(new_penalty),
          rivals_(clusters.table.size()) {
        for (std::size_t k = 0; k < clusters.table.size(); ++k) {
            if (!clusters.is_active[k]) continue;
            for (std::size_t e = 0; e < changes.n_changes; ++e) {
                if (!changes.is_active[e]) continue;
                const double squared_gap =
                    squared_distance(clusters.table.center(k), center(e), clusters.n_features);
                const double kept = keeping_cost(squared_gap, 0.0, 1.0);
                // No choice costs more than lambda.
                if (kept <= new_penalty) rivals_[k].push_back({kept, e});
            }
            std::sort(rivals_[k].begin(), rivals_[k].end());
        }
    }

    // `is_first`: rows had no label before, and `own` holds the cost of their choice.
    void run(const Part<Value>& part, const TurnRange& range, bool is_first) {
        buffer_.resize(clusters_.n_features);
        std::vector<Visit> proposers;
        for (std::size_t i = 0; i < part.points.n_points; ++i) {
            const Slot choice = part.next[i];
            if (choice == kUnlabeled) continue;
            if (choice == kProposer) {
                if (part.is_in(i, range)) proposers.push_back({part.turn(i), i});
            } else if (static_cast<std::size_t>(choice) < rivals_.size() &&
                       !rivals_[choice].empty()) {
                const bool has_cost = is_first || choice == part.labels[i];
                if (has_cost && part.own[i] < rivals_[choice][0].first) continue;
                if (part.is_in(i, range)) consider_changes(part, i, choice, has_cost);
            }
        }
        if (!proposers.empty()) make_visits(part, proposers, clusters_, changes_, new_penalty_);
    }

  private:
    const double* center(std::size_t e) const {
        return changes_.centers + e * clusters_.n_features;
    }

    void consider_changes(const Part<Value>& part, std::size_t i, Slot slot, bool has_cost) {
        const double* y = part.points.row(i, buffer_.data());
        const double cost = has_cost ? part.own[i] : clusters_.table.cost(y, slot);
        Choice choice{static_cast<std::size_t>(slot), cost};
        for (const auto& [kept, e] : rivals_[slot]) {
            if (kept > cost) break;
            if (!part.is_after(i, changes_.turns[e])) continue;
            CostTable::consider(choice, changes_.slots[e],
                                squared_distance(y, center(e), clusters_.n_features));
        }
        part.next[i] = static_cast<Slot>(choice.slot);
    }

    const ClusterTable& clusters_;
    const SlotChanges& changes_;
    double new_penalty_;
    std::vector<std::vector<std::pair<double, std::size_t>>> rivals_;  // by keeping cost
    std::vector<double> buffer_;
};

// Who came and went, by slot, among the rows up to the turn `last`.
struct Moves {
    std::vector<std::int64_t> n_joined, n_left;
    std::vector<Turn> first_join, last_leave;

    explicit Moves(std::size_t n_slots)
        : n_joined(n_slots, 0),
          n_left(n_slots, 0),
          first_join(n_slots, kLastTurn),
          last_leave(n_slots, kFirstTurn) {}

    template <typename Value>
    void add(const Part<Value>& part, const Turn& last) {
        part.for_each_mover([&](std::size_t i) {
            if (part.is_after(i, last)) return;
            const Slot from = part.labels[i], to = part.next[i];
            ++n_joined[to];
            if (part.is_before(i, first_join[to])) first_join[to] = part.turn(i);
            if (from == kUnlabeled) return;
            ++n_left[from];
            if (part.is_after(i, last_leave[from])) last_leave[from] = part.turn(i);
        });
    }
};

}  // namespace dynmeans::dask
