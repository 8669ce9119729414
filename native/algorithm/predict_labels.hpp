// The label rule (Eq. 5) for points that change nothing: which cluster would take them? As of the
// last batch, clusters seen in it count as active, the others as remembered; at a later time, all
// are remembered.
#pragma once

#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/cost_table.hpp"

namespace dynmeans::algorithm {

using namespace records;
using namespace search;

class Predictor {
  public:
    Predictor(const double* centers, const double* weights, const double* ages,
              std::size_t n_clusters, std::size_t n_features, const Penalties& penalties,
              const Courses& courses, double elapsed = 0.0)
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

  private:
    double new_penalty_;
    CostTable table_;
};

}  // namespace dynmeans::algorithm
