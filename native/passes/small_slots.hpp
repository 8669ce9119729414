// The slots of a small batch: members, sums, centers, and a column with the cost of every point.
//
// A column depends on its slot alone, so a kept one holds the very numbers that taking it again
// would give. Those of remembered clusters that sleep are the same for all visiting orders.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_params.hpp"
#include "algorithm/cost.hpp"
#include "passes/small_points.hpp"
#include "records/remembered.hpp"
#include "records/solution.hpp"

namespace dynmeans {

template <std::size_t D>
class SmallSlots {
  public:
    static constexpr std::size_t kNone = CostTable::kNone;
    static constexpr double kOutside = kUnlabeled;  // the label of who takes no part

    // The columns of the remembered clusters, and a last one for slots that are gone.
    void remember(const SmallPoints<D>& points, const Remembered& remembered,
                  const BatchSums& sums) {
        points_ = &points;
        remembered_ = &remembered;
        sums_ = &sums;
        sum_.resize(points.n_features());
        totals_.resize(sums.columns.n_columns());
        labels_ = label_memory_.at_least(points.n_padded());
        n_slots_ = 0;
        reserve(remembered.n_clusters + 8);
        columns_.at_least((2 * remembered.n_clusters + 9) * points.n_padded());
        for (std::size_t k = 0; k < remembered.n_clusters; ++k)
            take_column(k, remembered.center(k), remembered.offsets[k], remembered.scales[k]);
        std::fill_n(column_at(remembered.n_clusters), points.n_padded(), CostTable::kNever);
    }

    // Every remembered cluster sleeps, no other is there.
    void start() {
        n_slots_ = remembered_->n_clusters;
        has_gaps_ = false;
        std::fill_n(members_.begin(), n_slots_, 0);
        std::fill_n(bins_.begin(), n_slots_ * width(), 0.0);
        std::copy_n(remembered_->centers, n_slots_ * n_features(), centers_.begin());
        for (std::size_t k = 0; k < n_slots_; ++k) columns_of_[k] = k;
    }

    // As after a pass in which every cluster with members has changed.
    void start_from(const Solution& start) {
        const std::size_t n = start.n_members.size();
        reserve(n);
        n_slots_ = n;
        has_gaps_ = false;
        has_any_changed_ = true;
        for (std::size_t i = 0; i < points_->size(); ++i) labels_[i] = start.labels[i];
        std::copy(start.n_members.begin(), start.n_members.end(), members_.begin());
        std::copy(start.bins.begin(), start.bins.end(), bins_.begin());
        std::copy_n(remembered_->centers, remembered_->n_clusters * n_features(), centers_.begin());
        for (std::size_t k = 0; k < n; ++k) {
            has_changed_[k] = members_[k] > 0;
            columns_of_[k] = k;
        }
    }

    // The labels of the first pass are in `labels()`.
    void count_members() {
        std::fill_n(members_.begin(), n_slots_, 0);
        const std::size_t n_points = points_->size(), n = width();
        const double *labels = labels_, *parts = points_->parts(0);
        double* sums = bins(0);
        std::int64_t* members = members_.data();
        for (std::size_t i = 0; i < n_points; ++i) {
            if (labels[i] == kOutside) continue;
            const auto k = static_cast<std::size_t>(labels[i]);
            ++members[k];
            add<1>(parts + i * n, sums + k * n, n);
        }
        has_any_changed_ = false;
        for (std::size_t k = 0; k < n_slots_; ++k)
            has_any_changed_ |= has_changed_[k] = members_[k] > 0;
    }

    void start_pass() {
        std::fill_n(has_changed_.begin(), n_slots_, 0);
        has_any_changed_ = false;
    }

    // Slots are held as doubles where those of many points are compared at once.
    double* labels() { return labels_; }
    const double* labels() const { return labels_; }
    std::size_t size() const { return n_slots_; }
    std::int64_t members(std::size_t k) const { return members_[k]; }
    bool has_any_changed() const { return has_any_changed_; }
    const double* center(std::size_t k) const { return centers_.data() + k * n_features(); }
    const double* column(std::size_t k) const { return column_at(columns_of_[k]); }
    const double* dormant_column(std::size_t k) const { return column_at(k); }

