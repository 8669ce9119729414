// Clusters that rows open in the order of their turns, found in parallel: which rows lie within lambda
// of each other, then a walk over those bits.

// Writes listed rows in the order of their turns: the place of each is the number of those before it.
// Eight threads count for one row.
extern "C" __global__ void __launch_bounds__(256) put_in_order(const int* rows, int n, const u64* keys,
                                                               const u64* ties, int* ordered) {
    constexpr int kTile = 1024;
    __shared__ Turn tile[kTile];
    const int lane = threadIdx.x & 7, p = (blockIdx.x * 256 + threadIdx.x) >> 3;
    const i64 i = rows[p < n ? p : n - 1];
    const u64 key = keys[i];
    int n_before = 0;
    for (int first = 0; first < n; first += kTile) {
        const int n_here = min(kTile, n - first);
        __syncthreads();
        for (int q = threadIdx.x; q < n_here; q += 256) {
            const i64 row = rows[first + q];
            tile[q] = {keys[row], ties ? ties[row] : 0, row};
        }
        __syncthreads();
        for (int q = lane; q < n_here; q += 8) n_before += is_before(tile + q, key, ties, i);
    }
    for (int o = 4; o; o >>= 1) n_before += __shfl_xor_sync(~0u, n_before, o);
    if (p < n && lane == 0) ordered[n_before] = (int)i;
}

// Bit q of row p: whether listed row q lies within lambda of row p, which comes before it. `n_words`
// words a row. A block takes one or eight words of 32 rows beside kSpan rows.
constexpr int kSpan = 128;
#if FEW > 0
extern "C" __global__ void __launch_bounds__(256) near_pairs(const ROW* points, int d,
                                                             const int* rows, int n, int n_words,
                                                             double new_penalty, int, u32* bits) {
    const int word = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    const int q = word * 32 + lane, begin = blockIdx.y * kSpan;
    if (word >= n_words || begin > word * 32 + 31) return;
    WholeRow row;
    row.load(points, rows[q < n ? q : n - 1], d);
    const int end = min(min(begin + kSpan, n), word * 32 + 32);
    for (int p = begin; p < end; ++p) {
        WholeRow other;
        other.load(points, rows[p], d);
        const bool is_near = q < n && row.squared_distance(other.y, 0, d) <= new_penalty;
        const u32 found = __ballot_sync(~0u, is_near);
        if (lane == 0) bits[(i64)p * n_words + word] = found;
    }
}
#else
// kTogether rows of the span pass through shared memory at a time, unless they are too wide for it.
extern "C" __global__ void __launch_bounds__(256) near_pairs(const ROW* points, int d,
                                                             const int* rows, int n, int n_words,
                                                             double new_penalty, int is_shared,
                                                             u32* bits) {
    constexpr int kTogether = 4;
    extern __shared__ double others[];
    const int lane = threadIdx.x & 7, group = threadIdx.x >> 3, word = blockIdx.x;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    const int q = word * 32 + group, begin = blockIdx.y * kSpan;
    if (begin > word * 32 + 31) return;
    Row row;
    row.load(points, rows[q < n ? q : n - 1], d, lane);
    const int end = min(min(begin + kSpan, n), word * 32 + 32);
    for (int first = begin; first < end; first += kTogether) {
        double sums[kTogether];
        if (is_shared) {
            __syncthreads();
            for (int e = threadIdx.x; e < kTogether * d; e += 256)
                others[e] = widen(points[(i64)rows[min(first + e / d, n - 1)] * d + e % d]);
            __syncthreads();
            row.sums(others, d, lane, sums);
        } else
#pragma unroll
            for (int t = 0; t < kTogether; ++t)
                sums[t] = row.sum(points + (i64)rows[min(first + t, n - 1)] * d, d, lane);
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
            const double s = add_in_halves(sums[t], mask);
            if (q < n && lane == 0 && first + t < end && s <= new_penalty)
                atomicOr(bits + (i64)(first + t) * n_words + word, 1u << group);
        }
    }
}
#endif

// Rows that may still open a cluster, as bits: word w * 32 + lane is the w-th of a lane.
struct Waiting {
    static constexpr int kWords = 8;
    u32 bits[kWords];

    __device__ __forceinline__ explicit Waiting(int n) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            const int first = (w * 32 + (int)threadIdx.x) * 32;
            bits[w] = first + 32 <= n ? ~0u : first >= n ? 0u : (1u << (n - first)) - 1;
        }
    }

    // The first of them but `other`; kNobody if there is none.
    static constexpr int kNobody = 0x7fffffff;
    __device__ __forceinline__ int first_but(int other) const {
        int mine = kNobody;
#pragma unroll
        for (int w = kWords - 1; w >= 0; --w) {
            const int word = w * 32 + threadIdx.x;
            const u32 left = bits[w] & ~(word == other >> 5 ? 1u << (other & 31) : 0u);
            if (left) mine = word * 32 + __ffs(left) - 1;
        }
        return __reduce_min_sync(~0u, mine);
    }

    __device__ __forceinline__ bool has(int p) const {
        bool is_here = false;
#pragma unroll
        for (int w = 0; w < kWords; ++w)
            is_here |= w * 32 + (int)threadIdx.x == p >> 5 && (bits[w] >> (p & 31) & 1u);
        return __any_sync(~0u, is_here);
    }

    // Row p opens a cluster: it and those near to it wait no more.
    __device__ __forceinline__ void open(int p, const u32 (&near)[kWords]) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            bits[w] &= ~near[w];
            if (w * 32 + (int)threadIdx.x == p >> 5) bits[w] &= ~(1u << (p & 31));
        }
    }
};

// Visits listed rows in order: each opens a cluster unless it lies within lambda of one opened
// before. One warp; `n_words` is at most 32 * Waiting::kWords. What lies near the next row is asked for
// together with what lies near the first: it mostly opens a cluster, too.
extern "C" __global__ void __launch_bounds__(32) open_in_order(const u32* bits, const int* rows, int n,
                                                               int n_words, int* opened,
                                                               int* n_opened) {
    constexpr int kWords = Waiting::kWords;
    Waiting waiting(n);
    int n_found = 0;
    while (true) {
        const int p = waiting.first_but(-1);
        if (p == Waiting::kNobody) break;
        const int next = waiting.first_but(p);
        u32 near[kWords], near_next[kWords];
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            const int word = w * 32 + threadIdx.x;
            near[w] = word < n_words && word >= p >> 5 ? __ldg(bits + (i64)p * n_words + word) : 0u;
            const bool is_word = next != Waiting::kNobody && word < n_words && word >= next >> 5;
            near_next[w] = is_word ? __ldg(bits + (i64)next * n_words + word) : 0u;
        }
        waiting.open(p, near);
        if (threadIdx.x == 0) opened[n_found] = rows[p];
        ++n_found;
        if (next == Waiting::kNobody || !waiting.has(next)) continue;
        waiting.open(next, near_next);
        if (threadIdx.x == 0) opened[n_found] = rows[next];
        ++n_found;
    }
    if (threadIdx.x == 0) *n_opened = n_found;
}
