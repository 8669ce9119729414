// Due dates (Hamerly bounds turned into dates): a point is looked at again only when its cluster
// could have lost it.
//
// When a point of slot a is looked at, let u be its distance to its own center and l a bound below
// the root of every other cost: of the slots that were compared, of the next one by the bound of
// center_bounds.hpp, of lambda, and of a radius r_a that no settled member of the slot exceeds. Let
// the clock of slot a go on, from pass to pass, by the move of its own center and the largest move
// of any slot within 2 r_a of it. Then the point keeps its label as long as the clock has gone on
// by less than l - u:
// - a slot within 2 r_a ever since has come nearer by no more than its moves, all of them counted;
// - one that was farther off at some time since, when the point was at u' from its own center, was
//   more than 2 r_a - u' away from it then, and has come nearer by what was counted since;
// - one that is farther off than 2 r_a now is farther than r_a > u from the point;
// - a sleeping slot does not move, and costs more than r_a^2 or more than l^2.
// A slot that was opened, revived or emptied is new to those near it, which are all looked at.
//
// Points deep inside a slot need no date: as long as a guard, a distance that grows by each move of
// the own center, stays below the root of what the slot keeps (center_bounds.hpp), all within it
// stay. Once it does not, the slot is opened: they are looked at, and it gets a new guard. Every
// member is in one place: guarded, in a queue by its date, or waiting for the next pass. Rounding:
// each bound has kSlack to spare, and dates are rounded down to float32, the clock up. Where some
// points weigh far more than others, moves may be smaller than the last digit of the clock, which
// then stands still: a part in 1e16 of it is lost in a pass, and 3 parts in 1e7 lie between a date
// and the clock that reaches it, enough for 1e9 passes. A point that is due at once comes out of
// its queue all the same, and leaves the others in it as they were.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/center_bounds.hpp"
#include "passes/radix_heap.hpp"
#include "records/points.hpp"
#include "search/elkan_bound.hpp"

namespace dynmeans {

class DeferredChecks {
  public:
    DeferredChecks(std::size_t n_features, double new_penalty)
        : n_features_(n_features), reach_(std::sqrt(new_penalty)), per_reach_(1.0 / reach_) {}

    // Whether every point with a label has a date, or is to be looked at anyway.
    bool are_known() const { return are_known_; }
    void forget() { are_known_ = false; }

    // An upper bound on the own cost of every member of slot k.
    double highest(std::size_t k) const { return reaches_[k] * reaches_[k]; }

    // No point has a date yet, and every slot is opened. `highest(k)` is the highest own cost of
    // slot k.
    template <typename Highest>
    void start(const Assignment& assignment, const Highest& highest) {
        const std::size_t n_slots = assignment.n_members.size();
        queues_.assign(n_slots * kRings, RadixHeap());
        guarded_.assign(n_slots, {});
        clocks_.assign(n_slots * kRings, kFirstTime);
        radii_.resize(n_slots);
        for (std::size_t k = 0; k < n_slots; ++k)
            radii_[k] = std::sqrt(std::max(highest(k), kTiny)) * kRoom;
        guards_.assign(n_slots, kNoGuard);
        keep_centers(assignment);
        is_fresh_.assign(n_slots, 0);
        is_dirty_.assign(n_slots, 0);
        waiting_.clear();
        are_known_ = reach_ > kLeastReach;
    }

    // After gaps were closed: slots have other numbers.
    void follow(const Assignment& assignment) {
        if (!are_known_) return;
        const std::size_t n_slots = assignment.n_members.size();
        follow_renamed(assignment.renamed, n_slots, kRings, queues_);
        follow_renamed(assignment.renamed, n_slots, 1, guarded_);
        assignment.follow_slots(clocks_, kRings);
        for (double& clock : clocks_) clock = std::max(clock, kFirstTime);
        assignment.follow_slots(radii_, 1);
        assignment.follow_slots(guards_, 1);
        assignment.follow_slots(centers_, n_features_);
        assignment.follow_slots(is_fresh_, 1);
        assignment.follow_slots(is_dirty_, 1);
    }

