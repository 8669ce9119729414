// The filter for rows too wide for that, 16 a warp: their features are read on the way, two blocks
// ahead, and their costs for a tile of at most kTile * 8 slots are in registers.
#if KC == 0
constexpr int kThreads = 256, kTile = 26;
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
    const u32 at_tile = (u32)__cvta_generic_to_shared(tile) +
                        ((lane >> 4) * 8 + (lane & 7)) * stride * 2 + ((lane >> 3) & 1) * 16;
    const bool is_even = d % 2 == 0;
    constexpr i64 kRows = kThreads / 2;
    bool is_loaded = false;
    [[maybe_unused]] Gathered<kThreads> gathered;
    for (i64 first = w.begin + (i64)blockIdx.x * kRows; first < n; first += (i64)gridDim.x * kRows) {
        const i64 mine = first + warp * 16, r0 = mine + g, r1 = r0 + 8;
        const ROW* y0 = w.points + row_at(r0 < n ? r0 : n - 1) * d;
        const ROW* y1 = w.points + row_at(r1 < n ? r1 : n - 1) * d;
        [[maybe_unused]] float limit[2];
        Lowest best[2];
        Norms norms[2];
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const int n_here = min(n_tile, n_slots - k0);
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                load_tile(tile, w.b, w.base_scale, k0, n_here, stride);
                __syncthreads();
                is_loaded = true;
            }
            float v[kTile][4] = {};
            norms[0] = norms[1] = Norms{};
            const auto add_block = [&](Pairs16& asked, int j) {
                u32 a[4];
                asked.round(a, w.origin, j + 2 * q, d, norms);
                asked.load(y0, y1, j + 32 + 2 * q, d, is_even);
#pragma unroll
                for (int t = 0; t < kTile; t += 2)
                    if (t * 8 < n_here) {
                        u32 f[4];
                        load_matrices(f, at_tile + t * 8 * stride * 2 + j * 2);
                        multiply(v[t], a, f[0], f[1], v[t]);
                        multiply(v[t + 1], a, f[2], f[3], v[t + 1]);
                    }
            };
            Pairs16 even, odd;
            even.load(y0, y1, 2 * q, d, is_even);
            odd.load(y0, y1, 16 + 2 * q, d, is_even);
            for (int j = 0; j < d; j += 32) {
                add_block(even, j);
                if (j + 16 < d) add_block(odd, j + 16);
            }
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                norms[r].merge_lanes();
                if constexpr (kAgain) limit[r] = limit_of(w, pairs, mine + r * 8 + g, norms[r]);
            }
            const float4* starts = (const float4*)(tile + n_here * stride * 2);
            [[maybe_unused]] Lowest found[2];
#pragma unroll
            for (int t = 0; t < kTile; ++t)
                if (t * 8 < n_here) {
                    const float4 s = starts[t * 4 + q];
                    const float c[4] = {v[t][0] + start_of(s.x, s.y, norms[0]),
                                        v[t][1] + start_of(s.z, s.w, norms[0]),
                                        v[t][2] + start_of(s.x, s.y, norms[1]),
                                        v[t][3] + start_of(s.z, s.w, norms[1])};
                    if constexpr (kAgain) {
                        pairs.keep(c, limit, (int)r0, k0 + t * 8 + 2 * q, gathered);
                    } else {
#pragma unroll
                        for (int e = 0; e < 4; ++e) found[e / 2].consider(c[e], t * 8 + 2 * q + e % 2);
                    }
                }
#pragma unroll
            for (int r = 0; r < (kAgain ? 0 : 2); ++r) {
                found[r].merge_lanes();
                best[r].merge(found[r], k0);
            }
        }
#pragma unroll
        for (int r = 0; r < (kAgain ? 0 : 2); ++r) {
            const i64 p = mine + r * 8 + g;
            if (q == r && p < n) decide(w, p, best[r], norms[r], most);
        }
    }
    if constexpr (kAgain) pairs.flush(gathered);
}
#endif
