// Products in bf16 on tensor cores: rows rounded on the way, and what rounding took from them.

// d = a b + c, 16 rows beside 8 slots.
__device__ __forceinline__ void multiply(float* d, const u32* a, u32 b0, u32 b1, const float* c) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

__device__ __forceinline__ void load_matrices(u32* r, u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__device__ __forceinline__ u32 to_bf16(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

__device__ __forceinline__ float low_half(u32 pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high_half(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }

struct Norms {  // squares: of a row, and of what rounding it took away
    float row = 0.f, error = 0.f;

    __device__ __forceinline__ void merge_lanes() {
#pragma unroll
        for (int o = 1; o < 4; o <<= 1) {
            row += __shfl_xor_sync(~0u, row, o);
            error += __shfl_xor_sync(~0u, error, o);
        }
    }
};

// Features j and j + 1 of a row. Where the features are even in number, so is j, and a pair is read
// together; behind the last feature there is nothing.
struct Pair {
    ROW x, y;

    __device__ __forceinline__ void load_even(const ROW* row, int j, int d) {
        const ROW* from = row + (j < d ? j : 0);
        if constexpr (sizeof(ROW) == 8) {
            const double2 v = __ldcs((const double2*)from);
            x = v.x, y = v.y;
        } else {
            const float2 v = __ldcs((const float2*)from);
            x = v.x, y = v.y;
        }
    }
    __device__ __forceinline__ void load_any(const ROW* row, int j, int d) {
        x = row[j < d ? j : 0];
        y = row[j + 1 < d ? j + 1 : 0];
    }

    // About the origin, in bf16.
    __device__ __forceinline__ u32 round(const double* origin, int j, int d, Norms& norms) const {
        const float low = j < d ? (float)(widen(x) - __ldg(origin + j)) : 0.f;
        const float high = j + 1 < d ? (float)(widen(y) - __ldg(origin + j + 1)) : 0.f;
        const u32 r = to_bf16(low, high);
        const float a = low - low_half(r), b = high - high_half(r);
        norms.row = fmaf(low, low, fmaf(high, high, norms.row));
        norms.error = fmaf(a, a, fmaf(b, b, norms.error));
        return r;
    }
};

// What four lanes hold of two rows in one block of 16 features.
struct Pairs16 {
    Pair pairs[4];

    __device__ __forceinline__ void load(const ROW* y0, const ROW* y1, int j, int d, bool is_even) {
        if (is_even) {
            pairs[0].load_even(y0, j, d);
            pairs[1].load_even(y1, j, d);
            pairs[2].load_even(y0, j + 8, d);
            pairs[3].load_even(y1, j + 8, d);
        } else {
            pairs[0].load_any(y0, j, d);
            pairs[1].load_any(y1, j, d);
            pairs[2].load_any(y0, j + 8, d);
            pairs[3].load_any(y1, j + 8, d);
        }
    }
    __device__ __forceinline__ void round(u32* a, const double* origin, int j, int d, Norms* norms) const {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = pairs[e].round(origin, j + (e >> 1) * 8, d, norms[e & 1]);
    }
};
