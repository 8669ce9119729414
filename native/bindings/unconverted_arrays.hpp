// Arrays from Python that need neither conversion nor complaint, and the limits they are held to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#if !defined(DYNMEANS_ONE_THREAD)
#include <atomic>
#include <thread>
#endif

#include "bindings/arrays.hpp"
#include "numeric/simd.hpp"

namespace dynmeans::bindings {

// Slots are numbered with 32 bits; weighted squares of differences, summed over any number of
// points, must stay finite.
constexpr double kMaxCoordinate = 1e100, kMaxWeight = 1e50;

// Whether every value is a number of at most this magnitude.
template <typename Value>
bool are_within(const Value* values, std::size_t n, double limit) {
    constexpr unsigned kAll = (1u << kSimd) - 1;
    unsigned both = kAll;
    std::size_t i = 0;
    for (; i + kSimd <= n; i += kSimd) {
        const Doubles x = load(values + i);
        both &= lanes_at_most(x, limit) & lanes_at_most(-x, limit);
    }
    bool rest = true;
    for (; i < n; ++i) rest &= values[i] <= limit && -values[i] <= limit;
    return both == kAll && rest;
}

// The same; many values are looked at by several threads, as many as OMP_NUM_THREADS allows.
template <typename Value>
bool are_all_within(const Value* values, std::size_t n, double limit) {
#if !defined(DYNMEANS_ONE_THREAD)
    constexpr std::size_t kMany = std::size_t{1} << 22, kMostThreads = 16;
    if (n >= kMany) {
        const char* text = std::getenv("OMP_NUM_THREADS");
        const int given = text ? std::atoi(text) : 0;
        const std::size_t allowed = given > 0 ? given : kMostThreads;
        const std::size_t here = std::max(1u, std::thread::hardware_concurrency());
        const std::size_t n_threads = std::min({allowed, here, kMostThreads});
        const std::size_t part = (n + n_threads - 1) / n_threads;
        std::atomic<bool> are_within_parts{true};
        const auto look = [&](std::size_t t) {
            const std::size_t first = std::min(n, t * part), last = std::min(n, first + part);
            if (!are_within(values + first, last - first, limit)) are_within_parts = false;
        };
        std::vector<std::thread> threads;
        for (std::size_t t = 1; t < n_threads; ++t) threads.emplace_back(look, t);
        look(0);
        for (std::thread& thread : threads) thread.join();
        return are_within_parts;
    }
#endif
    return are_within(values, n, limit);
}

template <typename T>
const T* data_of(PyArrayObject* array) {
    return static_cast<const T*>(PyArray_DATA(array));
}

// `object` as an array that can be read as it is, or null; never a subclass with ideas of its own.
template <typename T, int N>
PyArrayObject* plain_array(nb::handle object) {
    if (!PyArray_CheckExact(object.ptr())) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
    const bool is_plain = PyArray_TYPE(array) == kNumpyType<T> && PyArray_NDIM(array) == N &&
                          PyArray_ISCARRAY_RO(array);
    return is_plain ? array : nullptr;
}

// A batch of points, or null.
template <typename Value>
PyArrayObject* plain_batch(nb::handle points, std::size_t n_features) {
    PyArrayObject* array = plain_array<Value, 2>(points);
    const bool is_plain =
        array && static_cast<std::size_t>(PyArray_DIM(array, 0)) <= kMaxPoints &&
        static_cast<std::size_t>(PyArray_DIM(array, 1)) == n_features &&
        are_all_within(data_of<Value>(array), PyArray_SIZE(array), kMaxCoordinate);
    return is_plain ? array : nullptr;
}

// One weight for each point, or null.
inline PyArrayObject* plain_weights(nb::handle weights, std::size_t n_points) {
    PyArrayObject* array = plain_array<double, 1>(weights);
    if (!array || static_cast<std::size_t>(PyArray_SIZE(array)) != n_points) return nullptr;
    const double* values = data_of<double>(array);
    bool is_plain = true;
    for (std::size_t i = 0; i < n_points; ++i)
        is_plain &= values[i] >= 0.0 && values[i] <= kMaxWeight;
    return is_plain ? array : nullptr;
}

// The first row that is no permutation of the positions, or -1.
inline std::int64_t find_bad_order(const std::int64_t* orders, std::size_t n_orders,
                                   std::size_t n) {
    std::vector<std::uint8_t> is_visited(n);
    for (std::size_t r = 0; r < n_orders; ++r) {
        std::fill(is_visited.begin(), is_visited.end(), 0);
        for (std::size_t p = 0; p < n; ++p) {
            const auto i = static_cast<std::uint64_t>(orders[r * n + p]);
            if (i >= n || is_visited[i]) return static_cast<std::int64_t>(r);
            is_visited[i] = 1;
        }
    }
    return -1;
}

// Permutations of the rows, or null.
inline PyArrayObject* plain_orders(nb::handle orders, std::size_t n_points) {
    PyArrayObject* array = plain_array<std::int64_t, 2>(orders);
    const bool is_plain =
        array && PyArray_DIM(array, 0) > 0 &&
        static_cast<std::size_t>(PyArray_DIM(array, 1)) == n_points &&
        find_bad_order(data_of<std::int64_t>(array), PyArray_DIM(array, 0), n_points) < 0;
    return is_plain ? array : nullptr;
}

}  // namespace dynmeans::bindings
