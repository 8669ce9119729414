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
//
// Held rows of up to 15 features have due dates. What any other slot may cost a row of slot k comes nearer to
// what its own does by no more than the steps of center k and of the slots near it, added up pass by
// pass: `Drift`. A row that keeps its slot is not looked at before that has used up what lay between.

constexpr int kFirst = 2, kListed = 16;  // slots that are kept for a row; beyond, it is compared with all
constexpr int kMany = -1, kAny = -2;     // more of those near its own, or any slot

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
                                                 bool is_inactive, double reach) {
    if (!is_inactive) return (gap - margin) / 2.0;
    double low = 0.0, high = reach;
    for (int turn = 0; turn < 40; ++turn) {
        const double u = (low + high) / 2.0, least = fmax(gap - u, 0.0);
        const double cost = (offset + scale * least * least) * (1.0 - 1e-9);
        if (cost > widened(u, margin)) low = u;
        else high = u;
    }
    return low;
}

// How far, in all passes before the last, the center of a slot and those near it have come towards each
// other, and by how much in the last: its own step, and the bits of the largest of those near it.
struct Drift {
    double before, own;
    u64 near;

    __device__ __forceinline__ double now() const {
        return before + own + __longlong_as_double((i64)near);
    }
};

constexpr float kDue = -1.f;  // a due date that is over

// For each slot those that its rows may come to prefer, and from which distance on; one block for each.
extern "C" __global__ void near_slots(const double* centers, const double* offsets,
                                      const double* scales, const u8* is_inactive,
                                      const double* margins, int n_slots, int d, double new_penalty,
                                      int2* near, int* n_near) {
    const int k = blockIdx.x;
    if (is_inactive[k]) return;
    const double reach = sqrt(new_penalty) * (1.0 + 1e-9);
    for (int j = threadIdx.x; j < n_slots; j += blockDim.x) {
        if (j == k) continue;
        double sum = 0.0;
        for (int f = 0; f < d; ++f) {
            const double gap = centers[(i64)k * d + f] - centers[(i64)j * d + f];
            sum += gap * gap;
        }
        const double gap = sqrt(sum) * (1.0 - 1e-9) - 1e-150, margin = margins[k] + margins[j];
        const double least = least_distance(gap, margin, offsets[j], scales[j], is_inactive[j], reach);
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

#if FEW > 0
// By the distances between the centers; eight threads look at one row. All rows if `listed` is null.
extern "C" __global__ void __launch_bounds__(256, 2) near_choices(
    const ROW* points, int d, const int* labels, const int* listed, i64 n, const double* centers,
    const double* offsets, const double* scales, const double* margins, const int2* near,
    const int* n_near, int n_slots, double* own, int* n_found, int* found) {
    const Found into{own, n_found, found};
    const int lane = threadIdx.x % kChoosing, first_lane = threadIdx.x & 31 & ~(kChoosing - 1);
    const u32 mask = 0xffu << first_lane;
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kChoosing;
    for (i64 p = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kChoosing; p < n; p += n_groups) {
        const i64 i = listed ? listed[p] : p;
        const int k = labels[i], n_here = k < 0 ? 0 : n_near[k];
        WholeRow row;
        row.load(points, i, d);
        const double u = k < 0 ? 0.0 : sqrt(row.squared_distance(centers, k, d));
        int m = 0;
        for (int q = lane; q - lane < n_here; q += kChoosing) {
            bool wants = false;
            int j = 0;
            if (q < n_here) {
                const int2 other = near[(i64)k * n_slots + q];
                j = other.x;
                if (!(widen(__int_as_float(other.y)) > u)) {
                    const double cost = cost_of(offsets[j], scales[j], row.squared_distance(centers, j, d));
                    wants = !(cost * (1.0 - 1e-9) > widened(u, margins[k] + margins[j]));
                }
            }
            const u32 asking = __ballot_sync(mask, wants) >> first_lane;
            if (wants) into.add(p, j, m + __popc(asking & ((1u << lane) - 1)));
            m += __popc(asking);
        }
        if (lane) continue;
        own[p] = u;
        n_found[p] = m;
    }
}

// The same, by looking at all slots: faster where most of few are near.
extern "C" __global__ void __launch_bounds__(256, 2) all_choices(
    const ROW* points, int d, const int* labels, const int* listed, i64 n, const double* centers,
    const double* offsets, const double* scales, const double* margins, int n_slots, double* own,
    int* n_found, int* found) {
    const Found into{own, n_found, found};
    const i64 n_threads = (i64)gridDim.x * blockDim.x;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += n_threads) {
        const i64 i = listed ? listed[p] : p;
        const int k = labels[i];
        WholeRow row;
        row.load(points, i, d);
        const double u = k < 0 ? 0.0 : sqrt(row.squared_distance(centers, k, d));
        const double margin = k < 0 ? 0.0 : margins[k];
        int m = 0;
        for (int j = 0; j < n_slots; ++j) {
            const double cost = cost_of(offsets[j], scales[j], row.squared_distance(centers, j, d));
            if (cost * (1.0 - 1e-9) > widened(u, margin + margins[j]) || j == k || k < 0) continue;
            into.add(p, j, m++);
        }
        own[p] = u;
        n_found[p] = m;
    }
}
#else
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

#endif

// Holds the listed rows, or all, that are at the border: their values, weights and labels, and their slots. The
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
        const i64 i = listed ? listed[p] : p;
        const int k = labels[i], m = n_found[p];
        const double u = own[p];
        const bool is_row = first + threadIdx.x / kWidth < n;
        const bool is_sure = k < 0 || (m == 0 && widened(u, margins[k]) < new_penalty * (1.0 - 1e-9));
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
        const int n_listed = !(u * u * (1.0 - 1e-9) <= new_penalty) ? kAny : m > kListed ? kMany : m;
        const int* mine = found + p * kListed;
        choices[at] = make_int4(n_listed, k, mine[0], mine[1]);
        for (int e = kFirst; e < n_listed; ++e) more[(i64)at * (kListed - kFirst) + e - kFirst] = mine[e];
    }
}

