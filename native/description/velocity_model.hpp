// How likely the paths are of clusters that keep a course (decision 0015): the means of an
// identity's cells, seen with the noise of a mean, through a Kalman filter of position and
// velocity; as parameters/course_model.py, which tells the model.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "description/lifetime_model.hpp"

namespace dynmeans::description {

// Variances of each axis: of the position's walk and the velocity's for a step, of a first
// velocity.
struct VelocityNoise {
    double motion, turning, speed;
};

// What is known of each identity while its cells are gone through.
struct CourseStates {
    std::vector<double> places, velocities;
    std::vector<double> p11, p12, p22, times;  // times: when last seen; NaN: never

    CourseStates(std::size_t n_identities, std::size_t d)
        : places(n_identities * d),
          velocities(n_identities * d),
          p11(n_identities),
          p12(n_identities),
          p22(n_identities),
          times(n_identities) {}
};

// `moving` is 1 for features that keep a course, else 0.
inline double kalman_log_likelihood(const Stream& stream, const Tracks& tracks, const double* times,
                                    const double* moving, double variance,
                                    const VelocityNoise& noise, CourseStates& states) {
    const std::size_t d = stream.n_features;
    std::fill(states.times.begin(), states.times.end(), NAN);
    double found = 0.0;
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        for (auto c = static_cast<std::size_t>(tracks.starts[t]);
             c < static_cast<std::size_t>(tracks.starts[t + 1]); ++c) {
            const auto id = static_cast<std::size_t>(tracks.ids[c]);
            const double* mean = tracks.means.data() + c * d;
            double *place = states.places.data() + id * d,
                   *velocity = states.velocities.data() + id * d;
            const double measured = variance / tracks.counts[c];
            const double dt = times[t] - states.times[id];
            states.times[id] = times[t];
            if (std::isnan(dt)) {
                std::copy(mean, mean + d, place);
                std::fill(velocity, velocity + d, 0.0);
                states.p11[id] = measured, states.p12[id] = 0.0, states.p22[id] = noise.speed;
                continue;
            }
            double p11 = states.p11[id], p12 = states.p12[id], p22 = states.p22[id];
            p11 += dt * (2.0 * p12 + noise.motion + dt * (p22 + dt * noise.turning / 3.0));
            p12 += dt * (p22 + dt * noise.turning / 2.0);
            p22 += dt * noise.turning;
            const double total = p11 + measured, gain = p11 / total, speed_gain = p12 / total;
            double squares = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double expected = place[j] + velocity[j] * dt;
                const double surprise = mean[j] - expected;
                squares += surprise * surprise;
                place[j] = expected + gain * surprise;
                velocity[j] += moving[j] * speed_gain * surprise;
            }
            states.p11[id] = p11 * (1.0 - gain);
            states.p12[id] = p12 * (1.0 - gain);
            states.p22[id] = std::max(p22 - speed_gain * p12, 0.0);
            found -=
                0.5 * static_cast<double>(d) * std::log(2.0 * kPi * total) + 0.5 * squares / total;
        }
    }
    return found;
}

// The best fit over quarters of the mean squared move, from the middle uphill.
inline double course(const Stream& stream, const Tracks& tracks, const Moves& moves,
                     const double* times, const double* moving, double variance,
                     std::size_t n_identities) {
    constexpr int kMost = 6, kMiddle = 2;
    const std::size_t n = moves.squares.size();
    if (n == 0) return 0.0;
    const double duration = sum_of(moves.times) / static_cast<double>(n);
    const double least = kLeastMotion * variance / duration;
    const double walked = std::max(
        sum_of(moves.squares) / (static_cast<double>(stream.n_features * n) * duration), least);
    CourseStates states(n_identities, stream.n_features);
    std::array<std::array<double, kMost + 1>, kMost + 1> known{};
    const auto fit = [&](int i, int j) {
        double& found = known[i][j];
        if (found == 0.0)
            found = kalman_log_likelihood(
                stream, tracks, times, moving, variance,
                {walked * std::pow(0.25, i), walked * std::pow(0.25, j) / (duration * duration),
                 walked / duration},
                states);
        return found;
    };
    int i = kMiddle, j = kMiddle;
    for (bool is_higher = true; is_higher;) {
        is_higher = false;
        for (const auto& [down, across] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
            while (i + down >= 0 && i + down <= kMost && j + across >= 0 && j + across <= kMost &&
                   fit(i + down, j + across) > fit(i, j)) {
                i += down, j += across;
                is_higher = true;
            }
        }
    }
    return fit(i, j);
}

}  // namespace dynmeans::description
