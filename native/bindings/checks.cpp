// Checks of what comes from Python, and visiting orders on their own.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "algorithm/visiting_orders.hpp"
#include "bindings/arrays.hpp"
#include "numeric/simd.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;
using namespace algorithm;
using namespace numeric;

namespace {

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

template <typename Value>
Rows<std::int64_t> visiting_orders(GivenTable<Value> points, std::uint64_t entropy,
                                   std::size_t n_steps, std::size_t n_init,
                                   std::optional<GivenFloats> point_weights) {
    const std::size_t n = points.shape(0);
    std::vector<std::int64_t> orders(n_init * n);
    {
        nb::gil_scoped_release release;
        VisitingOrders made(view(points, point_weights), seed_of_step(entropy, n_steps));
        for (std::size_t r = 0; r < n_init; ++r) {
            made.advance();
            made.write(orders.data() + r * n);
        }
    }
    return rows(std::move(orders), n_init, n);
}

// The first row that is no permutation of the positions, or -1.
std::int64_t find_bad_order(const std::int64_t* orders, std::size_t n_orders, std::size_t n) {
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

std::int64_t first_bad_order(GivenTable<std::int64_t> orders) {
    nb::gil_scoped_release release;
    return find_bad_order(orders.data(), orders.shape(0), orders.shape(1));
}

// Whether `orders` is an array of permutations that needs neither conversion nor complaint.
bool are_plain_orders(nb::handle orders, std::size_t n_points) {
    PyArrayObject* array = plain_table<std::int64_t>(orders);
    return array && PyArray_DIM(array, 0) > 0 &&
           static_cast<std::size_t>(PyArray_DIM(array, 1)) == n_points &&
           find_bad_order(static_cast<const std::int64_t*>(PyArray_DATA(array)),
                          PyArray_DIM(array, 0), n_points) < 0;
}

// Whether `points` is an array of rows that needs neither conversion nor complaint.
bool is_plain_batch(nb::handle points, std::size_t n_features, std::size_t most_points,
                    double limit, bool allow_float32) {
    PyArrayObject* array = plain_table<double>(points);
    const bool is_double = array != nullptr;
    if (!array && allow_float32) array = plain_table<float>(points);
    if (!array || static_cast<std::size_t>(PyArray_DIM(array, 0)) > most_points ||
        static_cast<std::size_t>(PyArray_DIM(array, 1)) != n_features)
        return false;
    const auto n = static_cast<std::size_t>(PyArray_SIZE(array));
    const void* values = PyArray_DATA(array);
    return is_double ? are_within(static_cast<const double*>(values), n, limit)
                     : are_within(static_cast<const float*>(values), n, limit);
}

template <typename Value>
bool all_within(GivenTable<Value> points, double limit) {
    nb::gil_scoped_release release;
    return are_within(points.data(), points.size(), limit);
}

// Whether `weights` is an array of one weight for each point that needs neither.
bool are_plain_weights(nb::handle weights, std::size_t n_points, double limit) {
    if (!PyArray_CheckExact(weights.ptr())) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(weights.ptr());
    if (PyArray_TYPE(array) != NPY_FLOAT64 || PyArray_NDIM(array) != 1 ||
        !PyArray_ISCARRAY_RO(array) || static_cast<std::size_t>(PyArray_SIZE(array)) != n_points)
        return false;
    const auto* values = static_cast<const double*>(PyArray_DATA(array));
    bool is_plain = true;
    for (std::size_t i = 0; i < n_points; ++i) is_plain &= values[i] >= 0.0 && values[i] <= limit;
    return is_plain;
}

// Whether two tuples hold the very same objects: what was true of one then holds for the other.
bool are_same(nb::handle some, nb::handle others) {
    if (!PyTuple_Check(some.ptr()) || !PyTuple_Check(others.ptr())) return false;
    const Py_ssize_t n = PyTuple_GET_SIZE(some.ptr());
    bool is_same = n == PyTuple_GET_SIZE(others.ptr());
    for (Py_ssize_t i = 0; is_same && i < n; ++i)
        is_same = PyTuple_GET_ITEM(some.ptr(), i) == PyTuple_GET_ITEM(others.ptr(), i);
    return is_same;
}

template <typename Value>
void bind_checks_of(nb::module_& module) {
    module.def("all_within", &all_within<Value>, "points"_a.noconvert(), "limit"_a);
    module.def("visiting_orders", &visiting_orders<Value>, "points"_a.noconvert(), "entropy"_a,
               "n_steps"_a, "n_init"_a, "point_weights"_a.none() = nb::none());
}

}  // namespace

void bind_checks(nb::module_& module) {
    bind_checks_of<double>(module);
    bind_checks_of<float>(module);
    module.def("first_bad_order", &first_bad_order, "orders"_a);
    module.def("are_plain_orders", &are_plain_orders, "orders"_a, "n_points"_a);
    module.def("are_plain_weights", &are_plain_weights, "weights"_a, "n_points"_a, "limit"_a);
    module.def("are_same", &are_same, "some"_a, "others"_a);
    module.def("is_plain_batch", &is_plain_batch, "points"_a, "n_features"_a, "most_points"_a,
               "limit"_a, "allow_float32"_a);
}

}  // namespace dynmeans::bindings
