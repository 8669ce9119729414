// Word vectors without a vocabulary (decision 0020): a word is 1,024 signs from a hash, and the
// company it has kept, the sum of the unit vectors of what stood beside it.
//
// Company is added up in whole numbers of 2^-14, so that neither the order of the texts nor the
// machine changes a bit. All other sums are in a fixed order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/sphere.hpp"

namespace dynmeans::words {

constexpr std::size_t kWidth = 1024;             // numbers of a vector
constexpr double kCompanyUnit = 16384.0;         // of company, in 1
constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: rounds what is added to it

inline void add_signs(const std::uint8_t* bits, double part, double* sum) {
    for (std::size_t byte = 0; byte < kWidth / 8; ++byte)
        for (std::size_t bit = 0; bit < 8; ++bit)
            sum[8 * byte + bit] += (bits[byte] >> (7 - bit)) & 1 ? part : -part;
}

// Texts as lists of words: those of text t are at words[starts[t] .. starts[t + 1]), each with what
// it weighs. Words number the rows of the tables.
struct Texts {
    const std::int64_t* starts;
    const std::int64_t* words;
    const double* parts;
    std::size_t n_texts;
};

// What is known of all words, one row each.
struct Company {
    const std::uint8_t* signs;  // (n_words, 128)
    std::int32_t* company;      // (n_words, 1024)
    std::int64_t* n_texts;      // with a word beside this one
    std::int64_t* total;        // (1024,) of all words
};

// Adds the rest of each text to the company of its words; returns how many rests there were.
inline std::int64_t learn(const Texts& texts, const Company& known) {
    std::vector<double> sum(kWidth), rest(kWidth);
    std::int64_t n_rests = 0;
    for (std::size_t t = 0; t < texts.n_texts; ++t) {
        const std::int64_t begin = texts.starts[t], end = texts.starts[t + 1];
        if (end - begin < 2) continue;
        sum.assign(kWidth, 0.0);
        for (std::int64_t w = begin; w < end; ++w)
            add_signs(known.signs + texts.words[w] * (kWidth / 8), texts.parts[w], sum.data());
        for (std::int64_t w = begin; w < end; ++w) {
            const std::int64_t word = texts.words[w];
            rest = sum;
            add_signs(known.signs + word * (kWidth / 8), -texts.parts[w], rest.data());
            const double square = squared_length(rest.data(), kWidth);
            if (square < 1e-6) continue;
            const double scale = kCompanyUnit / std::sqrt(square);
            std::int32_t* company = known.company + word * kWidth;
            for (std::size_t j = 0; j < kWidth; ++j) {
                const double whole = (rest[j] * scale + kRounder) - kRounder;
                company[j] += static_cast<std::int32_t>(whole);
                known.total[j] += static_cast<std::int64_t>(whole);
            }
            ++known.n_texts[word];
            ++n_rests;
        }
    }
    return n_rests;
}

// |company|^2 of some words, as a multiple of 1.
inline void write_squares(const Company& known, const std::int64_t* words, std::size_t n_words,
                          double* squares) {
    std::vector<double> company(kWidth);
    for (std::size_t w = 0; w < n_words; ++w) {
        const std::int32_t* from = known.company + words[w] * kWidth;
        for (std::size_t j = 0; j < kWidth; ++j) company[j] = from[j] / kCompanyUnit;
        squares[w] = squared_length(company.data(), kWidth);
    }
}

// The signs of some words at length 1, and the unit direction of their company, less that of all
// words, `shares` long.
inline void write_directions(const Company& known, std::int64_t n_rests, const std::int64_t* words,
                             const double* shares, std::size_t n_words, float* directions) {
    const double n_all = kCompanyUnit * static_cast<double>(n_rests > 0 ? n_rests : 1);
    std::vector<double> near(kWidth), all(kWidth);
    for (std::size_t j = 0; j < kWidth; ++j) all[j] = static_cast<double>(known.total[j]) / n_all;
    for (std::size_t w = 0; w < n_words; ++w) {
        near.assign(kWidth, 0.0);
        if (shares[w] > 0.0) {
            const std::int32_t* company = known.company + words[w] * kWidth;
            const double n = kCompanyUnit * static_cast<double>(known.n_texts[words[w]]);
            for (std::size_t j = 0; j < kWidth; ++j) near[j] = company[j] / n - all[j];
            const double square = squared_length(near.data(), kWidth);
            const double scale = square > 1e-12 ? shares[w] / std::sqrt(square) : 0.0;
            for (double& value : near) value *= scale;
        }
        add_signs(known.signs + words[w] * (kWidth / 8), 1.0 / 32.0, near.data());  // 32^2 = 1024
        for (std::size_t j = 0; j < kWidth; ++j)
            directions[w * kWidth + j] = static_cast<float>(near[j]);
    }
}

// Texts as unit rows: the sum of the directions of their words; zeros for a text without one. Here
// words number the rows of `directions`.
inline void write_rows(const Texts& texts, const float* directions, float* rows) {
    std::vector<double> sum(kWidth);
    for (std::size_t t = 0; t < texts.n_texts; ++t) {
        sum.assign(kWidth, 0.0);
        for (std::int64_t w = texts.starts[t]; w < texts.starts[t + 1]; ++w) {
            const float* from = directions + texts.words[w] * kWidth;
            for (std::size_t j = 0; j < kWidth; ++j)
                sum[j] += texts.parts[w] * static_cast<double>(from[j]);
        }
        const double square = squared_length(sum.data(), kWidth);
        const double scale = square > 1e-12 ? 1.0 / std::sqrt(square) : 0.0;
        for (std::size_t j = 0; j < kWidth; ++j)
            rows[t * kWidth + j] = static_cast<float>(sum[j] * scale);
    }
}

}  // namespace dynmeans::words
