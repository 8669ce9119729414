// Variational inference, mean field: q(z) q(pi) q(beta) q(theta).
//
// (pi_1, ..., pi_K, pi_new) has the prior Dirichlet(w_1, ..., w_K, alpha_t) with w = q^dt c. The
// new mass is divided by T sticks, beta_j ~ Beta(1, alpha_t), the last of them 1 (Blei and
// Jordan, 2006). Component K + j is the j-th stick. With the best q(z) for the rest put in, the
// bound is
//     sum_i log sum_k exp(E log pi_k + E log N(y_i | theta_k, sigma)) - KL(pi, beta, theta),
// which is what each iteration evaluates on its way; every update can only raise it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/model.hpp"

namespace dynmeans::mixture {

// digamma(w) of a smaller weight overflows.
constexpr double kSmallestWeight = 1e-100;

class VariationalPosterior {
  public:
    std::vector<double> responsibilities;          // q(z): row-major (n_points, n_components)
    std::vector<double> concentrations;            // q(pi): n_old + 1
    std::vector<double> stick_heads, stick_tails;  // q(beta): Beta(head, tail), truncation - 1
    std::vector<double> means, variances;          // q(theta)
    std::vector<double> bounds;                    // the bound after each iteration

    VariationalPosterior(const Mixture& mixture, std::size_t truncation)
        : mixture_(mixture),
          d_(mixture.points.n_features),
          n_components_(mixture.n_old + truncation),
          new_weight_(std::max(std::exp(mixture.log_new_weight), kSmallestWeight)) {
        responsibilities.resize(mixture.points.n_points * n_components_);
        concentrations.resize(mixture.n_old + 1);
        stick_heads.resize(truncation - 1);
        stick_tails.resize(truncation - 1);
        means.resize(n_components_ * d_);
        variances.resize(n_components_);
        for (std::size_t k = 0; k < mixture.n_old; ++k)
            weights_.push_back(std::max(std::exp(mixture.log_weights[k]), kSmallestWeight));
        weights_.push_back(new_weight_);
    }

    // Climbs from the given labels until an iteration gains at most `tol` times the bound's size;
    // false if `look(share done)` asked to stop.
    template <typename Look>
    bool climb(const std::int64_t* labels, double tol, std::size_t max_iter, Look&& look) {
        for (std::size_t i = 0; i < mixture_.points.n_points; ++i) {
            const std::size_t k = std::min(static_cast<std::size_t>(labels[i]), n_components_ - 1);
            responsibilities[i * n_components_ + k] = 1.0;
        }
        for (std::size_t iteration = 0; iteration < max_iter; ++iteration) {
            update_components();
            const double bound = update_responsibilities() - divergence();
            const bool has_converged =
                !bounds.empty() && bound - bounds.back() <= tol * std::abs(bound);
            bounds.push_back(bound);
            if (has_converged) return true;
            if (!look(static_cast<double>(iteration) / static_cast<double>(max_iter))) return false;
        }
        return true;
    }

  private:
    // q(pi), q(beta) and q(theta) given q(z), each the exact maximum.
    void update_components() {
        accumulate();
        const std::size_t n_old = mixture_.n_old, n_sticks = stick_heads.size();
        double beyond = 0.0;  // points on the sticks after this one
        for (std::size_t k = n_components_; k-- > n_old;) {
            if (k - n_old < n_sticks) {
                stick_heads[k - n_old] = 1.0 + counts_[k];
                stick_tails[k - n_old] = new_weight_ + beyond;
            }
            beyond += counts_[k];
        }
        for (std::size_t k = 0; k < n_old; ++k) concentrations[k] = weights_[k] + counts_[k];
        concentrations[n_old] = new_weight_ + beyond;
        new_count_ = beyond;
        const double sigma = mixture_.noise_variance;
        for (std::size_t k = 0; k < n_components_; ++k) {
            const double n = counts_[k], v = mixture_.variance(k);
            const double* m = mixture_.mean(k);
            variances[k] = v * sigma / (sigma + n * v);
            for (std::size_t j = 0; j < d_; ++j)
                means[k * d_ + j] = m[j] + v / (sigma + n * v) * offsets_[k * d_ + j];
        }
    }

