// Algorithm 2 on small batches, compiled for each small number of features.
#include "passes/run_small.hpp"

#include "moves/set_moves.hpp"
#include "passes/small_batch.hpp"
#include "records/accelerations.hpp"

namespace dynmeans {

namespace {

template <std::size_t D, typename Value>
Solution run(const Points<Value>& points, Orders& orders, const Remembered& remembered,
             const Penalties& penalties, const BatchSums& sums) {
    thread_local SmallBatch<D> memory;
    SmallBatch<D>& batch = memory;  // found once
    batch.take(points, remembered, penalties, sums);
    Solution best;
    while (orders.advance()) batch.run(orders, best);
    if (orders.depth > 0) {
        thread_local SetMoves<Value> known;
        known.run_deep_search(points, remembered, penalties.new_penalty, sums, orders.listed(),
                              orders.depth, best,
                              [&](const Solution& start, std::size_t n_kept, std::size_t most) {
                                  return batch.continue_best(start, n_kept, most, best);
                              });
    }
    return best;
}

}  // namespace

template <typename Value>
Solution run_small(const Points<Value>& points, Orders& orders, const Remembered& remembered,
                   const Penalties& penalties, const BatchSums& sums) {
    switch (is_enabled<acceleration("few_features")>() ? points.n_features : 0) {
        case 1:
            return run<1>(points, orders, remembered, penalties, sums);
        case 2:
            return run<2>(points, orders, remembered, penalties, sums);
        case 3:
            return run<3>(points, orders, remembered, penalties, sums);
        case 4:
            return run<4>(points, orders, remembered, penalties, sums);
        default:
            return run<0>(points, orders, remembered, penalties, sums);
    }
}

template Solution run_small(const Points<double>&, Orders&, const Remembered&, const Penalties&,
                            const BatchSums&);
template Solution run_small(const Points<float>&, Orders&, const Remembered&, const Penalties&,
                            const BatchSums&);

}  // namespace dynmeans
