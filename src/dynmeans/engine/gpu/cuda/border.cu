// Passes over the border: the rows whose slot may change while every center stays within its margin.
//
// Exact because: let u be the distance of a row to its own center, and v the root of what slot j costs
// it. While center k moves by no more than its margin m_k, u grows by no more than m of the own slot,
// and v falls by no more than m_j; dormant slots and lambda stay. A row with u + m + m_j < v for every
// other slot, and u + m below the root of lambda, keeps its slot. The others are held, each with the
// slots that can be its cheapest meanwhile. A pass looks at these, in any order, as long as no cluster
// opens, revives or empties: a pass in which one would is not made, nor any after it. Distances and
// margins are compared with a part in 1e9 to spare, and with 1e-300 of a cost, far more than rounding
// and underflow do.

constexpr int kFirst = 2, kListed = 16;  // slots that are kept for a row; beyond, it is compared with all

struct Status {  // of one pass
    int was_made;   // all zero if it was not
    int is_due;     // a center has left its margin
    int n_moved;    // rows
    int has_event;  // a row wants a new cluster or a dormant one
};

// The kernels of a pass all end their arguments with its status, its records, whether it is the first
// over a border, and its number. Whether the passes before let it begin:
__device__ __forceinline__ bool begins(const Status* status, int number) {
    if (number == 0) return true;
    const Status& before = status[number - 1];
    return before.was_made && !before.is_due && before.n_moved > 0;
}

__device__ __forceinline__ double widened(double root, double margin) {
    const double sum = (root + margin) * (1.0 + 1e-9);
    return sum * sum + 1e-300;
}

// How far from its own center a row must be to come to prefer a slot: a lower bound, from the distance
// of the centers. `margin` is that of both; a dormant slot's cost grows slower than that of the own one
// falls, so that halving finds where they meet.
__device__ __forceinline__ double least_distance(double gap, double margin, double offset, double scale,
                                                 bool is_dormant, double reach) {
    if (!is_dormant) return (gap - margin) / 2.0;
    double low = 0.0, high = reach;
    for (int turn = 0; turn < 40; ++turn) {
        const double u = (low + high) / 2.0, least = fmax(gap - u, 0.0);
        const double cost = (offset + scale * least * least) * (1.0 - 1e-9);
        if (cost > widened(u, margin)) low = u;
        else high = u;
    }
    return low;
}

// For each slot those that its rows may come to prefer, and from which distance on; one block for each.
extern "C" __global__ void near_slots(const double* centers, const double* offsets,
                                      const double* scales, const u8* is_dormant,
                                      const double* margins, int n_slots, int d, double new_penalty,
                                      int2* near, int* n_near) {
    const int k = blockIdx.x;
    if (is_dormant[k]) return;
    const double reach = sqrt(new_penalty) * (1.0 + 1e-9);
    for (int j = threadIdx.x; j < n_slots; j += blockDim.x) {
        if (j == k) continue;
        double sum = 0.0;
        for (int f = 0; f < d; ++f) {
            const double gap = centers[(i64)k * d + f] - centers[(i64)j * d + f];
            sum += gap * gap;
        }
        const double gap = sqrt(sum) * (1.0 - 1e-9) - 1e-150, margin = margins[k] + margins[j];
        const double least = least_distance(gap, margin, offsets[j], scales[j], is_dormant[j], reach);
        if (least * (1.0 - 1e-7) > reach) continue;
        near[(i64)k * n_slots + atomicAdd(n_near + k, 1)] =
            make_int2(j, __float_as_int(__double2float_rd(fmax(least, 0.0) * (1.0 - 1e-8))));
    }
}

// What is found out of each listed row: its distance to its own center, how many slots it may come to
// prefer, and the first of them.
struct Found {
    double* own;
    int* n_slots;
    int* slots;

    __device__ __forceinline__ void add(i64 p, int k, int m) const {
        if (m < kListed) slots[p * kListed + m] = k;
    }
};

