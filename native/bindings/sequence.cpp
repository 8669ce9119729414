// Sequences of small batches for Python: arrays in, labels out, records when they are looked at.
// The GIL is released while the steps run, and the caller has checked shapes and values.
#include "engine/sequence.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bindings/interrupts.hpp"
#include "bindings/records.hpp"
#include "bindings/unconverted_arrays.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;

namespace {

// Many small batches without coming back to Python in between. The lists hold the arrays as the
// caller has checked them, and keep them alive.
template <typename Value>
struct Sequence {
    std::vector<Points<Value>> points;
    Floats elapsed;
    Penalties penalties;

    Sequence(const nb::list& batches, const nb::list& weights, Floats gaps, Penalties given)
        : elapsed(std::move(gaps)), penalties(given) {
        for (std::size_t t = 0; t < nb::len(batches); ++t) {
            PyArrayObject* rows = plain_array<Value, 2>(PyList_GET_ITEM(batches.ptr(), t));
            PyObject* masses = PyList_GET_ITEM(weights.ptr(), t);
            PyArrayObject* own = masses == Py_None ? nullptr : plain_array<double, 1>(masses);
            if (!rows || (masses != Py_None && !own))
                throw nb::type_error("batches must be tables of one kind of number.");
            points.push_back({data_of<Value>(rows), own ? data_of<double>(own) : nullptr,
                              static_cast<std::size_t>(PyArray_DIM(rows, 0)),
                              static_cast<std::size_t>(PyArray_DIM(rows, 1))});
        }
    }

    template <typename OnStep>
    void run(bool is_accelerated, std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
             int depth, const OnStep& on_step) const {
        run_without_gil(n_threads, [&](ThreadPool& pool) {
            run_sequence(points, elapsed.data(), penalties, is_accelerated, entropy, n_init, depth,
                         pool, on_step);
        });
    }
};

// What steps found, one after the other in two long vectors: vectors of its own for each step take
// longer than a small step leaves.
class PackedSteps {
  public:
    std::size_t size() const { return starts_.size(); }

    void add(const StepResult& result) {
        starts_.push_back({sizes_.size(), floats_.size(), ints_.size(), result.state.next_id});
        visit(result, [&](const auto& field) {
            sizes_.push_back(field.size());
            auto& all = packed(field);
            all.insert(all.end(), field.begin(), field.end());
        });
    }

    StepResult operator[](std::size_t t) const {
        Start at = starts_[t];
        StepResult result;
        result.state.next_id = at.next_id;
        visit(result, [&](auto& field) {
            const std::size_t n = sizes_[at.sizes++];
            const auto first = begin_of(field, at);
            field.assign(first, first + n);
            (std::is_same_v<decltype(field), std::vector<double>&> ? at.floats : at.ints) += n;
        });
        return result;
    }

  private:
    struct Start {
        std::size_t sizes, floats, ints;
        std::int64_t next_id;
    };

    template <typename Result, typename Visit>
    static void visit(Result& result, const Visit& visit_field) {
        auto& state = result.state;
        for (auto* field : {&result.labels, &result.ids, &state.ids}) visit_field(*field);
        for (auto* field :
             {&result.counts, &result.centers, &result.cost_trace, &state.centers, &state.weights,
              &state.ages, &state.counts, &state.velocities, &state.velocity_covariances})
            visit_field(*field);
    }

    std::vector<double>& packed(const std::vector<double>&) { return floats_; }
    std::vector<std::int64_t>& packed(const std::vector<std::int64_t>&) { return ints_; }
    const double* begin_of(const std::vector<double>&, const Start& at) const {
        return floats_.data() + at.floats;
    }
    const std::int64_t* begin_of(const std::vector<std::int64_t>&, const Start& at) const {
        return ints_.data() + at.ints;
    }

