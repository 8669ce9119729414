// Many features: |y|^2 - 2 y.theta + |theta|^2 for a block of points and all slots at once, in
// float32 through the BLAS of the caller, as a filter; what it leaves is compared exactly.
//
// Exact because the filter's error is bounded. With unit roundoff e = 2^-24 and any order of
// additions, a float32 inner product of d terms is off by at most (d + 3) e |y||theta|, the
// rounding of both vectors to float32 included, for d e well below 1; the norms are taken in
// float64. So every filtered cost is within `error` of the true one, and a slot whose filtered cost
// is above the lowest by more than twice that cannot be the cheapest. Both are measured from a
// common origin near the data, which changes no distance and keeps the norms small.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cost_table.hpp"
#include "points.hpp"

namespace dynmeans {

// The Fortran interface of sgemm, C := alpha op(A) op(B) + beta C.
using Sgemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, float* alpha, float* a,
                       int* lda, float* b, int* ldb, float* beta, float* c, int* ldc);

class BlasFilter {
  public:
    static constexpr std::size_t kRows = 256;  // points filtered together

    BlasFilter(Sgemm sgemm, std::size_t n_features) : sgemm_(sgemm), n_features_(n_features) {}

    // The bound on the error needs n_features * 2^-24 well below 1.
    bool is_available() const { return sgemm_ != nullptr && n_features_ <= 100000; }

    // Copies the slots that could win at all.
    void prepare(const CostTable& table, double new_penalty) {
        const std::size_t d = n_features_;
        new_penalty_ = new_penalty;
        slots_.clear();
        origin_.assign(d, 0.0);
        for (std::size_t k = 0; k < table.size(); ++k) {
            if (table.offset(k) > new_penalty) continue;
            slots_.push_back(static_cast<Slot>(k));
            for (std::size_t j = 0; j < d; ++j) origin_[j] += table.center(k)[j];
        }
        for (double& x : origin_) x /= static_cast<double>(std::max<std::size_t>(slots_.size(), 1));
        centers_.resize(slots_.size() * d);
        norms_.resize(slots_.size());
        largest_norm_ = 0.0;
        has_plain_costs_ = true;
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            double norm = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double x = table.center(k)[j] - origin_[j];
                norm += x * x;
                centers_[s * d + j] = static_cast<float>(x);
            }
            norms_[s] = norm;
            largest_norm_ = std::max(largest_norm_, norm);
            has_plain_costs_ &= table.offset(k) == 0.0 && table.scale(k) == 1.0;
        }
    }

    struct Scratch {
        std::vector<float> rows, products;
        std::vector<double> norms, buffer;
    };

    // The cheapest slots of the points at order[begin .. end), at most kRows of them.
    template <typename Value>
    void find(const Points<Value>& points, const std::int64_t* order, std::size_t begin,
              std::size_t end, const CostTable& table, Scratch& scratch, Choice* choices) const {
        const std::size_t d = n_features_, n_rows = end - begin, n_slots = slots_.size();
        scratch.rows.resize(n_rows * d);
        scratch.products.resize(n_rows * n_slots);
        scratch.norms.resize(n_rows);
        scratch.buffer.resize(d);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* y = points.row(order[begin + r], scratch.buffer.data());
            double norm = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double x = y[j] - origin_[j];
                norm += x * x;
                scratch.rows[r * d + j] = static_cast<float>(x);
            }
            scratch.norms[r] = norm;
        }
        if (n_slots > 0) multiply(scratch, n_rows);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* y = points.row(order[begin + r], scratch.buffer.data());
            choices[r] =
                is_in_range(scratch.norms[r])
                    ? pick(y, scratch.products.data() + r * n_slots, scratch.norms[r], table)
                    : table.cheapest(y, new_penalty_, CostTable::kNone);
        }
    }

  private:
    // float32 must hold every product, and lose none to underflow.
    bool is_in_range(double norm) const {
        return norm < 1e30 && largest_norm_ < 1e30 && norm * largest_norm_ > 1e-50;
    }

    void multiply(Scratch& scratch, std::size_t n_rows) const {
        char transposed = 'T', plain = 'N';
        int m = static_cast<int>(slots_.size()), n = static_cast<int>(n_rows),
            k = static_cast<int>(n_features_);
        float one = 1.0f, zero = 0.0f;
        sgemm_(&transposed, &plain, &m, &n, &k, &one, const_cast<float*>(centers_.data()), &k,
               scratch.rows.data(), &k, &zero, scratch.products.data(), &m);
    }

    // Filtered costs are formed in float64 from the float32 products: only those are in error.
    Choice pick(const double* y, const float* products, double norm, const CostTable& table) const {
        const double unit = std::ldexp(1.0, -24), d = static_cast<double>(n_features_);
        const double error = 2.0 * (d + 8.0) * unit * std::sqrt(norm * largest_norm_) * 1.01 +
                             1e-12 * (norm + largest_norm_);
        const double lowest = lowest_filtered(products, norm, table);
        Choice choice{CostTable::kNone, new_penalty_};
        const double limit = std::min(lowest + 2.0 * error, new_penalty_ + error);
        for (std::size_t s = 0; s < slots_.size(); ++s)
            if (filtered(s, products, norm, table) <= limit)
                CostTable::consider(choice, slots_[s], table.cost(y, slots_[s]));
        return choice;
    }

    double filtered(std::size_t s, const float* products, double norm,
                    const CostTable& table) const {
        const double distance = norms_[s] - 2.0 * static_cast<double>(products[s]) + norm;
        if (has_plain_costs_) return distance;
        return table.offset(slots_[s]) + table.scale(slots_[s]) * distance;
    }

    double lowest_filtered(const float* products, double norm, const CostTable& table) const {
        double lowest = CostTable::kNever;
        if (has_plain_costs_) {
            for (std::size_t s = 0; s < slots_.size(); ++s)
                lowest = std::min(lowest, norms_[s] - 2.0 * static_cast<double>(products[s]));
            return lowest + norm;
        }
        for (std::size_t s = 0; s < slots_.size(); ++s)
            lowest = std::min(lowest, filtered(s, products, norm, table));
        return lowest;
    }

    Sgemm sgemm_;
    std::size_t n_features_;
    double new_penalty_ = 0.0, largest_norm_ = 0.0;
    bool has_plain_costs_ = false;
    std::vector<Slot> slots_;
    std::vector<double> origin_, norms_;
    std::vector<float> centers_;
};

}  // namespace dynmeans