// By the distances between the centers.
extern "C" __global__ void __launch_bounds__(256, 2) near_choices(
    const ROW* points, int d, const int* labels, const int* listed, i64 n, const double* centers,
    const double* offsets, const double* scales, const double* margins, const int2* near,
    const int* n_near, int n_slots, double* own, int* n_found, int* found) {
    const Found into{own, n_found, found};
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 p = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; p < n; p += n_groups) {
        const i64 i = listed[p];
        const int k = labels[i];
        ChoosingRow row;
        row.load(points, i, d);
        const double u = sqrt(row.squared_distance(centers, k, d));
        int m = 0;
        for (int q = 0; q < n_near[k]; ++q) {
            const int2 other = near[(i64)k * n_slots + q];
            const int j = other.x;
            if (widen(__int_as_float(other.y)) > u) continue;
            const double cost = cost_of(offsets[j], scales[j], row.squared_distance(centers, j, d));
            if (cost * (1.0 - 1e-9) > widened(u, margins[k] + margins[j])) continue;
            if (threadIdx.x % kWidth == 0) into.add(p, j, m);
            ++m;
        }
        if (threadIdx.x % kWidth) continue;
        own[p] = u;
        n_found[p] = m;
    }
}

// The distance of each listed row to its own center, and how far a slot must be to leave it alone.
extern "C" __global__ void own_roots(const ROW* points, int d, const int* labels, const int* listed, i64 n,
                                     const double* centers, const double* margins, double widest,
                                     double* own, float* lengths) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 p = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; p < n; p += n_groups) {
        const i64 i = listed[p];
        const int k = labels[i];
        ChoosingRow row;
        row.load(points, i, d);
        const double u = sqrt(row.squared_distance(centers, k, d));
        if (threadIdx.x % kWidth) continue;
        own[p] = u;
        lengths[p] = __double2float_ru((u + margins[k] + widest) * (1.0 + 1e-6) + 1e-150);
    }
}

// By pairs of a listed row and a slot that a filter could not rule out. `lowest` gets the bits of the
// lowest cost of another slot than the own one.
extern "C" __global__ void __launch_bounds__(256, 2) pair_choices(
    const ROW* points, int d, const int* labels, const int* listed, const int2* pairs, i64 n_pairs,
    const double* centers, const double* offsets, const double* scales, const double* margins,
    double* own, int* n_found, int* found, u64* lowest) {
    const Found into{own, n_found, found};
    const int lane = threadIdx.x & 7;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    const i64 n_groups = (i64)gridDim.x * (blockDim.x >> 3);
    for (i64 q = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 3; q < n_pairs; q += n_groups) {
        const int2 pair = pairs[q];
        const i64 p = pair.x, i = listed[p];
        const int k = labels[i], j = pair.y;
        if (j == k) continue;
        Row row;
        row.load(points, i, d, lane);
        const double s = add_in_halves(row.sum(centers + (i64)j * d, d, lane), mask);
        if (lane) continue;
        const double cost = cost_of(offsets[j], scales[j], s);
        atomicMin(lowest + p, (u64)__double_as_longlong(cost));
        if (cost * (1.0 - 1e-9) > widened(own[p], margins[k] + margins[j])) continue;
        into.add(p, j, atomicAdd(n_found + p, 1));
    }
}

// Holds the listed rows that are at the border: their values, weights and labels, and their slots. The
// others get new bounds on all other slots, where bounds are kept: `lengths` and `lowest` are some.
extern "C" __global__ void __launch_bounds__(256, 2) hold_rows(
    const ROW* points, int d, const double* weights, const int* labels, const int* listed, i64 n,
    const double* own, const int* n_found, const int* found, const double* margins,
    double new_penalty, float* bounds, double drift, const float* lengths, const u64* lowest, int most,
    int* rows, ROW* held, double* held_weights, int* held_labels, int4* choices, int* more,
    int* n_held) {
    constexpr int kRows = 256 / kWidth;
    const int lane = threadIdx.x % kWidth;
    for (i64 first = (i64)blockIdx.x * kRows; first < n; first += (i64)gridDim.x * kRows) {
        const i64 p = first + threadIdx.x / kWidth < n ? first + threadIdx.x / kWidth : n - 1;
        const i64 i = listed[p];
        const int k = labels[i], m = n_found[p];
        const double u = own[p];
        const bool is_row = first + threadIdx.x / kWidth < n;
        const bool is_sure = m == 0 && widened(u, margins[k]) < new_penalty * (1.0 - 1e-9);
        int at = reserve(is_row && !is_sure && lane == 0, n_held);
        if (kWidth > 1) at = __shfl_sync(~0u, at, threadIdx.x & 31 & ~(kWidth - 1));
        if (is_row && is_sure && bounds && lane == 0) {
            const double other = lowest[p] == ~0ull ? 3e38 : __longlong_as_double((i64)lowest[p]);
            const double least = fmin(sqrt(other), widen(lengths[p]));
            bounds[i] = fmaxf(bounds[i], (float)((least + drift) * (1.0 - 1e-6)));
        }
        if (!is_row || is_sure || at >= most) continue;
        for (int f = lane; f < d; f += kWidth) held[(i64)at * d + f] = points[i * d + f];
        if (lane) continue;
        rows[at] = (int)i;
        held_labels[at] = k;
        if (weights) held_weights[at] = weights[i];
        const int n_listed = m <= kListed && u * u * (1.0 - 1e-9) <= new_penalty ? m : -1;
        const int* mine = found + p * kListed;
        choices[at] = make_int4(n_listed, k, mine[0], mine[1]);
        for (int e = kFirst; e < n_listed; ++e) more[(i64)at * (kListed - kFirst) + e - kFirst] = mine[e];
    }
}

