// How well a clustering describes its batches, for Python: arrays in, numbers out, the GIL released
// in between. The caller has checked shapes and values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "bindings/arrays.hpp"
#include "description/description_length.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {

using namespace description;
namespace {

// Logarithms of the probabilities of places, labels, paths and lives; and the shape of the noise.
using DescriptionParts = std::tuple<double, double, double, double, int>;

DescriptionParts description_of(Table<double> points, Floats weights, Ints starts, Floats times,
                                Floats mean, Table<double> axes, Floats axis_variances,
                                double floor, std::optional<Floats> moving, Ints labels) {
    nb::gil_scoped_release release;
    const Stream stream{points.data(), weights.data(), starts.data(), starts.size() - 1,
                        points.shape(1)};
    const DataExtent around{times.data(), mean.data(), axes.data(), axis_variances.data()};
    const Description found =
        describe(stream, around, floor, moving ? moving->data() : nullptr, labels.data());
    return {found.places, found.labels, found.paths, found.lives, found.shape};
}

}  // namespace

void bind_suggestion(nb::module_& module) {
    module.def("describe", &description_of, "points"_a, "weights"_a, "starts"_a, "times"_a,
               "mean"_a, "axes"_a, "axis_variances"_a, "floor"_a, "moving"_a.none(), "labels"_a);
}

}  // namespace dynmeans::bindings
