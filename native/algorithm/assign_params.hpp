// AssignParams: move every active cluster to its weighted mean (Eq. 12).
//
// Sums have no order (bins.hpp), so they are kept from pass to pass: points that moved are taken
// out of one slot and added to another, and the bits are those of summing everything every time.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/batch_sums.hpp"
#include "algorithm/cost.hpp"
#include "algorithm/sphere.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

// n_kt, and n_kt * m_kt, of every slot.
class SlotSums {
  public:
    explicit SlotSums(const BatchSums& sums) : sums_(sums), bins_(sums.columns) {}

    // Forgets the sums of the last run.
    void start() { bins_of_slots_.clear(); }

    // Starts from sums that stand already.
    void start_from(const std::vector<double>& bins_of_slots) { bins_of_slots_ = bins_of_slots; }
    const std::vector<double>& bins_of_slots() const { return bins_of_slots_; }
    // Hands the sums out; the next run starts anew.
    void give(std::vector<double>& bins_of_slots) { bins_of_slots.swap(bins_of_slots_); }

    template <typename Value>
    void update(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        const bool is_first = bins_of_slots_.empty();
        assignment.follow_slots(bins_of_slots_, bins_.size());
        // A point that moved is looked at twice.
        if (is_first || !is_enabled<acceleration("moved_sums")>() ||
            2 * assignment.moves.size() > points.n_points) {
            std::fill(bins_of_slots_.begin(), bins_of_slots_.end(), 0.0);
            share(points.n_points, pool, [&](std::size_t begin, std::size_t end, double* into) {
                PointAdder(sums_).add_labeled(points, assignment.labels.data(), begin, end, into);
            });
            return;
        }
        add_moves(points, assignment, pool);
    }

    // Takes the points that moved out of one slot, and adds them to another.
    template <typename Value>
    void add_moves(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        const std::vector<Assignment::Move>& moves = assignment.moves;
        share(moves.size(), pool, [&](std::size_t begin, std::size_t end, double* into) {
            PointAdder adder(sums_);
            for (std::size_t m = begin; m < end; ++m) {
                const auto i = static_cast<std::size_t>(moves[m].point);
                double* to = into + assignment.labels[i] * bins_.size();
                if (moves[m].from == kUnlabeled)
                    adder.add(points, i, to);
                else
                    adder.move(points, i, into + moves[m].from * bins_.size(), to);
            }
        });
    }

    double count(std::size_t k, const Assignment& assignment) const {
        if (!sums_.has_weights) return static_cast<double>(assignment.n_members[k]);
        return bins_.total(bins_of_slots_.data() + k * bins_.size(), 0);
    }

    // Writes n_kt * m_kt.
    void write_sum(std::size_t k, double* sum) const {
        const double* bins = bins_of_slots_.data() + k * bins_.size();
        const std::size_t first = sums_.has_weights ? 1 : 0;
        for (std::size_t c = first; c < bins_.n_columns() - 2; ++c) *sum++ = bins_.total(bins, c);
    }

    // What the points of a slot cost beside its center.
    double within(std::size_t k, double n, const double* theta, std::size_t n_features) const {
        return within_slot(n, theta, n_features, sums_, bins_of_slots_.data() + k * bins_.size());
    }

  private:
    static constexpr std::size_t kFewest = 4096;           // points for another thread
    static constexpr std::size_t kMostBytes = 64u << 20u;  // of what threads add up apart

    // Calls work(begin, end, sums) for parts of the items; each part has sums of its own, which are
    // added up in the end.
    template <typename Work>
    void share(std::size_t n_items, ThreadPool& pool, const Work& work) {
        const std::size_t n_bytes =
            std::max<std::size_t>(bins_of_slots_.size(), 1) * sizeof(double);
        const std::size_t n_parts = std::max<std::size_t>(
            1, std::min({pool.size(), n_items / kFewest, kMostBytes / n_bytes}));
        parts_.resize(n_parts - 1);
        pool.for_blocks(n_parts, [&](std::size_t part, std::size_t) {
            const std::size_t begin = n_items * part / n_parts;
            const std::size_t end = n_items * (part + 1) / n_parts;
            if (part > 0) parts_[part - 1].assign(bins_of_slots_.size(), 0.0);
            work(begin, end, part == 0 ? bins_of_slots_.data() : parts_[part - 1].data());
        });
        for (const std::vector<double>& part : parts_)
            for (std::size_t b = 0; b < part.size(); ++b) bins_of_slots_[b] += part[b];
    }

    const BatchSums& sums_;
    const Bins& bins_;
    std::vector<double> bins_of_slots_;  // (n_slots, n_bins, n_columns)
    std::vector<std::vector<double>> parts_;
};

// theta = (gamma theta_old + n m) / (gamma + n), from n and n m; m for a new cluster. On the sphere
// the numerator at length 1.
inline void write_center(std::size_t k, double n, const double* sum, const Remembered& remembered,
                         double* theta) {
    const bool is_new = k >= remembered.n_clusters;
    const double gamma = is_new ? 0.0 : remembered.gamma[k];
    for (std::size_t j = 0; j < remembered.n_features; ++j) {
        const double prior = is_new ? 0.0 : remembered.center(k)[j] * gamma;
        theta[j] = remembered.is_on_sphere ? prior + sum[j] : (prior + sum[j]) / (gamma + n);
    }
    if (remembered.is_on_sphere) put_on_sphere(theta, theta, remembered.n_features);
}

// n of every slot, whose centers move there, and what its points cost, by these sums; slots without
// a change have all that already.
inline void move_centers(const SlotSums& slot_sums, const Remembered& remembered,
                         Assignment& assignment, std::vector<double>& counts,
                         std::vector<double>& within) {
    assignment.follow_slots(counts, 1);
    assignment.follow_slots(within, 1);
    std::vector<double> sum(remembered.n_features);
    for (std::size_t k = 0; k < counts.size(); ++k) {
        if (!assignment.has_changed[k]) continue;
        counts[k] = slot_sums.count(k, assignment);
        within[k] = 0.0;
        if (assignment.n_members[k] == 0) continue;
        slot_sums.write_sum(k, sum.data());
        double* theta = assignment.table.center(k);
        write_center(k, counts[k], sum.data(), remembered, theta);
        assignment.table.set(k, theta, 0.0, 1.0);
        within[k] = slot_sums.within(k, counts[k], theta, remembered.n_features);
    }
    assignment.table.shrink(counts.size());
}

template <typename Value>
void assign_params(const Points<Value>& points, const Remembered& remembered, ThreadPool& pool,
                   SlotSums& slot_sums, Assignment& assignment, std::vector<double>& counts,
                   std::vector<double>& within) {
    slot_sums.update(points, assignment, pool);
    move_centers(slot_sums, remembered, assignment, counts, within);
}

}  // namespace dynmeans
