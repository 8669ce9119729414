// Particle learning (Carvalho et al., 2010): for each point, resample the particles on how well
// they predict it, then let each draw its label and update its sufficient statistics.
//
// Particles share everything. A cluster's statistics are a node that never changes: a point that
// joins makes a new node, once for all the particles that put it there. A particle is a list of
// node numbers, and its labels are a path through the table of ancestors; resampling copies
// neither statistics nor labels. The density of a point is computed once for each node.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mixture/model.hpp"
#include "numeric/random.hpp"

namespace dynmeans::mixture {

// The statistics of clusters, in columns; a node is a row. Rows nobody refers to are used again.
class ClusterNodes {
  public:
    explicit ClusterNodes(const Mixture& mixture)
        : mixture_(mixture), d_(mixture.points.n_features) {}

    // A cluster before its first point in this batch.
    std::int32_t add_prior(std::size_t slot) {
        const std::int32_t node = take_row();
        std::copy_n(mixture_.mean(slot), d_, &means_[node * d_]);
        set(node, mixture_.variance(slot), mixture_.past_count(slot), mixture_.log_weight(slot));
        return node;
    }

    // The cluster after point y has joined; the same row for everyone who asks about this point.
    std::int32_t with_point(std::int32_t node, const double* y) {
        if (successors_[node] != kNobody) return successors_[node];
        const std::int32_t next = take_row();
        const double sigma = mixture_.noise_variance, v = variances_[node];
        const double gain = v / (v + sigma);
        for (std::size_t j = 0; j < d_; ++j) {
            const double m = means_[node * d_ + j];
            means_[next * d_ + j] = m + gain * (y[j] - m);
        }
        const double size = sizes_[node] + 1.0;  // c + n
        set(next, gain * sigma, size, std::log(size));
        successors_[node] = next;
        return next;
    }

    // Computes log(weight) + log density of y for every row in use, then their exponentials
    // relative to the largest, which is returned.
    double weigh(const double* y) {
        double best = -std::numeric_limits<double>::infinity();
        for (std::size_t node = 0; node < references_.size(); ++node) {
            if (references_[node] == 0) continue;
            successors_[node] = kNobody;
            chances_[node] =
                log_factors_[node] - scales_[node] * squared_distance(y, &means_[node * d_], d_);
            best = std::max(best, chances_[node]);
        }
        for (std::size_t node = 0; node < references_.size(); ++node)
            if (references_[node] != 0) chances_[node] = std::exp(chances_[node] - best);
        return best;
    }

    double chance(std::int32_t node) const { return chances_[node]; }
    void refer(std::int32_t node) { ++references_[node]; }
    void release(std::int32_t node) {
        if (--references_[node] == 0) free_.push_back(node);
    }
    std::size_t n_rows() const { return references_.size(); }

  private:
    static constexpr std::int32_t kNobody = -1;

    void set(std::int32_t node, double variance, double size, double log_weight) {
        const double spread = mixture_.noise_variance + variance;
        variances_[node] = variance;
        sizes_[node] = size;
        scales_[node] = 0.5 / spread;
        log_factors_[node] = log_weight - 0.5 * static_cast<double>(d_) * std::log(kTwoPi * spread);
    }

    std::int32_t take_row() {
        std::int32_t node = 0;
        if (free_.empty()) {
            node = static_cast<std::int32_t>(references_.size());
            for (auto* column : {&variances_, &sizes_, &scales_, &log_factors_, &chances_})
                column->push_back(0.0);
            means_.resize(means_.size() + d_);
            references_.push_back(0);
            successors_.push_back(kNobody);
        } else {
            node = free_.back();
            free_.pop_back();
        }
        successors_[node] = kNobody;
        return node;
    }

    const Mixture& mixture_;
    std::size_t d_;
    std::vector<double> means_, variances_, sizes_, scales_, log_factors_, chances_;
    std::vector<std::int32_t> references_, successors_, free_;
};

class ParticleLearner {
  public:
    ParticleLearner(const Mixture& mixture, std::size_t n_particles, std::uint64_t seed)
        : mixture_(mixture),
          random_(seed),
          nodes_(mixture),
          particles_(n_particles),
          totals_(n_particles) {
        std::vector<std::int32_t> remembered;
        for (std::size_t k = 0; k < mixture.n_old; ++k) remembered.push_back(nodes_.add_prior(k));
        new_ = nodes_.add_prior(mixture.n_old);
        nodes_.refer(new_);
        for (auto& particle : particles_) {
            particle = remembered;
            for (const std::int32_t node : particle) nodes_.refer(node);
        }
    }

    // Takes in every point; false if `look(share done)` asked to stop.
    template <typename Look>
    bool run(Look&& look) {
        const std::size_t n = mixture_.points.n_points;
        for (std::size_t i = 0; i < n; ++i) {
            labels_.resize((i + 1) * particles_.size());
            ancestors_.resize((i + 1) * particles_.size());
            resample(i);
            propagate(i);
            if (!look(static_cast<double>(i) / static_cast<double>(n))) return false;
        }
        return true;
    }

