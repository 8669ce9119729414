// Bounds between passes: which points of a cluster could prefer another slot at all?
//
// Let a point lie at distance u from its own center, and let the centers of its cluster a and of
// slot k be D apart. Its distance to k is at least D - u, so its cost for k is at least
// offset + scale (D - u)^2, which is above its own u^2 for every u below the root r of
// u^2 = offset + scale (D - u)^2; for an active slot r = D/2. So a point keeps its label if u^2 is
// below r^2 for every slot and below lambda, and otherwise has to look only at the slots whose r^2
// its own cost reaches. That holds for exact numbers; kSlack makes room for the rounding of every
// step above, which is below 1e-10 of each value for any number of features that fits memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "assign_labels.hpp"
#include "cost.hpp"
#include "squared_distance.hpp"
#include "thread_pool.hpp"

namespace dynmeans {

constexpr double kSlack = 1e-9;
constexpr double kTiny = 1e-280;  // below this, squares may have been rounded to nothing

// The highest own cost up to which a point surely stays, given the squared distance of the centers.
inline double keeping_cost(double squared_gap, double offset, double scale) {
    if (squared_gap < kTiny) return 0.0;
    const double gap = std::sqrt(squared_gap);
    double root = 0.5 * gap;  // scale 1, offset 0
    if (offset > 0.0 || scale < 1.0) {
        // (1 - scale) u^2 + 2 scale gap u - (offset + scale gap^2) = 0, solved without cancellation
        const double half = scale * gap, constant = offset + scale * squared_gap;
        root = constant / (half + std::sqrt(half * half + (1.0 - scale) * constant));
    }
    const double kept = root * root * (1.0 - kSlack);
    return kept < kTiny ? 0.0 : kept;
}

class Neighbours {
  public:
    struct Rival {
        double keeping_cost;
        Slot slot;
    };

    std::size_t n_slots() const { return keeping_.size(); }
    // A point of slot k with an own cost below this keeps its label.
    double keeping_cost_of(std::size_t k) const { return keeping_[k]; }
    const std::vector<Rival>& rivals(std::size_t k) const { return rivals_[k]; }

    void update(const Assignment& assignment, const OwnCosts& own, double new_penalty,
                std::size_t n_features, ThreadPool& pool) {
        const std::size_t n_slots = assignment.n_members.size();
        keeping_.resize(n_slots);
        rivals_.resize(std::max(rivals_.size(), n_slots));
        sort_by_widest_feature(assignment.table, n_features);
        const std::size_t n_groups = (n_slots + kGroup - 1) / kGroup;
        pool.for_blocks(n_groups, [&](std::size_t group, std::size_t) {
            const std::size_t end = std::min((group + 1) * kGroup, n_slots);
            for (std::size_t k = group * kGroup; k < end; ++k)
                if (assignment.n_members[k] > 0)
                    find_rivals(k, assignment.table, own.highest(k), new_penalty, n_features);
        });
    }

  private:
    static constexpr std::size_t kGroup = 64;

    struct Place {
        double coordinate;
        Slot slot;
    };

    // Slots in order of one coordinate: those farther off in it are farther off altogether.
    void sort_by_widest_feature(const CostTable& table, std::size_t n_features) {
        feature_ = 0;
        double widest = -1.0;
        for (std::size_t j = 0; j < n_features; ++j) {
            double low = CostTable::kNever, high = -CostTable::kNever;
            for (std::size_t k = 0; k < table.size(); ++k) {
                low = std::min(low, table.center(k)[j]);
                high = std::max(high, table.center(k)[j]);
            }
            if (high - low > widest) {
                widest = high - low;
                feature_ = j;
            }
        }
        places_.clear();
        least_scale_ = 1.0;
        for (std::size_t k = 0; k < table.size(); ++k) {
            if (table.offset(k) == CostTable::kNever) continue;
            places_.push_back({table.center(k)[feature_], static_cast<Slot>(k)});
            least_scale_ = std::min(least_scale_, table.scale(k));
        }
        std::sort(places_.begin(), places_.end(),
                  [](const Place& a, const Place& b) { return a.coordinate < b.coordinate; });
    }

    void find_rivals(std::size_t k, const CostTable& table, double highest_own, double new_penalty,
                     std::size_t n_features) {
        std::vector<Rival>& found = rivals_[k];
        found.clear();
        // u^2 >= scale (D - u)^2 bounds D: farther slots are no rivals of any member.
        const double u = std::sqrt(highest_own);
        const double radius = (u + u / std::sqrt(least_scale_)) * (1.0 + kSlack);
        const double* center = table.center(k);
        const double x = center[feature_];
        auto place = std::lower_bound(
            places_.begin(), places_.end(), x - radius * (1.0 + kSlack) - std::abs(x) * 1e-15,
            [](const Place& a, double limit) { return a.coordinate < limit; });
        for (; place != places_.end() && place->coordinate - x <= radius; ++place) {
            const auto other = static_cast<std::size_t>(place->slot);
            if (other == k) continue;
            const double gap = squared_distance(center, table.center(other), n_features);
            const double kept = keeping_cost(gap, table.offset(other), table.scale(other));
            if (kept <= highest_own) found.push_back({kept, place->slot});
        }
        std::sort(found.begin(), found.end(),
                  [](const Rival& a, const Rival& b) { return a.keeping_cost < b.keeping_cost; });
        keeping_[k] = found.empty() ? new_penalty : std::min(new_penalty, found[0].keeping_cost);
    }

    std::vector<double> keeping_;
    std::vector<std::vector<Rival>> rivals_;
    std::vector<Place> places_;
    std::size_t feature_ = 0;
    double least_scale_ = 1.0;
};

}  // namespace dynmeans
