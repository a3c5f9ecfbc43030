// SPDX-License-Identifier: BSD-2-Clause
// What reads batches ahead for layers of data: in every build, for its threads.
#include "core/nets/data/prefetcher.hpp"

#include <atomic>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>

#include "ferry/error.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using detail::BatchSource;
using detail::Prefetcher;
using Batch = std::vector<Blob<float>>;

constexpr const char* kEverywhere[] = {"host cpu", "host stream", "sim cpu", "sim main", "sim stream"};

/// Batch k has 8 elements: seed + 100 k + i.
class Counting : public BatchSource<float> {
 public:
  std::vector<Shape> Shapes(const RandomKey&) override { return {{8}}; }
  void Fill(const RandomKey& key, Batch& batch, const std::atomic<bool>& abandoned) override {
    if (before) before(key, abandoned);
    batch[0].Reshape({8});
    float* const to = batch[0].overwrite_cpu_data();
    for (int i = 0; i < 8; ++i)
      to[i] = static_cast<float>(key.seed + 100 * key.iteration) + static_cast<float>(i);
  }

  std::function<void(const RandomKey&, const std::atomic<bool>&)> before;
};

struct PrefetchedBlob {
  explicit PrefetchedBlob(const Place& place, std::size_t ahead = 2)
      : top({8}, place.device()), prefetcher(source, ahead, {&top}, place), at(place) {}
  /// The first element of a batch that is right.
  float Take(std::uint64_t iteration, std::uint64_t seed = 0) {
    prefetcher.Take({seed, 0, iteration}, {&top});
    return Seen();
  }
  float Seen() const {
    at.Read(top);
    const float* const values = top.cpu_data();
    for (int i = 0; i < 8; ++i) CHECK(values[i] == values[0] + static_cast<float>(i));
    return values[0];
  }

  Counting source;
  Blob<float> top;
  Prefetcher<float> prefetcher;
  const Place at;
};

TEST_CASE("Batches come in order at every place, however many are read ahead") {
  for (const char* const where : kEverywhere)
    for (const std::size_t ahead : {0U, 1U, 5U}) {
      const World world(where, {.seed = 5});
      PrefetchedBlob run(world.place(), ahead);
      for (std::uint64_t k = 0; k < 20; ++k) CHECK(run.Take(k) == 100.0F * static_cast<float>(k));
    }
}

TEST_CASE("A batch of another number or seed is that batch") {
  const World world("sim stream");
  PrefetchedBlob run(world.place());
  CHECK(run.Take(0) == 0);
  CHECK(run.Take(1) == 100);
  CHECK(run.Take(7) == 700);
  CHECK(run.Take(8) == 800);
  CHECK(run.Take(2) == 200);
  CHECK(run.Take(3, 50) == 350);
  CHECK(run.Take(4, 50) == 450);
  run.prefetcher.Expect({50, 0, 90});
  CHECK(run.Take(5, 50) == 550);
}

TEST_CASE("What the source throws is thrown in the place of its batch, which is tried again") {
  for (const char* const where : kEverywhere) {
    const World world(where);
    PrefetchedBlob run(world.place());
    std::atomic<int> failures = 2;
    run.source.before = [&](const RandomKey& key, const std::atomic<bool>&) {
      if (key.iteration == 3 && failures-- > 0) throw std::runtime_error("no item 3");
    };
    for (std::uint64_t k = 0; k < 3; ++k) CHECK(run.Take(k) == 100.0F * static_cast<float>(k));
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_MATCHES(run.Take(3), std::runtime_error, Message("no item 3"));
      CHECK(run.Seen() == 200);
    }
    CHECK(run.Take(3) == 300);
    CHECK(run.Take(4) == 400);
  }
}

TEST_CASE("An error of a batch that nobody wants any more is forgotten") {
  const World world("host cpu");
  PrefetchedBlob run(world.place());
  run.source.before = [](const RandomKey& key, const std::atomic<bool>&) {
    if (key.iteration == 1) throw std::runtime_error("no item 1");
  };
  CHECK(run.Take(0) == 0);
  CHECK_THROWS_MATCHES(run.Take(1), std::runtime_error, Message("no item 1"));
  CHECK(run.Take(2) == 200);
}

