// The sets a batch is divided into, and the identity each holds, while moves are tried.
//
// Given the sets, L_t is their scatter plus one term for each: lambda for a new cluster, and for a
// remembered one Q dt + gamma n/(gamma + n) |m - theta_old|^2. So a move is judged by the weights
// and means of the sets it touches, and these come from sums that points enter and leave exactly
// (bins.hpp). Members are positions in the visiting order. Of a large set only the first ones are
// listed, until somebody asks for all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "moves/center_order.hpp"
#include "numeric/squared_distance.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "records/solution.hpp"

namespace dynmeans {

constexpr Slot kNew = -1;  // the owner of a set that is a new cluster
// Members of a set that are always listed, and of one that may be two.
constexpr std::size_t kFirstSample = 64, kSecondSample = 1024, kAll = SIZE_MAX;

template <typename Value>
class Sets {
  public:
    using Position = std::uint32_t;
    using Members = std::vector<Position>;

    // Another batch, in the memory of the last one.
    void start(const Points<Value>& points, const Remembered& remembered, double new_penalty,
               const BatchSums& sums) {
        points_ = &points;
        remembered_ = &remembered;
        new_penalty_ = new_penalty;
        sums_ = &sums;
        were_one_.clear();
        adder_.emplace(sums);
        row_.resize(points.n_features);
        free_order_.build(remembered.centers, remembered.n_clusters, points.n_features);
        spreads_.resize(remembered.n_clusters);
        widest_ = 0.0;
        least_offset_ = CenterOrder::kNever;
        for (std::size_t j = 0; j < remembered.n_clusters; ++j) {
            spreads_[j] = 1.0 / remembered.gamma[j];
            widest_ = std::max(widest_, spreads_[j]);
            least_offset_ = std::min(least_offset_, remembered.offsets[j]);
        }
    }

    // The sets of what was found so far: the slots with members, in their order. `before` is what
    // the last round came to, if there was one.
    void take(const Solution& found, const Row* order, const Solution& before) {
        order_ = order;
        labels_ = found.labels.data();
        owners_.clear();
        n_members_.clear();
        n_.clear();
        bins_.clear();
        means_.clear();
        is_taken_.assign(remembered_->n_clusters, 0);
        set_of_slot_.assign(found.counts.size(), kNobody);
        for (std::size_t k = 0; k < found.counts.size(); ++k) {
            if (found.n_members[k] == 0) continue;
            const bool is_old = k < remembered_->n_clusters;
            set_of_slot_[k] = static_cast<std::uint32_t>(owners_.size());
            owners_.push_back(is_old ? static_cast<Slot>(k) : kNew);
            if (is_old) is_taken_[k] = 1;
            n_members_.push_back(found.n_members[k]);
            n_.push_back(found.counts[k]);
            const auto from = found.bins.begin() + k * width();
            bins_.insert(bins_.end(), from, from + width());
        }
        means_.resize(size() * d());
        heirs_.resize(size());
        for (std::size_t k = 0; k < size(); ++k) {
            heirs_[k] = static_cast<std::uint32_t>(k);
            find_mean(k);
        }
        has_sets_ = false;
        missing_.clear();
        are_one_.assign(size(), 0);
        if (!were_one_.empty()) recall_ones(found, before);
        for (std::size_t k = 0; k < size(); ++k) {
            if (members_.size() == k) members_.emplace_back();
            members_[k].clear();
        }
        n_listed_ = 0;
        list(kFirstSample);
    }

    std::size_t size() const { return owners_.size(); }  // sets that were emptied included
    std::size_t d() const { return points_->n_features; }
    std::size_t width() const { return sums_->columns.size(); }
    const Points<Value>& points() const { return *points_; }
    const Remembered& remembered() const { return *remembered_; }
    const BatchSums& sums() const { return *sums_; }
    PointAdder& adder() { return *adder_; }
    double new_penalty() const { return new_penalty_; }
    double widest() const { return widest_; }  // 1/gamma at most
    const CenterOrder& free_order() const { return free_order_; }

    Slot owner(std::size_t k) const { return owners_[k]; }
    bool is_taken(std::size_t j) const { return is_taken_[j] != 0; }
    double n(std::size_t k) const { return n_[k]; }
    std::size_t n_members(std::size_t k) const { return n_members_[k]; }
    const double* bins(std::size_t k) const { return bins_.data() + k * width(); }
    const double* mean(std::size_t k) const { return means_.data() + k * d(); }
    std::size_t row_at(Position p) const { return order_[p]; }
    const double* point_at(Position p) { return points_->row(order_[p], row_.data()); }
    // As many as are listed: all of a small set.
    const Members& listed(std::size_t k) const { return members_[k]; }

