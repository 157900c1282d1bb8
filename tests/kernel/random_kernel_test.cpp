// SPDX-License-Identifier: Apache-2.0
// Random kernels: pointwise nodes, reductions, row operations, several outputs that may lie on inputs. Whole kernels on each backend against
// the same nodes run one at a time, each in a kernel of its own.
#include <random>

#include "taeda/cpu/pointwise_abi.h"
#include "tests/kernel/kernel_support.h"

namespace taeda::kernel {
namespace {

struct Operator {
  const char* name;
  int inputs, attributes;
};
constexpr Operator kOperators[] = {{"Add", 2, 1}, {"Mul", 2, 0}, {"Sub", 2, 1}, {"Maximum", 2, 0}, {"Tanh", 1, 0}, {"Relu", 1, 0},
                                   {"Exp", 1, 0}, {"Div", 2, 0}, {"Tanh_grad_self", 2, 0}, {"Silu", 1, 0}, {"Abs", 1, 0}};

/// Builds a kernel and, next to it, the value of every node.
class RandomKernel {
 public:
  RandomKernel(unsigned seed, std::vector<int64_t> sizes, bool rows) : kernel_("random" + std::to_string(seed)), random_(seed), sizes_(sizes), rows_(rows) {
    row_sizes_ = sizes;
    row_sizes_.back() = 1;
    const int inputs = 1 + pick(3);
    for (int k = 0; k < inputs; ++k) add_input(false);
    if (rows && pick(2)) add_input(true);
    add(kernel_.constant(0.75, kFloat), full({1}, 0.75));
    add(kernel_.param(kFloat), full({1}, -1.25));
    const int nodes = 3 + pick(12);
    for (int k = 0; k < nodes; ++k) add_node();
  }

  void check(Backend backend) {
    std::vector<Tensor> operands = copies(inputs_), expected;
    Kernel kernel = kernel_;
    const int outputs = 1 + pick(4);
    std::vector<bool> taken(inputs_.size(), false);
    for (int k = 0; k < outputs; ++k) {
      const auto at = static_cast<size_t>(pick(static_cast<int>(ids_.size())));
      if (is_number(ids_[at])) continue;
      kernel.output(ids_[at], kFloat);
      const bool row = rows_ && kernel_.nodes()[static_cast<size_t>(ids_[at])].uniform;
      expected.push_back(values_[at].expand(row ? row_sizes_ : sizes_).contiguous());
      operands.push_back(place_output(row, operands, taken));
    }
    if (expected.empty()) return;
    run_over(*compile_kernel(kernel, backend), sizes_, operands, {-1.25});
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_TRUE(same_bits(operands[inputs_.size() + k], expected[k])) << "output " << k << " of\n" << kernel.text();
    }
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool is_number(Id id) const {
    const NodeKind kind = kernel_.nodes()[static_cast<size_t>(id)].kind;
    return kind == NodeKind::kConstant || kind == NodeKind::kParam;
  }
  Id add(Id id, Tensor value) {
    for (const Id known : ids_) {
      if (known == id) return id;
    }
    ids_.push_back(id);
    values_.push_back(std::move(value));
    return id;
  }
  void add_input(bool row) {
    const Tensor value = randn(row ? row_sizes_ : sizes_);
    inputs_.push_back(value);
    add(kernel_.input(kFloat, row), value);
  }
  static std::vector<Tensor> copies(const std::vector<Tensor>& list) {
    std::vector<Tensor> result;
    for (const Tensor& t : list) result.push_back(t.clone());
    return result;
  }
  /// Often an input of the same extent that no other output lies on.
  Tensor place_output(bool row, const std::vector<Tensor>& operands, std::vector<bool>& taken) {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const bool row_input = rows_ && sizes_.back() != 1 && inputs_[k].sizes() == IntArrayRef(row_sizes_);
      if (taken[k] || row_input || row || pick(2)) continue;
      taken[k] = true;
      return operands[k];
    }
    if (!row && sizes_.size() == 2 && pick(3) == 0) return taeda::empty({sizes_[1], sizes_[0]}).t();
    return taeda::empty(row ? row_sizes_ : sizes_);
  }

