// Reproducible summation in bins (Demmel and Nguyen, as in ReproBLAS): sums without an order.
//
// Each term is rounded to a multiple of a unit, a power of two that follows from the batch as a
// whole; the multiples are added exactly, and only the total is rounded (decision 0006). The bits
// of a total depend on its terms, not on who adds them when: threads and workers sum what they
// have, parts are merged in any order, and a term that is taken out leaves no trace.
//
// Exact because: let there be N <= 2^p terms, the bins have units v_1 > v_2 > ... > v_L = u, each
// 2^(52-p) times the next, and N |x| <= 2^51 v_1. With M = 1.5 * 2^52 v, x + M lies where doubles
// are v apart as long as |x| <= 2^51 v, so h = (x + M) - M is x rounded to a multiple of v, ties to
// even, and h is exact. The rest x - h is exact: it is a multiple of the last bit of x and no
// larger than x. It is at most v/2, so N of them are at most 2^51 times the next unit, and the same
// step applies there. A bin holds at most N multiples of its unit whose sum is below 2^53 units, in
// any order and with any of them taken out: every addition and subtraction is exact. All bins
// together hold x rounded to a multiple of u, since h is an even multiple of each finer unit and
// so moves no tie. u is at least 2^-1074, of which every double is a multiple, and M is normal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "numeric/double_double.hpp"
#include "numeric/quads.hpp"
#include "numeric/simd.hpp"

namespace dynmeans {

constexpr int kLeastExponent = -1074;

// 2^exponent is `least` / 2^n_bits, rounded down to a power of two.
inline int unit_exponent(double least, int n_bits) {
    if (!(least > 0.0)) return kLeastExponent;
    int exponent;
    std::frexp(least, &exponent);
    return std::max(exponent - 1 - n_bits, kLeastExponent);
}

// The same by compensated summation (Ogita, Rump and Oishi), if that is sure to be it: `rest` is
// off by less than n roundings of what its terms come to, and with so much more the sum would still
// be rounded to the same double.
inline bool find_rounded_sum(const double* values, std::size_t n, std::size_t stride,
                             double& rounded) {
    double sum = 0.0, rest = 0.0, size = 0.0;
    for (std::size_t v = 0; v < n; ++v) {
        const Pair<double> next = two_sum(sum, values[v * stride]);
        sum = next.value;
        rest += next.rest;
        size += std::abs(next.rest);
    }
    const Pair<double> found = two_sum(sum, rest);
    rounded = found.value;
    const double off = std::abs(found.rest) + 1e-15 * (static_cast<double>(n) * size);
    if (!(std::abs(rounded) > 1e-280 && std::isfinite(rounded))) return false;
    // The doubles beside it are no nearer than the next one towards 0; half of this must be left.
    std::uint64_t bits;
    double beside = std::abs(rounded);
    std::memcpy(&bits, &beside, sizeof bits);
    --bits;
    std::memcpy(&beside, &bits, sizeof bits);
    return off < 0.5 * (std::abs(rounded) - beside);
}

// The exact sum of some doubles, rounded once (Shewchuk, as in Python's math.fsum).
inline double rounded_sum(const double* values, std::size_t n, std::size_t stride) {
    if (n == 0) return 0.0;
    if (n == 1) return values[0];
    if (n == 2) return values[0] + values[stride];
    double rounded;
    if (find_rounded_sum(values, n, stride, rounded)) return rounded;
    // Partial sums that do not overlap, the smallest first; each value adds one at most.
    constexpr std::size_t kFew = 16;
    double few[kFew];
    std::vector<double> many(n > kFew ? n : 0);
    double* partials = n > kFew ? many.data() : few;
    std::size_t n_partials = 0;
    for (std::size_t v = 0; v < n; ++v) {
        double x = values[v * stride];
        std::size_t kept = 0;
        for (std::size_t p = 0; p < n_partials; ++p) {
            double y = partials[p];
            if (std::abs(x) < std::abs(y)) std::swap(x, y);
            const double high = x + y, low = y - (high - x);
            if (low != 0.0) partials[kept++] = low;
            x = high;
        }
        partials[kept] = x;
        n_partials = kept + 1;
    }
    double high = partials[n_partials - 1], low = 0.0;
    std::size_t at = n_partials - 1;
    while (at > 0) {
        const double x = high, y = partials[--at];
        high = x + y;
        low = y - (high - x);
        if (low != 0.0) break;
    }
    // On a tie, what is left decides.
    if (at > 0 && low != 0.0 && (low < 0.0) == (partials[at - 1] < 0.0)) {
        const double twice = 2.0 * low, x = high + twice;
        if (twice == x - high) high = x;
    }
    return high;
}

// How the terms of one or several columns are dealt out to bins.
class Bins {
  public:
    struct Column {
        double largest;  // no term is larger in magnitude
        int unit;        // exponent
    };

