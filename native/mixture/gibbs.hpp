// Gibbs sampling: labels given parameters, then parameters given labels (paper, Sec. 3.1 and 3.2).
//
// All the choices of a point are one table by slot, whose row k holds
//     log(weight_k) + log_factor_k - scale_k |y - center_k|^2:
// a cluster with points stands at its parameter, with weight c + n and the noise's scale; a
// remembered one without points at its prior mean, with the wider marginal; a free slot has
// log_factor -infinity. The factor (2 pi sigma)^(-d/2), common to all, is left out.
//
// A choice more than kNegligible below the best one is given probability 0: with fewer than 2^53
// points its share is below the rounding of the sum. So a block of slots is left as soon as the
// first features put all of it that far below one choice: the squares still to come only lower it
// (squared_distance.hpp), and nothing that is drawn changes.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "mixture/model.hpp"
#include "numeric/random.hpp"
#include "numeric/simd.hpp"
#include "numeric/vector_math.hpp"

namespace dynmeans::mixture {

constexpr double kNegligible = 75.0;
constexpr std::size_t kSlotBlock = 16;               // slots that are measured together
constexpr std::size_t kFeaturesBetweenTests = 16;    // tests whether a block can be left
constexpr std::size_t kWorkBetweenLooks = 1u << 18;  // about a millisecond

class GibbsSampler {
  public:
    GibbsSampler(const Mixture& mixture, std::uint64_t seed)
        : mixture_(mixture),
          random_(seed),
          d_(mixture.points.n_features),
          n_slots_(mixture.n_old),
          labels_(mixture.points.n_points, kUnlabeled) {
        make_room(mixture.n_old + kSlotBlock);
        for (std::size_t k = 0; k < mixture.n_old; ++k) vacate(k);
        const double spread = mixture.noise_variance + mixture.new_variance;
        const double log_factor = opening_factor(mixture.n_old);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            openings_.push_back(log_factor -
                                0.5 / spread *
                                    squared_distance(mixture.points.row(i), mixture.new_mean, d_));
    }

    // Continues from labels by slot, below n_old + n_points, and a center for every slot.
    void start(const std::int64_t* labels, const double* centers) {
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            labels_[i] = static_cast<Slot>(labels[i]);
            n_slots_ = std::max(n_slots_, static_cast<std::size_t>(labels[i]) + 1);
        }
        make_room(n_slots_ + kSlotBlock);
        for (const Slot label : labels_) counts_[label] += 1.0;
        for (std::size_t k = 0; k < n_slots_; ++k)
            if (counts_[k] > 0.0) occupy(k, centers + k * d_);
    }