    // A new slot at point i, or the cluster that slept in slot k drawn there.
    std::size_t wake(std::size_t i, std::size_t k) {
        const bool is_new = k == kNone;
        if (is_new) k = append();
        const double gamma = is_new ? 0.0 : remembered_->gamma[k];
        double* theta = centers_.data() + k * n_features();
        for (std::size_t j = 0; j < n_features(); ++j) {
            const double y = points_->feature(i, j);
            theta[j] = is_new ? y : (gamma * remembered_->center(k)[j] + y) / (gamma + 1.0);
        }
        return k;
    }

    // Puts point i into slot k. Returns who woke and who fell asleep by it; kNone: nobody.
    std::array<std::size_t, 2> place(std::size_t i, std::size_t k) {
        const bool wakes = k == kNone || members_[k] == 0;
        if (wakes) {
            k = wake(i, k);
            take_active_column(k);
        }
        const auto left = static_cast<std::size_t>(labels_[i]);
        move(i, k);
        const bool empties = members_[left] == 0;
        if (empties) deactivate(left);
        return {wakes ? k : kNone, empties ? left : kNone};
    }

    // To a slot with members from one that keeps some.
    void move(std::size_t i, std::size_t to) {
        const auto from = static_cast<std::size_t>(labels_[i]);
        labels_[i] = static_cast<double>(to);
        ++members_[to];
        --members_[from];
        add<1>(points_->parts(i), bins(to), width());
        add<-1>(points_->parts(i), bins(from), width());
        has_changed_[to] = has_changed_[from] = has_any_changed_ = true;
    }

    // Closes the gaps, then moves the centers of slots that changed and takes their columns anew.
    void update() {
        if (has_gaps_) compact_slots();
        changed_.resize(n_slots_);
        std::size_t n_changed = 0;
        for (std::size_t k = 0; k < n_slots_; ++k) {  // without a branch: who has is random
            changed_[n_changed] = static_cast<Slot>(k);
            n_changed += static_cast<unsigned>(has_changed_[k] != 0) & (members_[k] > 0);
        }
        for (std::size_t c = 0; c < n_changed; c += kSimd) {
            const std::size_t n = std::min(kSimd, n_changed - c);
            if constexpr (D > 0)
                if (update_lanes(changed_.data() + c, n)) continue;
            for (std::size_t r = c; r < c + n; ++r) update_slot(changed_[r]);
        }
        for (std::size_t c = 0; c < n_changed; ++c) take_active_column(changed_[c]);
    }

    // L_t.
    double cost(double new_penalty) {
        double total = 0.0;
        for (std::size_t k = 0; k < n_slots_; ++k) {
            if (members_[k] == 0)
                within_[k] = 0.0;
            else
                total += k < remembered_->n_clusters ? revivals_[k] : new_penalty;
        }
        return total + rounded_sum(within_.data(), n_slots_, 1);
    }

    void keep(Solution& best) const {
        best.labels.resize(points_->size());
        for (std::size_t i = 0; i < points_->size(); ++i)
            best.labels[i] = static_cast<Slot>(labels_[i]);
        best.counts.resize(n_slots_);
        for (std::size_t k = 0; k < n_slots_; ++k) best.counts[k] = count(k);
        best.centers.assign(centers_.begin(), centers_.begin() + n_slots_ * n_features());
        best.n_members.assign(members_.begin(), members_.begin() + n_slots_);
        best.bins.assign(bins_.begin(), bins_.begin() + n_slots_ * width());
    }

