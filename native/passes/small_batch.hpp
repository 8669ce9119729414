// Full distance table: Algorithm 2 on a small batch, with the cost of every point for every slot in
// one table.
//
// A column of the table, one slot's cost for all points, depends on that slot alone, so a kept
// column holds the very numbers that taking it again would give; those of slots that changed are
// taken again. The lowest cost of a row is what its point wants, found for several points at once;
// ties go to the lowest slot, since later ones must be strictly cheaper. As in later_pass.hpp,
// while no cluster is opened, revived or emptied each point gets what it wanted; from the first
// such event on, every later point of the order looks at the clusters as they then are. The own
// cost of every point stands in the same table, so L_t is a sum over it, and a pass in which nobody
// wants to move changes nothing.
//
// In the first pass nothing can empty, so the active slots only become more. For every point the
// cheapest of them is kept, and brought up to date at every event. It is the point's choice if it
// is strictly cheaper than every remembered slot that is not revived yet; these cost at least as
// much as the cheapest remembered slot of all, or the second cheapest once that one is revived.
// Where this does not settle it, the point looks at all slots. What remembered slots cost is the
// same for all visiting orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/assign_params.hpp"
#include "algorithm/batch_sums.hpp"
#include "algorithm/cost.hpp"
#include "numeric/simd.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "records/solution.hpp"

namespace dynmeans::passes {

using namespace numeric;
using namespace records;
using namespace algorithm;

// Beyond, a table with every cost takes longer than the bounds that leave most of it out.
constexpr std::size_t kMostPoints = 256, kMostFeatures = 16, kMostClusters = 64;

inline bool is_small_batch(std::size_t n_points, std::size_t n_features, std::size_t n_clusters) {
    return n_points <= kMostPoints && n_features <= kMostFeatures && n_clusters <= kMostClusters;
}

// Memory that one small batch leaves to the next one of the same thread.
struct SmallBatchScratch {
    Assignment assignment{0, Remembered(nullptr, nullptr, {}, 1, {})};
    std::vector<double> widened, columns, of_points, terms, parts, bins, sum, counts, cost_trace;
    std::vector<std::int32_t> dormant_slots;
    std::vector<std::int64_t> leavers;
    std::vector<std::uint8_t> is_active, is_current, is_dormant_column, movers;
    static_assert(kMostPoints - 1 <= std::numeric_limits<std::uint8_t>::max(), "a mover's number");
};

// D is the number of features where it is small, 0 otherwise.
template <typename Value, std::size_t D>
class SmallBatch {
  public:
    SmallBatch(const Points<Value>& points, const Remembered& remembered,
               const Penalties& penalties, const BatchSums& sums, SmallBatchScratch& scratch)
        : points_(points),
          remembered_(remembered),
          penalties_(penalties),
          sums_(sums),
          scratch_(scratch),
          assignment_(scratch.assignment),
          n_padded_((points.n_points + kSimd - 1) / kSimd * kSimd),
          limit_(std::nextafter(penalties.new_penalty, CostTable::kNever)) {
        assignment_.reset(points.n_points, remembered);
        scratch_.of_points.resize((n_features() + kArrays) * n_padded_);
        features_ = scratch_.of_points.data();
        double* next = features_ + n_features() * n_padded_;
        for (double** array : {&label_values_, &wishes_, &active_costs_, &active_slots_,
                               &dormant_costs_, &dormant_seconds_}) {
            *array = next;
            next += n_padded_;
        }
        take_points();
        split_points();
        compare_with_remembered();
    }

