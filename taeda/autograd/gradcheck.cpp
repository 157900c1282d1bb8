// SPDX-License-Identifier: Apache-2.0
// Gradients against central differences.
#include "taeda/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "taeda/ops/functions.h"

namespace taeda::autograd {

namespace {

/// Where element number `i` (row-major) of `t` lies, in elements from its data pointer.
int64_t place_of(const Tensor& t, int64_t i) {
  int64_t at = 0;
  for (size_t d = static_cast<size_t>(t.dim()); d-- > 0;) {
    at += i % t.sizes()[d] * t.strides()[d];
    i /= t.sizes()[d];
  }
  return at;
}

std::string index_of(IntArrayRef sizes, int64_t i) {
  DimVector index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = i % sizes[d];
    i /= sizes[d];
  }
  std::string text = "(";
  for (size_t d = 0; d < index.size(); ++d) text += (d ? ", " : "") + std::to_string(index[d]);
  return text + ")";
}

double& element(const Tensor& t, int64_t i) { return static_cast<double*>(t.impl().storage->bytes())[t.storage_offset() + place_of(t, i)]; }

std::vector<double> values(const Tensor& t) {
  const NoGradGuard off;
  const Tensor flat = t.detach().to(kDouble).contiguous();
  const auto* data = static_cast<const double*>(flat.const_data_ptr());
  return std::vector<double>(data, data + flat.numel());
}

/// Jacobian by result, then input: a row for each element of the input.
using Table = std::vector<std::vector<double>>;

/// Numbers in [-1, 1) that are the same in every run and do not touch any generator.
Tensor fixed_numbers(const Tensor& like, uint64_t seed) {
  Tensor t = make_tensor(like.sizes(), kDouble);
  auto* data = static_cast<double*>(t.storage().data());
  for (int64_t i = 0; i < t.numel(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    data[i] = static_cast<double>(seed >> 11) * 0x1p-52 - 1;
  }
  return t.requires_grad_();
}

/// The results that can have a gradient.
std::vector<size_t> differentiable(const variable_list& outputs) {
  std::vector<size_t> list;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined() && is_floating_type(outputs[i].scalar_type())) list.push_back(i);
  }
  return list;
}

class Check {
 public:
  Check(const functional::Fn& fn, const variable_list& inputs, const GradcheckOptions& options, const char* op)
      : fn_(fn), inputs_(inputs), options_(options), op_(op) {}

  void run() {
    check_inputs();
    const AutoGradMode mode(true);
    const variable_list outputs = fn_(inputs_);
    for (const size_t out : differentiable(outputs)) {
      for (size_t in = 0; in < inputs_.size(); ++in) {
        if (needs_grad(inputs_[in])) compare(outputs, out, in);
      }
    }
    if (options_.check_undefined_grad) check_undefined();
  }

