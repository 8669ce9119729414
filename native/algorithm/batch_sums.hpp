// Units of reproducible sums: what the sums of a batch are made in, units that follow from its
// largest coordinates and weights, whatever the order of its points (decision 0006).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "numeric/bins.hpp"
#include "numeric/quads.hpp"
#include "numeric/simd.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

// The largest coordinate of each feature, and the range of the weights, over the points that take
// part; parts of a batch are merged.
struct Magnitudes {
    std::vector<double> farthest;
    double lightest = std::numeric_limits<double>::infinity(), heaviest = 0.0;

    explicit Magnitudes(std::size_t n_features) : farthest(n_features, 0.0) {}

    template <typename Value>
    void add(const Points<Value>& points, std::size_t begin, std::size_t end) {
        const Value* values = points.values + begin * points.n_features;
        if (!points.weights) {
            if (begin < end) lightest = heaviest = 1.0;
            return add_values(values, (end - begin) * points.n_features);
        }
        for (std::size_t i = begin; i < end; ++i, values += points.n_features) {
            if (!points.takes_part(i)) continue;
            lightest = std::min(lightest, points.weights[i]);
            heaviest = std::max(heaviest, points.weights[i]);
            raise(values, points.n_features, farthest.data());
        }
    }

    void merge(const Magnitudes& other) {
        for (std::size_t j = 0; j < farthest.size(); ++j)
            farthest[j] = std::max(farthest[j], other.farthest[j]);
        lightest = std::min(lightest, other.lightest);
        heaviest = std::max(heaviest, other.heaviest);
    }

    // Whole rows, one after the other. After `period` values the features stand in the same lanes
    // of registers again.
    template <typename Value>
    void add_values(const Value* values, std::size_t n) {
        constexpr std::size_t kFew = 4 * kSimd;  // values kept on the stack
        const std::size_t d = farthest.size(), period = std::lcm(d, kSimd);
        std::size_t at = 0;
        if (n >= 2 * period) {
            std::vector<double> many(period > kFew ? period : 0, 0.0);
            double few[kFew] = {}, *most = period > kFew ? many.data() : few;
            for (; at + period <= n; at += period) raise(values + at, period, most);
            for (std::size_t r = 0; r < period; ++r)
                farthest[r % d] = std::max(farthest[r % d], most[r]);
        }
        for (; at < n; at += d) raise(values + at, d, farthest.data());
    }

  private:
    template <typename Value>
    static void raise(const Value* values, std::size_t n, double* most) {
        std::size_t r = 0;
        for (; r + kSimd <= n; r += kSimd) {
            const Doubles x = load(values + r), y = select(x < 0.0, -x, x), before = load(most + r);
            store(most + r, select(before < y, y, before));
        }
        for (; r < n; ++r) most[r] = std::max(most[r], std::abs(static_cast<double>(values[r])));
    }
};

// How the sums of one batch are taken.
struct BatchSums {
    // w, where points have weights, then w y of each feature, then w |y|^2 and what its rounding
    // lost (double_double.hpp).
    Bins columns;
    Bins costs;  // w |y - theta|^2
    bool has_weights;

    // `magnitudes` are those of the points and of the remembered centers.
    BatchSums(const Magnitudes& magnitudes, std::size_t n_points, bool has_weights,
              double new_penalty)
        : has_weights(has_weights) {
        const double heaviest = magnitudes.heaviest;
        const double lightest = std::isfinite(magnitudes.lightest) ? magnitudes.lightest : 1.0;
        const double reach = std::sqrt(new_penalty);
        std::vector<Bins::Column> of_columns;
        of_columns.reserve(magnitudes.farthest.size() + 3);
        if (has_weights) of_columns.push_back({heaviest, unit_exponent(lightest, kCoordinateBits)});
        double widest = 0.0, squares = 0.0;
        for (const double y : magnitudes.farthest) {
            of_columns.push_back(
                {heaviest * y, unit_exponent(lightest * std::min(reach, y), kCoordinateBits)});
            widest = std::max(widest, y);
            // A center lies among its points and its memory, but for rounding, which is much where
            // products underflow.
            const double widest_gap = (lightest * y < 1e-300 ? 4.0 : 2.001) * y;
            squares += widest_gap * widest_gap;
        }
        const double least = lightest * std::min(new_penalty, widest * widest);
        const auto n_features = static_cast<double>(magnitudes.farthest.size());
        const double largest = 1.001 * (heaviest * (n_features * (widest * widest)));
        const int unit = unit_exponent(least, kSquareBits);
        of_columns.push_back({largest, unit});
        of_columns.push_back({largest * ((n_features + 8.0) * kRoundoff), unit});
        columns = Bins(n_points, of_columns);
        costs = Bins(n_points, {{heaviest * squares, unit_exponent(least, kCostBits)}});
    }

  private:
    static constexpr int kCoordinateBits = 60, kCostBits = 80, kSquareBits = 64;
    static constexpr double kRoundoff = 1.0 / (1ull << 51u);
};

// Adds points to the sums of their slots, and takes them out.
class PointAdder {
  public:
    explicit PointAdder(const BatchSums& sums)
        : sums_(sums), terms_(sums.columns.n_columns()), row_(sums.columns.n_columns()) {}

    template <int Sign = 1, typename Value>
    void add(const Points<Value>& points, std::size_t i, double* sums) {
        if (is_plane(points)) return sums_.columns.add_quad<Sign>(quad_of(points, i), 0, sums);
        add_terms<Sign>(terms_of(points, i), sums);
    }

