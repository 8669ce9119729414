// The records ClusterState and Clustering of Python, read and made where their fields lie: through
// attributes and constructors they would take as long as half a small step.
#pragma once

#include <nanobind/nanobind.h>
#include <structmember.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "engine/step.hpp"

namespace dynmeans::bindings {

// A class with __slots__ and these fields.
template <std::size_t N>
class RecordType {
  public:
    using Names = std::array<const char*, N>;
    explicit RecordType(const Names& names) : names_(names) {}

    void find(nb::handle type) {
        type_ = reinterpret_cast<PyTypeObject*>(type.ptr());
        if (!PyType_Check(type.ptr())) throw nb::type_error("records must be classes.");
        for (std::size_t f = 0; f < N; ++f) {
            const nb::object slot = nb::getattr(type, names_[f]);
            if (Py_TYPE(slot.ptr()) != &PyMemberDescr_Type)
                throw nb::type_error("records must have slots.");
            offsets_[f] = reinterpret_cast<PyMemberDescrObject*>(slot.ptr())->d_member->offset;
        }
    }

    bool fits(nb::handle record) const { return PyObject_TypeCheck(record.ptr(), type_); }

    PyObject*& field(nb::handle record, std::size_t f) const {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(record.ptr()) + offsets_[f]);
    }

    // Without __init__: the values are right by construction.
    nb::object make(std::array<nb::object, N>&& values) const {
        nb::object record = checked_new(type_->tp_alloc(type_, 0));
        PyObject_GC_UnTrack(record.ptr());  // arrays and numbers make no cycle
        for (std::size_t f = 0; f < N; ++f) field(record, f) = values[f].release().ptr();
        return record;
    }

  private:
    Names names_;
    PyTypeObject* type_ = nullptr;
    std::array<Py_ssize_t, N> offsets_{};
};

// Classes of Python that cross as they are.
struct RecordTypes {
    RecordType<10> state{{"ids", "centers", "weights", "ages", "next_id", "n_steps", "counts",
                          "time", "velocities", "velocity_covariances"}};
    RecordType<8> clustering{
        {"labels", "ids", "counts", "centers", "cost", "n_iter", "cost_trace", "execution"}};
    RecordType<6> penalties{
        {"new_penalty", "revival_penalty", "drift", "revival", "motion", "centers"}};
    RecordType<3> orders{{"seed", "n_init", "search"}};
    PyObject* backend = nullptr;  // its name
};

// Where the fields of these four classes lie, found once.
inline const RecordTypes& record_types(nb::handle classes) {
    static RecordTypes types;
    static nb::object* known = nullptr;  // lives as long as the process
    if (!known || !known->is(classes)) {
        types.state.find(classes[0]);
        types.clustering.find(classes[1]);
        types.penalties.find(classes[2]);
        types.orders.find(classes[3]);
        types.backend = PyUnicode_InternFromString("native");
        known = new nb::object(nb::borrow(classes));
    }
    return types;
}

inline bool is_text(nb::handle object, const char* text) {
    return PyUnicode_Check(object.ptr()) &&
           PyUnicode_CompareWithASCIIString(object.ptr(), text) == 0;
}

// What a step reads of a ClusterState, which must stay alive meanwhile.
struct GivenState {
    StateView view;
    std::size_t n_steps;
    double time;
};

// `moving` as in Penalties, or null.
Penalties read_penalties(const RecordTypes& types, nb::handle penalties, const double* moving);

GivenState read_state(const RecordTypes& types, nb::handle state, std::size_t n_features);

// The state after a step and its clustering; with these labels, where they were made before.
nb::tuple to_records(const RecordTypes& types, StepResult&& result, std::size_t n_features,
                     bool has_weights, bool is_steady, std::size_t n_steps, double time,
                     nb::object labels = {});

nb::object to_labels(std::vector<std::int64_t>&& labels);

}  // namespace dynmeans::bindings