// What each held row wants. `choices` are how many slots it may come to prefer, the slot that it had
// when it was held, and the first two of the others; `more` are the rest of them.
extern "C" __global__ void __launch_bounds__(256, 2) border_wishes(
    const ROW* held, i64 n, int d, const int* labels, const int4* choices, const int* more,
    const double* centers, const double* offsets, const double* scales, const u8* is_dormant,
    int n_slots, double new_penalty, int4* moved, int* left, int* joined, Status* status, double*, int,
    int number) {
    if (!begins(status, number)) return;
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 p = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; p < n; p += n_groups) {
        ChoosingRow row;
        row.load(held, p, d);
        const int4 choice = choices[p];
        const int label = labels[p];
        Best best{kInfinity, 0x7fffffff, -1};
        const auto look = [&](int k) {
            best.consider(cost_of(offsets[k], scales[k], row.squared_distance(centers, k, d)), k, k);
        };
        if (choice.x < 0)
            for (int k = 0; k < n_slots; ++k) look(k);
        else {
            look(choice.y);
            if (choice.x > 0) look(choice.z);
            if (choice.x > 1) look(choice.w);
            for (int e = kFirst; e < choice.x; ++e) look(more[p * (kListed - kFirst) + e - kFirst]);
        }
        if (threadIdx.x % kWidth) continue;
        const int wish = best.cost > new_penalty ? -1 : best.slot;
        if (wish == label) continue;
        if (wish < 0 || is_dormant[wish]) {
            status[number].has_event = 1;
            continue;
        }
        atomicAdd(left + label, 1);
        atomicAdd(joined + wish, 1);
        moved[atomicAdd(&status[number].n_moved, 1)] = make_int4((int)p, label, wish, 0);
    }
}

// Moves rows between slots, unless one would empty; a thread for each column of the sums but the last,
// which the one before has. Every block sees for itself whether the pass is made.
extern "C" __global__ void border_move(const ROW* held, int d, const double* weights, const int4* moved,
                                       const int* n_members, const int* left, int n_slots, int* labels,
                                       const double* shifts, int n_bins, int n_columns, double* sums,
                                       Status* status, double*, int, int number) {
    if (!begins(status, number)) return;
    int is_left_out = status[number].has_event;
    for (int k = threadIdx.x; k < n_slots; k += blockDim.x)
        is_left_out |= left[k] > 0 && left[k] == n_members[k];
    if (__syncthreads_or(is_left_out)) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) status[number].was_made = 1;
    const i64 width = n_columns - 1, n = status[number].n_moved * width;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x) {
        const int4 move = moved[e / width];
        const int column = (int)(e % width);
        if (column == 0) labels[move.x] = move.z;
        Pair term{0.0, 0.0};
        if (column < n_columns - 2) term.value = term_of(held, move.x, d, weights, column);
        else term = weighted_square(held + (i64)move.x * d, d, weights ? weights + move.x : nullptr);
        for (int side = 0; side < 2; ++side) {
            double* into = sums + (i64)(side ? move.y : move.z) * n_bins * n_columns + column;
            const double sign = side ? -1.0 : 1.0;
            add_term(term.value, sign, shifts + column, n_bins, n_columns, into);
            if (column == n_columns - 2)
                add_term(term.rest, sign, shifts + column + 1, n_bins, n_columns, into + 1);
        }
    }
}

