// C_t as the arriving batch sees it, with what follows from the penalties: gamma (Eq. 12) and
// the cost of reviving, J = offset + scale * |y - theta_old|^2 (Eq. 5).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "records/motion.hpp"

namespace dynmeans {

struct Penalties {
    double new_penalty;              // lambda
    double revival_penalty;          // Q
    double drift;                    // tau
    bool exact_revival;              // rule "exact" instead of "paper" (decision 0001)
    const double* moving = nullptr;  // 1 for features that keep a course, else 0; null: none does
    bool is_on_sphere = false;       // centers have length 1 (decision 0019)
};

struct Remembered {
    const double* centers;       // theta_old, row-major: where each cluster is expected
    const double* last_centers;  // where it was last seen
    const double* weights;       // w
    std::size_t n_clusters;
    std::size_t n_features;
    bool is_on_sphere = false;
    std::vector<double> ages;  // dt
    std::vector<double> gamma;
    std::vector<double> offsets;
    std::vector<double> scales;
    // Of clusters that keep a course, empty for others: theta_old, velocities, and P12 and P22
    // when last seen and now.
    std::vector<double> expected, velocities;
    std::vector<Covariance> last_covariances, covariances;

    Remembered(const double* centers, const double* weights, std::vector<double> dt,
               std::size_t n_features, const Penalties& penalties, const Velocities& courses = {})
        : centers(centers),
          last_centers(centers),
          weights(weights),
          n_clusters(dt.size()),
          n_features(n_features),
          is_on_sphere(penalties.is_on_sphere),
          ages(std::move(dt)),
          gamma(n_clusters),
          offsets(n_clusters),
          scales(n_clusters) {
        if (penalties.moving) follow(courses, penalties);
        for (std::size_t k = 0; k < n_clusters; ++k) {
            const double moved = covariances.empty()
                                     ? ages[k] * penalties.drift
                                     : growth_of(last_covariances[k], ages[k], penalties.drift);
            const double spread = 1.0 / weights[k] + moved;
            gamma[k] = 1.0 / spread;
            offsets[k] = penalties.revival_penalty * ages[k];
            const double fading = penalties.exact_revival ? spread : moved;
            scales[k] = 1.0 / ((is_on_sphere ? 0.0 : fading) + 1.0);
        }
    }

    // From what follows from the penalties already: enough for a run of Algorithm 2.
    Remembered(const double* centers, std::size_t n_features, std::vector<double> given_gamma,
               std::vector<double> given_offsets, std::vector<double> given_scales,
               bool is_on_sphere = false)
        : centers(centers),
          last_centers(centers),
          weights(nullptr),
          n_clusters(given_gamma.size()),
          n_features(n_features),
          is_on_sphere(is_on_sphere),
          gamma(std::move(given_gamma)),
          offsets(std::move(given_offsets)),
          scales(std::move(given_scales)) {}

    Remembered(const Remembered&) = delete;  // `centers` may point into it
    Remembered& operator=(const Remembered&) = delete;

    const double* center(std::size_t k) const { return centers + k * n_features; }
    const double* last_center(std::size_t k) const { return last_centers + k * n_features; }

  private:
    // theta_old = theta + v dt.
    void follow(const Velocities& courses, const Penalties& penalties) {
        expected.resize(n_clusters * n_features);
        velocities.assign(n_clusters * n_features, 0.0);
        last_covariances.assign(n_clusters, newborn_covariance(penalties.drift));
        covariances.resize(n_clusters);
        for (std::size_t k = 0; k < n_clusters; ++k) {
            const double t = std::min(ages[k], kLongestCourse);
            const std::size_t first = k * n_features;
            for (std::size_t j = 0; j < n_features; ++j) {
                if (courses.velocities)
                    velocities[first + j] = courses.velocities[first + j] * penalties.moving[j];
                expected[first + j] = centers[first + j] + velocities[first + j] * t;
            }
            if (courses.covariances)
                last_covariances[k] = {courses.covariances[2 * k], courses.covariances[2 * k + 1]};
            covariances[k] = after_time(last_covariances[k], ages[k], penalties.drift);
        }
        centers = expected.data();
    }
};

}  // namespace dynmeans
