// Full distance table: Algorithm 2 on a small batch, with the cost of every point for every slot in
// one table.
//
// The lowest cost of a row is what its point wants, found for several points at once; ties go to
// the lowest slot, since later ones must be strictly cheaper. As in later_pass.hpp, while no
// cluster is opened, revived or emptied each point gets what it wanted; after it, those
// whose turn is still to come are compared with the slot that changed. A pass in which nobody wants
// to move changes nothing.
//
// In the first pass nothing can empty, so the active slots only become more. For every point the
// cheapest of them is kept, and brought up to date at every event. It is the point's choice if it
// is strictly cheaper than every remembered slot that is not revived yet; these cost at least as
// much as the cheapest remembered slot of all, or the second cheapest once that one is revived.
// Of the points where this does not settle it, the one whose turn comes first looks at all slots,
// which most often is an event; all others follow without being visited. So an order need not be
// listed: numbers that rise along it will do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "passes/small_order.hpp"
#include "passes/small_slots.hpp"
#include "records/solution.hpp"

namespace dynmeans {

// D is the number of features where it is small, 0 otherwise.
template <std::size_t D>
class SmallBatch {
  public:
    // Takes another batch, in the memory of the last one.
    template <typename Value>
    void take(const Points<Value>& points, const Remembered& remembered, const Penalties& penalties,
              const BatchSums& sums) {
        points_.take(points, sums);
        slots_.remember(points_, remembered, sums);
        new_penalty_ = penalties.new_penalty;
        limit_ = std::nextafter(new_penalty_, CostTable::kNever);
        n_remembered_ = remembered.n_clusters;
        const std::size_t n = points_.n_padded();
        double* next = memory_.at_least(kArrays * n);
        for (double** array : {&preferences_, &lowest_, &active_costs_, &active_slots_, &limits_,
                               &dormant_costs_, &dormant_seconds_, &dormant_slots_}) {
            *array = next;
            next += n;
        }
        rank_remembered();
    }

    // Runs from nothing in the next order; the result replaces `best` if it is cheaper.
    DYNMEANS_APART void run(Orders& orders, Solution& best) {
        make_passes(orders, kNoLimit);
        if (has_risen(cost_trace_)) make_passes(orders, cost_trace_.size() - 1);
        if (!is_better(cost_trace_, best)) return;
        slots_.keep(best);
        best.cost_trace = cost_trace_;
    }

    // Passes in the last order from a start on, after so many costs of `best`; the result replaces
    // it and is cheaper than those, or nothing happens and false is returned.
    DYNMEANS_APART bool continue_best(const Solution& start, std::size_t n_kept, std::size_t most,
                                      Solution& best) {
        const std::vector<double> kept(best.cost_trace.begin(), best.cost_trace.begin() + n_kept);
        continue_from(start, kept, most);
        if (!has_fallen(cost_trace_[n_kept], kept.back())) return false;
        if (has_risen(cost_trace_)) continue_from(start, kept, cost_trace_.size() - 1);
        slots_.keep(best);
        best.cost_trace = cost_trace_;
        return true;
    }

  private:
    static constexpr std::size_t kArrays = 8, kNone = CostTable::kNone;
    static constexpr double kOpenNew = -2.0;

    void make_passes(Orders& orders, std::size_t most) {
        cost_trace_.clear();
        first_pass(orders);
        pass_until_converged(most);
    }

    void continue_from(const Solution& start, const std::vector<double>& cost_trace,
                       std::size_t most) {
        cost_trace_ = cost_trace;
        slots_.start_from(start);
        pass_until_converged(most);
    }

    void pass_until_converged(std::size_t most) {
        while (true) {
            slots_.update();
            find_preferences();
            const double cost = slots_.cost(new_penalty_);
            const bool fell = cost_trace_.empty() || has_fallen(cost, cost_trace_.back());
            cost_trace_.push_back(cost);
            if (!fell || !slots_.has_any_changed() || cost_trace_.size() == most) return;
            if (movers_.empty()) return cost_trace_.push_back(cost);
            slots_.start_pass();
            move();
        }
    }