    std::vector<Start> starts_;
    std::vector<std::size_t> sizes_;
    std::vector<double> floats_;
    std::vector<std::int64_t> ints_;
};

// The steps of a sequence, whose records are made when they are looked at.
struct LazyStepResults {
    PackedSteps results;
    std::vector<nb::object> labels;
    std::vector<double> times;
    std::vector<bool> has_weights;
    std::size_t n_features = 0;
    bool is_steady = false;
};

// The labels of all batches in one array, of which each batch has a part: an array of its own for
// each takes longer than a small step leaves. Of many points a part would keep all others alive.
class LabelBlock {
  public:
    template <typename Batches>
    explicit LabelBlock(const Batches& batches) {
        constexpr std::size_t kMostPoints = std::size_t{1} << 17;
        npy_intp n_points = 0;
        for (const auto& batch : batches) n_points += batch.n_points;
        if (static_cast<std::size_t>(n_points) > kMostPoints) return;
        array_ = checked_new(PyArray_SimpleNew(1, &n_points, NPY_INT64));
        into_ = next_ = static_cast<std::int64_t*>(
            PyArray_DATA(reinterpret_cast<PyArrayObject*>(array_.ptr())));
    }

    bool is_used() const { return array_.is_valid(); }

    void take(std::vector<std::int64_t>& labels) {
        if (!is_used()) return;
        into_ = std::copy(labels.begin(), labels.end(), into_);
        labels = {};
    }

    nb::object next(std::size_t n_points) {
        npy_intp shape = static_cast<npy_intp>(n_points);
        nb::object part = checked_new(PyArray_SimpleNewFromData(1, &shape, NPY_INT64, next_));
        auto* array = reinterpret_cast<PyArrayObject*>(part.ptr());
        PyArray_SetBaseObject(array, array_.inc_ref().ptr());
        PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
        next_ += n_points;
        return part;
    }

  private:
    nb::object array_;
    std::int64_t *into_ = nullptr, *next_ = nullptr;
};

// Points and batches of every identity that was seen.
struct SeenLives {
    std::vector<double> points;
    std::vector<std::int64_t> n_batches;