  private:
    std::size_t n_features() const { return points_->n_features(); }
    std::size_t width() const { return sums_->columns.size(); }
    double count(std::size_t k) const {
        return sums_->has_weights ? sums_->columns.total(bins_.data() + k * width(), 0)
                                  : static_cast<double>(members_[k]);
    }
    double* bins(std::size_t k) { return bins_.data() + k * width(); }
    double* column_at(std::size_t c) { return columns_.data() + c * points_->n_padded(); }
    const double* column_at(std::size_t c) const {
        return columns_.data() + c * points_->n_padded();
    }

    void reserve(std::size_t n_slots) {
        if (members_.size() < n_slots) {
            members_.resize(n_slots);
            columns_of_.resize(n_slots);
            has_changed_.resize(n_slots);
            within_.resize(n_slots);
            revivals_.resize(n_slots);
        }
        if (centers_.size() < n_slots * n_features()) centers_.resize(n_slots * n_features());
        if (bins_.size() < n_slots * width()) bins_.resize(n_slots * width());
    }

    std::size_t append() {
        reserve(n_slots_ < members_.size() ? n_slots_ + 1 : 2 * n_slots_);
        members_[n_slots_] = 0;
        has_changed_[n_slots_] = 1;
        std::fill_n(bins(n_slots_), width(), 0.0);
        return n_slots_++;
    }

    template <int Sign>
    static void add(const double* parts, double* sums, std::size_t n) {
        if constexpr (D > 0) {
            constexpr std::size_t kTwice = 2 * (D + 2);
            if (n == kTwice) {  // most often there are two bins
                double both[kTwice];
                for (std::size_t b = 0; b < kTwice; ++b) both[b] = sums[b] + Sign * parts[b];
                std::copy_n(both, kTwice, sums);
                return;
            }
        }
        for (std::size_t b = 0; b < n; ++b) sums[b] += Sign * parts[b];
    }

    void take_column(std::size_t c, const double* theta, double offset, double scale) {
        double* into = column_at(c);
        for (std::size_t at = 0; at < points_->n_padded(); at += kSimd)
            store(into + at, offset + scale * points_->squared_distances(theta, at));
    }

    void take_active_column(std::size_t k) {
        const std::size_t c = remembered_->n_clusters + 1 + k;
        columns_.at_least((c + 1) * points_->n_padded());
        columns_of_[k] = c;
        double* into = column_at(c);
        for (std::size_t at = 0; at < points_->n_padded(); at += kSimd)
            store(into + at, points_->squared_distances(center(k), at));
    }

    // The center of slot k, what its points cost there, and its terms of revival.
    void update_slot(std::size_t k) {
        const std::size_t d = n_features(), first = sums_->has_weights ? 1 : 0;
        Pair<double> few[D + 3], *totals = D > 0 ? few : totals_.data();
        sums_->columns.write_precise_totals(bins(k), totals);
        for (std::size_t j = 0; j < d; ++j) sum_[j] = totals[first + j].value;
        const Pair<double> n =
            first == 1 ? totals[0] : Pair<double>{static_cast<double>(members_[k]), 0.0};
        double* theta = centers_.data() + k * d;
        write_center(k, n.value, sum_.data(), *remembered_, theta);
        within_[k] =
            within_slot(n, theta, d, [&](std::size_t column) { return totals[first + column]; });
        if (k < remembered_->n_clusters) revivals_[k] = revival_terms(*remembered_, k, theta);
    }

