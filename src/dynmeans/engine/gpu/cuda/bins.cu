// Terms of sums in bins, and their totals (decision 0006).

// A column of a row: w, where rows have weights, and w y of each feature.
__device__ __forceinline__ double term_of(const ROW* points, i64 i, int d, const double* weights,
                                          int column) {
    if (!weights) return widen(points[i * d + column]);
    return column == 0 ? weights[i] : __dmul_rn(weights[i], widen(points[i * d + column - 1]));
}

// Deals one number out to the bins of a slot.
__device__ __forceinline__ void add_term(double term, double sign, const double* shifts, int n_bins,
                                         int n_columns, double* sums) {
    for (int b = 0; b < n_bins; ++b) {
        const double shift = shifts[b * n_columns];
        const double h = __dsub_rn(__dadd_rn(term, shift), shift);
        if (h != 0.0) atomicAdd(sums + b * n_columns, __dmul_rn(sign, h));
        term = __dsub_rn(term, h);
    }
}

// The exact sum of `start` and some values, rounded once (Shewchuk, as in Python's math.fsum).
__device__ double rounded_sum(double start, const double* values, int n_values, i64 stride) {
    constexpr int kMost = 128;
    double partials[kMost];
    int n = 1;
    partials[0] = start;
    for (int b = 0; b < n_values; ++b) {
        double x = values[b * stride];
        int kept = 0;
        for (int j = 0; j < n; ++j) {
            double y = partials[j];
            if (fabs(x) < fabs(y)) {
                const double t = x;
                x = y;
                y = t;
            }
            const double high = __dadd_rn(x, y), low = __dsub_rn(y, __dsub_rn(high, x));
            if (low != 0.0) partials[kept++] = low;
            x = high;
        }
        n = kept;
        partials[n++] = x;
    }
    double high = partials[n - 1], low = 0.0;
    int at = n - 1;
    while (at > 0) {
        const double x = high, y = partials[--at];
        high = __dadd_rn(x, y);
        low = __dsub_rn(y, __dsub_rn(high, x));
        if (low != 0.0) break;
    }
    if (at > 0 && low != 0.0 && (low < 0.0) == (partials[at - 1] < 0.0)) {
        const double twice = 2.0 * low, x = __dadd_rn(high, twice);
        if (twice == __dsub_rn(x, high)) high = x;
    }
    return high;
}
