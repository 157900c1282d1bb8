// SPDX-License-Identifier: Apache-2.0
// Random numbers: every recorded call and sequence of PyTorch's CPU generator, state, clones, threads.
#include "taeda/core/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "taeda/core/random_fill.h"
#include "taeda/core/tensor.h"
#include "tests/support/oracle.h"

namespace taeda {
namespace {

using nlohmann::json;
using test::OracleTensors;

const std::vector<double> kWeights = {1.0, 2.0, 3.0, 4.0, 0.0, 5.0, 0.5, 0.25, 8.0, 1.0};

template <class T, class Fill>
std::vector<double> filled(int64_t n, const Fill& fill) {
  const auto values = std::make_unique<T[]>(static_cast<size_t>(n));
  fill(values.get());
  std::vector<double> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (is_reduced_float<T>) {
      out[static_cast<size_t>(i)] = static_cast<float>(values[static_cast<size_t>(i)]);
    } else {
      out[static_cast<size_t>(i)] = static_cast<double>(values[static_cast<size_t>(i)]);
    }
  }
  return out;
}

/// One recorded call with element type T.
template <class T>
std::vector<double> draw(const std::string& op, int64_t n, const json& args, CPUGeneratorImpl& g) {
  const auto arg = [&](size_t i, double otherwise) { return i < args.size() ? test::oracle_number(args[i]) : otherwise; };
  const auto fill = [&](const auto& f) { return filled<T>(n, f); };
  if constexpr (is_floating<T>) {
    if (op == "rand") return fill([&](T* x) { fill_uniform(x, n, 0, 1, g); });
    if (op == "uniform_") return fill([&](T* x) { fill_uniform(x, n, arg(0, 0), arg(1, 1), g); });
    if (op == "randn") return fill([&](T* x) { fill_normal(x, n, 0, 1, g); });
    if (op == "normal_") return fill([&](T* x) { fill_normal(x, n, arg(0, 0), arg(1, 1), g); });
    if (op == "log_normal_") return fill([&](T* x) { fill_log_normal(x, n, arg(0, 1), arg(1, 2), g); });
    if (op == "cauchy_") return fill([&](T* x) { fill_cauchy(x, n, arg(0, 0), arg(1, 1), g); });
    if (op == "exponential_") return fill([&](T* x) { fill_exponential(x, n, arg(0, 1), g); });
    if (op == "geometric_") return fill([&](T* x) { fill_geometric(x, n, arg(0, 0.5), g); });
    if (op == "bernoulli") {
      const std::vector<T> p(static_cast<size_t>(n), T(static_cast<float>(arg(0, 0.5))));
      const std::vector<double> wide(static_cast<size_t>(n), arg(0, 0.5));
      if constexpr (std::same_as<T, double>) return fill([&](T* x) { fill_bernoulli(x, wide.data(), n, g); });
      return fill([&](T* x) { fill_bernoulli(x, p.data(), n, g); });
    }
    if (op == "poisson") {
      const std::vector<T> rates(static_cast<size_t>(n), T(static_cast<float>(arg(0, 1))));
      return fill([&](T* x) { fill_poisson(x, rates.data(), n, g); });
    }
    if (op == "dropout") {
      const double keep = 1 - arg(0, 0.5);
      std::vector<double> mask = fill([&](T* x) { fill_bernoulli(x, n, keep, g); });
      for (double& value : mask) value /= keep;
      return mask;
    }
  }
  if constexpr (std::same_as<T, float>) {
    if (op == "multinomial") {
      const std::vector<float> weights(kWeights.begin(), kWeights.end());
      const bool replacement = args.at(0).get<bool>();
      const int64_t samples = replacement ? n : std::min<int64_t>(n, 9);
      return filled<int64_t>(samples, [&](int64_t* x) {
        if (replacement && samples > 1) {
          multinomial_with_replacement(weights.data(), 1, 10, samples, x, g);
        } else {
          multinomial_by_noise(weights.data(), 1, 10, samples, x, g);
        }
      });
    }
  }
  if (op == "bernoulli_") return fill([&](T* x) { fill_bernoulli(x, n, arg(0, 0.5), g); });
  if (op == "random_") return fill([&](T* x) { fill_random(x, n, g); });
  if (op == "randint") {
    const auto low = static_cast<int64_t>(arg(0, 0)), high = static_cast<int64_t>(arg(1, 0));
    return fill([&](T* x) { fill_random_range(x, n, low, static_cast<uint64_t>(high - low), g); });
  }
  if constexpr (std::same_as<T, int64_t>) {
    if (op == "randperm") return fill([&](T* x) { fill_randperm(x, n, g); });
  }
  throw std::runtime_error("no such call: " + op);
}

std::vector<double> draw(const std::string& op, const std::string& dtype, int64_t n, const json& args,
                         CPUGeneratorImpl& g) {
  if (dtype == "f32") return draw<float>(op, n, args, g);
  if (dtype == "f64") return draw<double>(op, n, args, g);
  if (dtype == "f16") return draw<Half>(op, n, args, g);
  if (dtype == "bf16") return draw<BFloat16>(op, n, args, g);
  if (dtype == "i64") return draw<int64_t>(op, n, args, g);
  if (dtype == "u8") return draw<uint8_t>(op, n, args, g);
  if (dtype == "bool") return draw<bool>(op, n, args, g);
  throw std::runtime_error("no such dtype: " + dtype);
}

void expect_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::fabs(got[i] - want[i]), tolerance * std::max(1.0, std::fabs(want[i])))
        << what << " element " << i << ": got " << got[i] << ", want " << want[i];
  }
}

