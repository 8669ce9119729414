// How clusters live: where they start, how they move, when they are seen, and how many points
// (decision 0300); as parameters/life_model.py, which tells the models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gamma_functions.hpp"
#include "noise_shapes.hpp"
#include "squared_distance.hpp"
#include "tracks.hpp"

namespace dynmeans {

// When batches came, and where all points lie: along each axis (a column) with a variance.
struct Surroundings {
    const double *times, *mean, *axes, *axis_variances;
};

// Each identity from cell to cell.
struct Lives {
    std::vector<double> squares, times, errors;  // of each move: |move|^2, its time, 1/n + 1/n'
    std::size_t n_broken = 0, n_ended = 0;       // moves over a batch unseen; ends before the last
    std::vector<std::size_t> first_cells;
    std::vector<double> born;    // in each batch
    std::vector<double> n_free;  // of each identity: points less one for each cell; -1: no cell
};

inline Lives follow(const Stream& stream, const Cells& cells, const double* times,
                    std::size_t n_identities) {
    const std::size_t d = stream.n_features;
    Lives lives;
    lives.born.assign(stream.n_batches, 0.0);
    lives.n_free.assign(n_identities, -1.0);
    std::vector<std::size_t> last_cell(n_identities), last_batch(n_identities);
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        for (auto c = static_cast<std::size_t>(cells.starts[t]);
             c < static_cast<std::size_t>(cells.starts[t + 1]); ++c) {
            const auto id = static_cast<std::size_t>(cells.ids[c]);
            const double n = cells.counts[c];
            if (lives.n_free[id] < 0.0) {
                lives.n_free[id] = 0.0;
                lives.first_cells.push_back(c);
                lives.born[t] += 1.0;
            } else {
                const std::size_t before = last_cell[id];
                lives.squares.push_back(squared_distance(cells.means.data() + c * d,
                                                         cells.means.data() + before * d, d));
                lives.times.push_back(times[t] - times[last_batch[id]]);
                lives.errors.push_back(1.0 / n + 1.0 / cells.counts[before]);
                lives.n_broken += t > last_batch[id] + 1;
            }
            lives.n_free[id] += std::max(n - 1.0, 0.0);
            last_cell[id] = c;
            last_batch[id] = t;
        }
    }
    for (std::size_t id = 0; id < n_identities; ++id)
        lives.n_ended += lives.n_free[id] >= 0.0 && last_batch[id] + 1 < stream.n_batches;
    return lives;
}

inline double sum_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
}

inline double walk(const Lives& lives, std::size_t n_features, double variance) {
    constexpr double kLeastMotion = 1e-3;
    constexpr int kRounds = 6;
    const std::size_t n = lives.squares.size();
    if (n == 0) return 0.0;
    const double d = static_cast<double>(n_features), duration = sum_of(lives.times);
    const double least = kLeastMotion * variance / (duration / static_cast<double>(n));
    double excess = 0.0;
    for (std::size_t m = 0; m < n; ++m) excess += lives.squares[m] / d - variance * lives.errors[m];
    double motion = std::max(excess / duration, least);
    for (int round = 0; round < kRounds; ++round) {
        double pulled = 0.0, pulls = 0.0;
        for (std::size_t m = 0; m < n; ++m) {
            const double measured = variance * lives.errors[m], time = lives.times[m];
            const double part = time / (motion * time + measured);
            pulled += part * part * (lives.squares[m] / d - measured);
            pulls += part * part * time;
        }
        motion = std::max(pulled / pulls, least);
    }
    double found = 0.0;
    for (std::size_t m = 0; m < n; ++m) {
        const double total = motion * lives.times[m] + variance * lives.errors[m];
        found -= 0.5 * d * std::log(2.0 * kPi * total) + 0.5 * lives.squares[m] / total;
    }
    return found;
}

inline double beginnings(const Lives& lives, const Cells& cells, const Surroundings& around,
                         std::size_t d) {
    double log_determinant = 0.0, falls = 0.0;
    for (std::size_t k = 0; k < d; ++k)
        log_determinant += std::log(2.0 * kPi * around.axis_variances[k]);
    std::vector<double> along(d);
    for (const std::size_t c : lives.first_cells) {
        std::fill(along.begin(), along.end(), 0.0);
        for (std::size_t j = 0; j < d; ++j) {
            const double from_mean = cells.means[c * d + j] - around.mean[j];
            for (std::size_t k = 0; k < d; ++k) along[k] += from_mean * around.axes[j * d + k];
        }
        for (std::size_t k = 0; k < d; ++k) falls += along[k] * along[k] / around.axis_variances[k];
    }
    return -0.5 * (static_cast<double>(lives.first_cells.size()) * log_determinant + falls);
}

inline double label_shares(const Cells& cells, const std::vector<double>& totals) {
    double found = 0.0;
    for (std::size_t t = 0; t < totals.size(); ++t) {
        const auto k = static_cast<double>(cells.starts[t + 1] - cells.starts[t]);
        found += log_gamma(k) - log_gamma(totals[t] + k);
    }
    for (const double n : cells.counts) found += log_gamma(n + 1.0);
    return found;
}

inline double fates(const Lives& lives) {
    const std::size_t n_moves = lives.squares.size();
    double found = log_gamma(1.5) - log_gamma(1.5 + static_cast<double>(n_moves + lives.n_ended));
    for (const std::size_t chosen : {n_moves - lives.n_broken, lives.n_broken, lives.n_ended})
        found += log_gamma(static_cast<double>(chosen) + 0.5) - log_gamma(0.5);
    return found;
}

inline double births(const Lives& lives) {
    const std::size_t n_batches = lives.born.size();
    const double n_born = sum_of(lives.born) - lives.born[0];
    if (n_born == 0.0) return 0.0;
    const double rate = n_born / static_cast<double>(n_batches - 1);
    double found = 0.0;
    for (std::size_t t = 1; t < n_batches; ++t)
        found += lives.born[t] * std::log(rate) - rate - log_gamma(lives.born[t] + 1.0);
    return found;
}

}  // namespace dynmeans