    // Runs from nothing in the given order; the result replaces `best` if it is cheaper.
    void run(const std::int64_t* order, Solution& best) {
        std::vector<double>& cost_trace = scratch_.cost_trace;
        cost_trace.clear();
        scratch_.bins.clear();
        first_pass(order);
        while (true) {
            assignment_.close_gaps(remembered_.n_clusters);
            if (!assignment_.renamed.empty())
                std::fill(assignment_.has_changed.begin(), assignment_.has_changed.end(), 1);
            update_slots();
            const double cost = cluster_terms(remembered_, penalties_, assignment_) + within();
            const bool fell = cost_trace.empty() || has_fallen(cost, cost_trace.back());
            cost_trace.push_back(cost);
            if (!fell || !assignment_.has_any_changed) break;
            find_wishes();
            if (scratch_.movers.empty()) {
                cost_trace.push_back(cost);
                break;
            }
            assignment_.start_pass();
            move(order);
        }
        if (is_better(cost_trace, best)) keep(best);
    }

  private:
    static constexpr std::size_t kArrays = 6;
    static constexpr double kOutside = kUnlabeled;  // takes no part
    static constexpr double kOpenNew = -2.0;

    std::size_t n_features() const { return D > 0 ? D : points_.n_features; }
    const double* row(std::size_t i) const {
        if constexpr (std::is_same_v<Value, double>)
            return points_.values + i * n_features();
        else
            return scratch_.widened.data() + i * n_features();
    }
    double* column(std::size_t k) { return scratch_.columns.data() + k * n_padded_; }

    void take_points() {
        const std::size_t d = n_features();
        if (!std::is_same_v<Value, double>) scratch_.widened.resize(points_.n_points * d);
        for (std::size_t i = 0; i < points_.n_points; ++i) {
            const double* y = points_.row(i, scratch_.widened.data() + i * d);
            for (std::size_t j = 0; j < d; ++j) features_[j * n_padded_ + i] = y[j];
        }
        for (std::size_t i = points_.n_points; i < n_padded_; ++i) {
            for (std::size_t j = 0; j < d; ++j) features_[j * n_padded_ + i] = 0.0;
            label_values_[i] = kOutside;
        }
    }

    // The terms of every point in the sums of its slot, dealt out to bins once for all runs.
    void split_points() {
        const Bins& bins = sums_.columns;
        scratch_.parts.assign(points_.n_points * bins.size(), 0.0);
        scratch_.terms.resize(n_padded_);
        scratch_.sum.resize(std::max(n_features(), sums_.costs.n_bins()));
        PointAdder<0> weighted(sums_);
        PointAdder<D> plain(sums_);
        for (std::size_t i = 0; i < points_.n_points; ++i) {
            double* parts = scratch_.parts.data() + i * bins.size();
            if (sums_.has_weights)
                weighted.add(points_, i, parts);
            else
                plain.add(points_, i, parts);
        }
    }

    // The columns of the remembered slots, and of each point the two lowest costs among them.
    void compare_with_remembered() {
        const std::size_t n_slots = remembered_.n_clusters;
        scratch_.is_active.resize(std::max<std::size_t>(n_slots, 1));
        scratch_.is_dormant_column.assign(n_slots, 1);
        scratch_.columns.resize(std::max(scratch_.columns.size(), n_slots * n_padded_));
        for (std::size_t k = 0; k < n_slots; ++k)
            take_column(k, remembered_.center(k), remembered_.offsets[k], remembered_.scales[k]);
        scratch_.dormant_slots.resize(n_padded_);
        const Doubles limit = fill(limit_);
        for (std::size_t at = 0; at < n_padded_; at += kSimd) {
            Doubles lowest = limit, second = limit, slots = fill(0.0), slot = fill(0.0);
            for (std::size_t k = 0; k < n_slots; ++k, slot += 1.0) {
                const Doubles costs = load(column(k) + at);
                const Doubles higher = costs < lowest ? lowest : costs;
                slots = costs < lowest ? slot : slots;
                lowest = costs < lowest ? costs : lowest;
                second = higher < second ? higher : second;
            }
            store(dormant_costs_ + at, lowest);
            store(dormant_seconds_ + at, second);
            for (std::size_t lane = 0; lane < kSimd; ++lane)
                scratch_.dormant_slots[at + lane] = static_cast<std::int32_t>(slots[lane]);
        }
    }

