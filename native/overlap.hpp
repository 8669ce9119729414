// What hard labels hide: -sum over points of log P(named cell | point). Densities are taken
// relative to the nearest cell's, so that none of them can overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tracks.hpp"
#include "vector_math.hpp"

namespace dynmeans {

// Density at squared distances from a mean over that at the lowest of them.
class GaussianFall {
  public:
    explicit GaussianFall(double variance) : half_precision_(0.5 / variance) {}

    Doubles relative(Doubles squares, double lowest) const {
        return exp_of((lowest - squares) * half_precision_);
    }
    double log_relative(double square, double lowest) const {
        return (lowest - square) * half_precision_;
    }

  private:
    double half_precision_;
};

// The same for Student's t, (1 + square / (degrees scale))^-(degrees + d)/2: a power of halves.
class StudentFall {
  public:
    StudentFall(double scale, std::size_t degrees, std::size_t n_features)
        : width_(static_cast<double>(degrees) * scale), n_halves_(degrees + n_features) {}

    Doubles relative(Doubles squares, double lowest) const {
        Doubles base = (width_ + lowest) / (width_ + squares);
        Doubles power = n_halves_ % 2 ? root_of(base) : fill(1.0);
        for (std::size_t n = n_halves_ / 2; n > 0; n /= 2) {
            if (n % 2) power *= base;
            base *= base;
        }
        return power;
    }
    double log_relative(double square, double lowest) const {
        return 0.5 * static_cast<double>(n_halves_) *
               std::log((width_ + lowest) / (width_ + square));
    }

  private:
    double width_;
    std::size_t n_halves_;
};

// The cells of one batch side by side; some of share 0 fill the last register.
class CellPanel {
  public:
    CellPanel(const Cells& cells, const std::vector<double>& shares, std::size_t batch,
              std::size_t n_features)
        : n_features_(n_features) {
        const auto first = static_cast<std::size_t>(cells.starts[batch]);
        const std::size_t n_cells = static_cast<std::size_t>(cells.starts[batch + 1]) - first;
        n_padded_ = padded(n_cells);
        means_.resize(n_features * n_padded_);
        shares_.assign(n_padded_, 0.0);
        squares_.resize(n_padded_);
        for (std::size_t c = 0; c < n_padded_; ++c) {
            const double* mean = cells.means.data() + (first + (c < n_cells ? c : 0)) * n_features;
            for (std::size_t j = 0; j < n_features; ++j) means_[j * n_padded_ + c] = mean[j];
            if (c < n_cells) shares_[c] = shares[first + c];
        }
    }

    // Squared distance of y to every cell; returns the lowest.
    double measure(const double* y) {
        Doubles lowest = fill(HUGE_VAL);
        for (std::size_t c = 0; c < n_padded_; c += kSimd) {
            Doubles square{};
            for (std::size_t j = 0; j < n_features_; ++j) {
                const Doubles difference = y[j] - load(means_.data() + j * n_padded_ + c);
                square += difference * difference;
            }
            store(squares_.data() + c, square);
            lowest = square < lowest ? square : lowest;
        }
        return lowest_lane(lowest);
    }

    // Density of the mixture at what was measured, over the nearest cell's.
    template <typename Fall>
    double mix(const Fall& fall, double lowest) const {
        return sum_over(n_padded_, [&](std::size_t c) {
            return load(shares_.data() + c) * fall.relative(load(squares_.data() + c), lowest);
        });
    }

    double square(std::size_t cell) const { return squares_[cell]; }

  private:
    std::size_t n_features_, n_padded_;
    std::vector<double> means_, shares_, squares_;
};

// Shares are those of each cell's batch. Of a batch with many points and cells, points at even
// distances stand for all.
template <typename Fall>
double cell_overlap(const Stream& stream, const Cells& cells, const std::vector<double>& shares,
                    const Fall& fall) {
    constexpr std::size_t kMostPairs = std::size_t{1} << 21;
    double total = 0.0;
    std::vector<double> mixed, named, weights;
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        const auto begin = static_cast<std::size_t>(stream.starts[t]);
        const auto end = static_cast<std::size_t>(stream.starts[t + 1]);
        const auto first = static_cast<std::size_t>(cells.starts[t]);
        const std::size_t n_cells = static_cast<std::size_t>(cells.starts[t + 1]) - first;
        const std::size_t stride = 1 + (end - begin) * n_cells / kMostPairs;
        CellPanel panel(cells, shares, t, stream.n_features);
        mixed.clear(), named.clear(), weights.clear();
        double falls = 0.0, weight_taken = 0.0, weight = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            weight += stream.weights[i];
            if ((i - begin) % stride != 0) continue;
            const auto cell = static_cast<std::size_t>(cells.cell_of_row[i]);
            const double lowest = panel.measure(stream.points + i * stream.n_features);
            const double square = panel.square(cell - first);
            mixed.push_back(panel.mix(fall, lowest));
            named.push_back(shares[cell]);
            weights.push_back(stream.weights[i]);
            weight_taken += stream.weights[i];
            if (square > lowest) falls += stream.weights[i] * fall.log_relative(square, lowest);
        }
        const std::size_t n_padded = padded(mixed.size());
        mixed.resize(n_padded, 1.0), named.resize(n_padded, 1.0), weights.resize(n_padded, 0.0);
        const double found = sum_over(n_padded, [&](std::size_t i) {
            return load(weights.data() + i) *
                   log_of(load(mixed.data() + i) / load(named.data() + i));
        });
        total += (found - falls) * (weight / weight_taken);
    }
    return total;
}

}  // namespace dynmeans
