// How points lie around the mean of their cell, under three shapes of noise (decision 0300); as
// parameters/noise.py, which tells the models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "description/tracks.hpp"
#include "numeric/gamma_functions.hpp"
#include "numeric/vector_math.hpp"

namespace dynmeans::description {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kDegrees = 3;  // of freedom of the heavy-tailed shape

struct Pooled {
    double squares = 0.0, n_free = 0.0, means_paid = 0.0;
};

inline Pooled pool_cells(const Stream& stream, const Tracks& tracks) {
    Pooled pooled;
    for (std::size_t i = 0; i < tracks.squares.size(); ++i)
        pooled.squares += stream.weights[i] * tracks.squares[i];
    for (const double n : tracks.counts) {
        pooled.n_free += std::max(n - 1.0, 0.0);
        pooled.means_paid -= 0.5 * static_cast<double>(stream.n_features) * std::log(n);
    }
    return pooled;
}

inline double gaussian(const Pooled& pooled, double variance, std::size_t n_features) {
    const double d = static_cast<double>(n_features);
    return -0.5 * d * std::log(2.0 * kPi * variance) * pooled.n_free -
           0.5 * pooled.squares / variance + pooled.means_paid;
}

struct StudentFit {
    double places, scale;
};

inline StudentFit student(const Stream& stream, const Tracks& tracks, const Pooled& pooled,
                          double floor) {
    constexpr int kRounds = 5;
    const double d = static_cast<double>(stream.n_features);
    const double nu = static_cast<double>(kDegrees);
    std::vector<double> squares, weights;
    squares.reserve(padded(tracks.squares.size())), weights.reserve(padded(tracks.squares.size()));
    double n = 0.0;
    for (std::size_t i = 0; i < tracks.squares.size(); ++i) {
        const double count = tracks.counts[static_cast<std::size_t>(tracks.cell_of_row[i])];
        if (count <= 1.0) continue;
        const double share = 1.0 - 1.0 / count;
        squares.push_back(tracks.squares[i] / share);
        weights.push_back(stream.weights[i] * share);
        n += weights.back();
    }
    if (squares.empty()) return {-HUGE_VAL, floor};
    const std::size_t n_padded = padded(squares.size());
    squares.resize(n_padded, 0.0), weights.resize(n_padded, 0.0);
    const auto weighted = [&](const auto& value) {
        return sum_over(n_padded, [&](std::size_t i) {
            return load(weights.data() + i) * value(load(squares.data() + i));
        });
    };
    double scale = 0.5 * weighted([](Doubles s) { return s; }) / (d * n) + floor;
    for (int round = 0; round < kRounds; ++round) {
        const double pulled = weighted([&](Doubles s) { return s * scale / (nu * scale + s); });
        scale = (nu + d) * pulled / (d * n) + floor;
    }
    const double tails = weighted([&](Doubles s) { return log_of(1.0 + s / (nu * scale)); });
    const double log_density =
        log_gamma(0.5 * (nu + d)) - log_gamma(0.5 * nu) - 0.5 * d * std::log(nu * kPi * scale);
    return {n * log_density - 0.5 * (nu + d) * tails + pooled.means_paid, scale};
}

// log |scatter + prior I| from the lower triangle, which is destroyed. A positive definite matrix
// has positive pivots, and here the prior is no less than a part in n d of the scatter.
inline double log_determinant(double* matrix, std::size_t d, double prior) {
    const std::size_t width = padded(d);
    double found = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
        const double pivot = matrix[j * width + j] + prior;
        found += std::log(pivot);
        for (std::size_t i = j + 1; i < d; ++i) {
            const double factor = matrix[i * width + j] / pivot;
            for (std::size_t k = j + 1; k <= i; ++k)
                matrix[i * width + k] -= factor * matrix[k * width + j];
        }
    }
    return found;
}

// Logarithm of the gamma function of d dimensions at half the degrees, but for a constant: the sum
// of log Gamma at x, x - 1/2, x - 1, ...; two of them give the others by x Gamma(x) = Gamma(x + 1).
inline double log_multivariate_gamma(double degrees, std::size_t d) {
    double found = 0.0, last[2] = {};
    for (std::size_t j = 0; j < d; ++j) {
        const double x = 0.5 * (degrees - static_cast<double>(j));
        last[j % 2] = j < 2 ? log_gamma(x) : last[j % 2] - std::log(x);
        found += last[j % 2];
    }
    return found;
}

inline bool is_empty(const double* scatter, std::size_t d) {
    double trace = 0.0;
    for (std::size_t j = 0; j < d; ++j) trace += scatter[j * padded(d) + j];
    return trace == 0.0;
}

// `n_free` holds for each identity its points less one for each of its tracks; below 0: never seen.
inline double own_shapes(const Tracks& tracks, const std::vector<double>& n_free,
                         const Pooled& pooled, double variance) {
    const std::size_t d = tracks.n_shaped;
    if (d == 0) return -HUGE_VAL;
    const double width = static_cast<double>(d);
    std::vector<double> matrix(d * padded(d));
    double best = -HUGE_VAL;
    for (const double share : {2.0, 30.0}) {
        const double nu = width + share, prior = variance * (share - 1.0);
        const double before = 0.5 * nu * width * std::log(prior) - log_multivariate_gamma(nu, d);
        double found = 0.0;
        for (std::size_t id = 0; id < n_free.size(); ++id) {
            const double n = n_free[id];
            const double* scatter = tracks.scatters.data() + id * matrix.size();
            if (n < 0.0 || (n == 0.0 && is_empty(scatter, d))) continue;  // Nothing to describe.
            std::copy(scatter, scatter + matrix.size(), matrix.begin());
            found += before - 0.5 * n * width * std::log(kPi) + log_multivariate_gamma(nu + n, d) -
                     0.5 * (nu + n) * log_determinant(matrix.data(), d, prior);
        }
        best = std::max(best, found);
    }
    return best + pooled.means_paid;
}

}  // namespace dynmeans::description
