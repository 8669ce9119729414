// Distances by matrix product (BLAS), for many features: |y|^2 - 2 y.theta + |theta|^2 for a block
// of points and all slots at once, in float32 through the BLAS of the caller, as a filter; what it
// leaves is compared exactly. The filter looks at the features in which the centers differ most, as
// few as it needs: the distance over some of the features is never above the distance over all.
// They are taken in groups of neighbors, as many as a cache line holds: what is read is then used,
// a register at a time.
//
// Exact because the filter's error is bounded. With unit roundoff e = 2^-24 and any order of
// additions, a float32 inner product of n terms is off by at most (n + 3) e |y||theta|, the
// rounding of both vectors to float32 included, for n e well below 1; the norms are taken in
// float64. So no cost is below its filtered value by more than `error`. A slot whose filtered cost
// is above the exact cost of any other by more than that cannot be the cheapest. Both are measured
// from a common origin near the data, which changes no distance and keeps the norms small.
//
// Filtered costs are first formed in float32, of which a register holds twice as many, and only the
// lowest of a block of slots is kept; only blocks that may hold the cheapest are looked at again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "numeric/simd.hpp"
#include "numeric/squared_distance.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"

namespace dynmeans {

// The Fortran interface of sgemm, C := alpha op(A) op(B) + beta C.
using Sgemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, float* alpha, float* a,
                       int* lda, float* b, int* ldb, float* beta, float* c, int* ldc);

class BlasFilter {
  public:
    static constexpr std::size_t kRows = 256;  // points filtered together

    BlasFilter(Sgemm sgemm, std::size_t n_features)
        : sgemm_(sgemm),
          n_features_(n_features),
          n_groups_((n_features + kGroup - 1) / kGroup),
          n_used_(is_enabled<acceleration("filter_features")>()
                      ? std::min(n_groups_, std::max(kFewest, (n_groups_ + 3) / 4))
                      : n_groups_) {}

    // The bound on the error needs n_features * 2^-24 well below 1.
    bool is_available() const { return sgemm_ != nullptr && n_features_ <= 100000; }