TEST(Generator, RecordedCallsGiveTheRecordedNumbersAndUseAsManyDraws) {
  const OracleTensors tensors("rng.safetensors");
  int runs = 0;
  test::for_each_oracle_case("rng.json", [&](const json& item) {
    if (item.at("kind") != "op") return;
    for (const json& run : item.at("runs")) {
      CPUGeneratorImpl g(run.at("seed").get<uint64_t>());
      const std::string what = item.at("id").get<std::string>() + " seed " + run.at("seed").dump() + " n " + run.at("n").dump();
      const auto got = draw(item.at("op").get<std::string>(), item.at("dtype").get<std::string>(),
                            run.at("n").get<int64_t>(), item.at("args"), g);
      expect_close(got, tensors.of(run.at("v")).as_double(), item.at("tol").get<double>(), what);
      EXPECT_EQ(g.random() & 0xffffffu, run.at("next").get<uint32_t>()) << what;
      ++runs;
    }
  });
  EXPECT_GT(runs, 1000);
}

TEST(Generator, RecordedSequencesShareOneStream) {
  const OracleTensors tensors("rng.safetensors");
  int sequences = 0;
  test::for_each_oracle_case("rng.json", [&](const json& item) {
    if (item.at("kind") != "sequence") return;
    CPUGeneratorImpl g(item.at("seed").get<uint64_t>());
    const json& calls = item.at("calls");
    for (size_t i = 0; i < calls.size(); ++i) {
      json args = json::array();
      for (size_t k = 3; k < calls[i].size(); ++k) args.push_back(calls[i][k]);
      const auto got = draw(calls[i][0].get<std::string>(), calls[i][2].get<std::string>(), calls[i][1].get<int64_t>(), args, g);
      expect_close(got, tensors.of(item.at("values")[i]).as_double(), item.at("tol").get<double>(),
                   item.at("id").get<std::string>() + " call " + std::to_string(i));
    }
    ++sequences;
  });
  EXPECT_EQ(sequences, 10);
}

TEST(Generator, EngineIsTheStandardMersenneTwister) {
  for (uint32_t seed : {0u, 1u, 5489u, 4294967295u}) {
    CPUGeneratorImpl g(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 3000; ++i) ASSERT_EQ(g.random(), standard());
  }
}

TEST(Generator, StateContinuesTheSequenceWithTheKeptNormal) {
  Generator g = make_generator<CPUGeneratorImpl>(7);
  auto* impl = g.get<CPUGeneratorImpl>();
  for (int i = 0; i < 1000; ++i) impl->random();
  impl->normal();  // keeps one
  const std::vector<uint8_t> state = g.state_bytes();
  const double kept = impl->normal();
  std::vector<uint32_t> words(2000);
  for (uint32_t& word : words) word = impl->random();

  Generator other = make_generator<CPUGeneratorImpl>(99);
  other.set_state_bytes(state);
  EXPECT_EQ(other.current_seed(), 7u);
  EXPECT_EQ(other.get<CPUGeneratorImpl>()->normal(), kept);
  for (uint32_t word : words) ASSERT_EQ(other.get<CPUGeneratorImpl>()->random(), word);
}

TEST(Generator, DamagedStatesAreErrors) {
  Generator g = make_generator<CPUGeneratorImpl>(7);
  const std::vector<uint8_t> state = g.state_bytes();
  EXPECT_THROW(g.set_state_bytes({}), ValueError);
  EXPECT_THROW(g.set_state_bytes(std::vector<uint8_t>(state.begin(), state.end() - 1)), ValueError);
  for (size_t place : {0u, 29u}) {  // the mark, the position
    std::vector<uint8_t> damaged = state;
    damaged[place] = 0xff;
    EXPECT_THROW(g.set_state_bytes(damaged), ValueError);
  }
  EXPECT_EQ(g.state_bytes(), state);
}

