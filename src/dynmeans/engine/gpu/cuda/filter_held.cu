// The filter for rows that a warp holds in registers, 32 at a time.
//
// Costs are looked at in groups of four slots: the lowest of each group stands for it, which takes
// half the comparisons. The four of the lowest group are then computed again, one by one.
#if KC > 0
constexpr int kThreads = KC <= 4 ? 512 : 256;

// A tile of slots in shared memory.
struct Tile {
    const unsigned char* slots;
    int n, stride;

    __device__ __forceinline__ const float2* starts() const { return (const float2*)(slots + n * stride * 2); }

    // Costs of slots t to t + 15 for 32 rows, by tensor cores: v[half][which 16 rows].
    __device__ __forceinline__ void costs(const u32 (&a)[2][KC][4], const Norms* norms, u32 address, int t,
                                          float (&v)[2][2][4]) const {
        u32 f[2][KC * 2];
        const int q = threadIdx.x & 3;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const float4 s = ((const float4*)starts())[t / 2 + h * 4 + q];  // base and scale of two slots
#pragma unroll
            for (int c = 0; c < KC; c += 2)
                load_matrices(f[h] + 2 * c, address + (t + h * 8) * stride * 2 + c * 32);
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                const Norms* of = norms + m * 2;
                const float start[4] = {start_of(s.x, s.y, of[0]), start_of(s.z, s.w, of[0]),
                                        start_of(s.x, s.y, of[1]), start_of(s.z, s.w, of[1])};
                multiply(v[h][m], a[m][0], f[h][0], f[h][1], start);
            }
        }
#pragma unroll
        for (int c = 1; c < KC; ++c)
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    multiply(v[h][m], a[m][c], f[h][2 * c], f[h][2 * c + 1], v[h][m]);
    }

    // The cost of slot k for a row whose features four lanes hold; `h` is its half of a fragment.
    __device__ __forceinline__ float cost(const u32 (&a)[KC][4], int h, const Norms& norms, int k) const {
        const u32* b = (const u32*)(slots + k * stride * 2) + (threadIdx.x & 3);
        float sum = 0.f;
#pragma unroll
        for (int c = 0; c < KC * 2; ++c) {
            const u32 x = a[c / 2][c % 2 * 2 + h], y = b[c * 4];
            sum = fmaf(low_half(x), low_half(y), fmaf(high_half(x), high_half(y), sum));
        }
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        return sum + start_of(starts()[k].x, starts()[k].y, norms);
    }

    // From the lowest group of a row to its slots.
    __device__ __forceinline__ void resolve(const u32 (&a)[KC][4], int h, const Norms& norms,
                                            Lowest& found) const {
        const float named = found.first;
        const int start = min(found.slot / 4 * 16 + found.slot % 4 * 2, n - 10);
        found.first = 3e38f;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int k = start + e % 2 + e / 2 * 8;
            const float one = cost(a, h, norms, k);
            found.second = fminf(found.second, fmaxf(found.first, one));
            if (!(one >= found.first)) found.first = one, found.slot = k;
        }
        if (fabsf(named) <= 1e-30f) found.first = named;
    }
};

template <bool kAgain>
__device__ __forceinline__ void filter_rows(const Work& w, [[maybe_unused]] const Pairs& pairs) {
    extern __shared__ __align__(16) unsigned char tile[];
    const Bounds most = *w.largest;
    const i64 n = w.n;
    const int d = w.d, stride = w.stride, n_slots = w.n_slots, n_tile = w.n_tile;
    const auto row_at = [&](i64 p) -> i64 {
        const i64 listed_at = kAgain && w.listed ? w.listed[p] : p;
        return w.rows ? w.rows[listed_at] : listed_at;
    };
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, q = lane & 3;
    const u32 at_tile = (u32)__cvta_generic_to_shared(tile) + (lane & 7) * stride * 2 + (lane >> 3) * 16;
    constexpr i64 kRows = kThreads;
    bool is_loaded = false;
    [[maybe_unused]] Gathered<kThreads> gathered;
    for (i64 first = w.begin + (i64)blockIdx.x * kRows; first < n; first += (i64)gridDim.x * kRows) {
        u32 a[2][KC][4];
        Norms norms[4];
        Lowest best[4];
        [[maybe_unused]] float limit[4];
        const i64 mine = first + warp * 32;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const i64 r0 = mine + m * 16 + g, r1 = r0 + 8;
            const ROW* y0 = w.points + row_at(r0 < n ? r0 : n - 1) * d;
            const ROW* y1 = w.points + row_at(r1 < n ? r1 : n - 1) * d;
            // Known to the compiler, whole rows are asked for before the first is used; the lists of rows in
            // doubt leave no registers for that.
            const auto take = [&](auto whole) {
                const int wide = decltype(whole)::value ? KC * 16 : d;
                Pairs16 asked[KC];
#pragma unroll
                for (int c = 0; c < KC; ++c) asked[c].load(y0, y1, c * 16 + 2 * q, wide, wide % 2 == 0);
#pragma unroll
                for (int c = 0; c < KC; ++c)
                    asked[c].round(a[m][c], w.origin, c * 16 + 2 * q, wide, norms + m * 2);
            };
            if (!kAgain && d == KC * 16) take(Known<true>{});
            else take(Known<false>{});
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            norms[r].merge_lanes();
            if constexpr (kAgain) limit[r] = limit_of(w, pairs, mine + r * 8 + g, norms[r]);
        }
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const Tile here{tile, min(n_tile, n_slots - k0), stride};
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                load_tile(tile, w.b, w.base_scale, k0, here.n, stride);
                __syncthreads();
                is_loaded = true;
            }
            [[maybe_unused]] Lowest found[4];
            for (int t = 0; t < here.n; t += 16) {
                float v[2][2][4];
                here.costs(a, norms, at_tile, t, v);
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    if constexpr (kAgain) {
                        pairs.keep(v[0][m], limit + m * 2, (int)mine + m * 16 + g, k0 + t + 2 * q, gathered);
                        pairs.keep(v[1][m], limit + m * 2, (int)mine + m * 16 + g, k0 + t + 8 + 2 * q, gathered);
                    } else {
                        const float(&x)[4] = v[0][m], (&y)[4] = v[1][m];
                        const u32 name = t / 4 + q;
                        found[m * 2].consider(fminf(fminf(x[0], x[1]), fminf(y[0], y[1])), name);
                        found[m * 2 + 1].consider(fminf(fminf(x[2], x[3]), fminf(y[2], y[3])), name);
                    }
            }
#pragma unroll
            for (int r = 0; r < (kAgain ? 0 : 4); ++r) {
                found[r].merge_lanes();
                const bool is_near = !is_out(w, found[r], norms[r], error_of(w, norms[r], most));
                if (__any_sync(~0u, is_near)) here.resolve(a[r / 2], r % 2, norms[r], found[r]);
                best[r].merge(found[r], k0);
            }
        }
#pragma unroll
        for (int r = 0; r < (kAgain ? 0 : 4); ++r) {
            const i64 p = mine + r * 8 + g;
            if (q == r && p < n) decide(w, p, best[r], norms[r], most);
        }
    }
    if constexpr (kAgain) pairs.flush(gathered);
}
#endif