    void first_pass(const std::int64_t* order) {
        assignment_.start(remembered_);
        scratch_.is_current.assign(scratch_.is_dormant_column.begin(),
                                   scratch_.is_dormant_column.end());
        std::fill(scratch_.is_active.begin(), scratch_.is_active.end(), 0);
        std::fill_n(active_costs_, n_padded_, CostTable::kNever);
        const std::int32_t* dormant_slots = scratch_.dormant_slots.data();
        const std::uint8_t* is_active = scratch_.is_active.data();
        Slot* labels = assignment_.labels.data();
        std::int64_t* n_members = assignment_.n_members.data();
        for (std::size_t position = 0; position < points_.n_points; ++position) {
            const auto i = static_cast<std::size_t>(order[position]);
            if (!points_.takes_part(i)) continue;
            const double limit =
                is_active[dormant_slots[i]] ? dormant_seconds_[i] : dormant_costs_[i];
            if (active_costs_[i] < limit) {
                const auto k = static_cast<Slot>(active_slots_[i]);
                labels[i] = k;
                ++n_members[k];
            } else {
                place_anew(i);
                n_members = assignment_.n_members.data();  // may have grown
            }
        }
        assignment_.has_any_changed = false;
        for (std::size_t k = 0; k < assignment_.n_members.size(); ++k) {
            assignment_.has_changed[k] = n_members[k] > 0;
            assignment_.has_any_changed |= n_members[k] > 0;
        }
    }

    // Most often a point that is the first of its cluster.
    void place_anew(std::size_t i) {
        const double cost = dormant_costs_[i];
        const Slot dormant = scratch_.dormant_slots[i];
        bool is_change;
        if (cost < active_costs_[i] && !scratch_.is_active[dormant]) {
            // At the limit stands the cost of no slot.
            const std::size_t slot = cost < limit_ ? dormant : CostTable::kNone;
            is_change = assignment_.place(i, row(i), slot, remembered_);
        } else {
            is_change = choose(i);
        }
        if (is_change) compare_with(assignment_.labels[i]);
    }

    // Brings the cheapest active slot of every point up to date after an event in slot k.
    void compare_with(Slot k) {
        if (static_cast<std::size_t>(k) < remembered_.n_clusters) scratch_.is_active[k] = 1;
        const double* theta = assignment_.table.center(k);
        const Doubles slot = fill(k);
        for (std::size_t at = 0; at < n_padded_; at += kSimd) {
            const Doubles costs = squared_distances(theta, at);
            const Doubles lowest = load(active_costs_ + at), slots = load(active_slots_ + at);
            const auto is_first = (costs < lowest) | ((costs == lowest) & (slot < slots));
            store(active_costs_ + at, is_first ? costs : lowest);
            store(active_slots_ + at, is_first ? slot : slots);
        }
    }

    // Puts point i into the cheapest of all slots as they are; true if that was an event.
    bool choose(std::size_t i) {
        const double* y = row(i);
        const Choice nothing{CostTable::kNone, penalties_.new_penalty};
        const Choice choice = assignment_.table.template search<D>(y, nothing);
        return assignment_.place(i, y, choice.slot, remembered_);
    }

    void move(const std::int64_t* order) {
        if (!can_change_slots()) {
            for (const std::size_t i : scratch_.movers)
                assignment_.place(i, nullptr, static_cast<std::size_t>(wishes_[i]), remembered_);
            return;
        }
        bool had_change = false;
        for (std::size_t position = 0; position < points_.n_points; ++position) {
            const auto i = static_cast<std::size_t>(order[position]);
            if (!points_.takes_part(i)) continue;
            if (had_change) {
                choose(i);
            } else if (wishes_[i] != label_values_[i]) {
                const bool is_new = wishes_[i] == kOpenNew;
                const auto slot = is_new ? CostTable::kNone : static_cast<std::size_t>(wishes_[i]);
                had_change = assignment_.place(i, row(i), slot, remembered_);
            }
        }
    }