// The cheapest slot of a row, and the lowest cost of the others.
struct Two {
    Best best{kInfinity, 0x7fffffff, -1};
    double second = kInfinity;

    __device__ __forceinline__ void consider(double cost, int slot) {
        second = fmin(second, fmax(cost, best.cost));
        best.consider(cost, slot, slot);
    }
};

// What is known of the held rows. `choices` are how many slots a row may come to prefer, the slot that it
// had when it was held, and the first two of the others; `more` are the rest of them. Where they are too
// many for that, it is compared with all slots.
struct Held {
    const ROW* rows;
    int d;
    const int* labels;
    const int4* choices;
    const int* more;
    float* due;
    const Drift* drifts;
    const double *centers, *offsets, *scales;
    const u8* is_inactive;
    int n_slots;
    double new_penalty;

    __device__ __forceinline__ void consider(Two& two, const ChoosingRow& row, int k) const {
        two.consider(cost_of(offsets[k], scales[k], row.squared_distance(centers, k, d)), k);
    }

    // The cheapest slot of row p; a warp looks at some rows together, and all of it at one that may choose
    // any slot, if it has few of these.
    __device__ __forceinline__ Two look(i64 p, bool is_row, int4& choice) const {
        constexpr int kRows = 32 / kWidth, kFewRows = kWidth == 1 ? 6 : 2;  // of a warp
        const int lane = threadIdx.x & 31;
        ChoosingRow row;
        Two two;
        choice = is_row ? choices[p] : make_int4(0, 0, 0, 0);
        if (is_row) row.load(rows, p, d);
        if (is_row && choice.x >= 0) {
            consider(two, row, choice.y);
            if (choice.x > 0) consider(two, row, choice.z);
            if (choice.x > 1) consider(two, row, choice.w);
            for (int e = kFirst; e < choice.x; ++e)
                consider(two, row, more[p * (kListed - kFirst) + e - kFirst]);
        }
        u32 asking = __ballot_sync(~0u, choice.x < 0 && lane % kWidth == 0);
        if (__popc(asking) > kFewRows) {
            if (choice.x < 0)
                for (int k = 0; k < n_slots; ++k) consider(two, row, k);
            __syncwarp();
            return two;
        }
        for (; asking; asking &= asking - 1) {
            const int asker = __ffs(asking) - 1;
            row.load(rows, __shfl_sync(~0u, p, asker), d);
            Two all;
            for (int k = lane / kWidth; k < n_slots; k += kRows) consider(all, row, k);
            __syncwarp();
#pragma unroll
            for (int o = 16; o >= kWidth; o >>= 1) {
                const double cost = __shfl_xor_sync(~0u, all.best.cost, o);
                const double second = __shfl_xor_sync(~0u, all.second, o);
                const int slot = __shfl_xor_sync(~0u, all.best.slot, o);
                all.consider(cost, slot);
                all.second = fmin(all.second, second);
            }
            if (lane == asker) two = all;
        }
        return two;
    }

    // When row p, of this label, must be looked at again: only for the slot that it was held with is that
    // known.
    __device__ __forceinline__ float next_date(const Two& two, int wish, int label, const int4& choice) const {
        if (wish != label || label != choice.y || choice.x == kAny) return kDue;
        const double u = sqrt(two.best.cost), other = sqrt(fmin(two.second, new_penalty));
        const double gap = other * (1.0 - 1e-9) - u * (1.0 + 1e-9) - 1e-150;
        return __double2float_rd((drifts[label].now() + gap) * (1.0 - 1e-9));
    }
};

// Rows that want to move, and how many leave and join each slot.
struct Moves {
    int4* moved;
    int *left, *joined;
    Status* status;

