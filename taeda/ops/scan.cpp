// SPDX-License-Identifier: Apache-2.0
// Running sums, products, extremes; differences and trapezoids.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/scan.h"

namespace taeda {
namespace ops {
namespace {

void run(ScanKind kind, const Tensor& in, const Tensor& out, int64_t* indices, int64_t dim) {
  ScanArgs a{kind, in.scalar_type(), in.impl().data(), out.impl().data(), indices, 1, 1, 1};
  for (int64_t d = 0; d < in.dim(); ++d) (d < dim ? a.outer : d == dim ? a.n : a.inner) *= in.sizes()[static_cast<size_t>(d)];
  scan_kernel(in.device(), a);
}
Tensor scan(ScanKind kind, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, const char* op) {
  dim = maybe_wrap_dim(dim, self.dim(), op);
  const ScalarType type = dtype.value_or(is_integral_type(self.scalar_type(), true) ? kLong : self.scalar_type());
  if (type == kHalf || type == kBFloat16) return scan(kind, self.to(type).to(kFloat), dim, kFloat, op).to(type);
  if (type == kBool) return scan(kind, self.to(type), dim, kLong, op).to(type);
  const Tensor in = self.to(type).contiguous();
  Tensor out = make_tensor(in.sizes(), type, in.device());
  run(kind, in, out, nullptr, dim);
  return out;
}
std::tuple<Tensor, Tensor> scan_extreme(ScanKind kind, const Tensor& self, int64_t dim, const char* op) {
  dim = maybe_wrap_dim(dim, self.dim(), op);
  const Tensor in = self.contiguous();
  Tensor values = make_tensor(in.sizes(), in.scalar_type(), in.device());
  Tensor indices = make_tensor(in.sizes(), kLong, in.device());
  run(kind, in, values, reinterpret_cast<int64_t*>(indices.impl().data()), dim);
  return {values, indices};
}
Tensor reversed_cumsum(const Tensor& t, int64_t dim) { return t.dim() == 0 ? t : t.flip(dim).cumsum(dim).flip(dim); }

/// Running sums along `dim`. Integers give int64 unless `dtype` says otherwise.
struct Cumsum {
  static constexpr auto schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return scan(ScanKind::kSum, self, dim, dtype, "cumsum"); }
  static Tensor grad_self(const Tensor& grad, int64_t dim, ScalarType self_dtype) { return reversed_cumsum(grad.to(self_dtype), dim); }
  static constexpr Onnx onnx{"CumSum", 14};
};

/// Gradient of running products where a factor is zero: for each factor, the gradient through all products that hold it.
Tensor cumprod_grad_with_zeros(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim);
  const Tensor one = taeda::ones_like(self.narrow(dim, 0, 1));
  const Tensor before = n > 1 ? taeda::cat({one, self.narrow(dim, 0, n - 1).cumprod(dim)}, dim) : one;
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) {
    const Tensor later = k + 1 < n ? taeda::cat({one, self.narrow(dim, k + 1, n - k - 1).cumprod(dim)}, dim) : one;
    const Tensor sum = grad.narrow(dim, k, n - k).mul(later).sum(dim, true);
    parts.push_back(before.narrow(dim, k, 1).mul(sum));
  }
  return taeda::cat(parts, dim);
}
/// Running products along `dim`. Integers give int64 unless `dtype` says otherwise.
struct Cumprod {
  static constexpr auto schema = "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return scan(ScanKind::kProd, self, dim, dtype, "cumprod"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, int64_t dim) {
    const Tensor g = grad.to(self.scalar_type());
    if (self.dim() == 0 || self.numel() == 0) return g.mul(1);
    if (self.detach().count_nonzero().item<int64_t>() < self.numel()) return cumprod_grad_with_zeros(g, self, dim);
    return reversed_cumsum(g.mul(self.cumprod(dim)), dim).div(self);
  }
};
/// Running largest values along `dim`, and the index of the last element equal to each.
struct Cummax {
  static constexpr auto schema = "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, int64_t dim) { return scan_extreme(ScanKind::kMax, self, dim, "cummax"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& indices, int64_t dim) {
    return grad.dim() == 0 ? grad : taeda::zeros_like(grad).scatter_add(dim, indices, grad);
  }
};
/// Running smallest values along `dim`, and the index of the last element equal to each.
struct Cummin {
  static constexpr auto schema = "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, int64_t dim) { return scan_extreme(ScanKind::kMin, self, dim, "cummin"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& indices, int64_t dim) {
    return grad.dim() == 0 ? grad : taeda::zeros_like(grad).scatter_add(dim, indices, grad);
  }
};
/// Logarithms of the running sums of exp(self) along `dim`.
struct Logcumsumexp {
  static constexpr auto schema = "logcumsumexp(Tensor self, int dim) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, int64_t dim) {
    TAEDA_CHECK(self.is_floating_point(), "[logcumsumexp] the input must be floating: got ", self.scalar_type(), "; convert it first");
    return scan(ScanKind::kLogSumExp, self, dim, self.scalar_type(), "logcumsumexp");
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
    if (self.dim() == 0 || self.numel() == 0) return grad.mul(1);
    if (autograd::recording()) return linear_gradient(grad, self, result, dim);
    // Positive and negative parts of the gradient go through logarithms, so that nothing overflows.
    const auto part = [&](const Tensor& g) {
      const Tensor logs = g.clamp_min(0).log().sub(result);
      return logs.flip(dim).logcumsumexp(dim).flip(dim).add(self).exp();
    };
    return part(grad).sub(part(grad.neg()));
  }

 private:
  /// Σ_j≥i grad_j · exp(self_i - result_j), differentiable also where grad is zero. A factor is split off where it cannot overflow;
  /// otherwise all pairs are formed.
  static Tensor linear_gradient(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
    const Tensor highest = self.detach().amax({dim}, true);
    const double spread = highest.sub(result.detach()).max().item<double>();
    if (spread < 80) {
      return self.sub(highest).exp().mul(grad.mul(highest.sub(result).exp()).flip({dim}).cumsum(dim).flip({dim}));
    }
    const Tensor x = self.movedim(dim, -1);
    const Tensor r = result.movedim(dim, -1);
    const Tensor earlier = taeda::ones({x.size(-1), x.size(-1)}, TensorOptions(kBool)).tril(-1);
    const Tensor unused = earlier.logical_or(r.detach().isneginf().unsqueeze(-2));
    const Tensor weights = x.unsqueeze(-1).sub(r.unsqueeze(-2)).masked_fill(unused, -std::numeric_limits<double>::infinity()).exp();
    return weights.mul(grad.movedim(dim, -1).unsqueeze(-2)).sum({-1}).movedim(-1, dim);
  }
};

