// SPDX-License-Identifier: Apache-2.0
// Operators of the registry that become nodes of a kernel: the same bits, and a refusal where they could not be the same.
#include "taeda/compile/kernel/row_operators.h"

#include "taeda/ops/registry.h"
#include "tests/kernel/kernel_support.h"

namespace taeda::kernel {
namespace {

const OpInfo& find(const std::string& name, const std::string& overload = "") {
  for (const OpInfo* op : find_ops(name)) {
    if (overload == op->overload) return *op;
  }
  throw Error("no operator " + name);
}

std::vector<Tensor> tensors_of(const Value& v) {
  if (v.is_tensor()) return {v.tensor()};
  std::vector<Tensor> list;
  for (const Value& item : v.list()) list.push_back(item.tensor());
  return list;
}

/// Runs the operator as a kernel over `rows` and compares with the operator itself. `tensors`: which arguments are.
void check(const OpInfo& op, const std::vector<Value>& args, std::vector<size_t> tensors, int64_t row_length) {
  const std::vector<Tensor> expected = tensors_of(op.invoke(args.data()));
  Kernel k(op.name);
  std::vector<Id> inputs;
  std::vector<Tensor> operands;
  const int64_t rows = args[0].tensor().numel() / row_length;
  for (const size_t t : tensors) {
    inputs.push_back(args[t].is_none() ? -1 : k.input(args[t].tensor().scalar_type()));
    if (!args[t].is_none()) operands.push_back(args[t].tensor().reshape({-1, row_length}));
  }
  const auto nodes = add_row_operator(k, op, args.data(), inputs);
  ASSERT_TRUE(nodes) << op.schema;
  ASSERT_EQ(nodes->results.size(), expected.size());
  for (size_t r = 0; r < expected.size(); ++r) {
    k.output(nodes->results[r], expected[r].scalar_type());
    operands.push_back(empty({rows, expected[r].numel() / rows}, expected[r].scalar_type()));
  }
  for (const Backend backend : backends()) {
    run_over(*compile_kernel(k, backend), {rows, row_length}, operands);
    for (size_t r = 0; r < expected.size(); ++r) {
      const Tensor& got = operands[operands.size() - expected.size() + r];
      EXPECT_TRUE(same_bits(got.reshape(expected[r].sizes()), expected[r])) << op.schema;
    }
  }
}

TEST(RowOperators, GiveTheBitsOfTheirEagerOperators) {
  const Value none, keep(false);
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& sizes : std::vector<std::vector<int64_t>>{{3, 40}, {2, 3, 100}, {1, 70000}, {5, 1}}) {
      const Tensor x = randn(sizes, dtype), g = randn(sizes, dtype);
      const int64_t last = sizes.back(), two = last * sizes[sizes.size() - 2];
      if (x.numel() > 32) check(find("sum"), {x, none}, {0}, x.numel());
      check(find("mean"), {x, none}, {0}, x.numel());
      check(find("sum", "dim_IntList"), {x, Value(std::vector<int64_t>{-1}), keep, none}, {0}, last);
      check(find("mean", "dim"), {x, Value(std::vector<int64_t>{-1, -2}), keep, none}, {0}, two);
      check(find("amax"), {x, Value(std::vector<int64_t>{-1}), keep}, {0}, last);
      check(find("amin"), {x, Value(std::vector<int64_t>{-1}), keep}, {0}, last);
      check(find("max"), {x}, {0}, x.numel());
      for (const char* name : {"_softmax", "_log_softmax"}) check(find(name), {x, Value(int64_t{-1}), Value(false)}, {0}, last);
      for (const char* name : {"_softmax_backward_data", "_log_softmax_backward_data"}) {
        check(find(name), {g, x, Value(int64_t{-1}), Value(static_cast<int64_t>(dtype))}, {0, 1}, last);
      }
      const Tensor w = randn({last}, dtype), b = randn({last}, dtype);
      const Value shape(std::vector<int64_t>{last}), eps(1e-5);
      check(find("native_layer_norm"), {x, shape, w, b, eps}, {0, 2, 3}, last);
      check(find("native_layer_norm"), {x, shape, none, none, eps}, {0, 2, 3}, last);
    }
  }
}

TEST(RowOperators, AreRefusedWhereBitsCouldDiffer) {
  const Value none, keep(false);
  const Tensor x = randn({4, 6});
  const auto refused = [](const OpInfo& op, const std::vector<Value>& args) {
    Kernel k("refused");
    const Id in[] = {k.input(args[0].tensor().scalar_type())};
    return !add_row_operator(k, op, args.data(), in);
  };
  EXPECT_TRUE(refused(find("sum"), {x, none})) << "few elements are summed one by one";
  EXPECT_TRUE(refused(find("sum", "dim_IntList"), {x, Value(std::vector<int64_t>{0}), keep, none}));
  EXPECT_TRUE(refused(find("sum", "dim_IntList"), {x.t(), Value(std::vector<int64_t>{1}), keep, none}));
  EXPECT_TRUE(refused(find("sum", "dim_IntList"), {x, Value(std::vector<int64_t>{1}), keep, Value(static_cast<int64_t>(kDouble))}));
  EXPECT_TRUE(refused(find("mean"), {x.to(kHalf), none}));
  EXPECT_TRUE(refused(find("_softmax"), {x, Value(int64_t{0}), Value(false)}));
  EXPECT_TRUE(refused(find("cumsum"), {x, Value(int64_t{1}), none}));
}

}  // namespace
}  // namespace taeda::kernel