    // The same of at most kSimd slots of few features, one in each lane, in the same steps; false
    // where there are not two bins, or near underflow.
    bool update_lanes(const Slot* slots, std::size_t n) {
        const std::size_t n_columns = sums_->columns.n_columns(), first = sums_->has_weights;
        if (sums_->columns.n_bins() != 2) return false;
        double high[D + 3][kSimd], low[D + 3][kSimd], mass[kSimd], gamma[kSimd];
        double old[D][kSimd], offsets[kSimd];
        for (std::size_t lane = 0; lane < kSimd; ++lane) {
            const std::size_t k = slots[lane < n ? lane : 0];
            const double* sums = bins(k);
            for (std::size_t c = 0; c < n_columns; ++c) {
                high[c][lane] = sums[c];
                low[c][lane] = sums[n_columns + c];
            }
            const bool is_new = k >= remembered_->n_clusters;
            mass[lane] = static_cast<double>(members_[k]);
            gamma[lane] = is_new ? 0.0 : remembered_->gamma[k];
            offsets[lane] = is_new ? 0.0 : remembered_->offsets[k];
            for (std::size_t j = 0; j < D; ++j)
                old[j][lane] = is_new ? 0.0 : remembered_->center(k)[j];
        }
        Pair<Doubles> totals[D + 3];
        for (std::size_t c = 0; c < n_columns; ++c)
            totals[c] = two_sum(load(high[c]), load(low[c]));
        const Pair<Doubles> all = first ? totals[0] : Pair<Doubles>{load(mass), Doubles{}};
        const Doubles weights = load(gamma);
        Doubles theta[D], squares[D];
        for (std::size_t j = 0; j < D; ++j) {
            theta[j] = (load(old[j]) * weights + totals[first + j].value) / (weights + all.value);
            squares[j] = (theta[j] - load(old[j])) * (theta[j] - load(old[j]));
        }
        unsigned is_tiny = 0;
        const Doubles within = within_slots(
            all, theta, D, [&](std::size_t c) { return totals[first + c]; },
            [&](Doubles a, Doubles b) { return two_product(a, b, is_tiny); });
        if (is_tiny != 0) return false;
        const Doubles revivals = load(offsets) + weights * add_few_in_halves<D>(squares);
        for (std::size_t lane = 0; lane < n; ++lane) {
            const std::size_t k = slots[lane];
            for (std::size_t j = 0; j < D; ++j) centers_[k * D + j] = theta[j][lane];
            within_[k] = std::max(0.0, within[lane]);
            revivals_[k] = revivals[lane];
        }
        return true;
    }

    // An emptied remembered cluster falls back to its memory; an emptied new one is gone.
    void deactivate(std::size_t k) {
        const bool is_new = k >= remembered_->n_clusters;
        has_gaps_ |= is_new;
        columns_of_[k] = is_new ? remembered_->n_clusters : k;
        if (!is_new)
            std::copy_n(remembered_->center(k), n_features(), centers_.data() + k * n_features());
    }

    void compact_slots() {
        has_gaps_ = false;
        renamed_.resize(n_slots_);
        std::size_t next = remembered_->n_clusters;
        for (std::size_t k = next; k < n_slots_; ++k) {
            renamed_[k] = static_cast<double>(next);
            if (members_[k] == 0) continue;
            if (k != next) move_slot(k, next);
            ++next;
        }
        n_slots_ = next;
        for (std::size_t i = 0; i < points_->size(); ++i)
            if (labels_[i] >= static_cast<double>(remembered_->n_clusters))
                labels_[i] = renamed_[static_cast<std::size_t>(labels_[i])];
    }

    void move_slot(std::size_t from, std::size_t to) {
        members_[to] = members_[from];
        has_changed_[to] = has_changed_[from];
        within_[to] = within_[from];
        std::copy_n(bins(from), width(), bins(to));
        std::copy_n(center(from), n_features(), centers_.data() + to * n_features());
        if (!has_changed_[to]) take_active_column(to);
    }

    const SmallPoints<D>* points_ = nullptr;
    const Remembered* remembered_ = nullptr;
    const BatchSums* sums_ = nullptr;
    std::size_t n_slots_ = 0;
    bool has_gaps_ = false, has_any_changed_ = false;
    RegisterArray label_memory_, columns_;
    double* labels_ = nullptr;
    std::vector<std::int64_t> members_;
    std::vector<std::size_t> columns_of_;  // where the column of a slot is now
    std::vector<std::uint8_t> has_changed_;
    std::vector<Slot> changed_;
    std::vector<double> centers_, bins_, sum_, within_, revivals_, renamed_;
    std::vector<Pair<double>> totals_;
};

}  // namespace dynmeans
