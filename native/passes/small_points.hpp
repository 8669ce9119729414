// Structure of arrays: a small batch feature by feature, in whole registers of several points.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "numeric/simd.hpp"
#include "numeric/squared_distance.hpp"
#include "records/points.hpp"

namespace dynmeans {

// Memory that begins with a whole register, and stays for the next batch of the same thread.
class RegisterArray {
  public:
    double* at_least(std::size_t n) {
        if (registers_.size() * kSimd < n) registers_.resize((n + kSimd - 1) / kSimd);
        return reinterpret_cast<double*>(registers_.data());
    }
    double* data() { return reinterpret_cast<double*>(registers_.data()); }
    const double* data() const { return reinterpret_cast<const double*>(registers_.data()); }

  private:
    std::vector<Doubles> registers_;
};

// D is the number of features where it is small, 0 otherwise.
template <std::size_t D>
class SmallPoints {
  public:
    template <typename Value>
    void take(const Points<Value>& points, const BatchSums& sums) {
        n_points_ = points.n_points;
        n_features_ = points.n_features;
        n_padded_ = (n_points_ + kSimd - 1) / kSimd * kSimd;
        const std::size_t d = n_features();
        features_ = values_.at_least((d + 1) * n_padded_);
        weights_ = features_ + d * n_padded_;
        double* features = features_;
        const std::size_t n_padded = n_padded_;
        for (std::size_t i = 0; i < n_points_; ++i)
            for (std::size_t j = 0; j < d; ++j)
                features[j * n_padded + i] = points.values[i * d + j];
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t i = n_points_; i < n_padded; ++i) features[j * n_padded + i] = 0.0;
        for (std::size_t i = 0; i < n_points_; ++i) weights_[i] = points.weight(i);
        for (std::size_t i = n_points_; i < n_padded_; ++i) weights_[i] = 0.0;
        split(sums);
    }

    std::size_t size() const { return n_points_; }
    std::size_t n_padded() const { return n_padded_; }  // points, rounded up to whole registers
    std::size_t n_features() const { return D > 0 ? D : n_features_; }
    const double* weights() const { return weights_; }  // 0 where no point is
    double feature(std::size_t i, std::size_t j) const { return features_[j * n_padded_ + i]; }
    bool takes_part(std::size_t i) const { return weights_[i] != 0.0; }

    // The terms of point i in the sums of its slot, dealt out to bins once for all runs.
    const double* parts(std::size_t i) const { return parts_.data() + i * n_parts_; }

    // |y - theta|^2 of the points from `at` on.
    Doubles squared_distances(const double* theta, std::size_t at) const {
        const auto square = [&](std::size_t j) {
            const Doubles difference = load(features_ + j * n_padded_ + at) - theta[j];
            return difference * difference;
        };
        if constexpr (D > 0) {
            Doubles squares[D];
            for (std::size_t j = 0; j < D; ++j) squares[j] = square(j);
            return add_few_in_halves<D>(squares);
        } else {
            const std::size_t d = n_features();
            Doubles sums[kLanes];
            DYNMEANS_UNROLL_8
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                sums[lane] = lane < d ? square(lane) : Doubles{};
            for (std::size_t j = kLanes; j < d; j += kLanes) DYNMEANS_UNROLL_8
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                if (j + lane < d) sums[lane] += square(j + lane);
            return add_in_halves(sums);
        }
    }

  private:
    void split(const BatchSums& sums) {
        const std::size_t first = sums.has_weights ? 1 : 0, d = n_features();
        n_parts_ = sums.columns.size();
        if (parts_.size() < n_padded_ * n_parts_) parts_.resize(n_padded_ * n_parts_);
        squares_.resize(2 * n_padded_);
        for (std::size_t at = 0; at < n_padded_; at += kSimd) {
            const Doubles weights = load(weights_ + at), none = fill(0.0);
            const Pair<Doubles> square = WeightedSquare::of_points(
                [&](std::size_t j) {
                    const Doubles y = load(features_ + j * n_padded_ + at);
                    return select(weights == none, none, y);
                },
                select(weights == none, fill(1.0), weights), sums.has_weights, d);
            store(&squares_[at], square.value);
            store(&squares_[n_padded_ + at], square.rest);
        }
        for (std::size_t c = 0; c < first; ++c)
            split_column(sums.columns, c, [&](std::size_t at) { return load(weights_ + at); });
        for (std::size_t j = 0; j < d; ++j)
            split_column(sums.columns, first + j, [&](std::size_t at) {
                return load(weights_ + at) * load(features_ + j * n_padded_ + at);
            });
        for (std::size_t s = 0; s < 2; ++s)
            split_column(sums.columns, first + d + s,
                         [&](std::size_t at) { return load(&squares_[s * n_padded_ + at]); });
    }

    template <typename Terms>
    void split_column(const Bins& bins, std::size_t c, const Terms& terms_at) {
        const std::size_t n_columns = bins.n_columns(), n_parts = n_parts_;
        for (std::size_t at = 0; at < n_padded_; at += kSimd) {
            double* part = parts_.data() + at * n_parts + c;
            bins.split(terms_at(at), c, [&](std::size_t bin, Doubles terms) {
                for (std::size_t lane = 0; lane < kSimd; ++lane)
                    part[lane * n_parts + bin * n_columns] = terms[lane];
            });
        }
    }

    std::size_t n_points_ = 0, n_features_ = 0, n_padded_ = 0, n_parts_ = 0;
    RegisterArray values_;
    double *features_ = nullptr, *weights_ = nullptr;
    std::vector<double> parts_, squares_;
};

}  // namespace dynmeans