    // Lists as many members of set k, or all. Where the points of a batch lie elsewhere, and only
    // the first members of each set are here: false for a set of which more are needed, and
    // remembers which. What was found then counts for nothing until they are here.
    bool has(std::size_t k, std::size_t most) {
        const std::size_t wanted = std::min(most, n_members_[k]);
        if (members_[k].size() < wanted && n_listed_ < most) list(most);
        if (members_[k].size() >= wanted) return true;
        missing_.push_back(k);
        return false;
    }

    // A set that is not two stays so as long as nobody enters, leaves, or changes its identity.
    bool is_known_as_one(std::size_t k) const { return are_one_[k] != 0; }
    void know_as_one(std::size_t k) { are_one_[k] = 1; }
    bool has_missing() const { return !missing_.empty(); }
    // Slots of the sets that are missing, and where the points of each slot went, if nowhere else.
    std::vector<std::int64_t> missing_slots() const {
        std::vector<std::int64_t> found;
        for (std::size_t s = 0; s < set_of_slot_.size(); ++s)
            if (std::find(missing_.begin(), missing_.end(), set_of_slot_[s]) != missing_.end())
                found.push_back(static_cast<std::int64_t>(s));
        return found;
    }
    std::vector<std::int64_t> slots_after() const {
        std::vector<std::int64_t> after(set_of_slot_.size(), kUnlabeled);
        for (std::size_t s = 0; s < after.size(); ++s)
            if (set_of_slot_[s] != kNobody) after[s] = slots_[heirs_[set_of_slot_[s]]];
        return after;
    }

    double term(double n, const double* mean, Slot owner) const {
        if (owner == kNew) return new_penalty_;
        const double gamma = remembered_->gamma[owner];
        const double lag = squared_distance(mean, remembered_->center(owner), d());
        return remembered_->offsets[owner] + gamma * n / (gamma + n) * lag;
    }
    double term(std::size_t k) const { return term(n_[k], mean(k), owners_[k]); }

    // gamma + n: what the center stands for.
    double mass(std::size_t k) const {
        return (owners_[k] == kNew ? 0.0 : remembered_->gamma[owners_[k]]) + n_[k];
    }

    // n m, and n, of a sum in bins.
    void read_sum(const double* bins, double* sum) const {
        const std::size_t first = sums_->has_weights ? 1 : 0;
        for (std::size_t j = 0; j < d(); ++j) sum[j] = sums_->columns.total(bins, first + j);
    }
    double weight_of(const double* bins, std::size_t n_members) const {
        return sums_->has_weights ? sums_->columns.total(bins, 0) : static_cast<double>(n_members);
    }

    // theta (Eq. 12).
    void write_center(std::size_t k, double* theta) const {
        read_sum(bins(k), theta);
        const double mass_of_k = mass(k);
        if (owners_[k] != kNew) {
            const double gamma = remembered_->gamma[owners_[k]];
            const double* old = remembered_->center(owners_[k]);
            for (std::size_t j = 0; j < d(); ++j) theta[j] = old[j] * gamma + theta[j];
        }
        for (std::size_t j = 0; j < d(); ++j) theta[j] /= mass_of_k;
    }

    // The mean of two sets, which weigh n together.
    void write_union_mean(std::size_t a, std::size_t b, double n, double* mean) {
        read_sum(bins(a), mean);
        read_sum(bins(b), row_.data());
        for (std::size_t j = 0; j < d(); ++j) mean[j] = (mean[j] + row_[j]) / n;
    }

    struct Free {
        double term;
        Slot owner;
    };

    // Whether a set may cost less than a limit with remembered cluster j: false is certain, and
    // known without a division. `inverse` is 1/n.
    bool may_cost_less(double limit, double inverse, const double* mean, std::size_t j) const {
        const double left = limit - remembered_->offsets[j];
        if (!(left > 0.0)) return false;
        const double lag = squared_distance(mean, remembered_->center(j), d());
        return !(lag > left * (spreads_[j] + inverse) * (1.0 + 1e-9));
    }

    // The lowest term of a set that may take any identity nobody holds; ties to the oldest. Terms
    // above `limit` are of no use to the caller.
    Free cheapest_free(double n, const double* mean, double limit = CenterOrder::kNever) const {
        Free best{CenterOrder::kNever, kNew};
        const double inverse = 1.0 / n, most = std::min(limit, new_penalty_) * (1.0 + 1e-9);
        free_order_.visit_within(mean, most * (widest_ + inverse), [&](std::size_t j) {
            if (is_taken_[j] || !may_cost_less(most, inverse, mean, j)) return;
            const double cost = term(n, mean, static_cast<Slot>(j));
            if (cost < best.term || (cost == best.term && static_cast<Slot>(j) < best.owner))
                best = {cost, static_cast<Slot>(j)};
        });
        return best.term <= new_penalty_ ? best : Free{new_penalty_, kNew};
    }