    // Without a point that opens or revives, and with one that stays in each cluster, none.
    bool can_change_slots() {
        std::vector<std::int64_t>& leavers = scratch_.leavers;
        leavers.assign(assignment_.n_members.size(), 0);
        for (const std::size_t i : scratch_.movers) {
            if (wishes_[i] == kOpenNew) return true;
            const Slot left = assignment_.labels[i];
            if (assignment_.n_members[static_cast<std::size_t>(wishes_[i])] == 0 ||
                ++leavers[left] == assignment_.n_members[left])
                return true;
        }
        return false;
    }

    void find_wishes() {
        scratch_.movers.clear();
        std::size_t at = 0;
        for (; at + 4 * kSimd <= n_padded_; at += 4 * kSimd) find_wishes_of<4>(at);
        for (; at < n_padded_; at += kSimd) find_wishes_of<1>(at);
    }

    template <std::size_t R>
    void find_wishes_of(std::size_t begin) {
        const std::size_t n_slots = assignment_.n_members.size();
        Doubles lowest[R], wish[R], slot = fill(0.0);
        const double* costs_of_slot = column(0) + begin;
        for (std::size_t r = 0; r < R; ++r) {
            lowest[r] = load(costs_of_slot + r * kSimd);
            wish[r] = slot;
        }
        for (std::size_t k = 1; k < n_slots; ++k) {
            slot += 1.0;
            costs_of_slot += n_padded_;
            for (std::size_t r = 0; r < R; ++r) {
                const Doubles costs = load(costs_of_slot + r * kSimd);
                wish[r] = costs < lowest[r] ? slot : wish[r];
                lowest[r] = costs < lowest[r] ? costs : lowest[r];
            }
        }
        for (std::size_t r = 0; r < R; ++r) {
            const std::size_t at = begin + r * kSimd;
            wish[r] = lowest[r] > penalties_.new_penalty ? fill(kOpenNew) : wish[r];
            store(wishes_ + at, wish[r]);
            const Doubles labels = load(label_values_ + at);
            const unsigned stays = lanes_equal(labels, wish[r]) | lanes_at_most(labels, kOutside);
            for (unsigned left = stays ^ ((1u << kSimd) - 1); left != 0; left &= left - 1)
                scratch_.movers.push_back(static_cast<std::uint8_t>(at + __builtin_ctz(left)));
        }
    }

    // Sums, centers and columns of the slots that changed.
    void update_slots() {
        const std::size_t n_slots = assignment_.n_members.size();
        for (std::size_t i = 0; i < points_.n_points; ++i)
            label_values_[i] = static_cast<double>(assignment_.labels[i]);
        sum_members();
        scratch_.is_current.resize(n_slots, 0);
        if (scratch_.columns.size() < n_slots * n_padded_)
            scratch_.columns.resize(2 * n_slots * n_padded_);
        CostTable& table = assignment_.table;
        for (std::size_t k = 0; k < n_slots; ++k) {
            if (!assignment_.has_changed[k] && scratch_.is_current[k]) continue;
            const bool is_active = assignment_.n_members[k] > 0;
            if (is_active) move_center(k, scratch_.counts[k], sum_of(k), remembered_, table);
            take_column(k, table.center(k), table.offset(k), table.scale(k));
            scratch_.is_current[k] = 1;
            if (k < remembered_.n_clusters) scratch_.is_dormant_column[k] = !is_active;
        }
        table.shrink(n_slots);
    }

    // All of them after the first pass, later on those that moved.
    void sum_members() {
        const std::size_t size = sums_.columns.size(), n_slots = assignment_.n_members.size();
        const Slot* labels = assignment_.labels.data();
        const bool is_first = scratch_.bins.empty();
        assignment_.follow_slots(scratch_.bins, size);
        for (std::size_t i = 0; is_first && i < points_.n_points; ++i)
            if (labels[i] != kUnlabeled) add_parts<1>(i, labels[i]);
        for (const Assignment::Move& move : assignment_.moves) {
            const auto i = static_cast<std::size_t>(move.point);
            add_parts<1>(i, labels[i]);
            if (move.from != kUnlabeled) add_parts<-1>(i, move.from);
        }
        scratch_.counts.resize(n_slots);
        for (std::size_t k = 0; k < n_slots; ++k)
            scratch_.counts[k] = sums_.has_weights
                                     ? sums_.columns.total(&scratch_.bins[k * size], 0)
                                     : static_cast<double>(assignment_.n_members[k]);
    }

