// Many features: |y|^2 - 2 y.theta + |theta|^2 for a block of points and all slots at once, in
// float32 through the BLAS of the caller, as a filter; what it leaves is compared exactly. The
// filter looks at the features in which the centers differ most, as few as it needs: the distance
// over some of the features is never above the distance over all.
//
// Exact because the filter's error is bounded. With unit roundoff e = 2^-24 and any order of
// additions, a float32 inner product of n terms is off by at most (n + 3) e |y||theta|, the
// rounding of both vectors to float32 included, for n e well below 1; the norms are taken in
// float64. So no cost is below its filtered value by more than `error`. A slot whose filtered cost
// is above the exact cost of any other by more than that cannot be the cheapest. Both are measured
// from a common origin near the data, which changes no distance and keeps the norms small.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cost_table.hpp"
#include "points.hpp"
#include "simd.hpp"
#include "squared_distance.hpp"

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
          n_used_(std::min(n_features, std::max<std::size_t>(kFewest, n_features / 4))) {}

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
        const std::size_t n_padded = (slots_.size() + kSimd - 1) / kSimd * kSimd;
        centers_.assign(n_padded * n_used_, 0.0f);
        bases_.assign(n_padded, CostTable::kNever);
        scales_.assign(n_padded, 1.0);
        largest_norm_ = 0.0;
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            const double norm = shift(table.center(k), centers_.data() + s * n_used_);
            bases_[s] = table.offset(k) + table.scale(k) * norm;
            scales_[s] = table.scale(k);
            largest_norm_ = std::max(largest_norm_, norm);
        }
    }

    struct Scratch {
        std::vector<float> rows, products;
        std::vector<double> norms, costs, buffer;
        std::size_t n_compared = 0;  // exactly, since last asked
    };

    // The cheapest slots of the points at order[begin .. end), at most kRows of them.
    template <typename Value>
    void find(const Points<Value>& points, const std::int64_t* order, std::size_t begin,
              std::size_t end, const CostTable& table, Scratch& scratch, Choice* choices) const {
        const std::size_t n_rows = end - begin, n_slots = bases_.size();
        scratch.rows.resize(n_rows * n_used_);
        scratch.norms.resize(n_rows);
        scratch.products.resize(n_rows * n_slots);
        scratch.costs.resize(n_slots);
        scratch.buffer.resize(n_features_);
        for (std::size_t r = 0; r < n_rows; ++r) {
            if (r + kAhead < n_rows) points.prefetch(order[begin + r + kAhead]);
            scratch.norms[r] = shift(points.row(order[begin + r], scratch.buffer.data()),
                                     scratch.rows.data() + r * n_used_);
        }
        if (n_slots > 0) multiply(scratch, n_rows);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* y = points.row(order[begin + r], scratch.buffer.data());
            choices[r] = is_in_range(scratch.norms[r])
                             ? pick(y, scratch.products.data() + r * n_slots, scratch.norms[r],
                                    table, scratch)
                             : table.cheapest(y, new_penalty_, CostTable::kNone);
        }
    }

    // Takes more features next time if too many slots passed the filter.
    void learn(std::size_t n_points, std::vector<Scratch>& scratches) {
        std::size_t n_compared = 0;
        for (Scratch& scratch : scratches) {
            n_compared += scratch.n_compared;
            scratch.n_compared = 0;
        }
        if (n_compared > kMostCompared * n_points) n_used_ = std::min(2 * n_used_, n_features_);
    }

  private:
    static constexpr std::size_t kFewest = 32, kMostCompared = 3, kAhead = 3;

    // The features in which the centers spread most, and the mean of the centers as origin.
    void choose_features(const CostTable& table) {
        const std::size_t d = n_features_;
        std::vector<double> mean(d, 0.0), spread(d, 0.0);
        const double n = static_cast<double>(std::max<std::size_t>(slots_.size(), 1));
        for (const Slot k : slots_)
            for (std::size_t j = 0; j < d; ++j) mean[j] += table.center(k)[j] / n;
        for (const Slot k : slots_)
            for (std::size_t j = 0; j < d; ++j) {
                const double x = table.center(k)[j] - mean[j];
                spread[j] += x * x;
            }
        features_.resize(d);
        for (std::size_t j = 0; j < d; ++j) features_[j] = static_cast<std::uint32_t>(j);
        if (n_used_ < d)
            std::nth_element(features_.begin(), features_.begin() + n_used_, features_.end(),
                             [&](std::uint32_t a, std::uint32_t b) {
                                 return spread[a] != spread[b] ? spread[a] > spread[b] : a < b;
                             });
        features_.resize(n_used_);
        std::sort(features_.begin(), features_.end());
        origin_.resize(n_used_);
        for (std::size_t u = 0; u < n_used_; ++u) origin_[u] = mean[features_[u]];
    }

    // Writes the used features, seen from the origin; returns their squared norm.
    double shift(const double* y, float* shifted) const {
        double norms[4] = {};
        std::size_t u = 0;
        for (; u + 4 <= n_used_; u += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) {
                const double x = y[features_[u + lane]] - origin_[u + lane];
                norms[lane] += x * x;
                shifted[u + lane] = static_cast<float>(x);
            }
        for (; u < n_used_; ++u) {
            const double x = y[features_[u]] - origin_[u];
            norms[0] += x * x;
            shifted[u] = static_cast<float>(x);
        }
        return (norms[0] + norms[1]) + (norms[2] + norms[3]);
    }

    // float32 must hold every product, and lose none to underflow.
    bool is_in_range(double norm) const {
        return norm < 1e30 && largest_norm_ < 1e30 && norm * largest_norm_ > 1e-50;
    }

    void multiply(Scratch& scratch, std::size_t n_rows) const {
        char transposed = 'T', plain = 'N';
        int m = static_cast<int>(bases_.size()), n = static_cast<int>(n_rows),
            k = static_cast<int>(n_used_);
        float one = 1.0f, zero = 0.0f;
        sgemm_(&transposed, &plain, &m, &n, &k, &one, const_cast<float*>(centers_.data()), &k,
               scratch.rows.data(), &k, &zero, scratch.products.data(), &m);
    }

    // Filtered costs are formed in float64 from the float32 products: only those are in error.
    Choice pick(const double* y, const float* products, double norm, const CostTable& table,
                Scratch& scratch) const {
        const double unit = std::ldexp(1.0, -24), n = static_cast<double>(n_used_);
        const double error = 2.02 * (n + 8.0) * unit * std::sqrt(norm * largest_norm_) +
                             1e-12 * (norm + largest_norm_);
        Doubles lowest = fill(CostTable::kNever);
        for (std::size_t s = 0; s < bases_.size(); s += kSimd) {
            const Doubles found =
                load(&bases_[s]) + load(&scales_[s]) * (norm - 2.0 * load(products + s));
            std::memcpy(&scratch.costs[s], &found, sizeof found);
            lowest = found < lowest ? found : lowest;
        }
        // The most likely winner first: its exact cost is what the others are held against.
        Choice choice{CostTable::kNone, new_penalty_};
        const double first = lowest_lane(lowest);
        compare(y, first, table, scratch, choice);
        compare(y, std::nextafter(choice.cost + error, CostTable::kNever), table, scratch, choice);
        return choice;
    }

    void compare(const double* y, double limit, const CostTable& table, Scratch& scratch,
                 Choice& choice) const {
        for (std::size_t s = 0; s < bases_.size(); s += kSimd)
            for (unsigned left = lanes_at_most(load(&scratch.costs[s]), limit), lane = 0; left != 0;
                 left >>= 1, ++lane) {
                if (!(left & 1)) continue;
                const auto k = static_cast<std::size_t>(slots_[s + lane]);
                CostTable::consider(choice, k, table.cost_up_to(choice.cost, y, k));
                ++scratch.n_compared;
                scratch.costs[s + lane] = CostTable::kNever;  // once is enough
            }
    }

    Sgemm sgemm_;
    std::size_t n_features_, n_used_;
    double new_penalty_ = 0.0, largest_norm_ = 0.0;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> features_;
    std::vector<double> origin_, bases_, scales_;
    std::vector<float> centers_;
};

}  // namespace dynmeans
