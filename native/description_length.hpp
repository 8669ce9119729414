// How long a description of the stream gets with the help of a clustering, in nats (decision 0300);
// parameters/description_length.py is the specification.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lives.hpp"
#include "noise_shapes.hpp"
#include "overlap.hpp"
#include "tracks.hpp"

namespace dynmeans {

// Log-probabilities; shape 0: one Gaussian, 1: one Student t, 2: a covariance for each identity.
struct Description {
    double places, labels, paths, lives;
    int shape;
};

// `floor` is the least variance per axis of the noise.
inline Description describe(const Stream& stream, const Surroundings& around, double floor,
                            const std::int64_t* labels) {
    const auto n_rows = static_cast<std::size_t>(stream.starts[stream.n_batches]);
    const std::size_t d = stream.n_features;
    const auto n_identities =
        static_cast<std::size_t>(*std::max_element(labels, labels + n_rows)) + 1;
    const Cells cells = gather_cells(stream, labels, n_identities);
    const Lives lives = follow(stream, cells, around.times, n_identities);
    std::vector<double> totals(stream.n_batches, 0.0), shares(cells.counts);
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        const auto begin = static_cast<std::size_t>(cells.starts[t]);
        const auto end = static_cast<std::size_t>(cells.starts[t + 1]);
        for (std::size_t c = begin; c < end; ++c) totals[t] += cells.counts[c];
        for (std::size_t c = begin; c < end; ++c) shares[c] /= totals[t];
    }
    const Pooled pooled = pool_cells(stream, cells);
    const double variance =
        pooled.squares / (static_cast<double>(d) * std::max(pooled.n_free, 1.0)) + floor;
    const StudentPlaces student = student_places(stream, cells, pooled, floor);
    const double places[] = {gaussian_places(pooled, variance, d), student.places,
                             own_places(cells, lives.n_free, pooled, variance)};
    const auto shape = std::max_element(places, places + 3) - places;
    const double overlap =
        shape == 1 ? cell_overlap(stream, cells, shares, StudentFall(student.scale, kDegrees, d))
                   : cell_overlap(stream, cells, shares, GaussianFall(variance));
    return {places[shape], label_shares(cells, totals) + overlap,
            beginnings(lives, cells, around, d) + walk(lives, d, variance),
            fates(lives) + births(lives), static_cast<int>(shape)};
}

}  // namespace dynmeans