    template <int Sign>
    void add_parts(std::size_t i, Slot k) {
        const std::size_t size = sums_.columns.size();
        const double* parts = scratch_.parts.data() + i * size;
        double* bins = scratch_.bins.data() + static_cast<std::size_t>(k) * size;
        if (D > 0 && size == 2 * D) {  // most often there are two bins
            for (std::size_t b = 0; b < 2 * D; ++b) bins[b] += Sign * parts[b];
            return;
        }
        for (std::size_t b = 0; b < size; ++b) bins[b] += Sign * parts[b];
    }

    // n_kt * m_kt
    const double* sum_of(std::size_t k) {
        const double* sums = scratch_.bins.data() + k * sums_.columns.size();
        const std::size_t first = sums_.has_weights ? 1 : 0;
        for (std::size_t j = 0; j < n_features(); ++j)
            scratch_.sum[j] = sums_.columns.total(sums, first + j);
        return scratch_.sum.data();
    }

    void take_column(std::size_t k, const double* theta, double offset, double scale) {
        double* into = column(k);
        for (std::size_t at = 0; at < n_padded_; at += kSimd)
            store(into + at, offset + scale * squared_distances(theta, at));
    }

    Doubles squared_distances(const double* theta, std::size_t at) const {
        const auto square = [&](std::size_t j) {
            const Doubles difference = load(features_ + j * n_padded_ + at) - theta[j];
            return difference * difference;
        };
        if constexpr (D > 0) {
            Doubles squares[D];
            for (std::size_t j = 0; j < D; ++j) squares[j] = square(j);
            return add_few_in_halves<D>(squares);
        } else {
            const std::size_t d = n_features();
            Doubles sums[kLanes] = {};
            std::size_t j = 0;
            for (; j + kLanes <= d; j += kLanes)
                for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += square(j + lane);
            for (std::size_t lane = 0; j < d; ++j, ++lane) sums[lane] += square(j);
            return add_in_halves(sums);
        }
    }

    // The within-cluster term of L_t.
    double within() {
        const Slot* labels = assignment_.labels.data();
        double* terms = scratch_.terms.data();
        const double* costs = scratch_.columns.data();
        const auto own = [&](std::size_t i) {
            return costs[static_cast<std::size_t>(labels[i]) * n_padded_ + i];
        };
        if (!points_.weights)
            for (std::size_t i = 0; i < points_.n_points; ++i) terms[i] = own(i);
        else
            for (std::size_t i = 0; i < points_.n_points; ++i)
                terms[i] = points_.takes_part(i) ? points_.weights[i] * own(i) : 0.0;
        std::fill(scratch_.sum.begin(), scratch_.sum.end(), 0.0);
        sums_.costs.add(terms, points_.n_points, scratch_.sum.data());
        return sums_.costs.total(scratch_.sum.data(), 0);
    }

    void keep(Solution& best) const {
        best.labels = assignment_.labels;
        best.counts = scratch_.counts;
        best.centers.assign(assignment_.table.center(0),
                            assignment_.table.center(assignment_.table.size()));
        best.cost_trace = scratch_.cost_trace;
    }

    const Points<Value>& points_;
    const Remembered& remembered_;
    const Penalties& penalties_;
    const BatchSums& sums_;
    SmallBatchScratch& scratch_;
    Assignment& assignment_;
    std::size_t n_padded_;  // points, rounded up to whole registers
    double limit_;          // a cost of lambda still wins, one at this limit does not
    double* features_;      // (n_features, n_padded)
    // Slots are held as doubles where many are compared at once.
    double *label_values_, *wishes_, *active_costs_, *active_slots_, *dormant_costs_,
        *dormant_seconds_;
};

}  // namespace dynmeans::passes