    // The centers have moved since the last pass.
    template <typename OwnCost>
    void begin_pass(const Assignment& assignment, const std::vector<std::uint8_t>& has_moved,
                    const OwnCost& own_cost) {
        find_moves(assignment, has_moved);
        keep_centers(assignment);
        clean(assignment);
        reaches_ = radii_;
        for (std::size_t k = 0; k < reaches_.size(); ++k) {
            guards_[k] += moves_[k] * (1.0 + kSlack);
            reaches_[k] = std::max(reaches_[k] + moves_[k], guards_[k]);
        }
        find_all_due(assignment);
        for (const std::uint32_t i : waiting_) {
            double& reach = reaches_[assignment.labels[i]];
            reach = std::max(reach, std::sqrt(std::max(own_cost(i), kTiny)));
        }
        for (double& reach : reaches_) reach *= 1.0 + kSlack;
    }

    // Opens the slots whose guard does not hold; `keeping_cost(k)` is what slot k keeps now. Whom
    // it guarded is due.
    template <typename KeepingCost>
    void open_slots(const Assignment& assignment, const KeepingCost& keeping_cost,
                    std::vector<std::uint32_t>& due) {
        for (std::size_t k = 0; k < guards_.size(); ++k) {
            const double guard = guards_[k] * (1.0 + kSlack);
            if (assignment.n_members[k] == 0 ||
                (guards_[k] >= 0.0 && guard * guard < keeping_cost(k)))
                continue;
            guards_[k] = (guards_[k] < 0.0 ? kGuarded : kGuardedAgain) * std::sqrt(keeping_cost(k));
            due.insert(due.end(), guarded_[k].begin(), guarded_[k].end());
            guarded_[k].clear();
        }
    }

    // A point of slot k with a lower own cost needs no date.
    double guarded(std::size_t k) const { return guards_[k] * guards_[k]; }

    // Takes out the points that are due, slot by slot. `largest_move(a, reach, moves)` is that of
    // the slots within twice that reach of a.
    template <typename LargestMove>
    void take_due(const LargestMove& largest_move, std::vector<std::uint32_t>& due) {
        for (std::size_t q = 0; q < queues_.size(); ++q) {
            if (queues_[q].size() == 0) continue;
            if (is_all_due_[q]) {
                queues_[q].take_all(due);
                continue;
            }
            const std::size_t a = q / kRings;
            const double near = largest_move(a, radius(a, q % kRings) * (1.0 + kSlack), moves_);
            const double ticks = moves_[a] + near;
            if (!(ticks > 0.0)) continue;
            clocks_[q] = std::min(clocks_[q] + ticks * (1.0 + kSlack) * per_reach_, 2.0 * kLatest);
            queues_[q].take_due(clock_key(clocks_[q]), due);
        }
        due.insert(due.end(), waiting_.begin(), waiting_.end());
        waiting_.clear();
    }

    // After the looks: a radius that left a point little room grows.
    void raise_radius(std::size_t k, double highest) {
        const double u = std::sqrt(std::max(highest, kTiny));
        if (u * kLeastRoom > radii_[k]) radii_[k] = u * kRoom;
    }

    // When a point of slot a is due that stays there, by what it found.
    DueKey date(std::size_t a, double own_distance, double bound) const {
        const double u = std::max(own_distance, kLeastDistance);
        const std::size_t ring = radius(a, 1) > kRoom * u ? 1 : 0;
        const double left = std::min(bound, radius(a, ring)) * (1.0 - kSlack) - u * (1.0 + kSlack);
        if (!(left > 0.0)) return due_key(0.0, ring);
        return due_key(std::min(clocks_[a * kRings + ring] + left * per_reach_, kLatest), ring);
    }

    RadixHeap& queue(std::size_t k, std::size_t ring) { return queues_[k * kRings + ring]; }

    // Holds for a point of slot k as long as the guard of the slot does.
    void guard(std::size_t k, std::uint32_t point) { guarded_[k].push_back(point); }

    // Calls visit(point) for the members of slot k that may cost this much there, and for some that
    // cost less.
    template <typename Visit>
    void for_members(std::size_t k, double cost, const Visit& visit) const {
        const double guard = guards_[k] * (1.0 + kSlack);
        if (!(guard * guard < cost))
            for (const std::uint32_t point : guarded_[k]) visit(point);
        for (std::size_t ring = 0; ring < kRings; ++ring)
            queues_[k * kRings + ring].for_each(visit);
    }

    // Is looked at in the next pass, whatever happens.
    void wait(std::uint32_t point) { waiting_.push_back(point); }

