// Minimum description length (MDL): how long a description of the stream gets with a clustering, in
// nats (decision 0300); parameters/description_length.py is the specification.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "description/lifetime_model.hpp"
#include "description/noise.hpp"
#include "description/tracks.hpp"
#include "description/velocity_model.hpp"

namespace dynmeans::description {

// Log-probabilities; shape 0: one Gaussian, 1: one Student t, 2: a covariance for each identity.
struct Description {
    double places, labels, paths, lives;
    int shape;
};

// `floor` is the least variance per axis of the noise; `moving` is null where clusters keep no
// course.
inline Description describe(const Stream& stream, const DataExtent& around, double floor,
                            const double* moving, const std::int64_t* labels) {
    const auto n_rows = static_cast<std::size_t>(stream.starts[stream.n_batches]);
    const std::size_t d = stream.n_features;
    const auto n_identities =
        static_cast<std::size_t>(*std::max_element(labels, labels + n_rows)) + 1;
    const Tracks tracks = tracks_of(stream, labels, n_identities);
    const Moves moves = moves_of(stream, tracks, around.times, n_identities);
    std::vector<double> totals(stream.n_batches, 0.0);
    for (std::size_t t = 0; t < stream.n_batches; ++t) {
        const auto begin = static_cast<std::size_t>(tracks.starts[t]);
        const auto end = static_cast<std::size_t>(tracks.starts[t + 1]);
        for (std::size_t c = begin; c < end; ++c) totals[t] += tracks.counts[c];
    }
    const Pooled pooled = pool_cells(stream, tracks);
    const double variance =
        pooled.squares / (static_cast<double>(d) * std::max(pooled.n_free, 1.0)) + floor;
    const StudentFit fit = student(stream, tracks, pooled, floor);
    const double places[] = {gaussian(pooled, variance, d), fit.places,
                             own_shapes(tracks, moves.n_free, pooled, variance)};
    const auto shape = std::max_element(places, places + 3) - places;
    const double moved =
        moving ? course(stream, tracks, moves, around.times, moving, variance, n_identities)
               : walk(moves, d, variance);
    return {places[shape], shares(tracks, totals), beginnings(moves, tracks, around, d) + moved,
            fates(moves) + births(moves), static_cast<int>(shape)};
}

}  // namespace dynmeans::description
