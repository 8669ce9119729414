// The mixture that one batch is drawn from, given what is remembered: the densities that Gibbs
// sampling, variational inference and particle learning share (paper, Sec. 3).
//
// Slots 0 to n_old - 1 are the remembered clusters; those from n_old on are new in this batch.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/gamma_functions.hpp"
#include "numeric/squared_distance.hpp"
#include "records/points.hpp"

namespace dynmeans::mixture {

constexpr double kTwoPi = 6.28318530717958647693;

struct Batch {
    const double* values;  // row-major (n_points, n_features)
    std::size_t n_points, n_features;

    const double* row(std::size_t i) const { return values + i * n_features; }
};

struct Mixture {
    Batch points;
    std::size_t n_old;
    const double* log_weights;      // log(q^dt c)
    const double* past_counts;      // c
    const double* means;            // row-major (n_old, n_features)
    const double* variances;        // sigma_old + xi dt
    const double* first_variances;  // the same, or xi dt alone for Eq. 3 as printed
    double log_new_weight;          // log(alpha_t)
    const double* new_mean;         // phi
    double new_variance;            // rho
    double noise_variance;          // sigma

    double log_weight(std::size_t k) const { return k < n_old ? log_weights[k] : log_new_weight; }
    double past_count(std::size_t k) const { return k < n_old ? past_counts[k] : 0.0; }
    double variance(std::size_t k) const { return k < n_old ? variances[k] : new_variance; }
    double first_variance(std::size_t k) const {
        return k < n_old ? first_variances[k] : new_variance;
    }
    const double* mean(std::size_t k) const {
        return k < n_old ? means + k * points.n_features : new_mean;
    }
};

// log of prod_{j=1}^{n-1} (c + j): what the second to the n-th point of a cluster contribute.
inline double log_joining_weight(double past_count, double n) {
    return log_gamma(past_count + n) - log_gamma(past_count + 1.0);
}

// The log posterior of labels with the parameters integrated out, up to a constant of the batch.
// Keeps its buffers between calls.
class LabelPosterior {
  public:
    explicit LabelPosterior(const Mixture& mixture) : mixture_(mixture) {}

    // Slots must be below n_old + n_points.
    double operator()(const Slot* labels) {
        const Batch& points = mixture_.points;
        const std::size_t d = points.n_features;
        accumulate(labels);
        double scatter = 0.0;  // sum over points of |y - mean of its cluster|^2
        for (std::size_t i = 0; i < points.n_points; ++i)
            scatter += squared_distance(points.row(i), &means_[labels[i] * d], d);
        const double sigma = mixture_.noise_variance;
        double total = -0.5 * (scatter / sigma +
                               static_cast<double>(points.n_points * d) * std::log(kTwoPi * sigma));
        for (std::size_t k = 0; k < counts_.size(); ++k)
            if (counts_[k] > 0.0) total += of_cluster(k);
        return total;
    }

  private:
    void accumulate(const Slot* labels) {
        const Batch& points = mixture_.points;
        const std::size_t d = points.n_features;
        std::size_t n_slots = mixture_.n_old;
        for (std::size_t i = 0; i < points.n_points; ++i)
            if (static_cast<std::size_t>(labels[i]) >= n_slots) n_slots = labels[i] + 1;
        counts_.assign(n_slots, 0.0);
        means_.assign(n_slots * d, 0.0);
        for (std::size_t i = 0; i < points.n_points; ++i) {
            counts_[labels[i]] += 1.0;
            double* sum = &means_[labels[i] * d];
            for (std::size_t j = 0; j < d; ++j) sum[j] += points.row(i)[j];
        }
        for (std::size_t k = 0; k < n_slots; ++k)
            if (counts_[k] > 0.0)
                for (std::size_t j = 0; j < d; ++j) means_[k * d + j] /= counts_[k];
    }

    // Weight of the labels, and the density of the mean of n points under the prior.
    double of_cluster(std::size_t k) const {
        const std::size_t d = mixture_.points.n_features;
        const double n = counts_[k], sigma = mixture_.noise_variance;
        const double spread = sigma + n * mixture_.variance(k);
        const double distance = squared_distance(&means_[k * d], mixture_.mean(k), d);
        return mixture_.log_weight(k) + log_joining_weight(mixture_.past_count(k), n) -
               0.5 * (n * distance / spread + static_cast<double>(d) * std::log(spread / sigma));
    }

    const Mixture& mixture_;
    std::vector<double> counts_, means_;
};

}  // namespace dynmeans::mixture