    Bins() = default;

    Bins(std::size_t n_terms, const std::vector<Column>& columns) : n_columns_(columns.size()) {
        int p = 0;
        while ((std::size_t{1} << p) < n_terms) ++p;
        for (const Column& column : columns) n_bins_ = std::max(n_bins_, count_bins(column, p));
        shifts_.resize(size());
        for (std::size_t c = 0; c < n_columns_; ++c)
            for (std::size_t b = 0; b < n_bins_; ++b) {
                const int above = static_cast<int>(n_bins_ - 1 - b) * (52 - p);
                // Beyond what any term needs, a bin stays empty.
                shifts_[b * n_columns_ + c] =
                    std::ldexp(1.5, 52 + std::min(columns[c].unit + above, kMostExponent));
            }
    }

    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_bins() const { return n_bins_; }
    std::size_t size() const { return n_columns_ * n_bins_; }  // doubles of one sum

    // Adds one term to each of the columns [c, end) of a sum, or takes it out (Sign -1).
    template <int Sign>
    void add_columns(const double* terms, std::size_t c, std::size_t end, double* sums) const {
        const std::size_t n = n_columns_;
        for (; c + kSimd <= end; c += kSimd, terms += kSimd) {
            Doubles x = load(terms);
            for (std::size_t at = c; at < size(); at += n) {
                const Doubles shift = load(&shifts_[at]), h = (x + shift) - shift;
                store(sums + at, load(sums + at) + Sign * h);
                x -= h;
            }
        }
        if constexpr (kSimd > 4)
            if (c + 4 <= end) {
                add_quad<Sign>(load_quad(terms), c, sums);
                c += 4;
                terms += 4;
            }
        for (; c < end; ++c) {
            double x = *terms++;
            for (std::size_t b = 0; b < n_bins_; ++b) {
                const double shift = shifts_[b * n + c], h = (x + shift) - shift;
                sums[b * n + c] += Sign * h;
                x -= h;
            }
        }
    }

    // The same for four columns from c on.
    template <int Sign>
    void add_quad(Quad x, std::size_t c, double* sums) const {
        for (std::size_t at = c; at < size(); at += n_columns_) {
            const Quad shift = load_quad(&shifts_[at]), h = (x + shift) - shift;
            Quad sum = load_quad(sums + at);
            if constexpr (Sign > 0)
                sum += h;
            else
                sum -= h;
            std::memcpy(sums + at, &sum, sizeof sum);
            x -= h;
        }
    }

    // Adds rows of four terms, each to the sum that lies at its place; places below 0 are left out.
    template <typename Place>
    void add_quads(const Quad* rows, const Place* places, std::size_t n, double* sums) const {
        if (n_bins_ != 2) {
            for (std::size_t r = 0; r < n; ++r)
                if (places[r] >= 0) add_quad<1>(rows[r], 0, sums + places[r] * size());
            return;
        }
        const Quad coarse = load_quad(&shifts_[0]), fine = load_quad(&shifts_[4]);
        for (std::size_t r = 0; r < n; ++r) {
            if (places[r] < 0) continue;
            double* sum = sums + places[r] * 8;
            const Quad high = (rows[r] + coarse) - coarse, left = rows[r] - high;
            const Quad first = load_quad(sum) + high;
            const Quad second = load_quad(sum + 4) + ((left + fine) - fine);
            std::memcpy(sum, &first, sizeof first);
            std::memcpy(sum + 4, &second, sizeof second);
        }
    }

