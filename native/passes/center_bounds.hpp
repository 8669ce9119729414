// Elkan and Hamerly bounds between passes: which points of a cluster could prefer another slot at
// all?
//
// Let a point lie at distance u from its own center, and let the centers of its cluster a and of
// slot k be D apart. Its distance to k is at least D - u, so its cost for k is at least
// offset + scale (D - u)^2, which is above its own u^2 for every u below the root r of
// u^2 = offset + scale (D - u)^2; for an active slot r = D/2. So a point keeps its label if u^2 is
// below r^2 for every slot and below lambda, and otherwise has to look only at the slots whose r^2
// its own cost reaches. And as it won against all others in the last pass, it has to look only at
// slots that are not as they were then, unless its own center has moved. That holds for exact
// numbers; kSlack makes room for the rounding of every step above, which is below 1e-10 of each
// value for any number of features that fits memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/nearest_rivals.hpp"
#include "records/accelerations.hpp"
#include "search/elkan_bound.hpp"
#include "search/sorted_axis.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

class CenterBounds {
  public:
    // Whole lists have every slot that a member may prefer, also where none of both has moved.
    explicit CenterBounds(std::size_t n_features, bool is_whole = false)
        : is_whole_(is_whole), moved_(n_features, 0) {}

    struct Rival {
        double keeping_cost;
        Slot slot;
    };

    std::size_t n_slots() const { return keeping_.size(); }
    // Whether a remembered cluster that is not active could be revived.
    bool has_sleeping() const { return has_sleeping_; }
    // A point of slot k with an own cost below this keeps its label.
    double keeping_cost_of(std::size_t k) const { return keeping_[k]; }

    // The cheapest slot of a point at y whose own cluster a costs own_cost.
    std::size_t cheapest(const double* y, Slot a, double own_cost, double new_penalty,
                         const CostTable& table) const {
        Choice choice{CostTable::kNone, new_penalty};
        CostTable::consider(choice, a, own_cost);
        for (const Rival& rival : rivals_[a]) {
            if (rival.keeping_cost > own_cost) break;
            CostTable::consider(choice, rival.slot, table.cost_up_to(choice.cost, y, rival.slot));
        }
        return choice.slot;
    }

    // Those of slot k, for up to NearestRivals::kMaxFeatures features.
    const NearestRivals& nearest(std::size_t k) const { return nearest_[k]; }

    // How many of its rivals a point of slot a with this own cost looks at.
    std::size_t count_rivals(Slot a, double own_cost) const {
        const auto is_below = [](double cost, const Rival& rival) {
            return cost < rival.keeping_cost;
        };
        const std::vector<Rival>& rivals = rivals_[a];
        return std::upper_bound(rivals.begin(), rivals.end(), own_cost, is_below) - rivals.begin();
    }

    std::size_t most_rivals() const {
        std::size_t most = 0;
        for (std::size_t k = 0; k < n_slots(); ++k) most = std::max(most, rivals_[k].size());
        return most;
    }

    // What a point finds: its slot, and a distance below the root of every other cost.
    struct Query {
        std::size_t slot;
        double bound;
    };

    // `u` is the root of its own cost.
    Query look(const double* y, Slot a, double own_cost, double u, double new_penalty,
               const CostTable& table) const {
        if (!nearest_.empty()) {
            const double lowest = nearest_[a].lowest_cost(y, table.n_features());
            if (own_cost < lowest && own_cost < nearest_[a].next)
                return {static_cast<std::size_t>(a),
                        std::min(std::sqrt(lowest), bound_of(a, NearestRivals::kMost, u))};
        } else if (own_cost < keeping_[a]) {
            return {static_cast<std::size_t>(a), bound_of(a, 0, u)};
        }
        Choice choice{CostTable::kNone, new_penalty};
        CostTable::consider(choice, a, own_cost);
        double second = new_penalty;
        const std::vector<Rival>& rivals = rivals_[a];
        std::size_t r = 0;
        for (; r < rivals.size() && !(rivals[r].keeping_cost > own_cost); ++r) {
            const double cost =
                table.cost_up_to(std::max(choice.cost, 4.0 * own_cost), y, rivals[r].slot);
            second = std::min(second, cost);
            CostTable::consider(choice, rivals[r].slot, cost);
        }
        return {choice.slot, std::min(std::sqrt(second), bound_of(a, r, u))};
    }

    // The slots that any member of slot k may prefer.
    const std::vector<Rival>& rivals(std::size_t k) const { return rivals_[k]; }

    // Slots have other numbers.
    void forget() { built_to_.clear(); }

