// Where all points of a stream lie and in which directions they spread, by Jacobi's method: what a
// description of the stream asks of its surroundings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynmeans::wasm {

constexpr double kFlattest = 1e-12;  // as in parameters/tracks.py
constexpr int kMostSweeps = 60;

struct PrincipalAxes {
    std::vector<double> mean, axes, variances;  // axes are columns

    PrincipalAxes(const double* points, std::size_t n, std::size_t d)
        : mean(d, 0.0), axes(d * d, 0.0), variances(d) {
        for (std::size_t i = 0; i < n * d; ++i) mean[i % d] += points[i];
        for (double& m : mean) m /= static_cast<double>(n);
        std::vector<double> scatter(d * d, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < d; ++j)
                for (std::size_t k = 0; k < d; ++k)
                    scatter[j * d + k] +=
                        (points[i * d + j] - mean[j]) * (points[i * d + k] - mean[k]);
        for (double& s : scatter) s /= static_cast<double>(n);
        for (std::size_t j = 0; j < d; ++j) axes[j * d + j] = 1.0;
        diagonalize(scatter, d);
        for (std::size_t j = 0; j < d; ++j) variances[j] = scatter[j * d + j];
        const double widest = *std::max_element(variances.begin(), variances.end());
        for (double& v : variances) v = std::max(v, kFlattest * widest);
    }

  private:
    void diagonalize(std::vector<double>& a, std::size_t d) {
        for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
            double left = 0.0, all = 0.0;
            for (std::size_t p = 0; p < d; ++p)
                for (std::size_t q = 0; q < d; ++q)
                    (p == q ? all : left) += a[p * d + q] * a[p * d + q];
            if (left <= 1e-30 * all) return;
            for (std::size_t p = 0; p < d; ++p)
                for (std::size_t q = p + 1; q < d; ++q)
                    if (a[p * d + q] != 0.0) rotate(a, d, p, q);
        }
    }

    // Turns axes p and q so that they no longer go together.
    void rotate(std::vector<double>& a, std::size_t d, std::size_t p, std::size_t q) {
        const double slope = (a[q * d + q] - a[p * d + p]) / (2.0 * a[p * d + q]);
        const double t =
            (slope < 0.0 ? -1.0 : 1.0) / (std::abs(slope) + std::sqrt(slope * slope + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        const auto turn = [&](double& x, double& y) {
            const double before = x;
            x = c * before - s * y;
            y = s * before + c * y;
        };
        for (std::size_t k = 0; k < d; ++k) turn(a[k * d + p], a[k * d + q]);
        for (std::size_t k = 0; k < d; ++k) turn(a[p * d + k], a[q * d + k]);
        for (std::size_t k = 0; k < d; ++k) turn(axes[k * d + p], axes[k * d + q]);
    }
};

// Mean squared distance of a point from the mean of its batch.
inline double variance_within(const double* points, const std::vector<std::int64_t>& starts,
                              std::size_t d) {
    double sum = 0.0;
    for (std::size_t t = 0; t + 1 < starts.size(); ++t) {
        const auto begin = static_cast<std::size_t>(starts[t]);
        const auto end = static_cast<std::size_t>(starts[t + 1]);
        for (std::size_t j = 0; j < d; ++j) {
            double mean = 0.0;
            for (std::size_t i = begin; i < end; ++i) mean += points[i * d + j];
            mean /= static_cast<double>(end - begin);
            for (std::size_t i = begin; i < end; ++i)
                sum += (points[i * d + j] - mean) * (points[i * d + j] - mean);
        }
    }
    return sum / static_cast<double>(starts.back());
}

}  // namespace dynmeans::wasm