    // Deals terms of one column out to bins: put(bin, part of each term).
    template <typename Put>
    void split(Doubles terms, std::size_t column, const Put& put) const {
        for (std::size_t b = 0; b < n_bins_; ++b) {
            const Doubles shift = fill(shifts_[b * n_columns_ + column]);
            const Doubles h = (terms + shift) - shift;
            put(b, h);
            terms -= h;
        }
    }

    // Adds many terms of the one column; `terms` is used up. `sums` has one number for each bin.
    void add(double* terms, std::size_t n, double* sums) const {
        const std::size_t n_padded = (n + kSimd - 1) / kSimd * kSimd;  // with room behind
        std::fill(terms + n, terms + n_padded, 0.0);
        std::size_t first = 0;
        for (; first + 3 <= n_bins_; first += 3) add_to<3>(terms, n_padded, first, sums);
        for (; first < n_bins_; ++first) add_to<1>(terms, n_padded, first, sums);
    }

    // The total of one column of a sum.
    double total(const double* sums, std::size_t column) const {
        return rounded_sum(sums + column, n_bins_, n_columns_);
    }

    // The same of every column, with what rounding lost.
    void write_precise_totals(const double* sums, Pair<double>* totals) const {
        if (n_bins_ != 2) {
            for (std::size_t c = 0; c < n_columns_; ++c) totals[c] = precise_total(sums, c);
            return;
        }
        for (std::size_t c = 0; c < n_columns_; ++c)
            totals[c] = two_sum(sums[c], sums[n_columns_ + c]);
    }

    // The same with what rounding lost, itself rounded.
    Pair<double> precise_total(const double* sums, std::size_t column) const {
        const double* values = sums + column;
        if (n_bins_ == 1) return {values[0], 0.0};
        if (n_bins_ == 2) return two_sum(values[0], values[n_columns_]);
        const double value = total(sums, column);
        constexpr std::size_t kFew = 16;
        double few[kFew];
        std::vector<double> many(n_bins_ < kFew ? 0 : n_bins_ + 1);
        double* all = n_bins_ < kFew ? few : many.data();
        all[0] = -value;
        for (std::size_t b = 0; b < n_bins_; ++b) all[b + 1] = values[b * n_columns_];
        return {value, rounded_sum(all, n_bins_ + 1, 1)};
    }

  private:
    static constexpr int kMostExponent = 960;

    // To B bins at once, each term read once.
    template <std::size_t B>
    void add_to(double* terms, std::size_t n_padded, std::size_t first, double* sums) const {
        Doubles shifts[B], totals[B] = {};
        for (std::size_t b = 0; b < B; ++b) shifts[b] = fill(shifts_[first + b]);
        for (std::size_t i = 0; i < n_padded; i += kSimd) {
            Doubles x = load(terms + i);
            for (std::size_t b = 0; b < B; ++b) {
                const Doubles h = (x + shifts[b]) - shifts[b];
                totals[b] += h;
                x -= h;
            }
            store(terms + i, x);
        }
        for (std::size_t b = 0; b < B; ++b) sums[first + b] += sum_of_lanes(totals[b]);
    }

    static std::size_t count_bins(const Column& column, int p) {
        if (!(column.largest > 0.0)) return 1;
        int exponent = kMostExponent;
        if (std::isfinite(column.largest)) std::frexp(column.largest, &exponent);
        exponent = std::min(exponent, kMostExponent - 60);
        std::size_t n = 1;
        for (int unit = column.unit; unit < exponent + p - 51; unit += 52 - p) ++n;
        return n;
    }

    std::size_t n_columns_ = 0, n_bins_ = 1;
    std::vector<double> shifts_;  // (n_bins, n_columns), the coarsest bin first
};

}  // namespace dynmeans
