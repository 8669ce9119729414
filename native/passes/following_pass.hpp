// The first pass on the unit sphere (decision 0019): points one by one, and every center follows
// its points: the sum of gamma theta_old and w y so far, at length 1.
//
// One center changes with every point, so nothing found for a point is right for the next. But few
// change within a short block, and not by much: at its start all points of the block are multiplied
// with all centers in float32, through the BLAS of the caller. A point whose turn comes is compared
// exactly with the centers that the product does not rule out. It is off by no more than the bound
// of blas_filter.hpp, and a center that has moved since is nearer by no more than it has moved.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/sphere.hpp"
#include "numeric/simd.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/blas_filter.hpp"
#include "search/cost_table.hpp"
#include "search/elkan_bound.hpp"
#include "threads/interrupt_check.hpp"

namespace dynmeans {

template <typename Value>
class FollowingPass {
  public:
    FollowingPass(const Points<Value>& points, const Remembered& remembered, double new_penalty,
                  Sgemm sgemm, InterruptCheck& interrupts)
        : points_(points),
          remembered_(remembered),
          new_penalty_(new_penalty),
          sgemm_(points.n_features >= kFewFeatures && points.n_features <= kManyFeatures ? sgemm
                                                                                         : nullptr),
          interrupts_(interrupts),
          buffer_(points.n_features) {}

    void run(const Row* order, Assignment& assignment) {
        start_sums();
        visit(order, points_.n_points, assignment);
    }

    // Goes on with the sums of every slot in the table, for rows that follow others.
    void go_on(std::vector<double> sums, const Row* order, std::size_t n_rows,
               Assignment& assignment) {
        sums_ = std::move(sums);
        forget_copies(assignment.table.size());
        visit(order, n_rows, assignment);
    }

    const std::vector<double>& sums() const { return sums_; }

  private:
    void visit(const Row* order, std::size_t n_rows, Assignment& assignment) {
        for (std::size_t begin = 0; begin < n_rows; begin += kBlock) {
            interrupts_.check();
            const std::size_t end = std::min(begin + kBlock, n_rows);
            const bool is_filtered = sgemm_ != nullptr && assignment.table.size() >= kFewSlots;
            if (!is_filtered) is_copied_.assign(is_copied_.size(), 0);
            if (is_filtered) multiply(order + begin, end - begin, assignment.table);
            for (std::size_t p = begin; p < end; ++p) {
                const auto i = static_cast<std::size_t>(order[p]);
                if (!points_.takes_part(i)) continue;
                const double* y = points_.row(i, buffer_.data());
                const Choice choice =
                    is_filtered ? choose(y, p - begin, assignment.table)
                                : assignment.table.cheapest(y, new_penalty_, CostTable::kNone);
                assignment.place(i, y, choice.slot, remembered_);
                follow(static_cast<std::size_t>(assignment.labels[i]), y, points_.weight(i),
                       assignment.table);
            }
        }
    }

    static constexpr std::size_t kBlock = 128;  // points
    static constexpr std::size_t kFewFeatures = 16, kManyFeatures = 100000, kFewSlots = 16;
    static constexpr std::size_t kFloats = 2 * kSimd;
    static constexpr double kUnit = 1.0 / (1u << 24u);

    struct Changed {
        std::size_t slot;
        double moved;  // since it was copied
    };

    void start_sums() {
        const std::size_t d = points_.n_features;
        sums_.resize(remembered_.n_clusters * d);
        for (std::size_t k = 0; k < remembered_.n_clusters; ++k)
            for (std::size_t j = 0; j < d; ++j)
                sums_[k * d + j] = remembered_.gamma[k] * remembered_.center(k)[j];
        forget_copies(remembered_.n_clusters);
    }

    void forget_copies(std::size_t n_slots) {
        is_copied_.assign(n_slots, 0);
        bases_.clear();
        squares_.clear();
        changed_.clear();
    }

