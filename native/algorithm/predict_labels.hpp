// The label rule (Eq. 5) for points that change nothing: which cluster would take them? As of the
// last batch, clusters seen in it count as active, the others as remembered; at a later time, all
// are remembered.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/center_search.hpp"
#include "search/cost_table.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

class Predictor {
  public:
    Predictor(const double* centers, const double* weights, const double* ages,
              std::size_t n_clusters, std::size_t n_features, const Penalties& penalties,
              const Velocities& courses, double elapsed = 0.0)
        : new_penalty_(penalties.new_penalty), table_(n_features, n_clusters) {
        std::vector<double> dt(n_clusters);
        for (std::size_t k = 0; k < n_clusters; ++k)
            dt[k] = elapsed > 0.0 ? ages[k] - 1.0 + elapsed : ages[k] > 1.0 ? ages[k] - 1.0 : 1.0;
        const Remembered remembered(centers, weights, dt, n_features, penalties, courses);
        for (std::size_t k = 0; k < n_clusters; ++k) {
            const bool is_active = elapsed == 0.0 && ages[k] == 1.0;
            table_.append();
            table_.set(k, is_active ? remembered.last_center(k) : remembered.center(k),
                       is_active ? 0.0 : remembered.offsets[k],
                       is_active ? 1.0 : remembered.scales[k]);
        }
    }

    // The row of the cheapest cluster, or kNone with cost lambda where a new one is cheaper.
    Choice choose(const double* y, std::size_t hint) const {
        return table_.cheapest(y, new_penalty_, hint);
    }

    // Calls put(i, choice) for every point, by the search of a first pass; one by one where that is
    // not asked for or takes longer to prepare.
    template <typename Value, typename Put>
    void choose_all(const Points<Value>& points, bool is_accelerated, Sgemm sgemm, ThreadPool& pool,
                    const Put& put) const {
        if (!is_accelerated || points.n_points < kFewPoints)
            return choose_each(points, pool.interrupts(), put);
        CenterSearch search(points.n_features, new_penalty_, sgemm, pool.size());
        search.build(table_);
        std::array<Row, kChunk> rows;
        std::iota(rows.begin(), rows.end(), Row{0});
        std::vector<std::array<Choice, kChunk>> found(pool.size());
        for (std::size_t begin = 0; begin < points.n_points; begin += kStretch) {
            const std::size_t end = std::min(begin + kStretch, points.n_points);
            search.prepare(table_, end - begin);
            pool.for_blocks((end - begin + kChunk - 1) / kChunk, [&](std::size_t c, std::size_t t) {
                const std::size_t from = begin + c * kChunk, n = std::min(kChunk, end - from);
                const Points<Value> few{points.values + from * points.n_features, nullptr, n,
                                        points.n_features};
                search.find(few, rows.data(), 0, n, table_, t, found[t].data());
                for (std::size_t r = 0; r < n; ++r) put(from + r, found[t][r]);
            });
            search.learn();
        }
    }

  private:
    static constexpr std::size_t kChunk = CenterSearch::kChunk;
    static constexpr std::size_t kFewPoints = 512;   // for which all clusters are looked at
    static constexpr std::size_t kStretch = 262144;  // points between two choices of the way

    template <typename Value, typename Put>
    void choose_each(const Points<Value>& points, InterruptCheck& interrupts,
                     const Put& put) const {
        std::vector<double> buffer(points.n_features);
        Choice choice{CostTable::kNone, 0.0};
        for (std::size_t i = 0; i < points.n_points; ++i) {
            if (i % 4096 == 4095) interrupts.check();
            choice = choose(points.row(i, buffer.data()), choice.slot);
            put(i, choice);
        }
    }

    double new_penalty_;
    CostTable table_;
};

}  // namespace dynmeans
