// How clusters live: where they start, how they move, when they are seen, and how many points
// (decision 0300); as parameters/life_model.py, which tells the models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "description/noise.hpp"
#include "description/tracks.hpp"
#include "numeric/gamma_functions.hpp"
#include "numeric/squared_distance.hpp"

namespace dynmeans::description {

// When batches came, and where all points lie: along each axis (a column) with a variance.
struct DataExtent {
    const double *times, *mean, *axes, *axis_variances;
};

// Each identity from cell to cell.
struct Moves {
    std::vector<double> squares, times, errors;  // of each move: |move|^2, its time, 1/n + 1/n'
    std::size_t n_broken = 0, n_ended = 0;       // moves over a batch unseen; ends before the last
    std::vector<std::size_t> first_cells;
    std::vector<double> born;    // in each batch
    std::vector<double> n_free;  // of each identity: points less one for each cell; -1: no cell
};

inline Moves moves_of(const Stream& stream, const Tracks& tracks, const double* times,
                      std::size_t n_identities) {
    const std::size_t d = stream.n_features;
    Moves moves;
    moves.born.assign(stream.n_batches, 0.0);
    moves.n_free.assign(n_identities, -1.0);
    std::vector<std::size_t> last_cell(n_identities), last_batch(n_identities);
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        for (auto c = static_cast<std::size_t>(tracks.starts[t]);
             c < static_cast<std::size_t>(tracks.starts[t + 1]); ++c) {
            const auto id = static_cast<std::size_t>(tracks.ids[c]);
            const double n = tracks.counts[c];
            if (moves.n_free[id] < 0.0) {
                moves.n_free[id] = 0.0;
                moves.first_cells.push_back(c);
                moves.born[t] += 1.0;
            } else {
                const std::size_t before = last_cell[id];
                moves.squares.push_back(squared_distance(tracks.means.data() + c * d,
                                                         tracks.means.data() + before * d, d));
                moves.times.push_back(times[t] - times[last_batch[id]]);
                moves.errors.push_back(1.0 / n + 1.0 / tracks.counts[before]);
                moves.n_broken += t > last_batch[id] + 1;
            }
            moves.n_free[id] += std::max(n - 1.0, 0.0);
            last_cell[id] = c;
            last_batch[id] = t;
        }
    }
    for (std::size_t id = 0; id < n_identities; ++id)
        moves.n_ended += moves.n_free[id] >= 0.0 && last_batch[id] + 1 < stream.n_batches;
    return moves;
}

inline double sum_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
}

constexpr double kLeastMotion = 1e-3;  // in units of the noise variance

inline double walk(const Moves& moves, std::size_t n_features, double variance) {
    constexpr int kRounds = 6;
    const std::size_t n = moves.squares.size();
    if (n == 0) return 0.0;
    const double d = static_cast<double>(n_features), duration = sum_of(moves.times);
    const double least = kLeastMotion * variance / (duration / static_cast<double>(n));
    double excess = 0.0;
    for (std::size_t m = 0; m < n; ++m) excess += moves.squares[m] / d - variance * moves.errors[m];
    double motion = std::max(excess / duration, least);
    for (int round = 0; round < kRounds; ++round) {
        double pulled = 0.0, pulls = 0.0;
        for (std::size_t m = 0; m < n; ++m) {
            const double measured = variance * moves.errors[m], time = moves.times[m];
            const double part = time / (motion * time + measured);
            pulled += part * part * (moves.squares[m] / d - measured);
            pulls += part * part * time;
        }
        motion = std::max(pulled / pulls, least);
    }
    double found = 0.0;
    for (std::size_t m = 0; m < n; ++m) {
        const double total = motion * moves.times[m] + variance * moves.errors[m];
        found -= 0.5 * d * std::log(2.0 * kPi * total) + 0.5 * moves.squares[m] / total;
    }
    return found;
}

inline double beginnings(const Moves& moves, const Tracks& tracks, const DataExtent& around,
                         std::size_t d) {
    double log_determinant = 0.0, falls = 0.0;
    for (std::size_t k = 0; k < d; ++k)
        log_determinant += std::log(2.0 * kPi * around.axis_variances[k]);
    std::vector<double> along(d);
    for (const std::size_t c : moves.first_cells) {
        std::fill(along.begin(), along.end(), 0.0);
        for (std::size_t j = 0; j < d; ++j) {
            const double from_mean = tracks.means[c * d + j] - around.mean[j];
            for (std::size_t k = 0; k < d; ++k) along[k] += from_mean * around.axes[j * d + k];
        }
        for (std::size_t k = 0; k < d; ++k) falls += along[k] * along[k] / around.axis_variances[k];
    }
    return -0.5 * (static_cast<double>(moves.first_cells.size()) * log_determinant + falls);
}

inline double shares(const Tracks& tracks, const std::vector<double>& totals) {
    double found = 0.0;
    for (std::size_t t = 0; t < totals.size(); ++t) {
        const auto k = static_cast<double>(tracks.starts[t + 1] - tracks.starts[t]);
        found += log_gamma(k) - log_gamma(totals[t] + k);
    }
    for (const double n : tracks.counts) found += log_gamma(n + 1.0);
    return found;
}

inline double fates(const Moves& moves) {
    const std::size_t n_moves = moves.squares.size();
    double found = log_gamma(1.5) - log_gamma(1.5 + static_cast<double>(n_moves + moves.n_ended));
    for (const std::size_t chosen : {n_moves - moves.n_broken, moves.n_broken, moves.n_ended})
        found += log_gamma(static_cast<double>(chosen) + 0.5) - log_gamma(0.5);
    return found;
}

inline double births(const Moves& moves) {
    const std::size_t n_batches = moves.born.size();
    const double n_born = sum_of(moves.born) - moves.born[0];
    if (n_born == 0.0) return 0.0;
    const double rate = n_born / static_cast<double>(n_batches - 1);
    double found = 0.0;
    for (std::size_t t = 1; t < n_batches; ++t)
        found += moves.born[t] * std::log(rate) - rate - log_gamma(moves.born[t] + 1.0);
    return found;
}

}  // namespace dynmeans::description
