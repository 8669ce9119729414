// Hands vectors over to NumPy without copying them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

namespace dynmeans {

template <typename T>
using NumpyArray = nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>;

template <typename T>
NumpyArray<T> hand_over(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nanobind::capsule owner(owned,
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyArray<T>(owned->data(), shape, owner);
}

}  // namespace dynmeans
