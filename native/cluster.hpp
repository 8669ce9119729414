// Algorithm 2, Cluster: alternate labels and parameters until the cost stops falling.
#pragma once

#include <optional>
#include <vector>

#include "assign_labels.hpp"
#include "assign_params.hpp"
#include "cost.hpp"
#include "first_pass.hpp"
#include "later_pass.hpp"
#include "small_pass.hpp"
#include "solution.hpp"

namespace dynmeans {

// What the caller chooses about the way, never about the result.
struct Means {
    bool is_accelerated;
    Sgemm sgemm;
};

template <typename Value>
class Clusterer {
  public:
    Clusterer(const Points<Value>& points, const Memory& memory, const Penalties& penalties,
              const Means& means, const BatchSums& sums, ThreadPool& pool)
        : points_(points),
          memory_(memory),
          penalties_(penalties),
          pool_(pool),
          is_accelerated_(means.is_accelerated),
          is_small_(points.n_points < kFewPoints),
          assignment_(points.n_points, memory),
          own_(points.n_points, sums.costs),
          slot_sums_(sums),
          small_pass_(points, memory, penalties.new_penalty) {
        if (!is_accelerated_ || is_small_) return;
        const BlasFilter filter(means.sgemm, points.n_features);
        first_pass_.emplace(points, memory, penalties.new_penalty, filter, pool);
        later_pass_.emplace(points, memory, penalties.new_penalty, pool);
    }

    // Runs from nothing in the given order; the result replaces `best` if it is cheaper.
    void run(const std::int64_t* order, Solution& best) {
        assignment_.start(memory_);
        slot_sums_.start();
        own_.start();
        if (later_pass_) later_pass_->start(order);
        counts_.clear();
        cost_trace_.clear();
        bool has_converged = false;
        while (!has_converged) {
            make_pass(order);
            assignment_.close_gaps(memory_.n_clusters);
            assign_params(points_, memory_, pool_, slot_sums_, assignment_, counts_);
            own_.update(points_, assignment_, pool_);
            const double cost = cluster_terms(memory_, penalties_, assignment_) + own_.total();
            const bool fell = cost_trace_.empty() || has_fallen(cost, cost_trace_.back());
            cost_trace_.push_back(cost);
            has_converged = !fell || !assignment_.has_any_changed;
        }
        if (is_better(cost_trace_, best)) store(best);
    }

  private:
    static constexpr std::size_t kFewPoints = 256;  // below, visits in order are faster

    void make_pass(const std::int64_t* order) {
        has_moved_ = assignment_.has_changed;
        assignment_.start_pass();
        const bool is_first = cost_trace_.empty();
        if (!is_accelerated_ || (is_small_ && is_first))
            assign_labels(points_, order, 0, memory_, penalties_.new_penalty, pool_.watch(),
                          assignment_);
        else if (is_first)
            first_pass_->run(order, assignment_);
        else if (is_small_)
            small_pass_.run(order, own_, assignment_);
        else
            later_pass_->run(own_, has_moved_, assignment_);
    }

    void store(Solution& best) const {
        best.labels = assignment_.labels;
        best.counts = counts_;
        best.centers.assign(assignment_.table.center(0),
                            assignment_.table.center(assignment_.table.size()));
        best.cost_trace = cost_trace_;
    }

    const Points<Value>& points_;
    const Memory& memory_;
    const Penalties& penalties_;
    ThreadPool& pool_;
    bool is_accelerated_, is_small_;
    Assignment assignment_;
    OwnCosts own_;
    SlotSums slot_sums_;
    std::optional<FirstPass<Value>> first_pass_;  // for large batches
    std::optional<LaterPass<Value>> later_pass_;
    SmallPass<Value> small_pass_;
    std::vector<double> counts_, cost_trace_;
    std::vector<std::uint8_t> has_moved_;
};

}  // namespace dynmeans