    // log of the estimate of the sum over labels of their weight times the density of the batch.
    double log_evidence() const { return log_evidence_; }

    // The labels of every particle, by slot: row-major (n_particles, n_points).
    std::vector<Slot> labels() const {
        const std::size_t n = mixture_.points.n_points, n_particles = particles_.size();
        std::vector<Slot> traced(n_particles * n);
        for (std::size_t p = 0; p < n_particles; ++p) {
            std::size_t at = p;
            for (std::size_t i = n; i-- > 0;) {
                traced[p * n + i] = labels_[i * n_particles + at];
                at = ancestors_[i * n_particles + at];
            }
        }
        return traced;
    }

  private:
    // Systematic resampling on the predictive density of point i. The first child of a particle
    // is the particle itself; the others take the places of those without children.
    void resample(std::size_t i) {
        const std::size_t n_particles = particles_.size();
        const double best = nodes_.weigh(mixture_.points.row(i));
        double sum = 0.0;
        for (std::size_t p = 0; p < n_particles; ++p) {
            double total = nodes_.chance(new_);
            for (const std::int32_t node : particles_[p]) total += nodes_.chance(node);
            totals_[p] = total;
            sum += total;
        }
        const double mean = sum / static_cast<double>(n_particles);
        log_evidence_ += best + std::log(mean);
        count_children(mean);
        std::int32_t* ancestors = &ancestors_[i * n_particles];
        vacant_.clear();
        for (std::size_t p = 0; p < n_particles; ++p) {
            ancestors[p] = static_cast<std::int32_t>(p);
            if (n_children_[p] == 0) vacant_.push_back(static_cast<std::int32_t>(p));
        }
        for (std::size_t p = 0; p < n_particles; ++p) {
            for (std::int32_t child = 1; child < n_children_[p]; ++child) {
                copy(p, vacant_.back());
                ancestors[vacant_.back()] = static_cast<std::int32_t>(p);
                vacant_.pop_back();
            }
        }
    }

    void count_children(double mean) {
        const std::size_t n_particles = particles_.size();
        n_children_.assign(n_particles, 0);
        double tick = random_.uniform() * mean, reached = 0.0;
        std::size_t n_born = 0, last = 0;
        for (std::size_t p = 0; p < n_particles; ++p) {
            if (totals_[p] == 0.0) continue;
            last = p;
            reached += totals_[p];
            while (n_born < n_particles && tick < reached) {
                ++n_children_[p];
                ++n_born;
                tick += mean;
            }
        }
        n_children_[last] += static_cast<std::int32_t>(n_particles - n_born);  // lost to rounding
    }

    void copy(std::size_t from, std::size_t to) {
        for (const std::int32_t node : particles_[to]) nodes_.release(node);
        particles_[to] = particles_[from];
        totals_[to] = totals_[from];
        for (const std::int32_t node : particles_[to]) nodes_.refer(node);
    }

    void propagate(std::size_t i) {
        const double* y = mixture_.points.row(i);
        for (std::size_t p = 0; p < particles_.size(); ++p) {
            auto& particle = particles_[p];
            const std::size_t k = choose(particle, totals_[p]);
            labels_[i * particles_.size() + p] = static_cast<Slot>(k);
            if (k == particle.size()) {
                particle.push_back(nodes_.with_point(new_, y));
                nodes_.refer(particle.back());
            } else {
                const std::int32_t joined = nodes_.with_point(particle[k], y);
                nodes_.refer(joined);
                left_.push_back(particle[k]);
                particle[k] = joined;
            }
        }
        // Released only now: a row used again within one point would lose its successor.
        for (const std::int32_t node : left_) nodes_.release(node);
        left_.clear();
    }

    // A slot of the particle, or one past them for a new cluster.
    std::size_t choose(const std::vector<std::int32_t>& particle, double total) {
        double left = random_.uniform() * total - nodes_.chance(new_);
        if (left < 0.0) return particle.size();
        std::size_t chosen = particle.size();
        for (std::size_t k = 0; k < particle.size(); ++k) {
            if (nodes_.chance(particle[k]) == 0.0) continue;
            chosen = k;
            left -= nodes_.chance(particle[k]);
            if (left < 0.0) break;
        }
        return chosen;
    }

    const Mixture& mixture_;
    Random random_;
    ClusterNodes nodes_;
    std::int32_t new_ = 0;
    std::vector<std::vector<std::int32_t>> particles_;  // nodes by slot
    std::vector<double> totals_;                        // predictive density of the point
    std::vector<Slot> labels_;                          // (n_points, n_particles)
    std::vector<std::int32_t> ancestors_;               // (n_points, n_particles)
    std::vector<std::int32_t> n_children_, vacant_, left_;
    double log_evidence_ = 0.0;
};

}  // namespace dynmeans::mixture