    // Slot k was opened, revived or emptied.
    void mark_fresh(std::size_t k) {
        is_fresh_.resize(std::max(is_fresh_.size(), k + 1));
        is_fresh_[k] = 1;
    }

    // A point with a date has left slot k.
    void mark_dirty(std::size_t k) {
        is_dirty_.resize(std::max(is_dirty_.size(), k + 1));
        is_dirty_[k] = 1;
    }

  private:
    static constexpr double kLeastReach = 1e-120, kLeastDistance = 1e-139, kLatest = 1e38;
    static constexpr double kRoom = 1.25, kLeastRoom = 1.05;  // of a radius beyond its points
    // Of the root of what a slot keeps; one that did not hold was of a slot that moves a lot.
    static constexpr double kGuarded = 0.88, kGuardedAgain = 0.3;
    static constexpr double kNoGuard = -std::numeric_limits<double>::infinity();

    // Of the ring of a slot: no settled point of it lies farther off.
    double radius(std::size_t k, std::size_t ring) const {
        return ring == 0 ? radii_[k] : 0.5 * radii_[k];
    }

    void find_moves(const Assignment& assignment, const std::vector<std::uint8_t>& has_moved) {
        const CostTable& table = assignment.table;
        moves_.assign(assignment.n_members.size(), 0.0);
        for (std::size_t k = 0; k < moves_.size(); ++k)
            if (has_moved[k] && assignment.n_members[k] > 0)
                moves_[k] = std::sqrt(
                    std::max(squared_distance(table.center(k), centers_.data() + k * n_features_,
                                              n_features_),
                             kTiny));
    }

    void keep_centers(const Assignment& assignment) {
        const CostTable& table = assignment.table;
        centers_.assign(table.center(0), table.center(assignment.n_members.size()));
    }

    // Rows of `width` values for each slot go where gaps were closed.
    template <typename Row>
    static void follow_renamed(const std::vector<Slot>& renamed, std::size_t n_slots,
                               std::size_t width, std::vector<Row>& rows) {
        if (renamed.empty()) return rows.resize(n_slots * width);
        std::vector<Row> kept(n_slots * width);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const Slot k = renamed[r / width];
            if (k != kUnlabeled) kept[k * width + r % width] = std::move(rows[r]);
        }
        rows.swap(kept);
    }

    // Takes points out that have left.
    void clean(const Assignment& assignment) {
        for (std::size_t k = 0; k < is_dirty_.size(); ++k) {
            if (!is_dirty_[k]) continue;
            const auto is_gone = [&](std::uint32_t point) {
                return assignment.labels[point] != static_cast<Slot>(k);
            };
            for (std::size_t ring = 0; ring < kRings; ++ring) queue(k, ring).remove_if(is_gone);
            guarded_[k].erase(std::remove_if(guarded_[k].begin(), guarded_[k].end(), is_gone),
                              guarded_[k].end());
        }
        std::fill(is_dirty_.begin(), is_dirty_.end(), 0);
    }

    void find_all_due(const Assignment& assignment) {
        const CostTable& table = assignment.table;
        is_all_due_.assign(queues_.size(), 0);
        for (std::size_t k = 0; k < is_fresh_.size(); ++k) {
            if (!is_fresh_[k] || table.offset(k) == CostTable::kNever) continue;
            for (std::size_t q = 0; q < queues_.size(); ++q) {
                if (queues_[q].size() == 0) continue;
                const std::size_t a = q / kRings;
                const double gap = squared_distance(table.center(a), table.center(k), n_features_);
                const double r = radius(a, q % kRings) * (1.0 + kSlack);
                is_all_due_[q] |= keeping_cost(gap, table.offset(k), table.scale(k)) <= r * r;
            }
        }
        std::fill(is_fresh_.begin(), is_fresh_.end(), 0);
    }

    std::size_t n_features_;
    double reach_, per_reach_;
    bool are_known_ = false;
    std::vector<RadixHeap> queues_;                    // of each slot, one for each ring
    std::vector<std::vector<std::uint32_t>> guarded_;  // members of each slot without a date
    std::vector<double> clocks_;                       // in units of sqrt(lambda)
    std::vector<double> radii_, guards_, reaches_, moves_;
    std::vector<double> centers_;  // of the last pass
    std::vector<std::uint8_t> is_fresh_, is_dirty_, is_all_due_;
    std::vector<std::uint32_t> waiting_;
};

}  // namespace dynmeans
