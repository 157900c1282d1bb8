// SPDX-License-Identifier: Apache-2.0
// The forms of every operator that write into a given tensor, out= and in-place: equal to the plain form, or refused before
// anything is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/generator.h"
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "tests/support/op_mutate.h"

namespace taeda {
namespace {

using test::Outcome;
using test::run_call;
using test::Sample;

struct OutForm {
  const char* name;
  const char* overload;
  Value (*call)(Tensor& out, const Value* args);
};
const OutForm out_forms[] = {
#include "taeda/ops/generated/out_forms.inc"
};

const std::vector<Sample>* samples_of(const OutForm& form) {
  for (const OpInfo* op : find_ops(form.name)) {
    if (std::string_view(op->overload) != form.overload) continue;
    const auto row = test::samples().find(op);
    return row == test::samples().end() ? nullptr : &row->second;
  }
  return nullptr;
}

/// A call of the out= form that keeps what it threw.
Outcome write_into(const OutForm& form, const std::vector<Value>& args, Tensor& out) {
  Outcome outcome;
  const NoGradGuard off;
  manual_seed(1);
  try {
    outcome.result = form.call(out, args.data());
    outcome.kind = "ok";
  } catch (const Error& e) {
    outcome = {"Error", e.what(), {}};
  }
  return outcome;
}

/// Results that hold what lay in memory before, and operators that renorm their table as they go.
bool differs_by_call(const std::string& name) {
  return name.starts_with("empty") || name.starts_with("new_empty") || name.starts_with("nn_functional_embedding");
}

/// Whether several C++ functions share the row, of which a sample fits one (a number as first or as second argument).
bool shares_its_row(const OutForm& form) {
  if (std::string(form.name) + '.' + form.overload == "where.Scalar") return true;  // the row takes two numbers
  return std::count_if(std::begin(out_forms), std::end(out_forms), [&](const OutForm& other) {
           return std::string_view(other.name) == form.name && std::string_view(other.overload) == form.overload;
         }) > 1;
}

/// Whether the operator makes a tensor of any dtype: the out= form takes the output's.
bool takes_options(const OutForm& form) { return std::string_view(find_ops(form.name).front()->schema).find("pin_memory") != std::string_view::npos; }

template <class F>
void for_out_forms(const F& visit) {
  for (const OutForm& form : out_forms) {
    const std::vector<Sample>* list = samples_of(form);
    if (!list || differs_by_call(form.name)) continue;
    for (const Sample& s : *list) {
      SCOPED_TRACE(std::string(form.name) + "_out with " + s.id);
      try {
        const std::vector<Value> args = test::map_tensors(s.args, test::fresh);
        const Value want = Sample(s).call();
        if (want.is_tensor() && want.tensor().defined()) visit(form, s, args, want.tensor());
      } catch (const std::exception& e) {
        ADD_FAILURE() << "threw " << e.what();
      }
    }
  }
}

TEST(OutForms, EqualThePlainForm) {
  int tested = 0;
  for_out_forms([&](const OutForm& form, const Sample&, const std::vector<Value>& args, const Tensor& want) {
    ++tested;
    Tensor fits = make_tensor(want.sizes(), want.scalar_type());
    Tensor other_size = make_tensor({0}, want.scalar_type());
    Tensor other_layout = test::transposed_layout(test::fresh(want)).zero_();
    Tensor part = test::strided_layout(test::fresh(want)).zero_();
    for (Tensor* out : {&fits, &other_size, &other_layout, &part}) {
      const Outcome got = write_into(form, args, *out);
      if (got.kind != "ok" && shares_its_row(form)) continue;
      ASSERT_EQ(got.kind, "ok") << got.message;
      EXPECT_TRUE(got.result.tensor().is_same(*out));
      EXPECT_EQ(test::difference(Value(*out), Value(want)), "");
    }
  });
  EXPECT_GT(tested, 500);
}

TEST(OutForms, RefuseAnOutputWhoseElementsShareMemory) {
  for_out_forms([&](const OutForm& form, const Sample&, const std::vector<Value>& args, const Tensor& want) {
    if (want.dim() == 0 || want.size(0) < 2 || want.numel() == 0) return;
    const Tensor memory = taeda::full(want.sizes().slice(1), 1, TensorOptions(want.scalar_type()));
    Tensor out = memory.unsqueeze(0).expand(want.sizes());
    const auto before = test::bytes_of(memory);
    EXPECT_NE(write_into(form, args, out).kind, "ok");
    EXPECT_EQ(test::bytes_of(memory), before) << "was written";
  });
}

TEST(OutForms, RefuseAnOutputOfADtypeThatCannotHoldTheResult) {
  for_out_forms([&](const OutForm& form, const Sample&, const std::vector<Value>& args, const Tensor& want) {
    if (want.scalar_type() == kBool || takes_options(form)) return;
    Tensor out = taeda::ones(want.sizes(), TensorOptions(is_floating_type(want.scalar_type()) ? kLong : kBool));
    const auto before = test::bytes_of(out);
    EXPECT_NE(write_into(form, args, out).kind, "ok");
    EXPECT_EQ(test::bytes_of(out), before) << "was written";
  });
}

/// Visits the samples of in-place rows whose plain form exists, with the plain form's row.
template <class F>
void for_inplace_forms(const F& visit) {
  for (const OpInfo* op : test::built_in_ops()) {
    const std::string name = op->name;
    if (op->kind != OpKind::kInplace || !name.ends_with('_') || !test::samples().contains(op)) continue;
    for (const OpInfo* plain : find_ops(name.substr(0, name.size() - 1))) {
      if (std::string_view(plain->overload) != op->overload || parse_schema_args(plain->schema).size() != parse_schema_args(op->schema).size()) continue;
      for (const Sample& s : test::samples().at(op)) {
        SCOPED_TRACE(s.name() + " with " + s.id);
        try {
          visit(s, plain);
        } catch (const std::exception& e) {
          ADD_FAILURE() << "threw " << e.what();
        }
      }
    }
  }
}

TEST(InplaceForms, EqualThePlainForm) {
  int tested = 0;
  for_inplace_forms([&](const Sample& s, const OpInfo* plain) {
    Sample functional = s;
    functional.op = plain;
    functional.args = test::map_tensors(s.args, test::fresh);
    const Value want = functional.call();
    if (!want.is_tensor() || want.tensor().sizes() != s.args[0].tensor().sizes()) return;
    for (const auto layout : {test::fresh, test::transposed_layout, test::strided_layout}) {
      Sample inplace = s;
      inplace.args = test::map_tensors(s.args, layout);
      const Value got = inplace.call();
      EXPECT_TRUE(got.tensor().is_same(inplace.args[0].tensor()));
      const Value expected(want.tensor().to(got.tensor().scalar_type()));
      EXPECT_EQ(test::difference(got, expected, expected.tensor().scalar_type() == kFloat ? 2e-6 : 0), "");
      ++tested;
    }
  });
  EXPECT_GT(tested, 300);
}

TEST(InplaceForms, RefuseExpandedTensors) {
  for (const OpInfo* op : test::built_in_ops()) {
    if (op->kind != OpKind::kInplace || !test::samples().contains(op)) continue;
    static const std::set<std::string> fine{"fill_", "zero_", "embedding_renorm_",  // one value everywhere, or some rows: allowed
                                            "as_strided_", "resize_", "resize_as_", "set_", "squeeze_", "unsqueeze_",
                                                      "t_", "transpose_", "swapaxes_", "swapdims_", "detach_", "requires_grad_"};
    if (fine.contains(op->name)) continue;
    for (const Sample& s : test::samples().at(op)) {
      SCOPED_TRACE(s.name() + " with " + s.id);
      if (!s.args[0].is_tensor() || s.args[0].tensor().dim() == 0 || s.args[0].tensor().numel() == 0 || s.args[0].tensor().size(0) < 2) continue;
      Sample call = s;
      call.args = test::map_tensors(s.args, test::fresh);
      const Tensor self = test::expanded_layout(call.args[0].tensor());
      const auto before = test::bytes_of(self);
      call.args[0] = Value(self);
      const Outcome got = run_call(call);
      EXPECT_NE(got.kind, "ok");
      EXPECT_TRUE(got.message.starts_with("[")) << got.message;
      EXPECT_EQ(test::bytes_of(self), before) << "was written";
    }
  }
}

}  // namespace
}  // namespace taeda