    // How near the clusters are that nobody holds, and what they cost at least.
    struct FreeBound {
        double distance = CenterOrder::kNever, offset = CenterOrder::kNever;
    };
    FreeBound free_bound(const double* place) const {
        const double far = 16.0 * new_penalty_ * (widest_ + 1.0);
        double nearest = far;
        free_order_.visit_within(place, far, [&](std::size_t j) {
            if (!is_taken_[j])
                nearest = std::min(nearest, squared_distance(place, remembered_->center(j), d()));
        });
        return {std::sqrt(nearest), least_offset_};
    }

    // No set that weighs w or more with its mean within a radius of the place has a lower term,
    // whether as a new cluster or as one that nobody holds.
    double least_free_term(const FreeBound& bound, double radius, double w) const {
        if (!(bound.offset < new_penalty_)) return new_penalty_;
        const double gap = std::max(0.0, bound.distance * (1.0 - 1e-9) - radius * (1.0 + 1e-9));
        const double lag = gap * gap / (widest_ + 1.0 / w);
        return std::min(new_penalty_, (bound.offset + lag) * (1.0 - 1e-9));
    }

    // Gives set k another identity, and frees the one it held.
    void own(std::size_t k, Slot owner) {
        if (owners_[k] != kNew) is_taken_[owners_[k]] = 0;
        if (owner != kNew) is_taken_[owner] = 1;
        if (owners_[k] != owner) are_one_[k] = 0;
        owners_[k] = owner;
    }

    // Set k keeps the members that stay; those that go are a new set, of these sums. Returns it.
    std::size_t divide(std::size_t k, Members&& stay, Members&& go, const double* bins_of_those) {
        const std::size_t added = append();
        for (std::size_t b = 0; b < width(); ++b) {
            bins_[added * width() + b] = bins_of_those[b];
            bins_[k * width() + b] -= bins_of_those[b];
        }
        n_members_[k] = stay.size();
        n_members_[added] = go.size();
        for (const Position p : go) set_of(p) = static_cast<std::uint32_t>(added);
        members_[k] = std::move(stay);
        members_[added] = std::move(go);
        refresh(k);
        refresh(added);
        return added;
    }

    // Set b becomes part of set a. Each takes part in one union at most.
    void unite(std::size_t a, std::size_t b) {
        for (std::size_t at = 0; at < width(); ++at) {
            bins_[a * width() + at] += bins_[b * width() + at];
            bins_[b * width() + at] = 0.0;
        }
        n_members_[a] += n_members_[b];
        n_members_[b] = 0;
        heirs_[b] = static_cast<std::uint32_t>(a);
        const std::size_t first = members_[a].size();
        members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
        std::inplace_merge(members_[a].begin(), members_[a].begin() + first, members_[a].end());
        members_[b].clear();
        refresh(a);
        refresh(b);
        own(b, kNew);
    }

    // The point at p leaves set k for set `to`, or for a set of its own, which is returned.
    std::size_t move(Position p, std::size_t k, std::size_t to) {
        if (to == kNobody) {
            to = append();
            n_members_[to] = 0;
            std::fill_n(bins_.begin() + to * width(), width(), 0.0);
        }
        adder_->take_out(*points_, order_[p], bins_.data() + k * width());
        adder_->add(*points_, order_[p], bins_.data() + to * width());
        --n_members_[k];
        ++n_members_[to];
        set_of(p) = static_cast<std::uint32_t>(to);
        refresh(k);
        refresh(to);
        if (n_members_[k] == 0) own(k, kNew);
        return to;
    }

    // The labels that the sets come to: remembered clusters keep their slots, new ones follow in
    // the order of the sets. Members, sums and numbers go to their slots in `into`.
    void write(Solution& into) {
        std::vector<Slot>& slots = slots_;
        slots.assign(size(), kUnlabeled);
        auto next = static_cast<Slot>(remembered_->n_clusters);
        for (std::size_t k = 0; k < size(); ++k)
            if (n_members_[k] > 0) slots[k] = owners_[k] == kNew ? next++ : owners_[k];
        into.labels.resize(points_->n_points);
        for (std::size_t i = 0; i < points_->n_points; ++i) {
            const std::uint32_t k = has_sets_ ? sets_of_rows_[i] : set_of_row(i);
            into.labels[i] = k == kNobody ? kUnlabeled : slots[heirs_[k]];
        }
        were_one_.assign(next, 0);
        into.n_members.assign(next, 0);
        into.bins.assign(next * width(), 0.0);
        for (std::size_t k = 0; k < size(); ++k) {
            if (slots[k] == kUnlabeled) continue;
            were_one_[slots[k]] = are_one_[k];
            into.n_members[slots[k]] = static_cast<std::int64_t>(n_members_[k]);
            std::copy_n(bins(k), width(), into.bins.begin() + slots[k] * width());
        }
    }