    void add(const StepResult& result) {
        points.resize(result.state.next_id);
        n_batches.resize(result.state.next_id);
        for (std::size_t k = 0; k < result.ids.size(); ++k) {
            points[result.ids[k]] += result.counts[k];
            ++n_batches[result.ids[k]];
        }
    }
};

// All steps without coming back to Python in between: their labels, the most clusters that were
// remembered, the lives of all identities, and what the records are made of.
template <typename Value>
nb::object sequence_steps_of(const nb::list& batches, const nb::list& point_weights, Floats elapsed,
                             nb::handle penalties, GivenMoving moving, bool is_accelerated,
                             std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                             int depth, nb::handle records) {
    const Sequence<Value> sequence(
        batches, point_weights, elapsed,
        read_penalties(record_types(records), penalties, data_or_null(moving)));
    auto kept = std::make_unique<LazyStepResults>();
    kept->n_features = sequence.points.empty() ? 0 : sequence.points[0].n_features;
    kept->is_steady = moving.has_value();
    LabelBlock block(sequence.points);
    SeenLives seen;
    std::size_t most_clusters = 0;
    State state;
    sequence.run(is_accelerated, n_threads, entropy, n_init, depth,
                 [&](std::size_t, StepResult&& result) {
                     most_clusters = std::max(most_clusters, result.state.ids.size());
                     block.take(result.labels);
                     seen.add(result);
                     kept->results.add(result);
                     state = std::move(result.state);
                     return view(state);
                 });
    double time = 0.0;
    nb::list labels;
    for (std::size_t t = 0; t < kept->results.size(); ++t) {
        kept->times.push_back(time += elapsed.data()[t]);
        kept->has_weights.push_back(sequence.points[t].weights != nullptr);
        kept->labels.push_back(block.is_used() ? block.next(sequence.points[t].n_points)
                                               : to_labels(kept->results[t].labels));
        labels.append(kept->labels.back());
    }
    nb::tuple lives =
        nb::make_tuple(column(std::move(seen.points)), column(std::move(seen.n_batches)));
    nb::capsule capsule(kept.release(),
                        [](void* data) noexcept { delete static_cast<LazyStepResults*>(data); });
    return nb::make_tuple(labels, most_clusters, lives, capsule);
}

nb::list as_list(nb::handle object) {
    if (!PyList_CheckExact(object.ptr())) throw nb::type_error("batches must be in a list.");
    return nb::borrow<nb::list>(object);
}

// Whether the first of the arrays has float32.
bool is_single(const nb::list& batches) {
    return nb::len(batches) > 0 && plain_array<float, 2>(PyList_GET_ITEM(batches.ptr(), 0));
}

template <typename... Arguments>
nb::object sequence_steps(const nb::list& batches, const Arguments&... arguments) {
    return is_single(batches) ? sequence_steps_of<float>(batches, arguments...)
                              : sequence_steps_of<double>(batches, arguments...);
}

// The state after step t of a sequence, and its clustering.
nb::object sequence_records(nb::capsule capsule, std::size_t t, nb::handle records) {
    const auto& kept = *static_cast<const LazyStepResults*>(capsule.data());
    if (t >= kept.results.size()) throw nb::index_error("there is no such step.");
    return to_records(record_types(records), kept.results[t], kept.n_features, kept.has_weights[t],
                      kept.is_steady, t + 1, kept.times[t], kept.labels[t]);
}

// Only what a judge of the parameters asks for: the labels of all points that weigh something,
// batch after batch, clusters seen in all batches together, and identities.
using SequenceLabels = std::tuple<Column<std::int64_t>, std::size_t, std::int64_t>;

template <typename Value>
SequenceLabels sequence_labels_of(const nb::list& batches, const nb::list& point_weights,
                                  Floats elapsed, nb::handle penalties, GivenMoving moving,
                                  bool is_accelerated, std::size_t n_threads, std::uint64_t entropy,
                                  std::size_t n_init, int depth, nb::handle records) {
    const Sequence<Value> sequence(
        batches, point_weights, elapsed,
        read_penalties(record_types(records), penalties, data_or_null(moving)));
    std::vector<std::int64_t> labels;
    std::size_t n_seen = 0;
    State state;
    sequence.run(is_accelerated, n_threads, entropy, n_init, depth,
                 [&](std::size_t t, StepResult&& result) {
                     const double* weights = sequence.points[t].weights;
                     for (std::size_t i = 0; i < result.labels.size(); ++i)
                         if (!weights || weights[i] > 0.0) labels.push_back(result.labels[i]);
                     n_seen += result.ids.size();
                     state = std::move(result.state);
                     return view(state);
                 });
    return {column(std::move(labels)), n_seen, state.next_id};
}

template <typename... Arguments>
SequenceLabels sequence_labels(const nb::list& batches, const Arguments&... arguments) {
    return is_single(batches) ? sequence_labels_of<float>(batches, arguments...)
                              : sequence_labels_of<double>(batches, arguments...);
}

}  // namespace

void bind_sequences(nb::module_& module) {
    const auto steps = [](nb::handle batches, nb::handle weights, Floats elapsed,
                          nb::handle penalties, GivenMoving moving, bool is_accelerated,
                          std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                          int depth, nb::handle records) {
        return sequence_steps(as_list(batches), as_list(weights), elapsed, penalties, moving,
                              is_accelerated, n_threads, entropy, n_init, depth, records);
    };
    const auto labels = [](nb::handle batches, nb::handle weights, Floats elapsed,
                           nb::handle penalties, GivenMoving moving, bool is_accelerated,
                           std::size_t n_threads, std::uint64_t entropy, std::size_t n_init,
                           int depth, nb::handle records) {
        return sequence_labels(as_list(batches), as_list(weights), elapsed, penalties, moving,
                               is_accelerated, n_threads, entropy, n_init, depth, records);
    };
    module.def("sequence", steps, "batches"_a, "point_weights"_a, "elapsed"_a, "penalties"_a,
               "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "seed"_a, "n_init"_a,
               "depth"_a, "records"_a);
    module.def("sequence_labels", labels, "batches"_a, "point_weights"_a, "elapsed"_a,
               "penalties"_a, "moving"_a.none(), "is_accelerated"_a, "n_threads"_a, "seed"_a,
               "n_init"_a, "depth"_a, "records"_a);
    module.def("sequence_records", &sequence_records, "steps"_a, "number"_a, "records"_a);
}

}  // namespace dynmeans::bindings
