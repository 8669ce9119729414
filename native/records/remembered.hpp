// C_t as the arriving batch sees it, with what follows from the penalties: gamma (Eq. 12) and
// the cost of reviving, J = offset + scale * |y - theta_old|^2 (Eq. 5).
#pragma once

#include <cstddef>
#include <vector>

namespace dynmeans::records {

struct Penalties {
    double new_penalty;      // lambda
    double revival_penalty;  // Q
    double drift;            // tau
    bool exact_revival;      // rule "exact" instead of "paper" (decision 0001)
};

struct Remembered {
    const double* centers;  // theta_old, row-major
    const double* weights;  // w
    std::size_t n_clusters;
    std::size_t n_features;
    std::vector<double> ages;  // dt
    std::vector<double> gamma;
    std::vector<double> offsets;
    std::vector<double> scales;

    Remembered(const double* centers, const double* weights, std::vector<double> dt,
               std::size_t n_features, const Penalties& penalties)
        : centers(centers),
          weights(weights),
          n_clusters(dt.size()),
          n_features(n_features),
          ages(std::move(dt)),
          gamma(n_clusters),
          offsets(n_clusters),
          scales(n_clusters) {
        for (std::size_t k = 0; k < n_clusters; ++k) {
            const double moved = ages[k] * penalties.drift;
            const double spread = 1.0 / weights[k] + moved;
            gamma[k] = 1.0 / spread;
            offsets[k] = penalties.revival_penalty * ages[k];
            scales[k] = 1.0 / ((penalties.exact_revival ? spread : moved) + 1.0);
        }
    }

    const double* center(std::size_t k) const { return centers + k * n_features; }
};

}  // namespace dynmeans::records
