// SPDX-License-Identifier: Apache-2.0
// Random numbers by the public operators, default initialisations of modules and nn::init against recorded draws: the values, and
// how much of the stream was used.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "taeda/taeda.h"
#include "tests/support/module_makers.h"
#include "tests/support/oracle.h"

namespace taeda {
namespace {

using Json = nlohmann::json;

const test::OracleTensors& stored() {
  static const auto* tensors = new test::OracleTensors("rng.safetensors");
  return *tensors;
}

Tensor load(const Json& reference) {
  const test::OracleTensor& t = stored().of(reference);
  const std::vector<double> values = t.as_double();
  Tensor wide = make_tensor(IntArrayRef(t.shape), kDouble);
  std::copy(values.begin(), values.end(), wide.data_ptr<double>());
  return wide;
}

ScalarType dtype_of(const std::string& name) {
  static const std::map<std::string, ScalarType> all = {{"f32", kFloat}, {"f64", kDouble}, {"f16", kHalf}, {"bf16", kBFloat16},
                                                        {"i64", kLong},  {"u8", kByte},    {"bool", kBool}};
  return all.at(name);
}

/// |got - want| / max(1, |want|) at every element; a bound of 0 means equal.
void expect_close(const Tensor& got, const Tensor& want, double tol, const std::string& what) {
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  if (want.numel() == 0) return;
  const Tensor error = (got.detach().to(kDouble) - want).abs() / want.abs().clamp_min(1);
  EXPECT_LE(error.max().item<double>(), tol) << what;
}

void expect_next(const Json& next, const std::string& what) {
  EXPECT_EQ(randint(0, 1 << 24, {1}, TensorOptions(kLong)).item<int64_t>(), next.get<int64_t>()) << what << " used another number of draws";
}

/// One call by the operator's name.
Tensor draw(const std::string& op, int64_t n, ScalarType type, const Json& args, const Json& weights) {
  const auto number = [&](size_t i) { return args.at(i).get<double>(); };
  const TensorOptions options(type);
  const auto filled = [&](const auto& f) {
    Tensor t = empty({n}, options);
    f(t);
    return t;
  };
  if (op == "rand") return rand({n}, options);
  if (op == "randn") return randn({n}, options);
  if (op == "randint") return randint(args.at(0).get<int64_t>(), args.at(1).get<int64_t>(), {n}, options);
  if (op == "randperm") return randperm(n, options);
  if (op == "normal_") return filled([&](Tensor& t) { t.normal_(number(0), number(1)); });
  if (op == "uniform_") return filled([&](Tensor& t) { t.uniform_(number(0), number(1)); });
  if (op == "bernoulli_") return filled([&](Tensor& t) { t.bernoulli_(number(0)); });
  if (op == "exponential_") return filled([&](Tensor& t) { t.exponential_(number(0)); });
  if (op == "log_normal_") return filled([&](Tensor& t) { t.log_normal_(number(0), number(1)); });
  if (op == "cauchy_") return filled([&](Tensor& t) { t.cauchy_(number(0), number(1)); });
  if (op == "geometric_") return filled([&](Tensor& t) { t.geometric_(number(0)); });
  if (op == "random_") return filled([&](Tensor& t) { t.random_(); });
  if (op == "bernoulli") return bernoulli(full({n}, number(0), options));
  if (op == "poisson") return poisson(full({n}, number(0), options));
  if (op == "dropout") return dropout(ones({n}, options), number(0), true);
  if (op == "multinomial") {
    const bool replacement = args.at(0).get<bool>();
    const Tensor w = from_vector(weights.get<std::vector<double>>()).to(type);
    return multinomial(w, replacement ? n : std::min<int64_t>(n, 9), replacement);
  }
  throw std::runtime_error("no way to call " + op);
}

/// Cases of one kind, each under its name.
template <class F>
int each_case(const std::string& kind, const F& f) {
  int count = 0;
  test::for_each_oracle_case("rng.json", [&](const Json& c) {
    if (c.at("kind") != kind) return;
    SCOPED_TRACE(c.at("id").get<std::string>());
    ++count;
    try {
      f(c);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  });
  return count;
}

TEST(RngOracle, OperatorsDrawTheRecordedNumbers) {
  const int count = each_case("op", [](const Json& c) {
    for (const Json& run : c.at("runs")) {
      manual_seed(run.at("seed").get<uint64_t>());
      const std::string what = "seed " + run.at("seed").dump() + " n " + run.at("n").dump();
      const Tensor got = draw(c.at("op"), run.at("n"), dtype_of(c.at("dtype")), c.at("args"), c.value("weights", Json()));
      expect_close(got, load(run.at("v")), c.at("tol"), what);
      expect_next(run.at("next"), what);
    }
  });
  EXPECT_GT(count, 0);
}

TEST(RngOracle, SequencesOfOperatorsShareOneStream) {
  Json weights;
  each_case("op", [&](const Json& c) { weights = c.value("weights", weights); });
  const int count = each_case("sequence", [&](const Json& c) {
    manual_seed(c.at("seed").get<uint64_t>());
    size_t i = 0;
    for (const Json& call : c.at("calls")) {
      const Json args(std::vector<Json>(call.begin() + 3, call.end()));
      const Tensor got = draw(call.at(0), call.at(1), dtype_of(call.at(2)), args, weights);
      expect_close(got, load(c.at("values")[i]), c.at("tol"), "call " + std::to_string(i));
      ++i;
    }
  });
  EXPECT_GT(count, 0);
}

void expect_state(const nn::Module& module, const Json& state, double tol) {
  const auto own = module.state_dict();
  ASSERT_EQ(own.size(), state.size());
  for (size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(own[i].key(), state[i][0].get<std::string>());
    expect_close(own[i].value(), load(state[i][1]), tol, own[i].key());
  }
}

TEST(RngOracle, ModulesStartAsRecorded) {
  const int count = each_case("module", [](const Json& c) {
    if (c.value("frontend", std::string()) == "python") return;
    manual_seed(c.at("seed").get<uint64_t>());
    const test::MadeModule made = test::make_module(c.at("class"), c.at("kwargs"), load);
    ASSERT_NE(made.module, nullptr);
    expect_state(*made.module, c.at("state"), c.at("tol"));
    expect_next(c.at("next"), "the module");
  });
  EXPECT_GT(count, 0);
}

TEST(RngOracle, ModulesBuiltOneAfterTheOtherStartAsRecorded) {
  const int count = each_case("chain", [](const Json& c) {
    manual_seed(c.at("seed").get<uint64_t>());
    for (const Json& part : c.at("modules")) {
      const test::MadeModule made = test::make_module(part.at("class"), part.at("kwargs"), load);
      ASSERT_NE(made.module, nullptr);
      expect_state(*made.module, part.at("state"), c.at("tol"));
    }
  });
  EXPECT_GT(count, 0);
}

nn::init::FanModeType fan_mode(const Json& k) {
  return k.value("mode", std::string("fan_in")) == "fan_in" ? nn::init::FanModeType(kFanIn) : nn::init::FanModeType(kFanOut);
}
nn::init::NonlinearityType nonlinearity(const Json& k) {
  return k.value("nonlinearity", std::string("leaky_relu")) == "relu" ? nn::init::NonlinearityType(kReLU)
                                                                       : nn::init::NonlinearityType(kLeakyReLU);
}

/// A function of nn::init by its name, with the arguments Python gives it.
void initialise(const std::string& fn, Tensor t, const Json& k) {
  namespace init = nn::init;
  const auto number = [&](const char* name, double usual) { return k.value(name, usual); };
  if (fn == "uniform_") {
    init::uniform_(t, number("a", 0), number("b", 1));
  } else if (fn == "normal_") {
    init::normal_(t, number("mean", 0), number("std", 1));
  } else if (fn == "trunc_normal_") {
    init::trunc_normal_(t, number("mean", 0), number("std", 1), number("a", -2), number("b", 2));
  } else if (fn == "constant_") {
    init::constant_(t, number("val", 0));
  } else if (fn == "ones_") {
    init::ones_(t);
  } else if (fn == "zeros_") {
    init::zeros_(t);
  } else if (fn == "eye_") {
    init::eye_(t);
  } else if (fn == "dirac_") {
    init::dirac_(t, k.value("groups", 1));
  } else if (fn == "xavier_uniform_") {
    init::xavier_uniform_(t, number("gain", 1));
  } else if (fn == "xavier_normal_") {
    init::xavier_normal_(t, number("gain", 1));
  } else if (fn == "kaiming_uniform_") {
    init::kaiming_uniform_(t, number("a", 0), fan_mode(k), nonlinearity(k));
  } else if (fn == "kaiming_normal_") {
    init::kaiming_normal_(t, number("a", 0), fan_mode(k), nonlinearity(k));
  } else if (fn == "orthogonal_") {
    init::orthogonal_(t, number("gain", 1));
  } else if (fn == "sparse_") {
    init::sparse_(t, number("sparsity", 0), number("std", 0.01));
  } else {
    throw std::runtime_error("no such function of nn::init: " + fn);
  }
}

TEST(RngOracle, InitialisersGiveTheRecordedValues) {
  const int count = each_case("init", [](const Json& c) {
    manual_seed(c.at("seed").get<uint64_t>());
    const Tensor t = empty(IntArrayRef(c.at("shape").get<std::vector<int64_t>>()), TensorOptions(kFloat));
    initialise(c.at("fn"), t, c.at("kwargs"));
    expect_close(t, load(c.at("v")), c.at("tol"), c.at("fn"));
    expect_next(c.at("next"), c.at("fn"));
  });
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace taeda
