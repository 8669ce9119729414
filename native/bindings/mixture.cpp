// The samplers for Python: arrays in, arrays out, the GIL released in between except for a look
// now and then whether the user pressed Ctrl-C. The caller has checked shapes and values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <optional>
#include <tuple>

#include "bindings/arrays.hpp"
#include "mixture/gibbs.hpp"
#include "mixture/particle_learning.hpp"
#include "mixture/variational.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans::bindings {

using namespace mixture;
namespace {

// Called often; returns false once the run must end because Python holds an exception.
class Lookout {
  public:
    explicit Lookout(nb::object progress) : progress_(std::move(progress)) {}

    bool operator()(double share_done) {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_look_) return true;
        next_look_ = now + std::chrono::milliseconds(20);
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) return false;
        if (progress_.is_none() || now < next_report_) return true;
        next_report_ = now + std::chrono::milliseconds(200);
        try {
            progress_(share_done);
        } catch (nb::python_error& error) {
            error.restore();
            return false;
        }
        return true;
    }

  private:
    using Time = std::chrono::steady_clock::time_point;
    nb::object progress_;
    Time next_look_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    Time next_report_{};
};

// Runs without the GIL; raises what the lookout saw.
template <typename Work>
void run_watched(nb::object progress, Work&& work) {
    Lookout lookout(std::move(progress));
    bool is_done = false;
    {
        nb::gil_scoped_release release;
        is_done = work(lookout);
    }
    if (!is_done) throw nb::python_error();
}

// The fields of a BatchPrior in their order, after the points.
using MixtureArrays = std::tuple<Table<double>, Floats, Floats, Table<double>, Floats, Floats,
                                 double, Floats, double, double>;

Mixture view(const MixtureArrays& arrays) {
    const auto& [points, log_weights, past_counts, means, variances, first_variances,
                 log_new_weight, new_mean, new_variance, noise_variance] = arrays;
    return {{points.data(), points.shape(0), points.shape(1)},
            log_weights.size(),
            log_weights.data(),
            past_counts.data(),
            means.data(),
            variances.data(),
            first_variances.data(),
            log_new_weight,
            new_mean.data(),
            new_variance,
            noise_variance};
}

std::tuple<Rows<Slot>, Rows<double>, Column<double>> gibbs_arrays(
    const MixtureArrays& arrays, std::optional<Ints> labels, std::optional<Table<double>> centers,
    std::size_t burn_in, std::size_t n_samples, std::size_t thin, std::uint64_t seed,
    nb::object progress) {
    const Mixture mixture = view(arrays);
    Samples samples;
    run_watched(std::move(progress), [&](Lookout& look) {
        GibbsSampler sampler(mixture, seed);
        if (labels && centers) sampler.start(labels->data(), centers->data());
        return run_gibbs(sampler, mixture, {burn_in, n_samples, thin}, look, samples);
    });
    const std::size_t d = mixture.points.n_features, n_centers = samples.centers.size() / d;
    return {rows(std::move(samples.labels), n_samples, mixture.points.n_points),
            rows(std::move(samples.centers), n_centers, d),
            column(std::move(samples.log_posteriors))};
}

std::tuple<Rows<Slot>, Column<double>, double> particle_arrays(const MixtureArrays& arrays,
                                                               std::size_t n_particles,
                                                               std::uint64_t seed,
                                                               nb::object progress) {
    const Mixture mixture = view(arrays);
    std::vector<Slot> labels;
    std::vector<double> log_posteriors;
    double log_evidence = 0.0;
    run_watched(std::move(progress), [&](Lookout& look) {
        ParticleLearner learner(mixture, n_particles, seed);
        if (!learner.run(look)) return false;
        labels = learner.labels();
        log_evidence = learner.log_evidence();
        LabelPosterior log_posterior(mixture);
        for (std::size_t p = 0; p < n_particles; ++p) {
            log_posteriors.push_back(log_posterior(labels.data() + p * mixture.points.n_points));
            if (!look(1.0)) return false;
        }
        return true;
    });
    return {rows(std::move(labels), n_particles, mixture.points.n_points),
            column(std::move(log_posteriors)), log_evidence};
}

using VariationalArrays = std::tuple<Rows<double>, Column<double>, Column<double>, Column<double>,
                                     Rows<double>, Column<double>, Column<double>>;

VariationalArrays variational_arrays(const MixtureArrays& arrays, Ints labels,
                                     std::size_t truncation, double tol, std::size_t max_iter,
                                     nb::object progress) {
    const Mixture mixture = view(arrays);
    VariationalPosterior q(mixture, truncation);
    run_watched(std::move(progress),
                [&](Lookout& look) { return q.climb(labels.data(), tol, max_iter, look); });
    const std::size_t n_components = mixture.n_old + truncation;
    return {rows(std::move(q.responsibilities), mixture.points.n_points, n_components),
            column(std::move(q.concentrations)),
            column(std::move(q.stick_heads)),
            column(std::move(q.stick_tails)),
            rows(std::move(q.means), n_components, mixture.points.n_features),
            column(std::move(q.variances)),
            column(std::move(q.bounds))};
}

}  // namespace

void bind_samplers(nb::module_& module) {
    module.def("gibbs", &gibbs_arrays, "mixture"_a, "labels"_a.none(), "centers"_a.none(),
               "burn_in"_a, "n_samples"_a, "thin"_a, "seed"_a, "progress"_a.none());
    module.def("particle_learning", &particle_arrays, "mixture"_a, "n_particles"_a, "seed"_a,
               "progress"_a.none());
    module.def("variational", &variational_arrays, "mixture"_a, "labels"_a, "truncation"_a, "tol"_a,
               "max_iter"_a, "progress"_a.none());
}

}  // namespace dynmeans::bindings
