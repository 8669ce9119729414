// Arrays that cross between Python and C++: views of what came in, and vectors handed over to
// NumPy without copying them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace dynmeans {

namespace nb = nanobind;

using Floats = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Value>
using Table = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::c_contig>;
template <typename T>
NumpyArray<T> hand_over(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyArray<T>(owned->data(), shape, owner);
}

}  // namespace dynmeans