    // Slot k has taken in a point.
    void follow(std::size_t k, const double* y, double weight, CostTable& table) {
        const std::size_t d = points_.n_features;
        if ((k + 1) * d > sums_.size()) sums_.resize((k + 1) * d, 0.0);
        double* sum = sums_.data() + k * d;
        for (std::size_t j = 0; j < d; ++j) sum[j] += weight * y[j];
        double* center = table.center(k);
        put_on_sphere(sum, center, d);
        table.set(k, center, 0.0, 1.0);
        if (k >= is_copied_.size()) is_copied_.resize(k + 1, 1);
        if (is_copied_[k]) {
            is_copied_[k] = 0;
            if (k < squares_.size()) place_of_[k] = changed_.size();
            if (k < squares_.size()) bases_[k] = kNever;
            changed_.push_back({k, 0.0});
        }
        if (k < squares_.size()) update_move(k, center);
    }

    // How far a center has moved from its copy, whose coordinates were rounded.
    void update_move(std::size_t k, const double* center) {
        const std::size_t d = points_.n_features;
        const float* copied = centers_.data() + k * d;
        Doubles sums{};
        std::size_t j = 0;
        for (; j + kSimd <= d; j += kSimd) {
            const Doubles gap = load(center + j) - load(copied + j);
            sums += gap * gap;
        }
        double sum = sum_of_lanes(sums);
        for (; j < d; ++j) sum += (center[j] - copied[j]) * (center[j] - copied[j]);
        changed_[place_of_[k]].moved =
            (std::sqrt(sum) + kUnit * std::sqrt(squares_[k])) * (1.0 + kSlack);
    }

    // All points of a block with all centers as they are.
    void multiply(const Row* order, std::size_t n_rows, const CostTable& table) {
        copy_centers(table);
        const std::size_t d = points_.n_features;
        rows_.resize(n_rows * d);
        norms_.resize(n_rows);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* y = points_.row(order[r], buffer_.data());
            norms_[r] = squared_length(y, d);
            std::copy_n(y, d, rows_.begin() + r * d);
        }
        products_.resize(n_rows * bases_.size());
        char transposed = 'T', plain = 'N';
        int m = static_cast<int>(bases_.size()), n = static_cast<int>(n_rows),
            k = static_cast<int>(d);
        float one = 1.0f, zero = 0.0f;
        sgemm_(&transposed, &plain, &m, &n, &k, &one, centers_.data(), &k, rows_.data(), &k, &zero,
               products_.data(), &m);
    }