    __device__ __forceinline__ void take(const Held& held, i64 p, bool is_row) const {
        int4 choice;
        const Two two = held.look(p, is_row, choice);
        if (!is_row || threadIdx.x % kWidth) return;
        const int wish = two.best.cost > held.new_penalty ? -1 : two.best.slot, label = held.labels[p];
        if (FEW) held.due[p] = held.next_date(two, wish, label, choice);
        if (wish == label) return;
        if (wish < 0 || held.is_inactive[wish]) {
            status->has_event = 1;
            return;
        }
        atomicAdd(left + label, 1);
        atomicAdd(joined + wish, 1);
        moved[atomicAdd(&status->n_moved, 1)] = make_int4((int)p, label, wish, 0);
    }
};

// What each held row wants. Rows whose `due` dates are not over keep their slots; the others are gathered,
// so that a warp looks at as many as it can.
extern "C" __global__ void __launch_bounds__(256, 2) border_wishes(
    const ROW* rows, i64 n, int d, const int* labels, const int4* choices, const int* more, float* due,
    const Drift* drifts, const double* centers, const double* offsets, const double* scales,
    const u8* is_inactive, int n_slots, double new_penalty, int4* moved, int* left, int* joined,
    Status* status, double*, int, int number) {
    if (!begins(status, number)) return;
    const Held held{rows, d, labels, choices, more, due, drifts, centers, offsets, scales, is_inactive,
                    n_slots, new_penalty};
    const Moves moves{moved, left, joined, status + number};
    const int lane = threadIdx.x & 31;
    const i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5, n_warps = (i64)gridDim.x * blockDim.x >> 5;
#if FEW == 0
    constexpr int kRows = 32 / kWidth;
    for (i64 first = warp * kRows; first < n; first += n_warps * kRows)
        moves.take(held, first + lane / kWidth, first + lane / kWidth < n);
#else
    extern __shared__ float drift_of[];  // rounded up
    for (int k = threadIdx.x; k < n_slots; k += blockDim.x) drift_of[k] = __double2float_ru(drifts[k].now());
    __syncthreads();
    Gathered<> gathered;
    for (i64 first = warp * 128; first < n; first += n_warps * 128) {
        const i64 p = first + 4 * lane;
        int4 label{0, 0, 0, 0};
        float4 date{0.f, 0.f, 0.f, 0.f};
        if (p < n) {
            label = *(const int4*)(labels + p);
            date = *(const float4*)(due + p);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int k = e == 0 ? label.x : e == 1 ? label.y : e == 2 ? label.z : label.w;
            const float until = e == 0 ? date.x : e == 1 ? date.y : e == 2 ? date.z : date.w;
            gathered.gather(p + e < n && !(drift_of[k] < until), (int)(p + e), 0);
            if (gathered.n < 32) continue;
            gathered.n -= 32;
            const int looked_at = gathered.mine()[gathered.n + lane].x;
            __syncwarp();
            moves.take(held, looked_at, true);
        }
    }
    moves.take(held, lane < gathered.n ? gathered.mine()[lane].x : 0, lane < gathered.n);
#endif
}

// Moves rows between slots, unless one would empty; a thread for each column of the sums but the last,
// which the one before has. Every block sees for itself whether the pass is made.
extern "C" __global__ void border_move(const ROW* held, int d, const double* weights, const int4* moved,
                                       const int* n_members, const int* left, Drift* drifts, int n_slots,
                                       int* labels, const double* shifts, int n_bins, int n_columns, double* sums,
                                       Status* status, double*, int, int number) {
    if (!begins(status, number)) return;
    int is_left_out = status[number].has_event;
    for (int k = threadIdx.x; k < n_slots; k += blockDim.x) {
        is_left_out |= left[k] > 0 && left[k] == n_members[k];
        if (drifts && blockIdx.x == 0) drifts[k] = {drifts[k].now() * (1.0 + 1e-15), 0.0, 0};
    }
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
    const double* anchors, const double* margins, const int2* near, const int* n_near, Drift* drifts,
    int* n_members, int* left, int* joined, double* centers, double* terms, Status* status, double* records, int is_first, int number) {
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
        double moved = 0.0, displaced = 0.0, squared_step = 0.0;
        for (int j = lane; j < d; j += 32) {
            const double old = is_old ? theta_old[(i64)k * d + j] : 0.0, before = theta[j];
            if (members)
                theta[j] = __ddiv_rn(__dadd_rn(__dmul_rn(old, weight), totals[first + j]), __dadd_rn(weight, n));
            const double from_anchor = theta[j] - anchors[(i64)k * d + j];
            moved += from_anchor * from_anchor;
            squared_step += (theta[j] - before) * (theta[j] - before);
        }
        for (int o = 16; o; o >>= 1) {
            moved += __shfl_xor_sync(~0u, moved, o);
            squared_step += __shfl_xor_sync(~0u, squared_step, o);
        }
        __syncwarp();
        if (drifts && squared_step > 0.0) {
            const double step = sqrt(squared_step) * (1.0 + 1e-9) + 1e-150;
            if (lane == 0) drifts[k].own = step;
            for (int q = lane; q < n_near[k]; q += 32)
                atomicMax(&drifts[near[(i64)k * n_slots + q].x].near, (u64)__double_as_longlong(step));
        }
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