/// n-th differences of neighbours along `dim`, after putting `prepend` before and `append` behind.
struct Diff : Composite {
  static constexpr auto schema = "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
    TAEDA_CHECK(self.dim() > 0, "[diff] diff expects input to be at least one-dimensional: got a 0-dim tensor; reshape it");
    TAEDA_CHECK(n >= 0, "[diff] order must be non-negative but got ", n, "; pass 0 or more");
    dim = maybe_wrap_dim(dim, self.dim(), "diff");
    if (n == 0) return self.clone();
    for (const auto* t : {&prepend, &append}) {
      TAEDA_CHECK(!*t || !(*t)->defined() || (*t)->dim() == self.dim(), "[diff] expected prepend and append to have as many dimensions as the input: got ",
                  (*t)->dim(), " and ", self.dim(), "; reshape them");
    }
    std::vector<Tensor> parts;
    if (prepend && prepend->defined()) parts.push_back(*prepend);
    parts.push_back(self);
    if (append && append->defined()) parts.push_back(*append);
    Tensor t = parts.size() > 1 ? taeda::cat(parts, dim) : self;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t size = t.size(dim);
      if (size <= 1) return t.narrow(dim, 0, 0).clone();
      const Tensor high = t.narrow(dim, 1, size - 1), low = t.narrow(dim, 0, size - 1);
      t = t.scalar_type() == kBool ? high.logical_xor(low) : high.sub(low);
    }
    return t;
  }
};

