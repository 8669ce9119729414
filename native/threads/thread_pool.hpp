// A few threads that live as long as one step: nothing to inherit across a fork, nothing that spins
// while other libraries work. Work is cut into numbered blocks of fixed size; which thread takes a
// block never matters to the result.
#pragma once

#include <cstddef>

#include "numeric/compilers.hpp"
#include "threads/interrupt_check.hpp"

#if !defined(DYNMEANS_ONE_THREAD)
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
#endif

namespace dynmeans {

#if defined(DYNMEANS_ONE_THREAD)

class ThreadPool {
  public:
    ThreadPool(std::size_t, InterruptCheck& interrupts) : interrupts_(interrupts) {}

    std::size_t size() const { return 1; }
    InterruptCheck& interrupts() { return interrupts_; }

    template <typename Work>
    void for_blocks(std::size_t n_blocks, const Work& work) {
        for (std::size_t block = 0; block < n_blocks; ++block) work(block, 0);
    }

  private:
    InterruptCheck& interrupts_;
};

#else

class ThreadPool {
  public:
    ThreadPool(std::size_t n_threads, InterruptCheck& interrupts) : interrupts_(interrupts) {
        for (std::size_t t = 1; t < n_threads; ++t) threads_.emplace_back([this, t] { serve(t); });
    }

    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            is_closing_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t size() const { return threads_.size() + 1; }
    InterruptCheck& interrupts() { return interrupts_; }

    // Calls work(block, thread) for every block; returns when all are done.
    template <typename Work>
    void for_blocks(std::size_t n_blocks, const Work& work) {
        if (n_blocks == 1) {  // too little to look out for an interrupt
            work(0, 0);
            return;
        }
        if (threads_.empty()) {
            for (std::size_t block = 0; block < n_blocks; ++block) {
                work(block, 0);
                interrupts_.check();
            }
            return;
        }
        run_together(n_blocks, work);
        interrupts_.check();
    }

  private:
    void run_together(std::size_t n_blocks,
                      const std::function<void(std::size_t, std::size_t)>& work) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            work_ = &work;
            n_blocks_ = n_blocks;
            next_block_ = 0;
            n_busy_ = threads_.size();
            ++round_;
        }
        wake_.notify_all();
        take_blocks(work, n_blocks, 0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return n_busy_ == 0; });
    }

    void take_blocks(const std::function<void(std::size_t, std::size_t)>& work,
                     std::size_t n_blocks, std::size_t thread) {
        for (std::size_t block; (block = next_block_.fetch_add(1)) < n_blocks;) work(block, thread);
    }

    void serve(std::size_t thread) {
        std::size_t seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return is_closing_ || round_ != seen; });
            if (is_closing_) return;
            seen = round_;
            const auto* work = work_;
            const std::size_t n_blocks = n_blocks_;
            lock.unlock();
            take_blocks(*work, n_blocks, thread);
            lock.lock();
            if (--n_busy_ == 0) done_.notify_one();
        }
    }

    InterruptCheck& interrupts_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
    std::size_t n_blocks_ = 0, n_busy_ = 0, round_ = 0;
    std::atomic<std::size_t> next_block_{0};
    bool is_closing_ = false;
};

#endif

}  // namespace dynmeans