    // `own` knows the highest own cost of each slot.
    template <typename Own>
    void update(const Assignment& assignment, const std::vector<std::uint8_t>& moved,
                const Own& own, double new_penalty, std::size_t n_features, ThreadPool& pool) {
        const std::size_t n_slots = assignment.n_members.size();
        const bool by_line = is_enabled<acceleration("line")>() && n_features <= kFewFeatures;
        const std::vector<std::uint8_t> all(is_whole_ && !by_line ? n_slots : 0, 1);
        const std::vector<std::uint8_t>& has_moved = all.empty() ? moved : all;
        const CostTable& table = assignment.table;
        keeping_.resize(n_slots);
        roots_.resize(n_slots);
        root_of_penalty_ = std::sqrt(new_penalty);
        rivals_.resize(std::max(rivals_.size(), n_slots));
        if (n_features <= NearestRivals::kMaxFeatures) nearest_.resize(rivals_.size());
        least_scale_ = 1.0;
        has_sleeping_ = false;
        for (std::size_t k = 0; k < n_slots; ++k) {
            least_scale_ = std::min(least_scale_, table.scale(k));
            has_sleeping_ |= assignment.n_members[k] == 0 && table.offset(k) <= new_penalty;
        }
        least_share_ = keeping_share(least_scale_);
        built_to_.resize(n_slots, -1.0);
        if (by_line)
            sort_by_widest_feature(has_moved, table, n_features);
        else
            find_moved(has_moved, assignment);
        squared_gaps_.resize(pool.size());
        const std::size_t n_groups = (n_slots + kGroup - 1) / kGroup;
        pool.for_blocks(n_groups, [&](std::size_t group, std::size_t thread) {
            const std::size_t begin = group * kGroup, end = std::min(begin + kGroup, n_slots);
            for (std::size_t k = begin; k < end; ++k) {
                if (assignment.n_members[k] == 0) continue;
                const double highest = own.highest(k);
                if (by_line && stands(k, has_moved, table, highest, n_features)) continue;
                rivals_[k].clear();
                if (!by_line) continue;
                rivals_on_line(k, is_whole_ || has_moved[k] ? line_ : moved_line_, table, highest,
                               n_features);
                finish(k, new_penalty, table, n_features);
            }
            if (by_line) return;
            rivals_of_group(begin, end, assignment, has_moved, own, squared_gaps_[thread]);
            for (std::size_t k = begin; k < end; ++k)
                if (assignment.n_members[k] > 0) finish(k, new_penalty, table, n_features);
        });
    }

  private:
    static constexpr std::size_t kGroup = 64;
    static constexpr std::size_t kFewFeatures = 3;  // above, one feature tells little

    // For a point at u from its own center a, of lambda and the rivals from number r on. A sleeping
    // slot costs its keeping cost at least; an awake one, at least twice its root from the own
    // center, is farther than that less u from the point.
    double bound_of(Slot a, std::size_t r, double u) const {
        if (r >= rivals_[a].size()) return root_of_penalty_;
        const double root = r == 0 ? roots_[a] : std::sqrt(rivals_[a][r].keeping_cost);
        return std::min(root_of_penalty_, has_sleeping_ ? root : 2.0 * root - u);
    }

    void sort_by_widest_feature(const std::vector<std::uint8_t>& has_moved, const CostTable& table,
                                std::size_t n_features) {
        feature_ = 0;
        double widest = -1.0, lowest = 0.0;
        for (std::size_t j = 0; j < n_features; ++j) {
            double low = CostTable::kNever, high = -CostTable::kNever;
            for (std::size_t k = 0; k < table.size(); ++k) {
                low = std::min(low, table.center(k)[j]);
                high = std::max(high, table.center(k)[j]);
            }
            if (high - low > widest) {
                widest = high - low;
                lowest = low;
                feature_ = j;
            }
        }
        const auto is_open = [&](std::size_t k) { return table.offset(k) != CostTable::kNever; };
        line_.build(table, feature_, lowest, widest, is_open);
        moved_line_.build(table, feature_, lowest, widest,
                          [&](std::size_t k) { return has_moved[k] != 0 && is_open(k); });
    }

    // u^2 >= scale (D - u)^2 bounds D: farther slots are no rivals of any member. An own cost below
    // kTiny may have been rounded to nothing, and says no more than that.
    double radius_of(double highest_own) const {
        const double u = std::sqrt(std::max(highest_own, kTiny));
        return (u + u / std::sqrt(least_scale_)) * (1.0 + kSlack);
    }

    // Whether the list of slot k is whole as it is: nothing has moved since it was made, within the
    // radius it was made for. A smaller one would not do, as it may grow again.
    bool stands(std::size_t k, const std::vector<std::uint8_t>& has_moved, const CostTable& table,
                double highest_own, std::size_t n_features) {
        bool is_whole = is_whole_ && !has_moved[k] && highest_own <= built_to_[k];
        if (is_whole) {
            for (const Rival& rival : rivals_[k]) is_whole &= !has_moved[rival.slot];
            const double* center = table.center(k);
            const double radius = radius_of(built_to_[k]);
            moved_line_.visit_within(center[feature_], radius, [&](Slot other) {
                const double gap = squared_distance(center, table.center(other), n_features);
                is_whole &= gap > radius * radius;
            });
        }
        if (!is_whole) built_to_[k] = highest_own;
        return is_whole;
    }

    void rivals_on_line(std::size_t k, const SortedAxis& line, const CostTable& table,
                        double highest_own, std::size_t n_features) {
        const double* center = table.center(k);
        line.visit_within(center[feature_], radius_of(highest_own), [&](Slot other) {
            consider(k, other, squared_distance(center, table.center(other), n_features),
                     table.offset(other), table.scale(other), highest_own);
        });
    }