    // Of each point the two lowest costs among the remembered slots, and the slot of the lowest.
    void rank_remembered() {
        for (std::size_t at = 0; at < points_.n_padded(); at += kSimd) {
            Doubles lowest = fill(limit_), second = lowest, slots = fill(0.0), slot = slots;
            for (std::size_t k = 0; k < n_remembered_; ++k, slot += 1.0) {
                const Doubles costs = load(slots_.dormant_column(k) + at);
                const Doubles higher = select(costs < lowest, lowest, costs);
                slots = select(costs < lowest, slot, slots);
                lowest = select(costs < lowest, costs, lowest);
                second = select(higher < second, higher, second);
            }
            store(dormant_costs_ + at, lowest);
            store(dormant_seconds_ + at, second);
            store(dormant_slots_ + at, slots);
        }
    }

    void first_pass(Orders& orders) {
        slots_.start();
        is_awake_.assign(n_remembered_ + 1, 0);
        const double* weights = points_.weights();
        turns_.start(orders, weights, points_.size(), points_.n_padded());
        std::fill_n(active_costs_, points_.n_padded(), CostTable::kNever);
        std::copy_n(dormant_costs_, points_.n_padded(), limits_);
        visit_those_not_settled();
        for (std::size_t at = 0; at < points_.n_padded(); at += kSimd)
            store(slots_.labels() + at,
                  select(load(weights + at) == 0.0, fill(SmallSlots<D>::kOutside),
                         load(active_slots_ + at)));
        slots_.count_members();
    }

    // Points that their cheapest active slot does not settle look at all slots, in turn.
    void visit_those_not_settled() {
        const double *costs = active_costs_, *limits = limits_;
        const auto wait = [=](std::size_t at, auto) {
            return load(costs + at) >= load(limits + at);
        };
        bool is_any_left = turns_.next(wait);
        while (is_any_left) {
            const std::size_t i = turns_.point();
            std::size_t k = first_choice(i);
            if (k == kNone || (k < n_remembered_ && !is_awake_[k])) {
                k = slots_.wake(i, k);
                is_any_left = k < n_remembered_ ? next_after<true>(k) : next_after<false>(k);
            } else {
                is_any_left = turns_.next(wait);
            }
            active_slots_[i] = static_cast<double>(k);
        }
    }

    // The cheapest slot of point i in the first pass; kNone opens a new one.
    std::size_t first_choice(std::size_t i) const {
        const double cost = dormant_costs_[i];
        const auto dormant = static_cast<std::size_t>(dormant_slots_[i]);
        if (cost < active_costs_[i] && !is_awake_[dormant])
            return cost < limit_ ? dormant : kNone;  // at the limit stands the cost of no slot
        Choice choice{kNone, new_penalty_};
        if (active_costs_[i] < CostTable::kNever)
            CostTable::consider(choice, static_cast<std::size_t>(active_slots_[i]),
                                active_costs_[i]);
        for (std::size_t k = 0; k < n_remembered_; ++k)
            if (!is_awake_[k]) CostTable::consider(choice, k, slots_.dormant_column(k)[i]);
        return choice.slot;
    }

    // Slot k woke: the cheapest active slot of the points still to come is brought up to date, and
    // the next one that is not settled found.
    template <bool WasRemembered>
    bool next_after(std::size_t k) {
        if (WasRemembered) is_awake_[k] = 1;
        double *active_costs = active_costs_, *active_slots = active_slots_, *limits = limits_;
        const double *theta = slots_.center(k), *dormant_slots = dormant_slots_,
                     *seconds = dormant_seconds_;
        const Doubles slot = fill(static_cast<double>(k));
        return turns_.next([=](std::size_t at, auto is_later) {
            const Doubles costs = points_.squared_distances(theta, at);
            Doubles lowest = load(active_costs + at), slots = load(active_slots + at);
            Doubles limit = load(limits + at);
            // A new slot has the highest number, and so loses a tie.
            const auto is_first =
                WasRemembered ? is_later & ((costs < lowest) | ((costs == lowest) & (slot < slots)))
                              : is_later & (costs < lowest);
            lowest = select(is_first, costs, lowest);
            store(active_costs + at, lowest);
            store(active_slots + at, select(is_first, slot, slots));
            if (WasRemembered) {
                limit = select(load(dormant_slots + at) == slot, load(seconds + at), limit);
                store(limits + at, limit);
            }
            return lowest >= limit;
        });
    }