    // Visits every point, then draws every parameter; false if `look` asked to stop. Points
    // without a label join one by one, given those before them.
    template <typename Look>
    bool sweep(Look&& look) {
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            draw_label(i);
            work_ += 16 + n_slots_ * d_;
            if (work_ > kWorkBetweenLooks) {
                work_ = 0;
                if (!look()) return false;
            }
        }
        draw_parameters();
        return true;
    }

    // Labels with the new clusters numbered n_old, n_old + 1, ... as they first appear, so that
    // equal partitions are equal arrays; their centers are appended in the order of these numbers.
    void record(Slot* labels, std::vector<double>& centers) {
        const Slot n_old = static_cast<Slot>(mixture_.n_old);
        numbers_.assign(n_slots_, kUnlabeled);
        order_.clear();
        for (Slot k = 0; k < n_old; ++k) {
            numbers_[k] = k;
            if (counts_[k] > 0.0) order_.push_back(k);
        }
        Slot next = n_old;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            Slot& number = numbers_[labels_[i]];
            if (number == kUnlabeled) {
                number = next++;
                order_.push_back(labels_[i]);
            }
            labels[i] = number;
        }
        for (const Slot k : order_)
            for (std::size_t j = 0; j < d_; ++j) centers.push_back(center_at(k, j));
    }

  private:
    void draw_label(std::size_t i) {
        const double* y = mixture_.points.row(i);
        if (labels_[i] != kUnlabeled) leave(labels_[i]);
        const std::size_t k = choose(y, openings_[i], labels_[i]);
        if (counts_[k] == 0.0) {
            first_point_.assign(y, y + d_);
            draw_parameter(k, 1.0, first_point_.data());
        }
        labels_[i] = static_cast<Slot>(k);
        counts_[k] += 1.0;
        weights_[k] = mixture_.past_count(k) + counts_[k];
    }

    void leave(std::size_t k) {
        counts_[k] -= 1.0;
        if (counts_[k] == 0.0)
            vacate(k);
        else
            weights_[k] = mixture_.past_count(k) + counts_[k];
    }

    // Draws a slot with the probabilities of the paper's label step. `last` is the one it had.
    std::size_t choose(const double* y, double opening, Slot last) {
        const double best = measure(y, opening, last);
        const double opening_chance = opening > best - kNegligible ? std::exp(opening - best) : 0.0;
        double total = opening_chance;
        for (std::size_t b = 0; b * kSlotBlock < n_slots_; ++b)
            if (is_near_[b]) total += block_chances_[b] = weigh_block(b, best);
        double left = random_.uniform() * total - opening_chance;
        if (left < 0.0) return free_slot();
        std::size_t drawn = 0;  // block; where rounding uses up all chances, the last is meant
        double inside = left;
        for (std::size_t b = 0; b * kSlotBlock < n_slots_ && left >= 0.0; ++b) {
            if (!is_near_[b] || block_chances_[b] == 0.0) continue;
            drawn = b;
            inside = left;
            left -= block_chances_[b];
        }
        return drawn_of_block(drawn, inside);
    }

    // Sets the chances of a block's slots, and returns their sum.
    double weigh_block(std::size_t b, double best) {
        LaneSums sums;
        for (std::size_t part = 0; part < kSlotBlock / kSimd; ++part) {
            const std::size_t k = b * kSlotBlock + part * kSimd;
            const Doubles below = load(&exponents_[k]) - best;
            const Doubles chances = load(&weights_[k]) * exp_of(below);
            const Doubles kept = select(below > -kNegligible, chances, fill(0.0));
            store(&chances_[k], kept);
            sums.lanes[part % (kLanes / kSimd)] += kept;
        }
        return sums.total();
    }

    // The slot of the block at which the chances before it use up `left`; or its last possible one.
    std::size_t drawn_of_block(std::size_t b, double left) const {
        std::size_t possible = 0;
        for (std::size_t k = b * kSlotBlock; k < (b + 1) * kSlotBlock; ++k) {
            if (chances_[k] == 0.0) continue;
            possible = k;
            left -= chances_[k];
            if (left < 0.0) break;
        }
        return possible;
    }

    // Finds the exponents of all slots that may be chosen, and returns the best. The block of the
    // last label comes first: it is mostly the best, and rules out most others early.
    double measure(const double* y, double opening, Slot last) {
        const std::size_t n_blocks = (n_slots_ + kSlotBlock - 1) / kSlotBlock;
        const std::size_t first = last == kUnlabeled ? n_blocks : last / kSlotBlock;
        double best = opening;
        if (first < n_blocks) measure_block(first, y, best);
        for (std::size_t b = 0; b < n_blocks; ++b)
            if (b != first) measure_block(b, y, best);
        return best;
    }

    void measure_block(std::size_t b, const double* y, double& best) {
        constexpr std::size_t kParts = kSlotBlock / kSimd;
        const double* centers = &centers_[b * kSlotBlock * d_];
        Doubles sums[kParts] = {}, exponents[kParts];
        for (std::size_t j = 0; j < d_;) {
            for (const std::size_t end = std::min(j + kFeaturesBetweenTests, d_); j < end;
                 ++j, centers += kSlotBlock)
                for (std::size_t part = 0; part < kParts; ++part) {
                    const Doubles difference = y[j] - load(centers + part * kSimd);
                    sums[part] += difference * difference;
                }
            double highest = -std::numeric_limits<double>::infinity();
            for (std::size_t part = 0; part < kParts; ++part) {
                const std::size_t k = b * kSlotBlock + part * kSimd;
                exponents[part] = load(&log_factors_[k]) - load(&scales_[k]) * sums[part];
                highest = std::max(highest, -lowest_lane(-exponents[part]));
            }
            is_near_[b] = !(highest - best <= -kNegligible);
            if (!is_near_[b]) return;
            if (j == d_) best = std::max(best, highest);
        }
        for (std::size_t part = 0; part < kParts; ++part)
            store(&exponents_[b * kSlotBlock + part * kSimd], exponents[part]);
    }

    double& center_at(std::size_t k, std::size_t j) {
        return centers_[(k / kSlotBlock * d_ + j) * kSlotBlock + k % kSlotBlock];
    }

    std::size_t free_slot() {
        for (std::size_t k = mixture_.n_old; k < n_slots_; ++k)
            if (counts_[k] == 0.0) return k;
        if (n_slots_ == capacity_) make_room(2 * capacity_);
        return n_slots_++;
    }

    void make_room(std::size_t wanted) {
        const std::size_t n_blocks = (wanted + kSlotBlock - 1) / kSlotBlock,
                          capacity = n_blocks * kSlotBlock;
        centers_.resize(capacity * d_, 0.0);
        is_near_.resize(n_blocks);
        block_chances_.resize(n_blocks);
        counts_.resize(capacity, 0.0);
        weights_.resize(capacity, 1.0);
        log_factors_.resize(capacity, -std::numeric_limits<double>::infinity());
        scales_.resize(capacity, 0.0);
        exponents_.resize(capacity);
        chances_.resize(capacity);
        sums_.resize(capacity * d_);
        capacity_ = capacity;
    }

    void draw_parameters() {
        std::fill(sums_.begin(), sums_.begin() + n_slots_ * d_, 0.0);
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const double* y = mixture_.points.row(i);
            double* sum = &sums_[labels_[i] * d_];
            for (std::size_t j = 0; j < d_; ++j) sum[j] += y[j];
        }
        for (std::size_t k = 0; k < n_slots_; ++k)
            if (counts_[k] > 0.0) draw_parameter(k, counts_[k], &sums_[k * d_]);
    }

    // theta ~ N(m + n v / (sigma + n v) (mean of the points - m), v sigma / (sigma + n v)).
    void draw_parameter(std::size_t k, double n, double* sum) {
        const double v = mixture_.variance(k), sigma = mixture_.noise_variance;
        const double gain = n * v / (sigma + n * v), deviation = std::sqrt(gain * sigma / n);
        const double* m = mixture_.mean(k);
        for (std::size_t j = 0; j < d_; ++j)
            sum[j] = m[j] + gain * (sum[j] / n - m[j]) + deviation * random_.normal();
        occupy(k, sum);
    }

    void occupy(std::size_t k, const double* center) {
        for (std::size_t j = 0; j < d_; ++j) center_at(k, j) = center[j];
        scales_[k] = 0.5 / mixture_.noise_variance;
        log_factors_[k] = 0.0;
        weights_[k] = mixture_.past_count(k) + counts_[k];
    }

    // A slot without points: its parameter is integrated out, or there is none.
    void vacate(std::size_t k) {
        weights_[k] = 1.0;
        if (k >= mixture_.n_old) {
            log_factors_[k] = -std::numeric_limits<double>::infinity();
            return;
        }
        for (std::size_t j = 0; j < d_; ++j) center_at(k, j) = mixture_.mean(k)[j];
        scales_[k] = 0.5 / (mixture_.noise_variance + mixture_.first_variance(k));
        log_factors_[k] = opening_factor(k);
    }

    // log of weight (sigma / (sigma + v))^(d/2): the factor of a cluster's first point.
    double opening_factor(std::size_t k) const {
        const double sigma = mixture_.noise_variance;
        return mixture_.log_weight(k) - 0.5 * static_cast<double>(d_) *
                                            std::log((sigma + mixture_.first_variance(k)) / sigma);
    }

    const Mixture& mixture_;
    Random random_;
    std::size_t d_, n_slots_, capacity_ = 0, work_ = 0;
    std::vector<Slot> labels_;
    std::vector<double> counts_, weights_, log_factors_, scales_;  // by slot
    std::vector<double> centers_;  // (blocks, n_features, kSlotBlock)
    std::vector<double> exponents_, chances_, sums_, first_point_;  // scratch
    std::vector<double> openings_;                                  // by point
    std::vector<char> is_near_;                                     // by block: measured to the end
    std::vector<double> block_chances_;                             // by block
    std::vector<Slot> numbers_, order_;
};