TEST_CASE("A device that refuses a call fails a Take, and the Take after it has the batch") {
  long tried = 0;
  for (const char* const call :
       {"MemcpyAsync", "Malloc", "MallocAsync", "MallocHost", "EventRecord", "EventCreate"})
    for (long n = 1; n <= 6; ++n) {
      INFO("call " << n << " of " << call);
      const World world("sim stream", {.fail_at = n, .fail_call = call});
      PrefetchedBlob run(world.place());
      int failures = 0;
      for (std::uint64_t k = 0; k < 8; ++k) {
        for (;;) {
          try {
            run.prefetcher.Take({0, 0, k}, {&run.top});
            break;
          } catch (const DeviceError&) {
            ++failures;
          } catch (const std::bad_alloc&) {
            ++failures;
          }
          REQUIRE(failures < 3);
        }
        float first = -1;
        try {
          first = run.Seen();
        } catch (const DeviceError&) {
          first = run.Seen();
        } catch (const std::bad_alloc&) {
          first = run.Seen();
        }
        CHECK(first == 100.0F * static_cast<float>(k));
      }
      tried += sim::Inspect().faults;
    }
  CHECK(tried > 10);
}

TEST_CASE("The end of a prefetcher does not wait for the rest of a batch") {
  for (const char* const where : kEverywhere) {
    const World world(where);
    std::atomic<bool> busy = false;
    {
      PrefetchedBlob run(world.place());
      run.source.before = [&](const RandomKey&, const std::atomic<bool>& abandoned) {
        busy = true;
        while (!abandoned) std::this_thread::yield();
      };
      run.prefetcher.Expect({0, 0, 0});
      while (!busy) std::this_thread::yield();
    }
    CHECK(busy);
  }
}

TEST_CASE("Another number interrupts the batch that is being filled") {
  const World world("sim stream");
  std::atomic<bool> busy = false;  // outlives the thread that looks at it
  PrefetchedBlob run(world.place());
  run.source.before = [&](const RandomKey& key, const std::atomic<bool>& abandoned) {
    busy = busy || key.iteration == 1;
    while (key.iteration == 1 && !abandoned) std::this_thread::yield();
  };
  CHECK(run.Take(0) == 0);
  while (!busy) std::this_thread::yield();
  CHECK(run.Take(5) == 500);
}

TEST_CASE("A prefetcher that was never asked for a batch ends") {
  const World world("sim stream");
  const PrefetchedBlob run(world.place());
  CHECK(run.top.count() == 8);
}

TEST_CASE("A blob that shares a batch keeps it, whatever is read after it") {
  for (const char* const where : kEverywhere) {
    const World world(where, {.seed = 9});
    PrefetchedBlob run(world.place());
    run.Take(0);
    Blob<float> kept({8}, world.device());
    kept.ShareData(run.top);
    for (std::uint64_t k = 1; k < 12; ++k) CHECK(run.Take(k) == 100.0F * static_cast<float>(k));
    CHECK(kept.cpu_data()[3] == 3);
  }
}

TEST_CASE("What changes a top in place does not reach later batches") {
  for (const char* const where : kEverywhere) {
    const World world(where);
    PrefetchedBlob run(world.place());
    for (std::uint64_t k = 0; k < 12; ++k) {
      CHECK(run.Take(k) == 100.0F * static_cast<float>(k));
      Set(world.place(), -1.0F, run.top);
    }
  }
}

TEST_CASE("Batches go where the layer has moved to") {
  const World world("sim stream");
  PrefetchedBlob run(Place::Cpu(world.device()));
  CHECK(run.Take(0) == 0);
  run.prefetcher.set_place(world.place());
  for (std::uint64_t k = 1; k < 8; ++k) CHECK(run.Take(k) == 100.0F * static_cast<float>(k));
  CHECK(run.top.data()->head() == Head::SYNCED);
}

}  // namespace
}  // namespace ferry::testing