    void move() {
        if (!can_change_slots()) {
            for (const std::size_t i : movers_)
                slots_.move(i, static_cast<std::size_t>(preferences_[i]));
            return;
        }
        const double *preferences = preferences_, *labels = slots_.labels();
        turns_.restart();
        while (turns_.next(
            [=](std::size_t at, auto) { return load(preferences + at) != load(labels + at); })) {
            const std::size_t i = turns_.point();
            const bool opens = preferences_[i] == kOpenNew;
            for (const std::size_t k :
                 slots_.place(i, opens ? kNone : static_cast<std::size_t>(preferences_[i])))
                if (k != kNone) compare_again(k);
        }
    }

    // What points want after slot k woke or fell asleep.
    void compare_again(std::size_t k) {
        const double* column = slots_.column(k);
        const Doubles slot = fill(static_cast<double>(k));
        for (std::size_t at = 0; at < points_.n_padded(); at += kSimd) {
            const Doubles costs = load(column + at), lowest = load(lowest_ + at);
            const Doubles preference = load(preferences_ + at);
            if (lanes_equal(preference, slot) != 0) {
                find_cheapest<1>(at);
                continue;
            }
            const auto is_first = (costs < lowest) | ((costs == lowest) & (slot < preference));
            store(lowest_ + at, select(is_first, costs, lowest));
            store(preferences_ + at, select(is_first, slot, preference));
        }
    }

    // Without a point that opens or revives, and with one that stays in each cluster, none.
    bool can_change_slots() {
        leavers_.assign(slots_.size(), 0);
        for (const std::size_t i : movers_) {
            if (preferences_[i] == kOpenNew) return true;
            const auto left = static_cast<std::size_t>(slots_.labels()[i]);
            if (slots_.members(static_cast<std::size_t>(preferences_[i])) == 0 ||
                ++leavers_[left] == slots_.members(left))
                return true;
        }
        return false;
    }

    void find_preferences() {
        movers_.clear();
        const std::size_t n = points_.n_padded();
        std::size_t at = 0;
        for (; at + 4 * kSimd <= n; at += 4 * kSimd) find_cheapest<4>(at);
        for (; at < n; at += kSimd) find_cheapest<1>(at);
        const double *preferences = preferences_, *labels = slots_.labels();
        for (at = 0; at < n;) {
            std::uint64_t moves = 0;  // of 64 points
            const std::size_t begin = at;
            for (; at < std::min(begin + 64, n); at += kSimd) {
                const Doubles label = load(labels + at);
                const unsigned stays = lanes_equal(label, load(preferences + at)) |
                                       lanes_at_most(label, SmallSlots<D>::kOutside);
                moves |= std::uint64_t{stays ^ ((1u << kSimd) - 1)} << (at - begin);
            }
            for (; moves != 0; moves &= moves - 1)
                movers_.push_back(static_cast<std::uint32_t>(begin + lowest_bit(moves)));
        }
    }

    // What the points of R registers want, and its cost.
    template <std::size_t R>
    void find_cheapest(std::size_t at) {
        Doubles lowest[R], preference[R], slot = fill(0.0);
        for (std::size_t r = 0; r < R; ++r) {
            lowest[r] = fill(limit_);
            preference[r] = fill(kOpenNew);
        }
        const std::size_t n_slots = slots_.size();
        for (std::size_t k = 0; k < n_slots; ++k, slot += 1.0) {
            const double* column = slots_.column(k) + at;
            for (std::size_t r = 0; r < R; ++r) {
                const Doubles costs = load(column + r * kSimd);
                preference[r] = select(costs < lowest[r], slot, preference[r]);
                lowest[r] = select(costs < lowest[r], costs, lowest[r]);
            }
        }
        for (std::size_t r = 0; r < R; ++r) {
            store(preferences_ + at + r * kSimd, preference[r]);
            store(lowest_ + at + r * kSimd, lowest[r]);
        }
    }

    SmallPoints<D> points_;
    SmallSlots<D> slots_;
    SmallOrder turns_;
    double new_penalty_ = 0.0;
    double limit_ = 0.0;  // a cost of lambda still wins, one at this limit does not
    std::size_t n_remembered_ = 0;
    RegisterArray memory_;
    double *preferences_, *lowest_, *active_costs_, *active_slots_, *limits_, *dormant_costs_,
        *dormant_seconds_, *dormant_slots_;
    std::vector<double> cost_trace_;
    std::vector<std::int64_t> leavers_;
    std::vector<std::uint8_t> is_awake_;
    std::vector<std::uint32_t> movers_;
};

}  // namespace dynmeans
