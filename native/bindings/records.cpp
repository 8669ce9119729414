// Records of Python from what a step found, and the other way round.
#include "bindings/records.hpp"

#include <vector>

namespace dynmeans::bindings {

namespace {

template <typename T>
const T* rows_of(PyObject* object, std::size_t n_rows, std::size_t n_columns) {
    if (object && PyArray_Check(object)) {
        auto* array = reinterpret_cast<PyArrayObject*>(object);
        if (PyArray_TYPE(array) == kNumpyType<T> && PyArray_ISCARRAY_RO(array) &&
            static_cast<std::size_t>(PyArray_SIZE(array)) == n_rows * n_columns)
            return static_cast<const T*>(PyArray_DATA(array));
    }
    throw nb::type_error("state must be a ClusterState with this many features.");
}

template <typename T>
nb::object frozen_column(std::vector<T>&& values) {
    return frozen(column(std::move(values))).array;
}

nb::object frozen_rows(std::vector<double>&& values, std::size_t n_rows, std::size_t n_columns) {
    return frozen(rows(std::move(values), n_rows, n_columns)).array;
}

// n as integers, or the total weights as floats where points have weights.
nb::object frozen_counts(std::vector<double>&& counts, bool has_weights) {
    if (has_weights) return frozen_column(std::move(counts));
    return frozen_column(std::vector<std::int64_t>(counts.begin(), counts.end()));
}

}  // namespace

Penalties read_penalties(const RecordTypes& types, nb::handle penalties, const double* moving) {
    if (!types.penalties.fits(penalties)) throw nb::type_error("penalties must be a Penalties.");
    const auto number = [&](std::size_t f) {
        return nb::cast<double>(nb::handle(types.penalties.field(penalties, f)));
    };
    return {number(0), number(1),
            number(2), is_text(types.penalties.field(penalties, 3), "exact"),
            moving,    is_text(types.penalties.field(penalties, 5), "sphere")};
}

GivenState read_state(const RecordTypes& types, nb::handle state, std::size_t n_features) {
    if (!types.state.fits(state)) throw nb::type_error("state must be a ClusterState.");
    const auto field = [&](std::size_t f) { return types.state.field(state, f); };
    PyObject* ids = field(0);
    if (!ids || !PyArray_Check(ids)) throw nb::type_error("state must be a ClusterState.");
    const auto n = static_cast<std::size_t>(PyArray_SIZE(reinterpret_cast<PyArrayObject*>(ids)));
    Velocities courses;
    if (field(8) && field(8) != Py_None)
        courses = {rows_of<double>(field(8), n, n_features), rows_of<double>(field(9), n, 2)};
    return {
        {rows_of<std::int64_t>(ids, n, 1), rows_of<double>(field(1), n, n_features),
         rows_of<double>(field(2), n, 1), rows_of<double>(field(3), n, 1),
         rows_of<double>(field(6), n, 1), n, nb::cast<std::int64_t>(nb::handle(field(4))), courses},
        nb::cast<std::size_t>(nb::handle(field(5))),
        nb::cast<double>(nb::handle(field(7)))};
}

nb::object to_labels(std::vector<std::int64_t>&& labels) {
    return frozen_column(std::move(labels));
}

nb::tuple to_records(const RecordTypes& types, StepResult&& result, std::size_t n_features,
                     bool has_weights, bool is_steady, std::size_t n_steps, double time,
                     nb::object labels) {
    State& state = result.state;
    const std::size_t n_active = result.ids.size(), n_kept = state.ids.size();
    const double cost = result.cost_trace.back();
    const std::size_t n_iter = result.cost_trace.size();
    // Where every cluster was seen, both records have the same two arrays.
    const bool is_shared = result.ids == state.ids;
    nb::object ids = frozen_column(std::move(state.ids));
    nb::object centers = frozen_rows(std::move(state.centers), n_kept, n_features);
    nb::object clustering = types.clustering.make(
        {labels.is_valid() ? std::move(labels) : frozen_column(std::move(result.labels)),
         is_shared ? ids : frozen_column(std::move(result.ids)),
         frozen_counts(std::move(result.counts), has_weights),
         is_shared ? centers : frozen_rows(std::move(result.centers), n_active, n_features),
         nb::float_(cost), nb::int_(n_iter), frozen_column(std::move(result.cost_trace)),
         nb::borrow(types.backend)});
    nb::object after = types.state.make(
        {std::move(ids), std::move(centers), frozen_column(std::move(state.weights)),
         frozen_column(std::move(state.ages)), nb::int_(state.next_id), nb::int_(n_steps),
         frozen_column(std::move(state.counts)), nb::float_(time),
         is_steady ? frozen_rows(std::move(state.velocities), n_kept, n_features) : nb::none(),
         is_steady ? frozen_rows(std::move(state.velocity_covariances), n_kept, 2) : nb::none()});
    return nb::make_tuple(std::move(after), std::move(clustering));
}

}  // namespace dynmeans::bindings
