// Numbers side by side for a compiler without vectors of its own: the same operators, lane by lane,
// and so the same results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dynmeans {

template <typename Value, std::size_t N>
struct ScalarSimd {
    using Mask = ScalarSimd<std::int64_t, N>;  // -1 where something holds, 0 elsewhere
    Value at[N];

    Value& operator[](std::size_t lane) { return at[lane]; }
    Value operator[](std::size_t lane) const { return at[lane]; }

    template <typename Result = ScalarSimd, typename Each>
    static Result each(const Each& value) {
        Result result{};
        for (std::size_t lane = 0; lane < N; ++lane) result.at[lane] = value(lane);
        return result;
    }
    static ScalarSimd filled(Value value) {
        return each([&](std::size_t) { return value; });
    }

#define DYNMEANS_LANES(Result, op, shown)                                                       \
    friend Result operator op(const ScalarSimd& a, const ScalarSimd& b) {                       \
        return each<Result>([&](std::size_t lane) { return shown(a.at[lane] op b.at[lane]); }); \
    }                                                                                           \
    friend Result operator op(const ScalarSimd& a, Value b) { return a op filled(b); }          \
    friend Result operator op(Value a, const ScalarSimd& b) { return filled(a) op b; }
    DYNMEANS_LANES(ScalarSimd, +, Value)
    DYNMEANS_LANES(ScalarSimd, -, Value)
    DYNMEANS_LANES(ScalarSimd, *, Value)
    DYNMEANS_LANES(ScalarSimd, /, Value)
    DYNMEANS_LANES(Mask, <, -std::int64_t)
    DYNMEANS_LANES(Mask, <=, -std::int64_t)
    DYNMEANS_LANES(Mask, >, -std::int64_t)
    DYNMEANS_LANES(Mask, >=, -std::int64_t)
    DYNMEANS_LANES(Mask, ==, -std::int64_t)
    DYNMEANS_LANES(Mask, !=, -std::int64_t)
#undef DYNMEANS_LANES
    friend ScalarSimd operator-(const ScalarSimd& a) {
        return each([&](std::size_t lane) { return -a.at[lane]; });
    }
    ScalarSimd& operator+=(const ScalarSimd& b) { return *this = *this + b; }
    ScalarSimd& operator+=(Value b) { return *this = *this + b; }
    ScalarSimd& operator-=(const ScalarSimd& b) { return *this = *this - b; }
    ScalarSimd& operator*=(const ScalarSimd& b) { return *this = *this * b; }
};

template <std::size_t N>
using PlainBits = ScalarSimd<std::int64_t, N>;

template <std::size_t N>
PlainBits<N> operator&(const PlainBits<N>& a, const PlainBits<N>& b) {
    return PlainBits<N>::each([&](std::size_t lane) { return a.at[lane] & b.at[lane]; });
}

template <std::size_t N>
PlainBits<N> operator|(const PlainBits<N>& a, const PlainBits<N>& b) {
    return PlainBits<N>::each([&](std::size_t lane) { return a.at[lane] | b.at[lane]; });
}

template <std::size_t N>
PlainBits<N> operator<<(const PlainBits<N>& a, int n_bits) {
    return PlainBits<N>::each([&](std::size_t lane) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.at[lane]) << n_bits);
    });
}

template <std::size_t N>
PlainBits<N> operator>>(const PlainBits<N>& a, int n_bits) {
    return PlainBits<N>::each([&](std::size_t lane) { return a.at[lane] >> n_bits; });
}

}  // namespace dynmeans
