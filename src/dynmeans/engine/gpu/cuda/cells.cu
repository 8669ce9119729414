// Dense grid for one to three features (compiled with D, and with N_BINS, the bins of the cost): each
// cell lists the slots that can be the cheapest for some point in it.
//
// Exact because: slot k is left out of a cell if its lowest cost there is above the highest cost of
// another slot, or above lambda. Cells are widened by a millionth of their width and bounds by a
// part in 1e9, far more than rounding does: the host uses no grid where a cell's width is not large
// beside the spacing of doubles at its place. A point outside the grid is farther than sqrt(lambda)
// from every center, in some coordinate.

// A cell's entry: kNone; kSure and the one slot that every point in it takes; kPair and the two
// that can be the cheapest, 15 bits each; kAll; or where its list begins, and 6 bits for its length.
constexpr u32 kNone = ~0u, kSure = 0x80000000u, kPair = 0xC0000000u, kAll = kPair;
constexpr int kMostListed = 63, kMostCandidates = 2048, kPairSlots = 0x7fff;

struct Center {
    double x[D], offset, scale;
};

struct Grid {
    double origin[3];
    double width, inverse;
    int n_side;
};

__device__ __forceinline__ double squared_distance(const double* y, const double* x) {
    double s[3] = {0.0, 0.0, 0.0};
#pragma unroll
    for (int j = 0; j < D; ++j) s[j] = add_square(0.0, y[j], x[j]);
    return D == 1 ? s[0] : D == 2 ? __dadd_rn(s[0], s[1]) : __dadd_rn(__dadd_rn(s[0], s[2]), s[1]);
}

__device__ __forceinline__ double lowest(const Center& c, const double* low, const double* high) {
    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double gap = fmax(fmax(low[j] - c.x[j], c.x[j] - high[j]), 0.0);
        sum += gap * gap;
    }
    return c.offset + c.scale * sum * (1.0 - 1e-9);
}

__device__ __forceinline__ double highest(const Center& c, const double* low, const double* high) {
    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double gap = fmax(fabs(c.x[j] - low[j]), fabs(c.x[j] - high[j]));
        sum += gap * gap;
    }
    return (c.offset + c.scale * sum) * (1.0 + 1e-9);
}

// A cost whose root may grow by the margin of slot k, or that of a slot that may come as much nearer.
__device__ __forceinline__ double with_margin(double cost, const double* margins, int k) {
    if (!margins) return cost;
    const double root = (sqrt(cost) + margins[k]) * (1.0 + 1e-9);
    return root * root + 1e-300;
}

// One block makes 256 cells: first the slots that can matter to any of them, then cell by cell. With
// `margins`, those that can while every center stays within its margin.
extern "C" __global__ void __launch_bounds__(256, 2) build_grid(const Center* centers, int n_slots,
                                                             double new_penalty, const Grid* grid,
                                                             const double* margins, u32* cells,
                                                             int* lists, u32* n_listed, u32 capacity) {
    __shared__ int n_candidates, candidates[kMostCandidates];
    constexpr int side[3] = {D == 1 ? 256 : D == 2 ? 16 : 8, D == 2 ? 16 : 8, 4};
    const Grid g = *grid;
    if (threadIdx.x == 0) n_candidates = 0;
    __syncthreads();
    const double lambda = new_penalty * (1.0 + 1e-9), wider = 1e-6 * g.width;
    double low[D], high[D];
    i64 cell = 0, stride = 1;
    int block = blockIdx.x, thread = threadIdx.x, cells_at[D];
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const int n_blocks = g.n_side / side[j], at = block % n_blocks * side[j];
        block /= n_blocks;
        cells_at[j] = at + thread % side[j];
        thread /= side[j];
        cell += cells_at[j] * stride;
        stride *= g.n_side;
        low[j] = g.origin[j] + at * g.width - wider;
        high[j] = g.origin[j] + (at + side[j]) * g.width + wider;
    }
    for (int k = threadIdx.x; k < n_slots; k += 256)
        if (lowest(centers[k], low, high) <= with_margin(lambda, margins, k)) {
            const int at = atomicAdd(&n_candidates, 1);
            if (at < kMostCandidates) candidates[at] = k;
        }
    __syncthreads();
    if (n_candidates > kMostCandidates) {
        cells[cell] = kAll;
        return;
    }
#pragma unroll
    for (int j = 0; j < D; ++j) {
        low[j] = g.origin[j] + cells_at[j] * g.width - wider;
        high[j] = g.origin[j] + (cells_at[j] + 1) * g.width + wider;
    }
    double bound = lambda;
    for (int q = 0; q < n_candidates; ++q)
        bound = fmin(bound, with_margin(highest(centers[candidates[q]], low, high), margins, candidates[q]));
    int n = 0, last = 0, other = 0;
    for (int q = 0; q < n_candidates; ++q)
        if (lowest(centers[candidates[q]], low, high) <= with_margin(bound, margins, candidates[q])) {
            ++n;
            other = last;
            last = candidates[q];
        }
    u32 entry = kNone;
    if (n == 1 && bound < new_penalty * (1.0 - 1e-9)) entry = kSure | (u32)last;
    else if (n == 2 && max(last, other) < kPairSlots) entry = kPair | (u32)last << 15 | (u32)other;
    else if (n > kMostListed) entry = kAll;
    else if (n) {
        const u32 at = atomicAdd(n_listed, (u32)n);
        entry = at + n <= capacity ? at << 6 | (u32)n : kAll;
        u32 to = at;
        if (entry != kAll)
            for (int q = 0; q < n_candidates; ++q)
                if (lowest(centers[candidates[q]], low, high) <= with_margin(bound, margins, candidates[q]))
                    lists[to++] = candidates[q];
    }
    cells[cell] = entry;
}

__device__ __forceinline__ u32 entry_at(const double* y, const Grid& g, const u32* cells) {
    i64 cell = 0, stride = 1;
    bool is_inside = true;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double at = (y[j] - g.origin[j]) * g.inverse;
        is_inside &= at >= 0.0 && at < g.n_side;
        cell += (is_inside ? (int)at : 0) * stride;
        stride *= g.n_side;
    }
    return is_inside ? __ldg(cells + cell) : kNone;
}

__device__ __forceinline__ void consider(double cost, int k, double& best, int& found) {
    if (cost < best || (cost == best && (found < 0 || k < found))) {
        best = cost;
        found = k;
    }
}

__device__ __forceinline__ double cost_at(const double* y, const Center* centers, int k) {
    const Center& c = centers[k];
    return cost_of(c.offset, c.scale, squared_distance(y, c.x));
}

__device__ __forceinline__ int cheapest_in(u32 entry, const double* y, const int* lists,
                                           const Center* centers, int n_slots, double new_penalty) {
    if (entry == kNone) return -1;
    if ((entry & kPair) == kSure) return (int)(entry & ~kSure);
    double best = new_penalty;
    int found = -1;
    if (entry > kPair) {
        const int one = (int)(entry & kPairSlots), two = (int)(entry >> 15 & kPairSlots);
        consider(cost_at(y, centers, one), one, best, found);
        consider(cost_at(y, centers, two), two, best, found);
        return found;
    }
    const bool is_all = entry == kAll;
    const int n = is_all ? n_slots : (int)(entry & 63u);
    const int* list = lists + (is_all ? 0 : entry >> 6);
    for (int q = 0; q < n; ++q) {
        const int k = is_all ? q : __ldg(list + q);
        consider(cost_at(y, centers, k), k, best, found);
    }
    return found;
}