TEST(Generator, StateTravelsAsATensor) {
  Generator g = make_generator<CPUGeneratorImpl>(21), other = make_generator<CPUGeneratorImpl>(4);
  g.get<CPUGeneratorImpl>()->normal();
  const Tensor state = g.get_state();
  EXPECT_EQ(state.scalar_type(), kByte);
  EXPECT_EQ(state.dim(), 1);
  other.set_state(state);
  EXPECT_EQ(other.get<CPUGeneratorImpl>()->normal(), g.get<CPUGeneratorImpl>()->normal());
  EXPECT_EQ(other.state_bytes(), g.state_bytes());
  EXPECT_THROW(other.set_state(Tensor()), ValueError);
  EXPECT_THROW(other.set_state(make_tensor({state.numel()}, kFloat)), ValueError);
  EXPECT_THROW(other.set_state(make_tensor({3}, kByte)), ValueError);
}

TEST(Generator, ClonesDrawAlikeAndApart) {
  Generator g = detail::createCPUGenerator(3);
  g.get<CPUGeneratorImpl>()->normal();
  Generator copy = g.clone(), same = g;
  EXPECT_FALSE(copy == g);
  EXPECT_TRUE(same == g);
  EXPECT_EQ(copy.get<CPUGeneratorImpl>()->normal(), g.get<CPUGeneratorImpl>()->normal());
  g.get<CPUGeneratorImpl>()->random();
  EXPECT_NE(copy.state_bytes(), g.state_bytes());
}

TEST(Generator, SeedingForgetsTheKeptNormal) {
  manual_seed(5);
  auto* impl = default_generator().get<CPUGeneratorImpl>();
  const double first = impl->normal();
  manual_seed(5);
  EXPECT_EQ(impl->normal(), first);
  EXPECT_EQ(default_generator().current_seed(), 5u);
  const uint64_t random_seed = seed();
  EXPECT_EQ(default_generator().current_seed(), random_seed);
  EXPECT_NE(seed(), random_seed);
  manual_seed(default_rng_seed_val);
}

TEST(Generator, EmptyHandlesAreErrors) {
  Generator empty;
  EXPECT_FALSE(empty.defined());
  EXPECT_THROW(empty.current_seed(), Error);
  EXPECT_THROW(check_generator<CPUGeneratorImpl>(std::nullopt), ValueError);
  EXPECT_EQ(&cpu_generator(), default_generator().get<CPUGeneratorImpl>());
  const Generator g = make_generator<CPUGeneratorImpl>(1);
  EXPECT_EQ(&cpu_generator(g), g.get<CPUGeneratorImpl>());
}

TEST(Generator, LongNormalFillsAreNormal) {
  CPUGeneratorImpl g(11);
  std::vector<float> x(1 << 20);
  fill_normal(x.data(), static_cast<int64_t>(x.size()), 0, 1, g);
  double sum = 0, squares = 0, fourth = 0;
  for (float value : x) {
    const double v = value;
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
  }
  const auto n = static_cast<double>(x.size());
  EXPECT_NEAR(sum / n, 0, 0.005);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourth / n, 3, 0.05);
}

TEST(Generator, NormalBlocksAgreeWithDoubleArithmetic) {
  constexpr int64_t kCount = 1 << 16;
  CPUGeneratorImpl a(23), b(23);
  std::vector<float> uniforms(kCount), got(kCount);
  fill_uniform(uniforms.data(), kCount, 0, 1, a);
  fill_normal(got.data(), kCount, 0, 1, b);
  for (int64_t block = 0; block < kCount; block += 16) {
    for (int64_t j = block; j < block + 8; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(uniforms[j])));
      const double angle = 2 * std::numbers::pi * static_cast<double>(uniforms[j + 8]);
      ASSERT_NEAR(got[j], radius * std::cos(angle), 2e-6);
      ASSERT_NEAR(got[j + 8], radius * std::sin(angle), 2e-6);
    }
  }
}

TEST(Generator, PoissonEndsForEveryRate) {
  CPUGeneratorImpl g(1);
  for (double rate : {-1.0, 0.0, std::nan(""), 1e-300}) EXPECT_EQ(poisson_sample(rate, g), 0);
  EXPECT_GT(poisson_sample(std::numeric_limits<double>::infinity(), g), 0);
  EXPECT_NEAR(static_cast<double>(poisson_sample(1e12, g)), 1e12, 1e7);
}

TEST(Generator, ThreadsShareAGenerator) {
  Generator g = make_generator<CPUGeneratorImpl>(1);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> parts(4, std::vector<float>(10000));
  for (auto& part : parts) {
    threads.emplace_back([&] { fill_uniform(part.data(), 10000, 0, 1, *g.get<CPUGeneratorImpl>()); });
  }
  for (std::thread& thread : threads) thread.join();
  // Each fill is one piece of the stream, in some order.
  std::vector<float> whole(40000);
  CPUGeneratorImpl alone(1);
  fill_uniform(whole.data(), 40000, 0, 1, alone);
  for (const auto& part : parts) {
    bool found = false;
    for (size_t at = 0; at < whole.size() && !found; at += 10000) {
      found = std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at));
    }
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace taeda