// What the rows of a slot cost, in the steps of native/algorithm/cost.hpp; `totals` and what rounding
// them took away, of S by feature, of Q and of what its terms lost.
__device__ double within_slot(double n, double n_rest, const double* theta, int d, const double* totals,
                              const double* rests) {
    Pair cost{totals[d], __dadd_rn(rests[d], totals[d + 1])};
    for (int j = 0; j < d; ++j) {
        const Pair mass = two_product(n, theta[j]);
        const Pair twice = two_sum(mass.value, __dmul_rn(-2.0, totals[j]));
        const double lost = __dadd_rn(mass.rest, __dmul_rn(n_rest, theta[j]));
        const double rest = __dadd_rn(twice.rest, __dsub_rn(lost, __dmul_rn(2.0, rests[j])));
        const Pair part = two_product(twice.value, theta[j]);
        const Pair next = two_sum(cost.value, part.value);
        const double small = __dadd_rn(part.rest, __dmul_rn(rest, theta[j]));
        cost = {next.value, __dadd_rn(cost.rest, __dadd_rn(next.rest, small))};
    }
    return fmax(0.0, __dadd_rn(cost.value, cost.rest));
}

// AssignParams (Eq. 12) and the terms of the cost (Eq. 15), a warp for each slot. `terms` has what
// each slot costs itself, then what its rows cost; the record of the pass gets a copy. Slots that nobody joined or
// left are as they were, but for the first pass over a border.
extern "C" __global__ void __launch_bounds__(32) border_params(
    const double* sums, int n_slots, int n_bins, int n_columns, int d, const double* theta_old,
    const double* gamma, const double* revivals, int n_remembered, double new_penalty,
    const double* anchors, const double* margins, int* n_members, int* left, int* joined,
    double* centers, double* terms, Status* status, double* records, int is_first, int number) {
    extern __shared__ double totals[];
    if (!status[number].was_made) return;
    const int k = blockIdx.x, lane = threadIdx.x, first = n_columns - d - 2;
    if (is_first || left[k] || joined[k]) {
        double* rests = totals + n_columns;
        for (int c = lane; c < n_columns; c += 32) {
            const double* values = sums + (i64)k * n_bins * n_columns + c;
            totals[c] = rounded_sum(0.0, values, n_bins, n_columns);
            rests[c] = rounded_sum(-totals[c], values, n_bins, n_columns);
        }
        __syncwarp();
        const int members = n_members[k] + joined[k] - left[k];
        const double n = first ? totals[0] : (double)members;
        const bool is_old = k < n_remembered;
        const double weight = is_old ? gamma[k] : 0.0;
        double* theta = centers + (i64)k * d;
        double moved = 0.0, displaced = 0.0;
        for (int j = lane; j < d; j += 32) {
            const double old = is_old ? theta_old[(i64)k * d + j] : 0.0;
            if (members)
                theta[j] = __ddiv_rn(__dadd_rn(__dmul_rn(old, weight), totals[first + j]), __dadd_rn(weight, n));
            const double step = theta[j] - anchors[(i64)k * d + j];
            moved += step * step;
        }
        for (int o = 16; o; o >>= 1) moved += __shfl_xor_sync(~0u, moved, o);
        __syncwarp();
        if (lane < 8 && is_old) {
            for (int j = lane; j < d; j += 8)
                displaced = add_square(displaced, theta[j], theta_old[(i64)k * d + j]);
            displaced = add_in_halves(displaced, 0xffu);
        }
        if (lane == 0) {
            terms[k] = is_old ? __dadd_rn(revivals[k], __dmul_rn(weight, displaced)) : new_penalty;
            terms[n_slots + k] =
                members ? within_slot(n, first ? rests[0] : 0.0, theta, d, totals + first, rests + first) : 0.0;
            if (members && !(sqrt(moved) * (1.0 + 1e-9) <= margins[k])) status[number].is_due = 1;
            n_members[k] = members;
            left[k] = joined[k] = 0;
        }
    }
    if (lane) return;
    double* record = records + (i64)number * 2 * n_slots;
    record[k] = terms[k];
    record[n_slots + k] = terms[n_slots + k];
}

// Labels of held rows go back; a bound on other slots than the own one is worth nothing beside another.
extern "C" __global__ void border_labels(const int* rows, const int* held_labels, int n, int* labels,
                                         float* bounds) {
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (i64)gridDim.x * blockDim.x) {
        const int i = rows[p];
        if (bounds && labels[i] != held_labels[p]) bounds[i] = 0.f;
        labels[i] = held_labels[p];
    }
}
