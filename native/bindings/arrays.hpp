// Arrays that cross between Python and C++, all of them by NumPy's own C interface: a small batch
// has seventeen, and nanobind's views cost up to a microsecond for each. They only write the stub.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL DYNMEANS_ARRAY_API
#ifndef DYNMEANS_IMPORTS_NUMPY  // module.cpp does, for all
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "records/points.hpp"

namespace dynmeans::bindings {

namespace nb = nanobind;

// An array of the caller's, kept alive while it is looked at; where T is const it may be a copy.
template <typename T, std::size_t N>
struct Given {
    nb::object array;

    T* data() const { return static_cast<T*>(PyArray_DATA(numpy())); }
    std::size_t shape(int axis) const { return PyArray_DIM(numpy(), axis); }
    std::size_t size() const { return PyArray_SIZE(numpy()); }

  private:
    PyArrayObject* numpy() const { return reinterpret_cast<PyArrayObject*>(array.ptr()); }
};

using Floats = Given<const double, 1>;
using Ints = Given<const std::int64_t, 1>;
template <typename Value>
using Table = Given<const Value, 2>;
using GivenWeights = std::optional<Floats>;
using GivenMoving = std::optional<Floats>;

inline const double* data_or_null(const std::optional<Floats>& given) {
    return given ? given->data() : nullptr;
}

template <typename Value>
Points<Value> points_of(const Table<Value>& points, const std::optional<Floats>& weights) {
    return {points.data(), data_or_null(weights), points.shape(0), points.shape(1)};
}

// A new array; `Array` tells the stub what it holds.
template <typename... Array>
struct Made {
    nb::object array;
};

template <typename T>
using Column = Made<nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>>;
template <typename T>
using Rows = Made<nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>>;

template <typename T>
constexpr int kNumpyType = -1;
template <>
inline constexpr int kNumpyType<double> = NPY_FLOAT64;
template <>
inline constexpr int kNumpyType<float> = NPY_FLOAT32;
template <>
inline constexpr int kNumpyType<std::int64_t> = NPY_INT64;
template <>
inline constexpr int kNumpyType<std::uint64_t> = NPY_UINT64;
template <>
inline constexpr int kNumpyType<std::int32_t> = NPY_INT32;
template <>
inline constexpr int kNumpyType<std::uint32_t> = NPY_UINT32;
template <>
inline constexpr int kNumpyType<std::uint8_t> = NPY_UINT8;

inline nb::object checked_new(PyObject* object) {
    if (!object) throw nb::python_error();
    return nb::steal(object);
}

// Short vectors are copied, long ones handed over.
template <typename T>
nb::object make_array(std::vector<T>&& values, int n_dimensions, npy_intp* shape) {
    static_assert(kNumpyType<T> >= 0);
    constexpr std::size_t kShort = 8192;
    if (values.size() <= kShort) {
        nb::object array = checked_new(PyArray_SimpleNew(n_dimensions, shape, kNumpyType<T>));
        auto* into = PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()));
        std::copy(values.begin(), values.end(), static_cast<T*>(into));
        return array;
    }
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    nb::object array =
        checked_new(PyArray_SimpleNewFromData(n_dimensions, shape, kNumpyType<T>, owned->data()));
    PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), owner.release().ptr());
    return array;
}

template <typename T>
Column<T> column(std::vector<T>&& values) {
    npy_intp shape[] = {static_cast<npy_intp>(values.size())};
    return {make_array(std::move(values), 1, shape)};
}

template <typename T>
Rows<T> rows(std::vector<T>&& values, std::size_t n_rows, std::size_t n_columns) {
    npy_intp shape[] = {static_cast<npy_intp>(n_rows), static_cast<npy_intp>(n_columns)};
    return {make_array(std::move(values), 2, shape)};
}

// What happened cannot be changed afterwards: the array becomes read-only.
template <typename... Array>
Made<Array...> frozen(Made<Array...>&& made) {
    PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(made.array.ptr()), NPY_ARRAY_WRITEABLE);
    return std::move(made);
}

}  // namespace dynmeans::bindings

namespace nanobind::detail {

template <typename T, std::size_t N>
struct type_caster<dynmeans::bindings::Given<T, N>> {
    using Array = dynmeans::bindings::Given<T, N>;
    NB_TYPE_CASTER(Array, (make_caster<ndarray<T, ndim<N>, c_contig, device::cpu>>::Name))

    bool from_python(handle source, std::uint8_t flags, cleanup_list*) noexcept {
        constexpr bool kIsRead = std::is_const_v<T>;
        constexpr int kType = dynmeans::bindings::kNumpyType<std::remove_const_t<T>>;
        PyObject* object = source.ptr();
        if (PyArray_Check(object)) {
            auto* array = reinterpret_cast<PyArrayObject*>(object);
            const bool is_plain = kIsRead ? PyArray_ISCARRAY_RO(array) : PyArray_ISCARRAY(array);
            if (PyArray_TYPE(array) == kType && is_plain) {
                value.array = borrow(source);
                return PyArray_NDIM(array) == N;
            }
        }
        if (!kIsRead || !(flags & static_cast<std::uint8_t>(cast_flags::convert))) return false;
        value.array = steal(PyArray_FROM_OTF(object, kType, NPY_ARRAY_CARRAY_RO));
        if (!value.array.is_valid()) PyErr_Clear();
        return value.array.is_valid() &&
               PyArray_NDIM(reinterpret_cast<PyArrayObject*>(value.array.ptr())) == N;
    }
};

template <typename Array, typename... Others>
struct type_caster<dynmeans::bindings::Made<Array, Others...>> {
    using Value = dynmeans::bindings::Made<Array, Others...>;
    static constexpr auto Name =
        (make_caster<Array>::Name + ... + (const_name(" | ") + make_caster<Others>::Name));
    template <typename T>
    using Cast = Value;
    static handle from_cpp(const Value& made, rv_policy, cleanup_list*) noexcept {
        return made.array.inc_ref();
    }
};

}  // namespace nanobind::detail
