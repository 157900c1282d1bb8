// SPDX-License-Identifier: Apache-2.0
// What must hold of every operator of the registry, whatever it computes: layouts, dtypes, empty and 0-dim tensors.
// TAEDA_OPS=text runs only the rows whose name contains the text.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/generator.h"
#include "taeda/ops/functions.h"
#include "tests/support/op_mutate.h"

namespace taeda {
namespace {

using test::Outcome;
using test::run_call;
using test::Sample;

/// Operators whose results hold what lay in memory before.
bool uninitialised(const Sample& s) {
  static const std::set<std::string> names{"empty",       "empty_like", "empty_strided", "new_empty", "new_empty_strided",
                                           "resize_",     "resize_as_", "empty_permuted", "set_",     "random_"};
  return names.contains(s.op->name);
}
/// Operators that speak of the layout itself.
bool about_layout(const Sample& s) {
  static const std::set<std::string> names{"as_strided", "as_strided_", "as_strided_scatter", "is_contiguous", "stride",
                                           "storage_offset", "is_set_to", "set_"};
  return names.contains(s.op->name);
}
/// Writes into an argument; in-place forms of composites too.
bool writes(const Sample& s) { return std::string_view(s.op->schema).find("!)") != std::string_view::npos; }
/// Operators that keep running statistics or renorm a table while they compute.
bool keeps_state(const Sample& s) {
  static const std::set<std::string> names{"batch_norm",           "instance_norm",          "native_batch_norm",
                                           "nn_functional_batch_norm", "nn_functional_instance_norm", "embedding",
                                           "embedding_bag",        "nn_functional_embedding", "nn_functional_embedding_bag"};
  return names.contains(s.op->name);
}
/// Views, which another layout may make impossible.
bool may_not_fit(const Sample& s) {
  static const std::set<std::string> names{"view_as"};
  return s.op->kind == OpKind::kView || names.contains(s.op->name);
}
/// Whether two seeds give two results.
bool random(const Sample& s) {
  Sample a = s;
  a.args = test::map_tensors(s.args, test::fresh);
  const Value one = a.call();
  a.args = test::map_tensors(s.args, test::fresh);
  const NoGradGuard off;
  manual_seed(2);
  return !test::difference(one, s.op->invoke(a.args.data())).empty();
}

template <class F>
void for_samples(const F& visit) {
  const char* only = std::getenv("TAEDA_OPS");
  for (const OpInfo* op : test::built_in_ops()) {
    const auto row = test::samples().find(op);
    if (row == test::samples().end()) continue;
    for (const Sample& s : row->second) {
      if (only && s.name().find(only) == std::string::npos) continue;
      SCOPED_TRACE(s.name() + " with " + s.id);
      try {
        visit(s);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "threw " << e.what();
      }
    }
  }
}

Sample with_tensors(const Sample& s, const std::function<Tensor(const Tensor&)>& change) {
  Sample copy = s;
  copy.args = test::map_tensors(s.args, change);
  return copy;
}

double tolerance_of(ScalarType type) {
  switch (type) {
    case kDouble: return 1e-12;
    case kFloat: return 2e-6;
    case kHalf: return 2e-3;
    case kBFloat16: return 2e-2;
    default: return 0;
  }
}
/// Of the coarsest floating result.
double tolerance_of(const Value& v) {
  double tolerance = 0;
  test::map_tensors(v, [&](const Tensor& t) {
    tolerance = std::max(tolerance, tolerance_of(t.scalar_type()));
    return t;
  });
  return tolerance;
}

TEST(EveryOperator, HasSamples) {
  std::string missing;
  size_t count = 0;
  for (const OpInfo* op : test::built_in_ops()) {
    if (test::samples().contains(op)) continue;
    ++count;
    missing += std::string(" ") + op->name + (*op->overload ? std::string(".") + op->overload : "");
  }
  std::cout << count << " of " << test::built_in_ops().size() << " rows have no sample:" << missing << std::endl;
  EXPECT_LE(count * 10, test::built_in_ops().size()) << "more than a tenth of the registry is not tested here";
}

TEST(EveryOperator, GivesTheSameForEveryLayout) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> layouts[]{{"transposed", test::transposed_layout},
                                                                    {"strided with offset", test::strided_layout},
                                                                    {"channels last", test::channels_last_layout}};
  for_samples([&](const Sample& s) {
    if (uninitialised(s) || about_layout(s) || random(s)) return;
    const Value want = with_tensors(s, test::fresh).call();
    for (const auto& [name, layout] : layouts) {
      const Outcome got = run_call(with_tensors(s, layout));
      if (got.kind != "ok" && may_not_fit(s)) continue;
      ASSERT_EQ(got.kind, "ok") << name << ": " << got.message;
      EXPECT_EQ(test::difference(got.result, want, tolerance_of(want)), "") << name;
    }
  });
}

TEST(EveryOperator, ReadsExpandedTensors) {
  for_samples([&](const Sample& s) {
    if (uninitialised(s) || about_layout(s) || writes(s) || keeps_state(s)) return;
    const Sample expanded = with_tensors(s, test::expanded_layout);
    const Sample plain = with_tensors(expanded, test::fresh);
    const Outcome want = run_call(plain);
    if (want.kind == "ok" && random(plain)) return;
    const Outcome got = run_call(expanded);
    if (got.kind != "ok" && may_not_fit(s)) return;
    ASSERT_EQ(got.kind, want.kind) << got.message << want.message;
    if (want.kind != "ok") return;
    EXPECT_EQ(test::difference(got.result, want.result, tolerance_of(want.result)), "");
  });
}

TEST(EveryOperator, LeavesItsInputsAlone) {
  for_samples([&](const Sample& s) {
    if (writes(s) || keeps_state(s)) return;
    const std::vector<Value> args = test::map_tensors(s.args, test::fresh);
    Sample call = s;
    call.args = args;
    (void)run_call(call);
    for (size_t i = 0; i < args.size(); ++i) EXPECT_EQ(test::difference(args[i], s.args[i]), "") << "argument " << i;
  });
}

/// Results that differ between dtypes by definition or by conditioning.
bool depends_on_precision(const Sample& s) {
  static const std::set<std::string> names{"nextafter", "nextafter_", "nan_to_num", "nan_to_num_", "view",   // about the number format itself
                                           "bernoulli", "bernoulli_",                                        // draws differ
                                           "histogramdd",                                                    // rounding moves samples across edges
                                           "pdist", "cdist", "float_power", "linalg_vector_norm"};            // powers overflow float16
  return names.contains(s.op->name) || std::string_view(s.op->family).starts_with("linalg");
}

/// Floating tensors in another dtype; values rounded to it also when the call stays in float64.
Sample in_dtype(const Sample& s, ScalarType type, bool widened) {
  return with_tensors(s, [&](const Tensor& t) {
    if (!is_floating_type(t.scalar_type())) return test::fresh(t);
    const Tensor rounded = t.to(type);
    return test::fresh(widened ? rounded.to(kDouble) : rounded);
  });
}
/// The results with floating tensors rounded to `type`.
Value rounded_to(const Value& v, ScalarType type) {
  return test::map_tensors(v, [&](const Tensor& t) { return is_floating_type(t.scalar_type()) ? t.to(type) : t; });
}
bool has_floating_argument(const Sample& s) {
  bool found = false;
  test::map_tensors(s.args, [&](const Tensor& t) {
    found |= is_floating_type(t.scalar_type());
    return t;
  });
  return found;
}

TEST(EveryOperator, AgreesWithItselfInFloat64) {
  for_samples([&](const Sample& s) {
    if (uninitialised(s) || depends_on_precision(s) || !has_floating_argument(s) || random(s)) return;
    for (const ScalarType type : {kFloat, kHalf, kBFloat16}) {
      const Outcome got = run_call(in_dtype(s, type, false));
      if (got.kind != "ok") {
        EXPECT_NE(got.kind, "std") << got.message;
        continue;
      }
      const Outcome wide = run_call(in_dtype(s, type, true));
      ASSERT_EQ(wide.kind, "ok") << "works in " << to_string(type) << " but not in float64: " << wide.message;
      const double tolerance = type == kFloat ? 2e-5 : type == kHalf ? 1e-2 : 8e-2;
      EXPECT_EQ(test::difference(rounded_to(got.result, kDouble), rounded_to(rounded_to(wide.result, type), kDouble), tolerance), "")
          << to_string(type);
    }
  });
}

TEST(EveryOperator, GivesOrRefusesWithItsOwnErrorForEveryDtype) {
  for_samples([&](const Sample& s) {
    for (const ScalarType type : {kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool}) {
      const Outcome got = run_call(with_tensors(s, [&](const Tensor& t) {
        return is_floating_type(t.scalar_type()) ? test::fresh(t.to(type)) : test::fresh(t);
      }));
      if (got.kind == "ok") continue;
      EXPECT_TRUE(got.kind != "std" && got.message.starts_with("[")) << to_string(type) << ": " << got.kind << ' ' << got.message;
    }
  });
}

TEST(EveryOperator, GivesOrRefusesEmptyAndScalarTensors) {
  const auto zero_dim = [](const Tensor& t) {
    return t.numel() ? test::fresh(t.reshape({-1}).select(0, 0)) : taeda::zeros({}, TensorOptions(t.scalar_type()));
  };
  const auto first_empty = [](const Tensor& t) { return t.dim() ? test::fresh(t.slice(0, 0, 0)) : test::fresh(t); };
  const auto last_empty = [](const Tensor& t) { return t.dim() ? test::fresh(t.slice(-1, 0, 0)) : test::fresh(t); };
  for_samples([&](const Sample& s) {
    for (const auto& change : {std::function<Tensor(const Tensor&)>(zero_dim), {first_empty}, {last_empty}}) {
      const Outcome got = run_call(with_tensors(s, change));
      if (got.kind == "ok") continue;
      EXPECT_TRUE(got.kind != "std" && got.message.starts_with("[")) << got.kind << ' ' << got.message;
    }
  });
}

}  // namespace
}  // namespace taeda
