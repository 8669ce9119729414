// A later pass over a small batch: every point in order, but most need one comparison only.
//
// As in neighbours.hpp, a point keeps its label while its own cost is below a share of the squared
// distance from its center to every other: 1/4 for an active slot, and for a remembered one
// s / (1 + sqrt(s))^2 with its scale s, which leaves the help of its offset out. After an event of
// this pass, points look at all clusters as they then are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "assign_labels.hpp"
#include "cost.hpp"
#include "memory.hpp"
#include "neighbours.hpp"
#include "points.hpp"

namespace dynmeans {

template <typename Value>
class SmallPass {
  public:
    SmallPass(const Points<Value>& points, const Memory& memory, double new_penalty)
        : points_(points), memory_(memory), new_penalty_(new_penalty), buffer_(points.n_features) {}

    void run(const std::int64_t* order, const OwnCosts& own, Assignment& assignment) {
        find_keeping_costs(assignment);
        bool had_event = false;
        for (std::size_t position = 0; position < points_.n_points; ++position) {
            const auto i = static_cast<std::size_t>(order[position]);
            const Slot a = assignment.labels[i];
            if (a == kUnlabelled || (!had_event && own[i] < keeping_[a])) continue;
            const double* y = points_.row(i, buffer_.data());
            const std::size_t choice = assignment.table.cheapest(y, new_penalty_, a).slot;
            had_event |= assignment.place(i, y, choice, memory_);
        }
    }

  private:
    void find_keeping_costs(const Assignment& assignment) {
        const CostTable& table = assignment.table;
        const std::size_t n_slots = table.size();
        shares_.resize(n_slots);
        for (std::size_t k = 0; k < n_slots; ++k) {
            const double root = std::sqrt(table.scale(k)) / (1.0 + std::sqrt(table.scale(k)));
            shares_[k] = assignment.n_members[k] > 0 ? 0.25 : root * root;
        }
        keeping_.resize(n_slots);
        gaps_.resize(table.capacity());
        for (std::size_t a = 0; a < n_slots; ++a) {
            if (assignment.n_members[a] == 0) continue;
            table.squared_distances(table.center(a), gaps_.data());
            double lowest = new_penalty_;
            for (std::size_t k = 0; k < n_slots; ++k) {
                const double kept = shares_[k] * gaps_[k] * (1.0 - kSlack);
                if (kept < lowest && k != a) lowest = kept;
            }
            keeping_[a] = lowest < kTiny ? 0.0 : lowest;
        }
    }

    const Points<Value>& points_;
    const Memory& memory_;
    double new_penalty_;
    std::vector<double> shares_, keeping_, gaps_, buffer_;
};

}  // namespace dynmeans
