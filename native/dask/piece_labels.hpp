// The second half of a pass over pieces: labels from the clusters as they stood, and the list of
// what happened to them since.
//
// A label is a function of the row, its key, the clusters at the start of the pass and the events
// with lower keys, and of nothing else. So it can be computed again anywhere, at any time
// (`walk_events`); `settle_labels` is the fast form for a machine that still holds the row's choice
// among the clusters at the beginning of a range of keys. Within such a range no cluster empties,
// or none that anybody wants to join afterwards: only opened and revived ones matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dask/pieces.hpp"
#include "passes/neighbors.hpp"

namespace dynmeans::dask {

using namespace passes;

using Turn = std::pair<std::uint64_t, std::size_t>;  // key, row of the piece

// Visits these rows in order of key, and lets the events happen on the way.
template <typename Value>
void visit_turns(const Piece<Value>& piece, std::vector<Turn>& turns, ClusterTable clusters,
                 const SlotChanges& events, double new_penalty) {
    std::sort(turns.begin(), turns.end());
    std::vector<double> buffer(clusters.n_features);
    std::size_t e = 0;
    for (const auto& [key, i] : turns) {
        for (; e < events.n_changes && events.keys[e] < key; ++e) clusters.apply(events, e);
        const double* y = piece.points.row(i, buffer.data());
        std::size_t slot = clusters.table.cheapest(y, new_penalty, CostTable::kNone).slot;
        if (!clusters.is_free_to_join(slot)) {  // then the row itself opened or revived a cluster
            if (e == events.n_changes || events.keys[e] != key || !events.is_active[e])
                throw std::logic_error("the events do not belong to these rows");
            slot = static_cast<std::size_t>(events.slots[e]);
        }
        piece.next[i] = static_cast<Slot>(slot);
    }
}

// Labels every row with a key of at most `last`, given the clusters at the start of the pass.
template <typename Value>
void walk_events(const Piece<Value>& piece, const ClusterTable& clusters, const SlotChanges& events,
                 double new_penalty, std::uint64_t last) {
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < piece.points.n_points; ++i)
        if (piece.points.takes_part(i) && piece.key(i) <= last) turns.push_back({piece.key(i), i});
    visit_turns(piece, turns, clusters, events, new_penalty);
}

template <typename Value>
class SettleLabels {
  public:
    // The board at the beginning of the range, and the events within it.
    SettleLabels(const ClusterTable& clusters, const SlotChanges& events, double new_penalty)
        : clusters_(clusters),
          events_(events),
          new_penalty_(new_penalty),
          rivals_(clusters.table.size()) {
        for (std::size_t k = 0; k < clusters.table.size(); ++k) {
            if (!clusters.is_active[k]) continue;
            for (std::size_t e = 0; e < events.n_changes; ++e) {
                if (!events.is_active[e]) continue;
                const double gap =
                    squared_distance(clusters.table.center(k), center(e), clusters.n_features);
                const double kept = keeping_cost(gap, 0.0, 1.0);
                // No choice costs more than lambda.
                if (kept <= new_penalty) rivals_[k].push_back({kept, e});
            }
            std::sort(rivals_[k].begin(), rivals_[k].end());
        }
    }

    // `is_first`: rows had no label before, and `own` holds the cost of their choice.
    void run(const Piece<Value>& piece, KeyRange range, bool is_first) {
        buffer_.resize(clusters_.n_features);
        std::vector<Turn> proposers;
        for (std::size_t i = 0; i < piece.points.n_points; ++i) {
            const Slot choice = piece.next[i];
            if (choice == kUnlabelled) continue;
            if (choice == kProposer) {
                if (range.has(piece.key(i))) proposers.push_back({piece.key(i), i});
            } else if (static_cast<std::size_t>(choice) < rivals_.size() &&
                       !rivals_[choice].empty()) {
                const bool has_cost = is_first || choice == piece.labels[i];
                if (has_cost && piece.own[i] < rivals_[choice][0].first) continue;
                if (range.has(piece.key(i))) consider_changes(piece, i, choice, has_cost);
            }
        }
        if (!proposers.empty()) visit_turns(piece, proposers, clusters_, events_, new_penalty_);
    }

  private:
    const double* center(std::size_t e) const { return events_.centers + e * clusters_.n_features; }

    void consider_changes(const Piece<Value>& piece, std::size_t i, Slot slot, bool has_cost) {
        const double* y = piece.points.row(i, buffer_.data());
        const double cost = has_cost ? piece.own[i] : clusters_.table.cost(y, slot);
        const std::uint64_t key = piece.key(i);
        Choice choice{static_cast<std::size_t>(slot), cost};
        for (const auto& [kept, e] : rivals_[slot]) {
            if (kept > cost) break;
            if (events_.keys[e] >= key) continue;
            CostTable::consider(choice, events_.slots[e],
                                squared_distance(y, center(e), clusters_.n_features));
        }
        piece.next[i] = static_cast<Slot>(choice.slot);
    }

    const ClusterTable& clusters_;
    const SlotChanges& events_;
    double new_penalty_;
    std::vector<std::vector<std::pair<double, std::size_t>>> rivals_;  // by keeping cost
    std::vector<double> buffer_;
};

// Who came and went, by slot, among the rows with a key of at most `last`.
struct Moves {
    std::vector<std::int64_t> n_joined, n_left;
    std::vector<std::uint64_t> first_join, last_leave;

    explicit Moves(std::size_t n_slots)
        : n_joined(n_slots, 0),
          n_left(n_slots, 0),
          first_join(n_slots, UINT64_MAX),
          last_leave(n_slots, 0) {}

    template <typename Value>
    void add(const Piece<Value>& piece, std::uint64_t last) {
        if (piece.movers)
            for (std::size_t m = 0; m < piece.n_movers; ++m) add_row(piece, piece.movers[m], last);
        else
            for (std::size_t i = 0; i < piece.points.n_points; ++i) add_row(piece, i, last);
    }

  private:
    template <typename Value>
    void add_row(const Piece<Value>& piece, std::size_t i, std::uint64_t last) {
        const Slot from = piece.labels[i], to = piece.next[i];
        if (to == from || to < 0) return;
        const std::uint64_t key = piece.key(i);
        if (key > last) return;
        ++n_joined[to];
        first_join[to] = std::min(first_join[to], key);
        if (from == kUnlabelled) return;
        ++n_left[from];
        last_leave[from] = std::max(last_leave[from], key);
    }
};

}  // namespace dynmeans::dask
