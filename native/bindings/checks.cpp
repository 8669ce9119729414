// Checks of what comes from Python, and visiting orders on their own.
#include <nanobind/stl/optional.h>

#include <optional>

#include "algorithm/visiting_orders.hpp"
#include "bindings/unconverted_arrays.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;

namespace {

template <typename Value>
Rows<std::int64_t> visiting_orders(Table<Value> points, std::uint64_t entropy, std::size_t n_steps,
                                   std::size_t n_init, std::optional<Floats> point_weights) {
    const std::size_t n = points.shape(0);
    std::vector<std::int64_t> orders(n_init * n);
    {
        nb::gil_scoped_release release;
        VisitingOrders made(points_of(points, point_weights), seed_of_step(entropy, n_steps));
        for (std::size_t r = 0; r < n_init; ++r) {
            made.advance();
            made.write(orders.data() + r * n);
        }
    }
    return rows(std::move(orders), n_init, n);
}

std::int64_t first_bad_order(Table<std::int64_t> orders) {
    nb::gil_scoped_release release;
    return find_bad_order(orders.data(), orders.shape(0), orders.shape(1));
}

bool are_plain_orders(nb::handle orders, std::size_t n_points) {
    return plain_orders(orders, n_points);
}

bool are_plain_weights(nb::handle weights, std::size_t n_points) {
    return plain_weights(weights, n_points);
}

bool is_plain_batch(nb::handle points, std::size_t n_features, bool allow_float32) {
    return plain_batch<double>(points, n_features) ||
           (allow_float32 && plain_batch<float>(points, n_features));
}

// Whether every item is a batch of at least one row that needs neither conversion nor complaint.
bool are_plain_batches(nb::handle batches, std::size_t n_features) {
    for (const nb::handle batch : nb::borrow<nb::list>(batches)) {
        PyArrayObject* rows = plain_batch<double>(batch, n_features);
        if (!rows) rows = plain_batch<float>(batch, n_features);
        if (!rows || PyArray_DIM(rows, 0) == 0) return false;
    }
    return true;
}

template <typename Value>
bool all_within(Table<Value> points, double limit) {
    nb::gil_scoped_release release;
    return are_all_within(points.data(), points.size(), limit);
}

template <typename Value>
void bind_checks_of(nb::module_& module) {
    module.def("all_within", &all_within<Value>, "points"_a.noconvert(), "limit"_a);
    module.def("visiting_orders", &visiting_orders<Value>, "points"_a.noconvert(), "seed"_a,
               "n_steps"_a, "n_init"_a, "point_weights"_a.none() = nb::none());
}

}  // namespace

void bind_checks(nb::module_& module) {
    bind_checks_of<double>(module);
    bind_checks_of<float>(module);
    module.def("first_bad_order", &first_bad_order, "orders"_a);
    module.def("are_plain_orders", &are_plain_orders, "orders"_a, "n_points"_a);
    module.def("are_plain_weights", &are_plain_weights, "weights"_a, "n_points"_a);
    module.def("is_plain_batch", &is_plain_batch, "points"_a, "n_features"_a, "allow_float32"_a);
    module.def("are_plain_batches", &are_plain_batches, "batches"_a, "n_features"_a);
    module.attr("MAX_POINTS") = kMaxPoints;
    module.attr("MAX_COORDINATE") = kMaxCoordinate;
    module.attr("MAX_WEIGHT") = kMaxWeight;
}

}  // namespace dynmeans::bindings
