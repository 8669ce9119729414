// log Gamma and its derivative for positive arguments: upwards by the recurrence until the
// asymptotic series is exact to rounding. (The C library's lgamma writes a global variable.)
#pragma once

#include <cmath>

namespace dynmeans {

constexpr double kSeriesFrom = 10.0;

inline double log_gamma(double x) {
    double product = 1.0;  // Gamma(x) = Gamma(x + m) / (x (x + 1) ... (x + m - 1))
    while (x < kSeriesFrom) {
        product *= x;
        x += 1.0;
    }
    const double z = 1.0 / (x * x);
    const double series =
        (1.0 / 12 +
         z * (-1.0 / 360 +
              z * (1.0 / 1260 + z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360)))))) /
        x;
    constexpr double kHalfLogTwoPi = 0.91893853320467274178;
    return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + series - std::log(product);
}

inline double digamma(double x) {
    double below = 0.0;  // psi(x) = psi(x + m) - 1/x - ... - 1/(x + m - 1)
    while (x < kSeriesFrom) {
        below += 1.0 / x;
        x += 1.0;
    }
    const double z = 1.0 / (x * x);
    const double series =
        z * (1.0 / 12 +
             z * (-1.0 / 120 +
                  z * (1.0 / 252 + z * (-1.0 / 240 + z * (1.0 / 132 + z * (-691.0 / 32760))))));
    return std::log(x) - 0.5 / x - series - below;
}

}  // namespace dynmeans