 private:
  void check_inputs() const {
    bool any = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& t = inputs_[i];
      if (!needs_grad(t)) continue;
      any = true;
      TAEDA_CHECK_VALUE(t.scalar_type() == kDouble, "[", op_, "] inputs that require grad must be float64: got ",
                        t.scalar_type(), " as input ", i, "; finite differences need the precision, convert with to(kDouble)");
      for (size_t d = 0; d < static_cast<size_t>(t.dim()); ++d) {
        TAEDA_CHECK_VALUE(t.sizes()[d] <= 1 || t.strides()[d] != 0, "[", op_, "] elements of an input must not share memory: got strides ",
                          t.strides(), " of input ", i, "; clone() it");
      }
    }
    TAEDA_CHECK_VALUE(any, "[", op_, "] at least one input must require grad: got none of ", inputs_.size(),
                      "; call requires_grad_() on the inputs to check");
  }

  Table numerical(size_t out, size_t in) const {
    const NoGradGuard off;
    Table rows;
    for (int64_t i = 0; i < inputs_[in].numel(); ++i) {
      double& x = element(inputs_[in], i);
      const double before = x;
      x = before + options_.eps;
      std::vector<double> up = values(fn_(inputs_)[out]);
      x = before - options_.eps;
      const std::vector<double> down = values(fn_(inputs_)[out]);
      x = before;
      for (size_t k = 0; k < up.size(); ++k) up[k] = (up[k] - down[k]) / (2 * options_.eps);
      rows.push_back(std::move(up));
    }
    return rows;
  }

  Table analytic(const Tensor& output, size_t in) const {
    const Tensor& input = inputs_[in];
    Table rows(static_cast<size_t>(input.numel()), std::vector<double>(static_cast<size_t>(output.numel())));
    if (!output.requires_grad()) return rows;
    for (int64_t k = 0; k < output.numel(); ++k) {
      Tensor one_hot = taeda::zeros(output.sizes(), TensorOptions(output.scalar_type()));
      {
        const NoGradGuard off;
        one_hot.reshape({-1}).select(0, k).fill_(1);
      }
      const Tensor g = grad({output}, {input}, {one_hot}, true, false, true)[0];
      if (!g.defined()) continue;
      TAEDA_CHECK(g.sizes() == input.sizes(), "[", op_, "] a gradient must have its input's shape: got ", g.sizes(), " for ",
                  input.sizes(), "; correct the operator's gradient");
      const std::vector<double> column = values(g);
      for (size_t i = 0; i < column.size(); ++i) rows[i][static_cast<size_t>(k)] = column[i];
    }
    return rows;
  }

  /// uᵀJv for fixed u and v against (uᵀf(x + εv) - uᵀf(x - εv)) / 2ε.
  void compare_projections(const variable_list& outputs, size_t out, size_t in) const {
    for (const uint64_t seed : {1u, 2u}) {
      const std::vector<double> u = values(fixed_numbers(outputs[out], seed));
      const std::vector<double> v = values(fixed_numbers(inputs_[in], seed + 2));
      double got = 0;
      if (outputs[out].requires_grad()) {
        Tensor seed_gradient = make_tensor(outputs[out].sizes(), kDouble);
        std::copy(u.begin(), u.end(), static_cast<double*>(seed_gradient.storage().data()));
        const Tensor g = grad({outputs[out]}, {inputs_[in]}, {seed_gradient.to(outputs[out].scalar_type())}, true, false, true)[0];
        if (g.defined()) got = dot(values(g), v);
      }
      const double up = moved(out, in, v, options_.eps, u);
      const double down = moved(out, in, v, -options_.eps, u);
      const double want = (up - down) / (2 * options_.eps);
      // Rounding of f is magnified by 1/ε.
      const double allowed = options_.atol + options_.rtol * std::fabs(want) +
                             8e-16 * (std::fabs(up) + std::fabs(down)) / options_.eps;
      const std::string maker = outputs[out].grad_fn() ? " through " + outputs[out].grad_fn()->name() : std::string();
      TAEDA_CHECK(std::fabs(got - want) <= allowed || (std::isnan(got) && std::isnan(want)), "[", op_,
                  "] the analytic gradient must equal the numerical one: got ", got, " and ", want, " for u · d result ", out,
                  " / d input ", in, " · v", maker, " (difference ", std::fabs(got - want), ", atol ", options_.atol, ", rtol ",
                  options_.rtol, "); check without fast_mode to see the element");
    }
  }

  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  /// u · result `out` with input `in` moved by step · v.
  double moved(size_t out, size_t in, const std::vector<double>& v, double step, const std::vector<double>& u) const {
    const NoGradGuard off;
    const Tensor& x = inputs_[in];
    const std::vector<double> before = values(x);
    for (int64_t i = 0; i < x.numel(); ++i) element(x, i) += step * v[static_cast<size_t>(i)];
    const double result = dot(u, values(fn_(inputs_)[out]));
    for (int64_t i = 0; i < x.numel(); ++i) element(x, i) = before[static_cast<size_t>(i)];
    return result;
  }

  void compare(const variable_list& outputs, size_t out, size_t in) const {
    if (options_.fast_mode) return compare_projections(outputs, out, in);
    const Table got = analytic(outputs[out], in);
    if (options_.nondet_tol >= 0) compare_tables(analytic(outputs[out], in), got, outputs, out, in, true);
    compare_tables(got, numerical(out, in), outputs, out, in, false);
  }

  void compare_tables(const Table& got, const Table& want, const variable_list& outputs, size_t out, size_t in,
                      bool repeated) const {
    double worst = 0;
    int64_t worst_i = -1, worst_k = -1;
    for (size_t i = 0; i < got.size(); ++i) {
      for (size_t k = 0; k < got[i].size(); ++k) {
        const double allowed = repeated ? options_.nondet_tol : options_.atol + options_.rtol * std::fabs(want[i][k]);
        const double excess = std::fabs(got[i][k] - want[i][k]) - allowed;
        const bool both_nan = std::isnan(got[i][k]) && std::isnan(want[i][k]);
        if (both_nan || excess <= 0) continue;
        if (worst_i < 0 || std::isnan(excess) || excess > worst) {
          worst = excess;
          worst_i = static_cast<int64_t>(i);
          worst_k = static_cast<int64_t>(k);
        }
        if (std::isnan(excess)) break;
      }
    }
    if (worst_i < 0) return;
    const double g = got[static_cast<size_t>(worst_i)][static_cast<size_t>(worst_k)];
    const double w = want[static_cast<size_t>(worst_i)][static_cast<size_t>(worst_k)];
    const std::string where = str("d result ", out, index_of(outputs[out].sizes(), worst_k), " / d input ", in,
                                  index_of(inputs_[in].sizes(), worst_i));
    const std::string maker = outputs[out].grad_fn() ? " through " + outputs[out].grad_fn()->name() : std::string();
    TAEDA_CHECK(!repeated, "[", op_, "] two backward passes must agree within ", options_.nondet_tol, ": got ", g, " and ", w,
                " for ", where, maker, "; the gradient depends on more than the graph, or raise nondet_tol");
    TAEDA_CHECK(false, "[", op_, "] the analytic gradient must equal the numerical one: got ", g, " and ", w, " for ", where,
                maker, " (difference ", std::fabs(g - w), ", atol ", options_.atol, ", rtol ", options_.rtol,
                "); correct the gradient, or check that the function is smooth there and the same at every call");
  }

  /// A result without a gradient counts as zero: backward from all results but one must not throw.
  void check_undefined() const {
    const variable_list outputs = fn_(inputs_);
    const std::vector<size_t> list = differentiable(outputs);
    if (list.size() < 2) return;
    variable_list wanted;
    for (const Tensor& t : inputs_) {
      if (needs_grad(t)) wanted.push_back(t);
    }
    for (const size_t out : list) {
      if (!outputs[out].requires_grad()) continue;
      (void)grad({outputs[out]}, wanted, {taeda::zeros_like(outputs[out])}, true, false, true);
    }
  }

  const functional::Fn& fn_;
  const variable_list& inputs_;
  const GradcheckOptions& options_;
  const char* op_;
};