    // A cluster that has not moved won against those that have not either in the last pass, so it
    // looks only at the moved ones.
    template <typename Own>
    void rivals_of_group(std::size_t begin, std::size_t end, const Assignment& assignment,
                         const std::vector<std::uint8_t>& has_moved, const Own& own,
                         std::vector<double>& squared_gaps) {
        const CostTable& table = assignment.table;
        for (const bool is_moved : {true, false}) {
            const CostTable& others = is_moved ? table : moved_;
            squared_gaps.resize(CostTable::kAtOnce * others.capacity());
            for (std::size_t k = begin; k < end;) {
                std::size_t slots[CostTable::kAtOnce], n = 0;
                for (; k < end && n < CostTable::kAtOnce; ++k)
                    if (assignment.n_members[k] > 0 && (has_moved[k] != 0) == is_moved)
                        slots[n++] = k;
                if (n == 0) break;
                const double* rows[CostTable::kAtOnce];
                for (std::size_t r = 0; r < CostTable::kAtOnce; ++r)
                    rows[r] = table.center(slots[std::min(r, n - 1)]);
                others.rough_squared_distances(rows, squared_gaps.data());
                for (std::size_t r = 0; r < n; ++r)
                    consider_near(slots[r], others, is_moved ? nullptr : moved_slots_.data(),
                                  squared_gaps.data() + r * others.capacity(),
                                  own.highest(slots[r]));
            }
        }
    }

    // Considers the slots of `others` but those too far off to be a rival at any scale. `numbers`
    // are their slots, where those are not their places.
    void consider_near(std::size_t k, const CostTable& others, const Slot* numbers,
                       const double* squared_gaps, double highest_own) {
        const double limit = std::max(highest_own / least_share_, kTiny) * (1.0 + kSlack);
        for (std::size_t base = 0; base < others.size(); base += kSimd)
            for (unsigned left = lanes_at_most(load(squared_gaps + base), limit); left != 0;
                 left &= left - 1) {
                const std::size_t place = base + lowest_bit(left);
                if (place >= others.size() || others.offset(place) == CostTable::kNever) continue;
                const Slot other = numbers ? numbers[place] : static_cast<Slot>(place);
                consider(k, other, squared_gaps[place], others.offset(place), others.scale(place),
                         highest_own);
            }
    }

    void find_moved(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment) {
        const CostTable& table = assignment.table;
        moved_slots_.clear();
        moved_.shrink(0);
        bool is_needed = false;
        for (std::size_t k = 0; k < assignment.n_members.size(); ++k)
            is_needed |= !has_moved[k] && assignment.n_members[k] > 0;
        if (!is_needed) return;
        for (std::size_t k = 0; k < table.size(); ++k) {
            if (!has_moved[k] || table.offset(k) == CostTable::kNever) continue;
            moved_slots_.push_back(static_cast<Slot>(k));
            moved_.set(moved_.append(), table.center(k), table.offset(k), table.scale(k));
        }
    }

    void consider(std::size_t k, Slot other, double squared_gap, double offset, double scale,
                  double highest_own) {
        if (static_cast<std::size_t>(other) == k) return;
        const double kept = keeping_cost(squared_gap, offset, scale);
        if (kept <= highest_own) rivals_[k].push_back({kept, other});
    }

    void finish(std::size_t k, double new_penalty, const CostTable& table, std::size_t n_features) {
        std::vector<Rival>& found = rivals_[k];
        std::sort(found.begin(), found.end(),
                  [](const Rival& a, const Rival& b) { return a.keeping_cost < b.keeping_cost; });
        keeping_[k] = found.empty() ? new_penalty : std::min(new_penalty, found[0].keeping_cost);
        roots_[k] = found.empty() ? root_of_penalty_ : std::sqrt(found[0].keeping_cost);
        if (n_features > NearestRivals::kMaxFeatures) return;
        constexpr std::size_t kMost = NearestRivals::kMost;
        nearest_[k].start(found.size() > kMost ? std::min(new_penalty, found[kMost].keeping_cost)
                                               : new_penalty);
        for (std::size_t r = 0; r < std::min(kMost, found.size()); ++r)
            nearest_[k].set(r, found[r].slot, n_features, table);
    }

    bool is_whole_;
    std::vector<double> built_to_;         // the highest own cost when the list was made
    std::vector<double> keeping_, roots_;  // the lowest of each slot; roots, of its first rival
    double root_of_penalty_ = 0.0;
    std::vector<std::vector<Rival>> rivals_;
    std::vector<NearestRivals> nearest_;
    CostTable moved_;
    std::vector<Slot> moved_slots_;
    SortedAxis line_, moved_line_;
    std::vector<std::vector<double>> squared_gaps_;  // one for each thread
    std::size_t feature_ = 0;
    double least_scale_ = 1.0, least_share_ = 0.25;
    bool has_sleeping_ = false;
};

}  // namespace dynmeans
