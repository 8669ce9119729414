// What hard labels hide: -sum over points of log P(named cell | point). Densities are taken
// relative to the nearest cell's, so that none of them can overflow. As many points as a register
// has lanes are looked at together, each in its own lane.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "description/tracks.hpp"
#include "numeric/vector_math.hpp"

namespace dynmeans::description {

using namespace numeric;

// A Gaussian's density at squared distances from its mean, over that at the lowest of them.
class GaussianFall {
  public:
    explicit GaussianFall(double variance) : half_precision_(0.5 / variance) {}

    Doubles relative(Doubles squares, Doubles lowest) const {
        constexpr double kNothing = -60.0;  // e^-60 of a sum is lost in rounding
        constexpr unsigned kAll = (1u << kSimd) - 1;
        const Doubles logs = log_relative(squares, lowest);
        return lanes_at_most(logs, kNothing) == kAll ? Doubles{} : exp_of(logs);
    }
    Doubles log_relative(Doubles squares, Doubles lowest) const {
        return (lowest - squares) * half_precision_;
    }

  private:
    double half_precision_;
};

// The same for Student's t, (1 + square / (degrees scale))^-(degrees + d)/2: a power of halves.
class StudentFall {
  public:
    StudentFall(double scale, std::size_t degrees, std::size_t n_features)
        : width_(static_cast<double>(degrees) * scale), n_halves_(degrees + n_features) {}

    Doubles relative(Doubles squares, Doubles lowest) const {
        Doubles base = (width_ + lowest) / (width_ + squares);
        Doubles power = n_halves_ % 2 ? root_of(base) : fill(1.0);
        for (std::size_t n = n_halves_ / 2; n > 0; n /= 2) {
            if (n % 2) power *= base;
            base *= base;
        }
        return power;
    }
    Doubles log_relative(Doubles squares, Doubles lowest) const {
        return 0.5 * static_cast<double>(n_halves_) *
               log_of((width_ + lowest) / (width_ + squares));
    }

  private:
    double width_;
    std::size_t n_halves_;
};

// Points side by side, and the tracks of their batch.
class PointPanel {
  public:
    PointPanel(const Stream& stream, const Tracks& tracks, std::size_t batch)
        : stream_(stream),
          first_(static_cast<std::size_t>(tracks.starts[batch])),
          n_cells_(static_cast<std::size_t>(tracks.starts[batch + 1]) - first_),
          means_(tracks.means.data() + first_ * stream.n_features),
          cell_of_row_(tracks.cell_of_row.data()),
          coordinates_(stream.n_features * kSimd),
          squares_(n_cells_ * kSimd) {}

    // log P(named cell | point) of each of these rows; `shares` are those of the batch's tracks.
    template <typename Fall>
    Doubles log_chances(const std::size_t* rows, const double* shares, const Fall& fall) {
        const Doubles lowest = measure(rows);
        Doubles mixed{}, named_squares{}, named_shares{};
        for (std::size_t c = 0; c < n_cells_; ++c)
            mixed += shares[c] * fall.relative(load(squares_.data() + c * kSimd), lowest);
        for (std::size_t lane = 0; lane < kSimd; ++lane) {
            const std::size_t c = static_cast<std::size_t>(cell_of_row_[rows[lane]]) - first_;
            named_squares[lane] = squares_[c * kSimd + lane];
            named_shares[lane] = shares[c];
        }
        return log_of(named_shares / mixed) + fall.log_relative(named_squares, lowest);
    }

  private:
    // Squared distances of these rows to every cell; returns the lowest.
    Doubles measure(const std::size_t* rows) {
        const std::size_t d = stream_.n_features;
        for (std::size_t lane = 0; lane < kSimd; ++lane)
            for (std::size_t j = 0; j < d; ++j)
                coordinates_[j * kSimd + lane] = stream_.points[rows[lane] * d + j];
        Doubles lowest = fill(HUGE_VAL);
        for (std::size_t c = 0; c < n_cells_; ++c) {
            Doubles square{};
            for (std::size_t j = 0; j < d; ++j) {
                const Doubles difference =
                    load(coordinates_.data() + j * kSimd) - means_[c * d + j];
                square += difference * difference;
            }
            store(squares_.data() + c * kSimd, square);
            lowest = select(square < lowest, square, lowest);
        }
        return lowest;
    }

    const Stream& stream_;
    std::size_t first_, n_cells_;
    const double* means_;
    const std::int64_t* cell_of_row_;
    std::vector<double> coordinates_, squares_;
};

// Shares are those of each cell's batch. Of a batch with many points and tracks, points at even
// distances stand for all.
template <typename Fall>
double cell_overlap(const Stream& stream, const Tracks& tracks, const std::vector<double>& shares,
                    const Fall& fall) {
    constexpr std::size_t kMostPairs = std::size_t{1} << 21;
    double total = 0.0;
    std::vector<std::size_t> taken;
    std::vector<double> weights;
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        const auto begin = static_cast<std::size_t>(stream.starts[t]);
        const auto end = static_cast<std::size_t>(stream.starts[t + 1]);
        const auto first = static_cast<std::size_t>(tracks.starts[t]);
        const std::size_t n_cells = static_cast<std::size_t>(tracks.starts[t + 1]) - first;
        const std::size_t stride = 1 + (end - begin) * n_cells / kMostPairs;
        taken.clear(), weights.clear();
        double weight_taken = 0.0, weight = 0.0;
        for (std::size_t i = begin; i < end; ++i) weight += stream.weights[i];
        for (std::size_t i = begin; i < end; i += stride) {
            taken.push_back(i), weights.push_back(stream.weights[i]);
            weight_taken += stream.weights[i];
        }
        taken.resize(padded(taken.size()), begin), weights.resize(taken.size(), 0.0);
        PointPanel panel(stream, tracks, t);
        const double found = sum_over(taken.size(), [&](std::size_t i) {
            return load(weights.data() + i) *
                   panel.log_chances(taken.data() + i, shares.data() + first, fall);
        });
        total -= found * (weight / weight_taken);
    }
    return total;
}

}  // namespace dynmeans::description
