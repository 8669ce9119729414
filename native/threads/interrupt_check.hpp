// Looks out for Ctrl-C: asks, at most every 20 ms, whether to stop, and then stops the step by an
// exception thrown between two blocks of work. Nothing of the caller's has been touched by then.
#pragma once

#include <chrono>
#include <exception>

#include "numeric/compilers.hpp"

namespace dynmeans {

struct Interrupted : std::exception {};

class InterruptCheck {
  public:
    using Question = bool (*)();
    explicit InterruptCheck(Question is_interrupted) : is_interrupted_(is_interrupted) {}

    void check() {
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(20);
        if (is_interrupted_()) DYNMEANS_THROW(Interrupted());
    }

  private:
    using Clock = std::chrono::steady_clock;
    Question is_interrupted_;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(20);
};

}  // namespace dynmeans