    // n_k, and the sum of r (y - prior mean).
    void accumulate() {
        counts_.assign(n_components_, 0.0);
        offsets_.assign(n_components_ * d_, 0.0);
        for (std::size_t i = 0; i < mixture_.points.n_points; ++i) {
            const double* y = mixture_.points.row(i);
            const double* r = &responsibilities[i * n_components_];
            for (std::size_t k = 0; k < n_components_; ++k) {
                if (r[k] == 0.0) continue;
                counts_[k] += r[k];
                const double* m = mixture_.mean(k);
                for (std::size_t j = 0; j < d_; ++j) offsets_[k * d_ + j] += r[k] * (y[j] - m[j]);
            }
        }
    }

    // q(z) given the rest; returns the sum of the logs of its normalizers.
    double update_responsibilities() {
        const double sigma = mixture_.noise_variance;
        const double d = static_cast<double>(d_);
        expected_log_weights();
        double total = 0.0;
        for (std::size_t i = 0; i < mixture_.points.n_points; ++i) {
            const double* y = mixture_.points.row(i);
            double* r = &responsibilities[i * n_components_];
            double best = -std::numeric_limits<double>::infinity();
            for (std::size_t k = 0; k < n_components_; ++k) {
                const double distance = squared_distance(y, &means[k * d_], d_);
                r[k] = log_weights_[k] - 0.5 * (distance + d * variances[k]) / sigma;
                best = std::max(best, r[k]);
            }
            double sum = 0.0;
            for (std::size_t k = 0; k < n_components_; ++k) sum += r[k] = std::exp(r[k] - best);
            for (std::size_t k = 0; k < n_components_; ++k) r[k] /= sum;
            total += best + std::log(sum) - 0.5 * d * std::log(kTwoPi * sigma);
        }
        return total;
    }

    // E log pi_k of every component; that of a stick is its share of the new mass.
    void expected_log_weights() {
        const std::size_t n_old = mixture_.n_old, n_sticks = stick_heads.size();
        double total = 0.0;
        for (const double a : concentrations) total += a;
        const double psi_total = digamma(total);
        log_weights_.resize(n_components_);
        for (std::size_t k = 0; k < n_old; ++k)
            log_weights_[k] = digamma(concentrations[k]) - psi_total;
        double rest = digamma(concentrations[n_old]) - psi_total;  // left of the new mass
        for (std::size_t j = 0; j < n_sticks; ++j) {
            const double psi = digamma(stick_heads[j] + stick_tails[j]);
            log_weights_[n_old + j] = rest + digamma(stick_heads[j]) - psi;
            rest += digamma(stick_tails[j]) - psi;
        }
        log_weights_[n_components_ - 1] = rest;
    }

    // Kullback-Leibler divergence of q(pi), q(beta) and q(theta) from their priors.
    double divergence() const {
        double total = weight_divergence();
        for (std::size_t j = 0; j < stick_heads.size(); ++j) total += stick_divergence(j);
        for (std::size_t k = 0; k < n_components_; ++k) {
            const double v = mixture_.variance(k), ratio = variances[k] / v;
            const double distance = squared_distance(&means[k * d_], mixture_.mean(k), d_);
            total +=
                0.5 * (static_cast<double>(d_) * (ratio - 1.0 - std::log(ratio)) + distance / v);
        }
        return total;
    }

    double weight_divergence() const {
        double prior_total = 0.0, total = 0.0, sum = 0.0;
        for (const double w : weights_) prior_total += w;
        for (const double a : concentrations) total += a;
        const double psi_total = digamma(total);
        for (std::size_t k = 0; k < weights_.size(); ++k) {
            const double a = concentrations[k], n = k < mixture_.n_old ? counts_[k] : new_count_;
            sum += log_gamma(weights_[k]) - log_gamma(a) + n * (digamma(a) - psi_total);
        }
        return sum + log_gamma(total) - log_gamma(prior_total);
    }

    // Of Beta(head, tail) from Beta(1, alpha), whose log normalizer is log alpha.
    double stick_divergence(std::size_t j) const {
        const double head = stick_heads[j], tail = stick_tails[j], both = head + tail;
        const double psi = digamma(both);
        return log_gamma(both) - log_gamma(head) - log_gamma(tail) - std::log(new_weight_) +
               (head - 1.0) * (digamma(head) - psi) + (tail - new_weight_) * (digamma(tail) - psi);
    }

    const Mixture& mixture_;
    std::size_t d_, n_components_;
    double new_weight_, new_count_ = 0.0;
    std::vector<double> weights_;  // prior concentrations: n_old + 1
    std::vector<double> counts_, offsets_, log_weights_;
};

}  // namespace dynmeans::mixture
