// One step of Algorithm 1 for values of 32 bits: the engine, compiled.
#include "step.hpp"

namespace dynmeans {

template StepResult step(const Points<float>&, const std::int64_t*, std::size_t, const StateView&,
                         const Penalties&, double, const Means&, ThreadPool&);

}  // namespace dynmeans
