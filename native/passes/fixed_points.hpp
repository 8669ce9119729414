// Points that stay behind (Hamerly bounds, slot by slot): passes over some points of a batch find
// what passes over all would, as long as no other point can want to move.
//
// Some time ago every member of slot k that stays behind lay within reach_k of its own center, and
// the root of its cost for anything else, an active slot, a sleeping one or lambda, was above its
// own distance by slack_k or more. Let center k lie a_k from where it was then. A member's own
// distance has grown by a_k at most, and that to slot j has shrunk by a_j at most; so none of them
// leaves for slot j while a_k + a_j < slack_k, nor for what does not move while a_k < slack_k. And
// a slot farther than 2 (reach_k + a_k) from center k is farther from each member than that is.
// None of this holds once a slot was opened, revived or emptied.
// Rounding: each bound has kSlack to spare.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "numeric/squared_distance.hpp"
#include "search/cost_table.hpp"
#include "search/elkan_bound.hpp"

namespace dynmeans {

class FixedPoints {
  public:
    // The centers of that time; slacks and reaches slot by slot, for one group of points after the
    // other. The slack of a slot nobody of which stays behind is infinite.
    FixedPoints(std::size_t n_slots, std::vector<double> centers, std::vector<double> slacks,
                std::vector<double> reaches)
        : centers_(std::move(centers)),
          slacks_(std::move(slacks)),
          reaches_(std::move(reaches)),
          moves_(n_slots) {}

    // Whether any of them may prefer another choice, given the clusters as they stand.
    bool may_be_due(const CostTable& table) {
        const std::size_t n_slots = moves_.size();
        double farthest = 0.0;
        for (std::size_t k = 0; k < n_slots; ++k) {
            const std::size_t d = centers_.size() / n_slots;
            const double moved = squared_distance(table.center(k), centers_.data() + k * d, d);
            moves_[k] = std::sqrt(std::max(moved, kTiny)) * (1.0 + kSlack);
            farthest = std::max(farthest, moves_[k]);
        }
        for (std::size_t g = 0; g < slacks_.size(); ++g) {
            const std::size_t k = g % n_slots;
            const double left = slacks_[g] * (1.0 - kSlack) - moves_[k];
            if (left > farthest) continue;
            if (!(left > 0.0) || has_near(table, k, left, reaches_[g] + moves_[k])) return true;
        }
        return false;
    }

  private:
    // Whether a slot that has moved as far as this may reach a member of slot k.
    bool has_near(const CostTable& table, std::size_t k, double least, double reach) const {
        const std::size_t n_slots = moves_.size(), d = centers_.size() / n_slots;
        const double far = 2.0 * reach * (1.0 + kSlack);
        for (std::size_t j = 0; j < n_slots; ++j)
            if (j != k && !(moves_[j] < least) &&
                !(squared_distance(table.center(k), table.center(j), d) > far * far))
                return true;
        return false;
    }

    std::vector<double> centers_, slacks_, reaches_;
    std::vector<double> moves_;  // since that time
};

}  // namespace dynmeans