bool run_check(const functional::Fn& fn, const variable_list& inputs, const GradcheckOptions& options, const char* op) {
  try {
    Check(fn, inputs, options, op).run();
  } catch (const ValueError&) {
    throw;  // the call itself was wrong
  } catch (const Error&) {
    if (options.raise_exception) throw;
    return false;
  }
  return true;
}

}  // namespace

bool gradcheck(const functional::Fn& fn, const variable_list& inputs, const GradcheckOptions& options) {
  return run_check(fn, inputs, options, "gradcheck");
}

bool gradcheck(const functional::Fn1& fn, const Tensor& input, const GradcheckOptions& options) {
  return gradcheck([&fn](const variable_list& list) -> variable_list { return {fn(list[0])}; }, variable_list{input}, options);
}

bool gradgradcheck(const functional::Fn& fn, const variable_list& inputs, const variable_list& grad_outputs,
                   const GradcheckOptions& options) {
  const AutoGradMode mode(true);
  std::vector<size_t> outs;
  variable_list all = inputs;
  {
    const variable_list outputs = fn(inputs);
    for (const size_t i : differentiable(outputs)) {
      if (!outputs[i].requires_grad()) continue;
      outs.push_back(i);
      const size_t n = outs.size() - 1;
      all.push_back(n < grad_outputs.size() ? grad_outputs[n] : fixed_numbers(outputs[i], i + 1));
    }
  }
  std::vector<size_t> wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (needs_grad(inputs[i])) wanted.push_back(i);
  }
  const functional::Fn gradients = [&](const variable_list& list) {
    const AutoGradMode on(true);
    const variable_list x(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    const variable_list outputs = fn(x);
    variable_list roots, by;
    for (const size_t i : outs) roots.push_back(outputs[i]);
    for (const size_t i : wanted) by.push_back(x[i]);
    const variable_list v(list.begin() + static_cast<std::ptrdiff_t>(inputs.size()), list.end());
    variable_list grads = grad(roots, by, v, true, true, true);
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) grads[i] = taeda::zeros_like(by[i]);
    }
    return grads;
  };
  return run_check(gradients, all, options, "gradgradcheck");
}

bool gradgradcheck(const functional::Fn1& fn, const Tensor& input, const Tensor& grad_output,
                   const GradcheckOptions& options) {
  return gradgradcheck([&fn](const variable_list& list) -> variable_list { return {fn(list[0])}; }, variable_list{input},
                       grad_output.defined() ? variable_list{grad_output} : variable_list(), options);
}

}  // namespace taeda::autograd