    // The points [begin, end) that have a label, to the sums of their slots.
    template <typename Value>
    void add_labeled(const Points<Value>& points, const Slot* labels, std::size_t begin,
                     std::size_t end, double* sums_of_slots) {
        if (is_plane(points)) return add_plane(points, labels, begin, end, sums_of_slots);
        for (std::size_t i = begin; i < end; ++i)
            if (labels[i] != kUnlabeled)
                add(points, i, sums_of_slots + labels[i] * sums_.columns.size());
    }

    template <typename Value>
    void take_out(const Points<Value>& points, std::size_t i, double* sums) {
        add<-1>(points, i, sums);
    }

    template <typename Value>
    void move(const Points<Value>& points, std::size_t i, double* from, double* to) {
        if (is_plane(points)) {
            const Quad terms = quad_of(points, i);
            sums_.columns.add_quad<-1>(terms, 0, from);
            return sums_.columns.add_quad<1>(terms, 0, to);
        }
        const Terms terms = terms_of(points, i);
        add_terms<-1>(terms, from);
        add_terms<1>(terms, to);
    }

  private:
    // The terms of a point of two features and no weight fill four lanes.
    template <typename Value>
    bool is_plane(const Points<Value>& points) const {
        return points.n_features == 2 && !sums_.has_weights;
    }

    // Squares are taken of as many points at once as a register holds.
    template <typename Value>
    void add_plane(const Points<Value>& points, const Slot* labels, std::size_t begin,
                   std::size_t end, double* sums_of_slots) const {
        constexpr std::size_t kMany = 64;
        double x[kMany], y[kMany], squares[kMany], rests[kMany];
        Quad rows[kMany];
        for (; begin < end; begin += kMany) {
            const std::size_t n = std::min(kMany, end - begin);
            const Value* values = points.values + 2 * begin;
            for (std::size_t r = 0; r < n; ++r) {
                x[r] = values[2 * r];
                y[r] = values[2 * r + 1];
            }
            std::fill(x + n, x + kMany, 0.0);
            std::fill(y + n, y + kMany, 0.0);
            unsigned is_tiny = 0;
            for (std::size_t r = 0; r < kMany; r += kSimd) {
                const Doubles u = load(x + r), v = load(y + r);
                const Pair<Doubles> square =
                    add_pairs(two_product(u, u, is_tiny), two_product(v, v, is_tiny));
                store(squares + r, square.value);
                store(rests + r, square.rest);
            }
            for (std::size_t r = 0; r < n; ++r)
                rows[r] =
                    is_tiny ? quad_of(points, begin + r) : Quad{x[r], y[r], squares[r], rests[r]};
            sums_.columns.add_quads(rows, labels + begin, n, sums_of_slots);
        }
    }

    template <typename Value>
    static Quad quad_of(const Points<Value>& points, std::size_t i) {
        const double x = points.values[2 * i], y = points.values[2 * i + 1];
        const Pair<double> square = add_pairs(two_product(x, x), two_product(y, y));
        return Quad{x, y, square.value, square.rest};
    }

    // One term for each column but the last two, and those.
    struct Terms {
        const double* first;
        double last[2];
    };

    // Without weights the row itself is what is added.
    template <typename Value>
    Terms terms_of(const Points<Value>& points, std::size_t i) {
        const std::size_t d = points.n_features;
        const double weight = points.weight(i);
        const double* y = points.row(i, row_.data());
        const double *first = y, *products = y;
        if (sums_.has_weights) {
            terms_[0] = weight;
            for (std::size_t j = 0; j < d; ++j) terms_[j + 1] = weight * y[j];
            first = terms_.data();
            products = first + 1;
        }
        const Pair<double> square = WeightedSquare::of(y, products, weight, d);
        return {first, {square.value, square.rest}};
    }

    template <int Sign>
    void add_terms(const Terms& terms, double* sums) const {
        const std::size_t n = sums_.columns.n_columns();
        sums_.columns.add_columns<Sign>(terms.first, 0, n - 2, sums);
        sums_.columns.add_columns<Sign>(terms.last, n - 2, n, sums);
    }

    const BatchSums& sums_;
    std::vector<double> terms_, row_;
};

template <typename Value>
BatchSums sums_of_batch(const Points<Value>& points, const Remembered& remembered,
                        double new_penalty, ThreadPool& pool) {
    constexpr std::size_t kValues = 131072;  // of one part
    const std::size_t n_rows = (kValues + points.n_features - 1) / points.n_features;
    const std::size_t n_parts = (points.n_points + n_rows - 1) / n_rows;
    Magnitudes whole(points.n_features);
    if (n_parts == 1) {
        whole.add(points, 0, points.n_points);
    } else {
        std::vector<Magnitudes> of_threads(pool.size(), whole);
        pool.for_blocks(n_parts, [&](std::size_t part, std::size_t thread) {
            of_threads[thread].add(points, part * n_rows,
                                   std::min((part + 1) * n_rows, points.n_points));
        });
        for (const Magnitudes& found : of_threads) whole.merge(found);
    }
    whole.add_values(remembered.centers, remembered.n_clusters * points.n_features);
    return BatchSums(whole, points.n_points, points.weights != nullptr, new_penalty);
}

}  // namespace dynmeans
