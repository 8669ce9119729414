// The compiled module: what each file of this folder binds.
#define DYNMEANS_IMPORTS_NUMPY
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "records/accelerations.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;

void bind_steps(nb::module_& module);       // step.cpp
void bind_sequences(nb::module_& module);   // sequence.cpp
void bind_checks(nb::module_& module);      // checks.cpp
void bind_moves(nb::module_& module);       // moves.cpp
void bind_pieces(nb::module_& module);      // dask.cpp
void bind_piece_sets(nb::module_& module);  // dask_sets.cpp
void bind_samplers(nb::module_& module);    // mixture.cpp
void bind_groups(nb::module_& module);      // groups.cpp
void bind_suggestion(nb::module_& module);  // description.cpp
void bind_words(nb::module_& module);       // words.cpp

namespace {

// For benchmarks: the accelerations there are, and all but these from now on.
std::vector<std::string> acceleration_names() {
    return {kAccelerationNames.begin(), kAccelerationNames.end()};
}

void leave_out(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < kAccelerationNames.size(); ++i)
        disabled[i] = std::find(names.begin(), names.end(), kAccelerationNames[i]) != names.end();
}

// For benchmarks and tests: due dates from so many points on; returns what it was.
std::pair<std::size_t, std::size_t> date_from(std::size_t n_points, std::size_t n_passes) {
    const DeferredLimits before = std::exchange(deferred_limits, {n_points, n_passes});
    return {before.fewest_points, before.first_pass};
}

}  // namespace
}  // namespace dynmeans::bindings

NB_MODULE(DYNMEANS_MODULE, module) {
    using namespace dynmeans::bindings;
    if (_import_array() < 0) throw nb::python_error();
    module.def("acceleration_names", &acceleration_names);
    module.def("leave_out", &leave_out, "names"_a);
    module.def("date_from", &date_from, "n_points"_a, "n_passes"_a);
    bind_steps(module);
    bind_sequences(module);
    bind_checks(module);
    bind_moves(module);
    bind_pieces(module);
    bind_piece_sets(module);
    bind_samplers(module);
    bind_groups(module);
    bind_suggestion(module);
    bind_words(module);
}