struct Samples {
    std::vector<Slot> labels;            // row-major (n_samples, n_points)
    std::vector<double> centers;         // of the clusters with points, sample after sample
    std::vector<double> log_posteriors;  // of the labels
};

struct Schedule {
    std::size_t burn_in, n_samples, thin;
    std::size_t n_sweeps() const { return burn_in + n_samples * thin; }
};

// Records every `thin`-th sweep after the first `burn_in`; false if `look(share done)` asked to
// stop.
template <typename Look>
bool run_gibbs(GibbsSampler& sampler, const Mixture& mixture, const Schedule& schedule, Look&& look,
               Samples& samples) {
    const std::size_t n = mixture.points.n_points, n_sweeps = schedule.n_sweeps();
    LabelPosterior log_posterior(mixture);
    samples.labels.resize(schedule.n_samples * n);
    samples.log_posteriors.reserve(schedule.n_samples);
    std::size_t sweep = 0;
    const auto look_in = [&] { return look(static_cast<double>(sweep) / n_sweeps); };
    while (sweep < n_sweeps) {
        if (!sampler.sweep(look_in)) return false;
        ++sweep;
        if (sweep <= schedule.burn_in || (sweep - schedule.burn_in) % schedule.thin) continue;
        Slot* labels = samples.labels.data() + samples.log_posteriors.size() * n;
        sampler.record(labels, samples.centers);
        samples.log_posteriors.push_back(log_posterior(labels));
    }
    return true;
}

}  // namespace dynmeans::mixture