    // Copies the slots that could win at all.
    void prepare(const CostTable& table, double new_penalty) {
        new_penalty_ = new_penalty;
        slots_.clear();
        for (std::size_t k = 0; k < table.size(); ++k)
            if (table.offset(k) <= new_penalty) slots_.push_back(static_cast<Slot>(k));
        choose_features(table);
        // Room for whole registers; the lanes beyond the last slot never win.
        const std::size_t n_padded = (slots_.size() + kFloats - 1) / kFloats * kFloats;
        centers_.assign(n_padded * width(), 0.0f);
        bases_.assign(n_padded, CostTable::kNever);
        scales_.assign(n_padded, 1.0);
        largest_norm_ = 0.0;
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            const double norm = shift(table.center(k), centers_.data() + s * width());
            bases_[s] = table.offset(k) + table.scale(k) * norm;
            scales_[s] = table.scale(k);
            largest_norm_ = std::max(largest_norm_, norm);
        }
        rough_bases_.assign(bases_.begin(), bases_.end());
        rough_scales_.assign(scales_.begin(), scales_.end());
    }

    struct Scratch {
        std::vector<float> rows, products, lows;  // lows: of each block of slots
        std::vector<double> norms, buffer;
        std::vector<std::size_t> likely;
        // Since last asked: points that found a slot, and what those compared exactly.
        std::size_t n_found = 0, n_compared = 0;
    };

    // The cheapest slots of the points at order[begin .. end), at most kRows of them.
    template <typename Value>
    void find(const Points<Value>& points, const Row* order, std::size_t begin, std::size_t end,
              const CostTable& table, Scratch& scratch, Choice* choices) const {
        const std::size_t n_rows = end - begin, n_slots = bases_.size();
        scratch.rows.resize(n_rows * width());
        scratch.norms.resize(n_rows);
        scratch.products.resize(n_rows * n_slots);
        scratch.lows.resize(n_rows * n_blocks());
        scratch.likely.resize(n_rows);
        scratch.buffer.resize(n_features_);
        for (std::size_t r = 0; r < n_rows; ++r)
            scratch.norms[r] = shift(points.row(order[begin + r], scratch.buffer.data()),
                                     scratch.rows.data() + r * width());
        if (n_slots > 0) multiply(scratch, n_rows);
        for (std::size_t r = 0; r < n_rows; ++r)
            scratch.likely[r] = lowest_of(scratch.products.data() + r * n_slots, scratch.norms[r],
                                          scratch.lows.data() + r * n_blocks());
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* y = points.row(order[begin + r], scratch.buffer.data());
            choices[r] = is_in_range(scratch.norms[r])
                             ? pick(y, r, table, scratch)
                             : table.cheapest(y, new_penalty_, CostTable::kNone);
        }
    }

    // Takes more features next time if too many slots passed the filter. Points that open a cluster
    // do not count: all slots within lambda pass for them, however many features are looked at.
    void learn(std::vector<Scratch>& scratches) {
        std::size_t n_found = 0, n_compared = 0;
        for (Scratch& scratch : scratches) {
            n_found += scratch.n_found;
            n_compared += scratch.n_compared;
            scratch.n_found = scratch.n_compared = 0;
        }
        // A group more of features takes the product about as long as this many comparisons.
        const std::size_t most = (kMostCompared + slots_.size() / kSlotsOfOne) * n_found;
        if (n_compared <= most) return;
        const std::size_t n_more = n_compared > kFarTooMany * most ? n_used_ / 2 : n_used_ / 4;
        n_used_ = std::min(n_used_ + std::max<std::size_t>(1, n_more), n_groups_);
    }

    std::size_t n_used() const { return n_used_; }  // groups of features

  private:
    static constexpr std::size_t kGroup = 8, kFewest = 4;  // features; groups of them
    static constexpr std::size_t kFloats = 2 * kSimd;
    static constexpr std::size_t kBlock = 4 * kFloats;  // slots of which the lowest is kept
    static constexpr std::size_t kMostCompared = 3, kSlotsOfOne = 256;  // slots
    static constexpr std::size_t kFarTooMany = 8;
    static constexpr double kNearlyAll = 0.9;
    static constexpr double kUnit = 1.0 / (1u << 24u);

    std::size_t width() const { return n_used_ * kGroup; }
    std::size_t n_blocks() const { return (bases_.size() + kBlock - 1) / kBlock; }
    std::size_t end_of_block(std::size_t b) const {
        return std::min((b + 1) * kBlock, bases_.size());
    }

    // The groups in which the centers spread most, and the mean of the centers as origin.
    void choose_features(const CostTable& table) {
        const std::size_t d = n_features_;
        std::vector<double> mean(n_groups_ * kGroup, 0.0), spread(n_groups_, 0.0);
        const double n = static_cast<double>(std::max<std::size_t>(slots_.size(), 1));
        for (const Slot k : slots_)
            for (std::size_t j = 0; j < d; ++j) mean[j] += table.center(k)[j];
        for (double& x : mean) x /= n;
        for (const Slot k : slots_)
            for (std::size_t j = 0; j < d; ++j) {
                const double x = table.center(k)[j] - mean[j];
                spread[j / kGroup] += x * x;
            }
        choose_groups(spread);
        origin_.resize(width());
        for (std::size_t u = 0; u < n_used_; ++u)
            std::copy_n(mean.data() + groups_[u] * kGroup, kGroup, origin_.data() + u * kGroup);
    }

    // Those that spread most, or as many in a row if they do nearly as well: memory is read in a
    // row.
    void choose_groups(const std::vector<double>& spread) {
        groups_.resize(n_groups_);
        std::iota(groups_.begin(), groups_.end(), std::size_t{0});
        if (n_used_ < n_groups_)
            std::nth_element(groups_.begin(), groups_.begin() + n_used_, groups_.end(),
                             [&](std::size_t a, std::size_t b) {
                                 return spread[a] != spread[b] ? spread[a] > spread[b] : a < b;
                             });
        groups_.resize(n_used_);
        std::sort(groups_.begin(), groups_.end());
        double most = 0.0, in_a_row = 0.0;
        for (const std::size_t group : groups_) most += spread[group];
        for (std::size_t last = 0; last < n_groups_; ++last) {
            in_a_row += spread[last];
            if (last >= n_used_) in_a_row -= spread[last - n_used_];
            if (last + 1 < n_used_ || in_a_row < kNearlyAll * most) continue;
            return std::iota(groups_.begin(), groups_.end(), last + 1 - n_used_);
        }
    }

    // Writes the used features, seen from the origin; returns their squared norm.
    double shift(const double* y, float* shifted) const {
        Doubles norms{};
        for (std::size_t u = 0; u < n_used_; ++u) {
            const std::size_t first = groups_[u] * kGroup;
            double group[kGroup] = {};  // beyond the last feature it holds zeros
            if (first + kGroup > n_features_) {
                std::copy(y + first, y + n_features_, group);
                norms += shift_group(group, u, shifted);
            } else {
                norms += shift_group(y + first, u, shifted);
            }
        }
        return sum_of_lanes(norms);
    }

    Doubles shift_group(const double* y, std::size_t u, float* shifted) const {
        Doubles norms{};
        for (std::size_t j = 0; j < kGroup; j += kSimd) {
            const Doubles x = load(y + j) - load(&origin_[u * kGroup + j]);
            norms += x * x;
            store(shifted + u * kGroup + j, x);
        }
        return norms;
    }

    // float32 must hold every product, and lose none to underflow.
    bool is_in_range(double norm) const {
        return norm < 1e30 && largest_norm_ < 1e30 && new_penalty_ < 1e30 &&
               norm * largest_norm_ > 1e-50;
    }

    // How far a product of n terms may be off, for rows of these squared norms, twice.
    static double product_error(std::size_t n, double norm, double other_norm) {
        return 2.02 * (static_cast<double>(n) + 8.0) * kUnit * std::sqrt(norm * other_norm) +
               1e-12 * (norm + other_norm);
    }

    void multiply(Scratch& scratch, std::size_t n_rows) const {
        char transposed = 'T', plain = 'N';
        int m = static_cast<int>(bases_.size()), n = static_cast<int>(n_rows),
            k = static_cast<int>(width());
        float one = 1.0f, zero = 0.0f;
        sgemm_(&transposed, &plain, &m, &n, &k, &one, const_cast<float*>(centers_.data()), &k,
               scratch.rows.data(), &k, &zero, scratch.products.data(), &m);
    }

    // Filtered costs of the slots from s on, formed in float64 from the float32 products: only
    // those are in error.
    Doubles filtered(const float* products, std::size_t s, double norm) const {
        return load(&bases_[s]) + load(&scales_[s]) * (norm - 2.0 * load(products + s));
    }

    // Where the lowest filtered cost is; writes the lowest of each block, in float32.
    std::size_t lowest_of(const float* products, double norm, float* lows) const {
        if (bases_.empty()) return 0;
        const auto rough_norm = static_cast<float>(norm);
        std::size_t best = 0;
        for (std::size_t b = 0; b < n_blocks(); ++b) {
            Floats lowest = rough(products, b * kBlock, rough_norm);
            for (std::size_t s = b * kBlock + kFloats; s < end_of_block(b); s += kFloats) {
                const Floats found = rough(products, s, rough_norm);
                lowest = select(found < lowest, found, lowest);
            }
            lows[b] = lowest_lane(lowest);
            if (lows[b] < lows[best]) best = b;
        }
        Doubles lowest = fill(CostTable::kNever), base_of_lowest{};
        for (std::size_t s = best * kBlock; s < end_of_block(best); s += kSimd) {
            const Doubles found = filtered(products, s, norm);
            base_of_lowest = select(found < lowest, fill(static_cast<double>(s)), base_of_lowest);
            lowest = select(found < lowest, found, lowest);
        }
        const unsigned lane = lowest_bit(lanes_equal(lowest, fill(lowest_lane(lowest))));
        return static_cast<std::size_t>(base_of_lowest[lane]) + lane;
    }

    // Filtered costs in float32.
    Floats rough(const float* products, std::size_t s, float norm) const {
        return load_floats(&rough_bases_[s]) +
               load_floats(&rough_scales_[s]) * (norm - 2.0f * load_floats(products + s));
    }

    // The most likely winner first: its exact cost is what the others are held against.
    Choice pick(const double* y, std::size_t r, const CostTable& table, Scratch& scratch) const {
        const std::size_t likely = scratch.likely[r];
        Choice choice{CostTable::kNone, new_penalty_};
        const auto slot = static_cast<std::size_t>(slots_[likely]);
        CostTable::consider(choice, slot, table.cost(y, slot));

        const float* products = scratch.products.data() + r * bases_.size();
        const double norm = scratch.norms[r];
        const double limit = std::nextafter(
            choice.cost + product_error(width(), norm, largest_norm_), CostTable::kNever);
        // What float32 rounds: eight steps, of numbers up to twice these.
        const double rough_limit = limit + 32.0 * kUnit * (norm + largest_norm_ + new_penalty_);
        const float* lows = scratch.lows.data() + r * n_blocks();
        std::size_t n_compared = 1;
        for (std::size_t b = 0; b < n_blocks(); ++b) {
            if (lows[b] > rough_limit) continue;
            for (std::size_t s = b * kBlock; s < end_of_block(b); s += kSimd)
                for (unsigned left = lanes_at_most(filtered(products, s, norm), limit); left != 0;
                     left &= left - 1) {
                    const std::size_t at = s + lowest_bit(left);
                    if (at == likely) continue;
                    const auto k = static_cast<std::size_t>(slots_[at]);
                    CostTable::consider(choice, k, table.cost_up_to(choice.cost, y, k));
                    ++n_compared;
                }
        }
        if (choice.slot == CostTable::kNone) return choice;
        ++scratch.n_found;
        scratch.n_compared += n_compared;
        return choice;
    }

    Sgemm sgemm_;
    std::size_t n_features_, n_groups_, n_used_;
    double new_penalty_ = 0.0, largest_norm_ = 0.0;
    std::vector<Slot> slots_;
    std::vector<std::size_t> groups_;
    std::vector<double> origin_, bases_, scales_;
    std::vector<float> centers_, rough_bases_, rough_scales_;
};

}  // namespace dynmeans
