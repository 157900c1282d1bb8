// SPDX-License-Identifier: Apache-2.0
// Backward from several threads: separate graphs, shared graphs, shared leaves.
#include <atomic>
#include <cmath>
#include <thread>

#include "tests/autograd/common.h"

namespace taeda::test {
namespace {

template <class F>
void on_threads(int n, const F& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(Threads, SeparateGraphs) {
  on_threads(4, [](int i) {
    for (int step = 0; step < 200; ++step) {
      const Tensor x = leaf({1.0 + i, 2});
      (x * x).exp().sum().backward();
      EXPECT_NEAR(values(x.grad())[1], 4 * std::exp(4.0), 1e-9);
    }
  });
}

TEST(Threads, SharedLeaf) {
  const Tensor x = leaf({1, 2, 3});
  on_threads(4, [&](int) {
    for (int step = 0; step < 250; ++step) (x * 2).sum().backward();
  });
  EXPECT_VALUES(x.grad(), {2000, 2000, 2000});
}

TEST(Threads, SharedGraphThatIsRetained) {
  const Tensor x = leaf({1, 2, 3});
  Tensor h = x;
  for (int i = 0; i < 20; ++i) h = (h * h).tanh() + h;
  const Tensor y = h.sum();
  const std::vector<double> once = values(autograd::grad({y}, {x}, {}, true)[0]);
  on_threads(4, [&](int i) {
    for (int step = 0; step < 50; ++step) {
      if (i % 2 == 0) {
        const std::vector<double> got = values(autograd::grad({y}, {x}, {}, true)[0]);
        EXPECT_EQ(got, once);
      } else {
        y.backward({}, true);
      }
    }
  });
  const std::vector<double> sum = values(x.grad());
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(sum[i], 100 * once[i], 1e-8 * std::abs(sum[i]) + 1e-12);
}

TEST(Threads, SharedGraphThatIsFreedEndsInOneResultOrAnError) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = leaf({1, 2, 3});
    const Tensor h = (x * x).exp();
    const Tensor a = (h * h).sum(), b = h.exp().sum();
    std::atomic<int> fine{0}, failed{0};
    on_threads(2, [&](int i) {
      try {
        (i == 0 ? a : b).backward();
        ++fine;
      } catch (const Error&) {
        ++failed;
      }
    });
    EXPECT_EQ(fine + failed, 2);
  }
}

TEST(Threads, GraphsBuiltByOneThreadAndWalkedByAnother) {
  const Tensor x = leaf({2});
  Tensor y;
  std::thread([&] { y = (x * x).exp(); }).join();
  const Tensor z = y * 3;
  EXPECT_GT(z.grad_fn()->sequence_number(), y.grad_fn()->sequence_number());
  std::thread([&] { z.backward(); }).join();
  EXPECT_NEAR(values(x.grad())[0], 12 * std::exp(4.0), 1e-6);
}

TEST(Threads, ViewsRenewTheirHistoryOnce) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = leaf({1, 2, 3, 4});
    const Tensor base = x * 1;
    const Tensor view = base.slice(0, 1, 3);
    base.mul_(2);
    std::atomic<void*> seen[4];
    on_threads(4, [&](int i) { seen[i] = view.grad_fn().get(); });
    for (auto& s : seen) EXPECT_EQ(s.load(), seen[0].load());
  }
}

TEST(Threads, HistoriesDieOnAnyThread) {
  const Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 10'000; ++i) y = y * 1;
  std::thread([moved = std::exchange(y, Tensor())]() mutable { moved = Tensor(); }).join();
}

}  // namespace
}  // namespace taeda::test