  void add_node() {
    if (rows_ && pick(3) == 0) return add_row_node();
    const Operator& op = kOperators[pick(static_cast<int>(std::size(kOperators)))];
    std::vector<size_t> at;
    for (int k = 0; k < op.inputs; ++k) at.push_back(static_cast<size_t>(pick(static_cast<int>(ids_.size()))));
    std::vector<Id> in;
    std::vector<Tensor> tensors;
    for (const size_t k : at) {
      in.push_back(ids_[k]);
      tensors.push_back(values_[k]);
    }
    const auto append = [&](Kernel& k, const std::vector<Id>& ids) {
      std::vector<Id> attributes;
      for (int a = 0; a < op.attributes; ++a) attributes.push_back(k.constant(0.5, kFloat));
      return k.call(cpu::find_pointwise_kernel(op.name), kFloat, ids, attributes);
    };
    // The same node alone, over the shape its operands have together.
    Kernel alone("alone");
    std::vector<Id> alone_in;
    for (size_t k = 0; k < in.size(); ++k) alone_in.push_back(alone.input(kFloat));
    alone.output(append(alone, alone_in), kFloat);
    Tensor shape = tensors[0];
    for (const Tensor& t : tensors) shape = shape + t;
    const Tensor result = empty(shape.sizes());
    tensors.push_back(result);
    run_over(*compile_kernel(alone, Backend::kInterpreter), result.sizes(), tensors);
    add(append(kernel_, in), result);
  }

  void add_row_node() {
    std::vector<size_t> elements;
    for (size_t k = 0; k < ids_.size(); ++k) {
      if (!kernel_.nodes()[static_cast<size_t>(ids_[k])].uniform) elements.push_back(k);
    }
    const size_t at = elements[static_cast<size_t>(pick(static_cast<int>(elements.size())))];
    const Tensor x = values_[at];
    const Id in[] = {ids_[at], -1, -1};
    switch (pick(5)) {
      case 0: add(kernel_.reduce(ReduceKind::kSum, in[0], true), x.mean({-1}, true)); break;
      case 1: add(kernel_.reduce(ReduceKind::kMax, in[0]), x.amax({-1}, true)); break;
      case 2: add(kernel_.row_op(RowOp::kSoftmax, {in, 1}), softmax(x, -1)); break;
      case 3: add(kernel_.row_op(RowOp::kLogSoftmax, {in, 1}), log_softmax(x, -1)); break;
      default: {
        const auto [y, mean, rstd] = native_layer_norm(x, {x.size(-1)}, {}, {}, 1e-5);
        const Id norm = add(kernel_.row_op(RowOp::kLayerNorm, {in, 3}, 1e-5), y);
        add(kernel_.extra(norm, 1), mean.view(row_sizes_));
        add(kernel_.extra(norm, 2), rstd.view(row_sizes_));
      }
    }
  }

  Kernel kernel_;
  std::mt19937 random_;
  std::vector<int64_t> sizes_, row_sizes_;
  bool rows_;
  std::vector<Tensor> inputs_, values_;
  std::vector<Id> ids_;
};

void check_many(const std::vector<std::vector<int64_t>>& shapes, bool rows, unsigned seeds) {
  for (unsigned seed = 0; seed < seeds && !::testing::Test::HasFailure(); ++seed) {
    for (const Backend backend : backends()) {
      RandomKernel(seed, shapes[seed % shapes.size()], rows).check(backend);
    }
  }
}

TEST(RandomKernel, PointwiseKernelsEqualTheirNodesOneByOne) { check_many({{1}, {77}, {5000}, {6, 35}, {3, 1, 200}}, false, 150); }
TEST(RandomKernel, RowKernelsEqualTheirNodesOneByOne) { check_many({{1, 9}, {7, 33}, {300, 20}, {4, 5, 100}, {2, 6000}, {5, 1}}, true, 250); }

}  // namespace
}  // namespace taeda::kernel
