// Random pushes, takings and removals of a RadixHeap beside a plain list: prints what differs.
#include "passes/radix_heap.hpp"

#include <cstdio>
#include <random>

using namespace dynmeans;

namespace {

std::vector<std::uint32_t> points_of(std::vector<RadixHeap::Entry>& entries, DueKey now) {
    const auto is_due = [&](const RadixHeap::Entry& entry) { return entry.key <= now; };
    std::vector<std::uint32_t> due;
    for (const RadixHeap::Entry& entry : entries)
        if (is_due(entry)) due.push_back(entry.point);
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_due), entries.end());
    std::sort(due.begin(), due.end());
    return due;
}

// The clock goes on by much, by little, by less than a key, or not at all.
bool agrees(std::uint32_t seed) {
    std::mt19937 random(seed);
    RadixHeap queue;
    std::vector<RadixHeap::Entry> plain;
    double clock = kFirstTime;
    std::uint32_t next_point = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const std::size_t n_pushed = random() % (turn % 16 == 0 ? 150 : 4);
        for (std::size_t n = 0; n < n_pushed; ++n) {
            const double ahead = std::pow(10.0, -8.0 + 9.0 * (random() % 1000) / 1000.0);
            const DueKey key = due_key(random() % 8 ? clock + ahead : 0.0, random() % kRings);
            queue.push(key, next_point);
            plain.push_back({key, next_point++});
        }
        if (random() % 8 == 0) {
            const auto is_gone = [](std::uint32_t point) { return point % 7 == 3; };
            queue.remove_if(is_gone);
            plain.erase(std::remove_if(plain.begin(), plain.end(),
                                       [&](const auto& entry) { return is_gone(entry.point); }),
                        plain.end());
        }
        constexpr double kTicks[] = {0.0, 1e-12, 1e-6, 1e-3, 1.0};
        clock += kTicks[random() % 5];
        std::vector<std::uint32_t> due;
        queue.take_due(clock_key(clock), due);
        std::sort(due.begin(), due.end());
        if (due != points_of(plain, clock_key(clock)) || queue.size() != plain.size()) return false;
    }
    return true;
}

}  // namespace

int main() {
    int n_wrong = 0;
    for (std::uint32_t seed = 0; seed < 2000; ++seed) n_wrong += !agrees(seed);
    std::printf("%d\n", n_wrong);
}
