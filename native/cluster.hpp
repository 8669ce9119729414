// Algorithm 2, Cluster: alternate labels and parameters until the cost stops falling.
#pragma once

#include <vector>

#include "assign_labels.hpp"
#include "assign_params.hpp"
#include "cost.hpp"

namespace dynmeans {

constexpr double kNoFall = 1e-12;  // a relative fall of the cost below this counts as none

// One run of Algorithm 2, by slot.
struct Solution {
    std::vector<Slot> labels;
    std::vector<double> counts;   // n, or total weight
    std::vector<double> centers;  // row-major; those of unseen clusters are as remembered
    std::vector<double> cost_trace;
};

class Clusterer {
  public:
    Clusterer(const Points& points, const Memory& memory, const Penalties& penalties)
        : points_(points), memory_(memory), penalties_(penalties), assignment_(points, memory) {}

    // Runs from nothing in the given order; the result replaces `best` if it is cheaper.
    void run(const std::int64_t* order, Solution& best) {
        assignment_.start(memory_);
        cost_trace_.clear();
        bool has_converged = false;
        while (!has_converged) {
            const bool has_changed =
                assign_labels(points_, order, memory_, penalties_.new_penalty, assignment_);
            assign_params(points_, memory_, slot_sums_, assignment_);
            const double cost = clustering_cost(points_, memory_, penalties_, assignment_);
            const bool fell = cost_trace_.empty() || cost < cost_trace_.back() * (1.0 - kNoFall);
            cost_trace_.push_back(cost);
            has_converged = !fell || !has_changed;
        }
        // The first of equals is kept: a later one must be lower.
        if (best.cost_trace.empty() ||
            cost_trace_.back() < best.cost_trace.back() * (1.0 - kNoFall))
            store(best);
    }

  private:
    void store(Solution& best) const {
        best.labels = assignment_.labels;
        best.counts = slot_sums_.counts();
        best.centers.assign(assignment_.table.center(0),
                            assignment_.table.center(assignment_.table.size()));
        best.cost_trace = cost_trace_;
    }

    const Points& points_;
    const Memory& memory_;
    const Penalties& penalties_;
    Assignment assignment_;
    SlotSums slot_sums_;
    std::vector<double> cost_trace_;
};

}  // namespace dynmeans
