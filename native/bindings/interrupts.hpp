// Work of the engine with the GIL released: Ctrl-C stops it between two blocks.
#pragma once

#include <nanobind/nanobind.h>

#include "threads/thread_pool.hpp"

namespace dynmeans::bindings {

namespace nb = nanobind;

// True when a signal handler has raised, as the one of Ctrl-C does; only the main thread runs them.
inline bool is_interrupted() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// Work too short to look out for Ctrl-C.
template <typename Work>
auto without_gil(const Work& work) {
    nb::gil_scoped_release release;
    return work();
}

template <typename Work>
auto run_without_gil(std::size_t n_threads, const Work& work) {
    try {
        nb::gil_scoped_release release;
        InterruptCheck interrupts(is_interrupted);
        ThreadPool pool(n_threads, interrupts);
        return work(pool);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

}  // namespace dynmeans::bindings