Tensor pair_means(const Tensor& y, int64_t dim) {
  const int64_t n = y.size(dim);
  return y.narrow(dim, 1, n - 1).add(y.narrow(dim, 0, n - 1));
}
/// Widths of the intervals of x, shaped to go with y along `dim`.
Tensor widths(const Tensor& y, const Tensor& x, int64_t dim) {
  Tensor points = x;
  if (x.dim() == 1) {
    TAEDA_CHECK(x.size(0) == y.size(dim), "[trapezoid] there must be one x value for each sample point: got ", x.size(0), " and ", y.size(dim),
                "; pass as many");
    DimVector sizes(static_cast<size_t>(y.dim()), 1);
    sizes[static_cast<size_t>(maybe_wrap_dim(dim, y.dim()))] = x.size(0);
    points = x.reshape(sizes);
  } else if (x.dim() < y.dim()) {
    DimVector sizes(static_cast<size_t>(y.dim() - x.dim()), 1);
    sizes.append(x.sizes().begin(), x.sizes().end());
    points = x.reshape(sizes);
  }
  const int64_t d = points.dim() == y.dim() ? dim : maybe_wrap_dim(dim, y.dim()) + points.dim() - y.dim();
  return points.diff(1, d);
}
void check_trapezoid(const Tensor& y, int64_t dim) {
  TAEDA_CHECK(y.scalar_type() != kBool, "[trapezoid] received a bool input for `y`, but bool is not supported; convert it");
  maybe_wrap_dim(dim, y.dim(), "trapezoid");
}
Tensor empty_integral(const Tensor& y, int64_t dim) { return y.narrow(dim, 0, 0).sum(dim); }
/// Integral of y by the trapezoidal rule, samples dx apart along `dim`.
struct TrapezoidDx : Composite {
  static constexpr auto schema = "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, const Scalar& dx, int64_t dim) {
    check_trapezoid(y, dim);
    if (y.size(dim) == 0) return empty_integral(y, dim).to(is_integral_type(y.scalar_type(), true) ? default_scalar_type() : y.scalar_type());
    const Tensor total = y.sum(dim);  // integers count as int64: neither the sum nor that of the ends overflows y's dtype
    const Tensor ends = y.select(dim, 0).to(total.scalar_type()).add(y.select(dim, -1));
    return total.sub(ends.mul(0.5)).mul(dx);
  }
};
/// Integral of y by the trapezoidal rule, samples at x along `dim`.
struct TrapezoidX : Composite {
  static constexpr auto schema = "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, const Tensor& x, int64_t dim) {
    check_trapezoid(y, dim);
    if (y.size(dim) == 0) return empty_integral(y, dim).to(is_integral_type(y.scalar_type(), true) ? default_scalar_type() : y.scalar_type());
    return pair_means(y, dim).mul(widths(y, x, dim)).sum(dim).div(2);
  }
};
/// See `trapezoid`.
struct TrapzDx : Composite {
  static constexpr auto schema = "trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, double dx, int64_t dim) { return taeda::trapezoid(y, Scalar(dx), dim); }
};
/// See `trapezoid`.
struct TrapzX : Composite {
  static constexpr auto schema = "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, const Tensor& x, int64_t dim) { return taeda::trapezoid(y, x, dim); }
};
/// Running integrals by the trapezoidal rule, samples dx apart along `dim`.
struct CumulativeTrapezoidDx : Composite {
  static constexpr auto schema = "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, const Scalar& dx, int64_t dim) {
    check_trapezoid(y, dim);
    return pair_means(y, dim).cumsum(dim).mul(Scalar(0.5 * dx.toDouble()));
  }
};
/// Running integrals by the trapezoidal rule, samples at x along `dim`.
struct CumulativeTrapezoidX : Composite {
  static constexpr auto schema = "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& y, const Tensor& x, int64_t dim) {
    check_trapezoid(y, dim);
    return pair_means(y, dim).mul(widths(y, x, dim)).cumsum(dim).div(2);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/scan.inc"
