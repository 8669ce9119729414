// Motion (decision 0015): each axis of a cluster is a position that wanders by tau a step and,
// where clusters keep a course, a velocity that wanders by q = tau/4. In units of the noise that is
// a Kalman filter with covariance P = [[1/w, P12], [P12, P22]]; without a velocity, the paper's
// model.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dynmeans {

constexpr double kTurning = 0.25;       // q / tau
constexpr double kLongestCourse = 1e6;  // steps over which a course is kept

// Velocities, and P12 and P22, of remembered clusters, row by row; null: none is known yet.
struct Velocities {
    const double* velocities = nullptr;
    const double* covariances = nullptr;
};

struct Covariance {
    double p12, p22;
};

// That of a cluster without a past.
inline Covariance newborn_covariance(double tau) { return {0.0, tau}; }

// P11' - P11: how much less is known of a position after dt steps.
inline double growth_of(const Covariance& p, double dt, double tau) {
    const double t = std::min(dt, kLongestCourse), q = tau * kTurning;
    return dt * tau + t * (2.0 * p.p12 + t * (p.p22 + t * (q / 3.0)));
}

// P12' and P22'.
inline Covariance after_time(const Covariance& p, double dt, double tau) {
    const double t = std::min(dt, kLongestCourse), q = tau * kTurning;
    return {p.p12 + t * (p.p22 + t * (q * 0.5)), p.p22 + t * q};
}

// P12 and P22 once n points were seen.
inline Covariance after_batch(const Covariance& p, double gamma, double n) {
    const double w = gamma + n, gain = gamma * p.p12;
    return {gain / w, std::max(0.0, p.p22 - p.p12 * gain * n / w)};
}

}  // namespace dynmeans
