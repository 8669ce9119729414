// Double-double arithmetic: sums and products with what their rounding lost (Knuth, Dekker). Every
// backend takes these steps in this order, so that all have the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/simd.hpp"
#include "numeric/squared_distance.hpp"

namespace dynmeans {

template <typename Lanes>
struct Pair {
    Lanes value, rest;  // their sum is meant
};

template <typename Lanes>
Pair<Lanes> two_sum(Lanes a, Lanes b) {
    const Lanes sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// By Veltkamp's halves, which every machine has.
template <typename Lanes>
Pair<Lanes> two_product_of_halves(Lanes a, Lanes b) {
    const Lanes product = a * b;
    const Lanes large_a = a * 134217729.0, large_b = b * 134217729.0;  // 2^27 + 1
    const Lanes high_a = large_a - (large_a - a), high_b = large_b - (large_b - b);
    const Lanes low_a = a - high_a, low_b = b - high_b;
    return {product,
            low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)};
}

inline Pair<double> two_product(double a, double b) {
#if defined(__FMA__) || defined(DYNMEANS_AVX512)
    // Far from underflow and overflow both ways are exact, and so the same.
    const double product = a * b;
    if (std::abs(product) > 1e-270 && std::max(std::abs(a), std::abs(b)) < 1e290)
        return {product, std::fma(a, b, -product)};
#endif
    return two_product_of_halves(a, b);
}

// a b in each lane, where the machine has it with what rounding lost in one instruction. That is
// the same far from underflow: `is_tiny` gets a bit for every lane that comes near it. No
// coordinate and no sum comes near overflow.
inline Pair<Doubles> two_product(Doubles a, Doubles b, unsigned& is_tiny) {
    if constexpr (!kHasFused) return two_product_of_halves(a, b);
    const Doubles product = a * b, none{};
    is_tiny |= lanes_at_most(product, 1e-270) & lanes_at_most(-product, 1e-270) &
               ~(lanes_equal(a, none) | lanes_equal(b, none));
    return {product, fused_difference(a, b, product)};
}

// Adds two pairs; the rests are only added up.
template <typename Lanes>
Pair<Lanes> add_pairs(const Pair<Lanes>& a, const Pair<Lanes>& b) {
    const Pair<Lanes> sum = two_sum(a.value, b.value);
    return {sum.value, (a.rest + b.rest) + sum.rest};
}

// w |y|^2 of a point whose sum takes w y as it was rounded: that of the point that this stands for,
// in the lanes and halves of squared_distance.hpp.
class WeightedSquare {
  public:
    // `terms` are w y; they are y where w is 1.
    static Pair<double> of(const double* y, const double* terms, double weight,
                           std::size_t n_features) {
        if (weight != 1.0) return of_weighted(y, terms, weight, n_features);
        Pair<double> each[kLanes];
        if (n_features < kLanes) {
            for (std::size_t j = 0; j < n_features; ++j) each[j] = two_product(y[j], y[j]);
            return in_halves(each, n_features);
        }
        Pair<Doubles> lanes[kParts] = {};
        if (!add_squares_at_once(y, n_features, lanes)) add_squares(y, n_features, lanes);
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            each[lane] = {lanes[lane / kSimd].value[lane % kSimd],
                          lanes[lane / kSimd].rest[lane % kSimd]};
        std::size_t j = n_features / kLanes * kLanes;
        for (std::size_t lane = 0; j < n_features; ++j, ++lane)
            each[lane] = add_pairs(each[lane], two_product(y[j], y[j]));
        return in_halves(each, kLanes);
    }

    // The same of as many points as a register holds: `feature(j)` are theirs. Weights of 1 change
    // no bit.
    template <typename Feature>
    static Pair<Doubles> of_points(const Feature& feature, Doubles weights, bool is_weighted,
                                   std::size_t n_features) {
        const auto square = [&](std::size_t j) {
            const Doubles y = feature(j);
            if (!is_weighted) return two_product_of_halves(y, y);
            const Doubles term = weights * y;
            Pair<Doubles> found = two_product_of_halves(term, y);
            found.rest -= term * (two_product_of_halves(weights, y).rest / weights);
            return found;
        };
        if (n_features <= 3) {
            Pair<Doubles> sum = square(0);
            if (n_features == 3) sum = add_pairs(sum, square(2));
            return n_features == 1 ? sum : add_pairs(sum, square(1));
        }
        Pair<Doubles> each[kLanes];
        for (std::size_t j = 0; j < n_features; ++j)
            each[j % kLanes] = j < kLanes ? square(j) : add_pairs(each[j % kLanes], square(j));
        return in_halves(each, n_features);
    }

  private:
    static constexpr std::size_t kParts = kLanes / kSimd;

    // The squares of whole registers.
    static void add_squares(const double* y, std::size_t n, Pair<Doubles>* lanes) {
        for (std::size_t j = 0; j + kLanes <= n; j += kLanes)
            for (std::size_t part = 0; part < kParts; ++part) {
                const Doubles x = load(y + j + part * kSimd);
                lanes[part] = add_pairs(lanes[part], two_product_of_halves(x, x));
            }
    }

    // The same by two_product; false, and nothing added, where a square comes near underflow.
    static bool add_squares_at_once(const double* y, std::size_t n, Pair<Doubles>* lanes) {
        Pair<Doubles> found[kParts] = {};
        unsigned is_tiny = 0;
        for (std::size_t j = 0; j + kLanes <= n; j += kLanes)
            for (std::size_t part = 0; part < kParts; ++part) {
                const Doubles x = load(y + j + part * kSimd);
                found[part] = add_pairs(found[part], two_product(x, x, is_tiny));
            }
        if (is_tiny == 0) std::copy(found, found + kParts, lanes);
        return is_tiny == 0;
    }

    // w y is term + e, so term stands for the point y - e/w.
    static Pair<double> of_weighted(const double* y, const double* terms, double weight,
                                    std::size_t n_features) {
        Pair<double> each[kLanes];
        for (std::size_t j = 0; j < n_features; ++j) {
            Pair<double> square = two_product(terms[j], y[j]);
            square.rest -= terms[j] * (two_product(weight, y[j]).rest / weight);
            each[j % kLanes] = j < kLanes ? square : add_pairs(each[j % kLanes], square);
        }
        return in_halves(each, n_features);
    }

    // Lanes that fewer features leave out are zeros, which change no sum.
    template <typename Lanes>
    static Pair<Lanes> in_halves(Pair<Lanes>* each, std::size_t n_features) {
        for (std::size_t half = kLanes / 2; half > 0; half /= 2)
            for (std::size_t lane = 0; lane < half && lane + half < n_features; ++lane)
                each[lane] = add_pairs(each[lane], each[lane + half]);
        return each[0];
    }
};

}  // namespace dynmeans
