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
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <typename T>
using Rows = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

template <typename Array, typename T>
Array hand_over_as(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array(owned->data(), shape, owner);
}

template <typename T>
NumpyArray<T> hand_over(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    return hand_over_as<NumpyArray<T>>(std::move(values), shape);
}

template <typename T>
Column<T> column(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return hand_over_as<Column<T>>(std::move(values), {n});
}

template <typename T>
Rows<T> rows(std::vector<T>&& values, std::size_t n_rows, std::size_t n_columns) {
    return hand_over_as<Rows<T>>(std::move(values), {n_rows, n_columns});
}

}  // namespace dynmeans
