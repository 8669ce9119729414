// A clustering of several batches, to judge it by: the tracks (what one identity has in one batch)
// and the scatter of each identity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/squared_distance.hpp"
#include "numeric/vector_math.hpp"

namespace dynmeans::description {

// All batches one after the other; batch t has the rows starts[t] to starts[t + 1].
struct Stream {
    const double* points;  // row-major (n_rows, n_features)
    const double* weights;
    const std::int64_t* starts;
    std::size_t n_batches;
    std::size_t n_features;
};

// Tracks in order of batch, then of identity.
struct Tracks {
    std::vector<std::int64_t> starts, ids;  // first cell of each batch; identity of each cell
    std::vector<double> counts, means;
    std::vector<std::int64_t> cell_of_row;
    std::vector<double> squares;   // of each row: squared distance to its cell's mean
    std::vector<double> scatters;  // of each identity: n_shaped padded rows, right to the diagonal
    std::size_t n_shaped = 0;      // n_features, or 0 where that is too many
};

// With more features an identity seldom has the points to show a shape, and its matrix is large.
constexpr std::size_t kMostShaped = 64;

// Adds weight * residual residual^T, up to the diagonal and what shares a register with it.
inline void add_square(double* scatter, const double* residual, double weight, std::size_t d) {
    for (std::size_t j = 0; j < d; ++j, scatter += padded(d)) {
        const Doubles scaled = fill(weight * residual[j]);
        for (std::size_t k = 0; k <= j; k += kSimd)
            store(scatter + k, load(scatter + k) + scaled * load(residual + k));
    }
}

// Labels are identities from 0 to n_identities - 1.
inline Tracks tracks_of(const Stream& stream, const std::int64_t* labels,
                        std::size_t n_identities) {
    const std::size_t d = stream.n_features;
    const auto n_rows = static_cast<std::size_t>(stream.starts[stream.n_batches]);
    Tracks tracks;
    tracks.starts.push_back(0);
    tracks.cell_of_row.resize(n_rows);
    tracks.squares.resize(n_rows);
    tracks.n_shaped = d <= kMostShaped ? d : 0;
    const std::size_t n_shaped = tracks.n_shaped;
    const std::size_t width = padded(n_shaped);
    tracks.scatters.assign(n_identities * n_shaped * width, 0.0);
    std::vector<std::int64_t> cell_of_id(n_identities, -1);
    std::vector<double> residuals;
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        const auto begin = static_cast<std::size_t>(stream.starts[t]);
        const auto end = static_cast<std::size_t>(stream.starts[t + 1]);
        const std::size_t first = tracks.ids.size();
        for (std::size_t i = begin; i < end; ++i) {
            auto& cell = cell_of_id[static_cast<std::size_t>(labels[i])];
            if (cell < 0) tracks.ids.push_back(labels[i]), cell = 0;
        }
        std::sort(tracks.ids.begin() + static_cast<std::ptrdiff_t>(first), tracks.ids.end());
        for (std::size_t c = first; c < tracks.ids.size(); ++c)
            cell_of_id[static_cast<std::size_t>(tracks.ids[c])] = static_cast<std::int64_t>(c);
        tracks.counts.resize(tracks.ids.size(), 0.0);
        tracks.means.resize(tracks.ids.size() * d, 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t cell = cell_of_id[static_cast<std::size_t>(labels[i])];
            tracks.cell_of_row[i] = cell;
            double* mean = tracks.means.data() + static_cast<std::size_t>(cell) * d;
            tracks.counts[static_cast<std::size_t>(cell)] += stream.weights[i];
            for (std::size_t j = 0; j < d; ++j)
                mean[j] += stream.weights[i] * stream.points[i * d + j];
        }
        for (std::size_t c = first; c < tracks.ids.size(); ++c) {
            for (std::size_t j = 0; j < d; ++j) tracks.means[c * d + j] /= tracks.counts[c];
            cell_of_id[static_cast<std::size_t>(tracks.ids[c])] = -1;
        }
        residuals.resize((end - begin) * width, 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            const auto cell = static_cast<std::size_t>(tracks.cell_of_row[i]);
            const double *y = stream.points + i * d, *mean = tracks.means.data() + cell * d;
            double* residual = residuals.data() + (i - begin) * width;
            tracks.squares[i] = squared_distance(y, mean, d);
            for (std::size_t j = 0; j < n_shaped; ++j) residual[j] = y[j] - mean[j];
        }
        for (std::size_t i = begin; i < end; ++i)
            add_square(
                tracks.scatters.data() + static_cast<std::size_t>(labels[i]) * n_shaped * width,
                residuals.data() + (i - begin) * width, stream.weights[i], n_shaped);
        tracks.starts.push_back(static_cast<std::int64_t>(tracks.ids.size()));
    }
    return tracks;
}

}  // namespace dynmeans::description