    // Copies those that changed since the last block. The lanes beyond the last slot never win.
    void copy_centers(const CostTable& table) {
        const std::size_t d = points_.n_features, n = table.size();
        const std::size_t n_padded = (n + kFloats - 1) / kFloats * kFloats;
        centers_.resize(n_padded * d, 0.0f);
        bases_.resize(n_padded, kNever);
        is_copied_.resize(n, 0);
        largest_norm_ = 0.0;
        squares_.resize(n);
        place_of_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            if (!is_copied_[k]) {
                std::copy_n(table.center(k), d, centers_.begin() + k * d);
                squares_[k] = squared_length(table.center(k), d);
                bases_[k] = static_cast<float>(table.offset(k) + squares_[k]);
                is_copied_[k] = 1;
            }
            largest_norm_ = std::max(largest_norm_, squares_[k]);
        }
        changed_.clear();
    }

    Choice choose(const double* y, std::size_t r, const CostTable& table) const {
        Choice choice{CostTable::kNone, new_penalty_};
        if (!is_in_range(norms_[r])) return table.cheapest(y, new_penalty_, CostTable::kNone);
        const float* products = products_.data() + r * bases_.size();
        const auto likely = static_cast<std::size_t>(lowest_of(products));
        if (bases_[likely] < kNever)
            CostTable::consider(choice, likely, table.cost_up_to(choice.cost, y, likely));
        // No cost is below what the product says by more than this.
        const double error = product_error(norms_[r]);
        consider_changed(y, products, norms_[r] - error, error, table, choice);
        const auto limit =
            static_cast<float>((choice.cost + error) * (1.0 + 4.0 * kUnit) - norms_[r] + error);
        for (std::size_t s = 0; s < bases_.size(); s += kFloats) {
            const Floats rough = rough_costs(products, s);
            if (lowest_lane(rough) > limit) continue;
            for (std::size_t lane = 0; lane < kFloats; ++lane)
                if (rough[lane] <= limit && s + lane != likely)
                    CostTable::consider(choice, s + lane,
                                        table.cost_up_to(choice.cost, y, s + lane));
        }
        return choice;
    }

    // Those that have moved too little to be nearer now are left out; the one that was nearest
    // comes first.
    void consider_changed(const double* y, const float* products, double least_norm, double error,
                          const CostTable& table, Choice& choice) const {
        const auto cost_before = [&](std::size_t k) { return squares_[k] - 2.0 * products[k]; };
        std::size_t nearest = CostTable::kNone;
        for (const Changed& one : changed_)
            if (one.slot < squares_.size() &&
                (nearest == CostTable::kNone || cost_before(one.slot) < cost_before(nearest)))
                nearest = one.slot;
        if (nearest != CostTable::kNone)
            CostTable::consider(choice, nearest, table.cost_up_to(choice.cost, y, nearest));
        for (const Changed& one : changed_) {
            if (one.slot == nearest) continue;
            if (one.slot < squares_.size()) {
                const double before = least_norm + cost_before(one.slot);
                const double least = std::sqrt(std::max(before, 0.0)) - one.moved;
                if (least > 0.0 && least * least > choice.cost + error) continue;
            }
            CostTable::consider(choice, one.slot, table.cost_up_to(choice.cost, y, one.slot));
        }
    }

    // Where the product is cheapest.
    std::size_t lowest_of(const float* products) const {
        Floats lowest = rough_costs(products, 0);
        std::size_t best = 0;
        float least = lowest_lane(lowest);
        for (std::size_t s = kFloats; s < bases_.size(); s += kFloats) {
            const float found = lowest_lane(rough_costs(products, s));
            if (found < least) {
                least = found;
                best = s;
            }
        }
        const Floats there = rough_costs(products, best);
        for (std::size_t lane = 0; lane < kFloats; ++lane)
            if (there[lane] == least) return best + lane;
        return best;
    }

    // Without |y|^2, which is the same for all slots.
    Floats rough_costs(const float* products, std::size_t s) const {
        return load_floats(&bases_[s]) - 2.0f * load_floats(products + s);
    }

    // Of the product of float32 rows (blas_filter.hpp), and of what float32 rounds beside it.
    double product_error(double norm) const {
        const auto n = static_cast<double>(points_.n_features);
        return 2.02 * (n + 8.0) * kUnit * std::sqrt(norm * largest_norm_) +
               32.0 * kUnit * (norm + largest_norm_ + new_penalty_);
    }

    bool is_in_range(double norm) const {
        return norm < 1e30 && largest_norm_ < 1e30 && new_penalty_ < 1e30 &&
               norm * largest_norm_ > 1e-50;
    }

    static constexpr float kNever = std::numeric_limits<float>::infinity();

    const Points<Value>& points_;
    const Remembered& remembered_;
    double new_penalty_;
    Sgemm sgemm_;
    InterruptCheck& interrupts_;
    std::vector<double> buffer_, sums_, norms_, squares_;
    std::vector<float> centers_, bases_, rows_, products_;
    std::vector<std::uint8_t> is_copied_;  // slots that are in centers_ as they are
    std::vector<Changed> changed_;         // since the block began
    std::vector<std::size_t> place_of_;    // of a slot in that list
    double largest_norm_ = 0.0;
};

}  // namespace dynmeans