    static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

  private:
    std::uint32_t set_of_row(std::size_t i) const {
        return labels_[i] == kUnlabeled ? kNobody : set_of_slot_[labels_[i]];
    }

    // Where a point is now: written down for all once the first leaves the set of its slot.
    std::uint32_t& set_of(Position p) {
        if (!has_sets_) {
            sets_of_rows_.resize(points_->n_points);
            for (std::size_t i = 0; i < points_->n_points; ++i) sets_of_rows_[i] = set_of_row(i);
        }
        has_sets_ = true;
        return sets_of_rows_[order_[p]];
    }

    std::size_t append() {
        heirs_.push_back(static_cast<std::uint32_t>(size()));
        owners_.push_back(kNew);
        n_members_.push_back(0);
        n_.push_back(0.0);
        are_one_.push_back(0);
        bins_.resize(bins_.size() + width(), 0.0);
        means_.resize(means_.size() + d());
        if (members_.size() < size()) members_.emplace_back();
        members_[size() - 1].clear();
        return size() - 1;
    }

    void refresh(std::size_t k) {
        are_one_[k] = 0;
        n_[k] = weight_of(bins(k), n_members_[k]);
        find_mean(k);
    }

    void find_mean(std::size_t k) {
        double* mean = means_.data() + k * d();
        read_sum(bins(k), mean);
        for (std::size_t j = 0; j < d(); ++j) mean[j] /= n_[k];
    }

    // Lists the first members of each set, up to so many. A set that has changed is wholly listed.
    void list(std::size_t most) {
        n_listed_ = most;
        std::vector<std::uint8_t> is_short(size());
        std::size_t n_left = 0;
        for (std::size_t k = 0; k < size(); ++k) {
            const std::size_t wanted = std::min(n_members_[k], most);
            is_short[k] = members_[k].size() < wanted;
            if (!is_short[k]) continue;
            n_left += wanted;
            members_[k].clear();
            members_[k].reserve(wanted);
        }
        for (Position p = 0; n_left > 0 && p < points_->n_points; ++p) {
            const Slot slot = labels_[order_[p]];
            if (slot == kUnlabeled || !is_short[set_of_slot_[slot]]) continue;
            Members& members = members_[set_of_slot_[slot]];
            if (members.size() == most) continue;
            members.push_back(p);
            --n_left;
        }
    }

    // Sets of the same members and identity as in the last round.
    void recall_ones(const Solution& found, const Solution& before) {
        constexpr Slot kSeveral = kUnlabeled - 1;
        came_from_.assign(found.counts.size(), kUnlabeled);  // the slot of all members
        for (std::size_t i = 0; i < found.labels.size(); ++i) {
            if (labels_[i] == kUnlabeled) continue;
            Slot& from = came_from_[labels_[i]];
            if (from != before.labels[i]) from = from == kUnlabeled ? before.labels[i] : kSeveral;
        }
        const auto n_old = static_cast<Slot>(remembered_->n_clusters);
        for (std::size_t s = 0; s < came_from_.size(); ++s) {
            const Slot from = came_from_[s], slot = static_cast<Slot>(s);
            if (from < 0 || before.n_members[from] != found.n_members[s]) continue;
            if (from == slot || (from >= n_old && slot >= n_old))
                are_one_[set_of_slot_[s]] = were_one_[from];
        }
    }

    const Points<Value>* points_ = nullptr;
    const Remembered* remembered_ = nullptr;
    double new_penalty_ = 0.0;
    const BatchSums* sums_ = nullptr;
    std::optional<PointAdder> adder_;
    CenterOrder free_order_;
    std::vector<double> spreads_;  // 1/gamma
    double widest_ = 0.0, least_offset_ = CenterOrder::kNever;
    const Row* order_ = nullptr;
    const Slot* labels_ = nullptr;
    std::vector<Slot> owners_;
    std::vector<std::size_t> n_members_;
    std::vector<double> n_, bins_, means_, row_;
    std::vector<std::uint8_t> is_taken_;
    std::vector<std::uint32_t> set_of_slot_;
    std::vector<Members> members_;
    std::vector<std::uint32_t> heirs_;              // whom a set became part of; itself: nobody
    std::vector<std::uint32_t> sets_of_rows_;       // once `has_sets_`
    std::vector<std::size_t> missing_;              // sets of which not all members are here
    std::vector<Slot> slots_, came_from_;           // of each set, once written
    std::vector<std::uint8_t> are_one_, were_one_;  // sets, and slots of the last round
    std::size_t n_listed_ = 0;
    bool has_sets_ = false;
};

}  // namespace dynmeans
