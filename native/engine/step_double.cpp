// One step of Algorithm 1 for values of 64 bits: the engine, compiled.
#include "engine/step.hpp"

namespace dynmeans {

template StepResult step(const Points<double>&, Orders&, const StateView&, const Penalties&, double,
                         const Execution&, ThreadPool&);

}  // namespace dynmeans
