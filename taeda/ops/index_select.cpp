// SPDX-License-Identifier: Apache-2.0
// Operators that take or write whole slices named by a vector of positions.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {

namespace detail {

Tensor long_index(const Tensor& index, const char* op) {
  const ScalarType t = index.scalar_type();
  TAEDA_CHECK_INDEX(t == kLong || t == kInt, "[", op, "] the index must be a tensor of int64 or int32: got ", t,
                    "; convert it with .to(kLong)");
  return (t == kLong ? index : index.to(kLong)).contiguous();
}

Tensor wrapped_index(const Tensor& index, int64_t size, const char* op, bool wrap) {
  const auto* data = reinterpret_cast<const int64_t*>(index.impl().data());
  const int64_t n = index.numel();
  int64_t low = 0;
  int64_t high = -1;
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, data[i]);
    high = std::max(high, data[i]);
  }
  TAEDA_CHECK_INDEX(low >= (wrap ? -size : 0) && high < size, "[", op, "] index ", high >= size ? high : low,
                    " is out of bounds for dimension with size ", size, "; use indices from ", wrap ? -size : 0, " to ", size - 1);
  if (low >= 0) return index;
  Tensor result = make_tensor(index.sizes(), kLong);
  auto* out = reinterpret_cast<int64_t*>(result.impl().data());
  for (int64_t i = 0; i < n; ++i) out[i] = data[i] < 0 ? data[i] + size : data[i];
  return result;
}

Tensor contiguous_copy(const Tensor& self) {
  Tensor result = make_tensor(self.sizes(), self.scalar_type(), self.device());
  pointwise::copy_elements(result.impl(), self.impl());
  return result;
}

}  // namespace detail

namespace ops {
namespace {

/// A contiguous tensor as (outer, rows, inner) around one dimension.
struct Blocks {
  int64_t outer = 1, rows = 1, inner = 1;
  Blocks(IntArrayRef sizes, int64_t dim) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      (static_cast<int64_t>(d) < dim ? outer : static_cast<int64_t>(d) == dim ? rows : inner) *= sizes[d];
    }
  }
};

/// Slices index[0], index[1], … along `dim`. index is a vector (or 0-dim) of int64 or int32.
struct IndexSelect {
  static constexpr auto schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index) {
    TAEDA_CHECK_INDEX(index.dim() <= 1, "[index_select] the index must be a vector: got ", index.dim(),
                      " dimensions; reshape it, or use index()");
    const int64_t d = maybe_wrap_dim(dim, self.dim(), "index_select");
    TAEDA_CHECK(self.dim() > 0 || index.numel() == 1, "[index_select] a 0-dim tensor takes an index of one element: got ",
                index.numel(), "; reshape the tensor first");
    const Blocks blocks(self.sizes(), d);
    const Tensor positions = detail::wrapped_index(detail::long_index(index, "index_select"), blocks.rows, "index_select", false);
    const Tensor source = self.contiguous();
    DimVector sizes(self.sizes());
    if (!sizes.empty()) sizes[static_cast<size_t>(d)] = index.numel();
    Tensor result = make_tensor(sizes, self.scalar_type(), self.device());
    index_select_kernel(self.device(), {result.impl().data(), source.impl().data(), positions.const_data_ptr<int64_t>(),
                                        blocks.outer, blocks.rows, index.numel(),
                                        blocks.inner * static_cast<int64_t>(self.itemsize())});
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
    return taeda::zeros(self_sizes, grad.options()).index_add_(dim, index, grad);
  }
  static constexpr Onnx onnx{"Gather", 13};
};

/// Combines slices of `out` with source's, or with `value` where the source is undefined. All is checked first.
void write_slices(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
                  const Scalar& value, ScatterReduce reduce, const char* op) {
  TAEDA_CHECK_INDEX(index.dim() <= 1, "[", op, "] the index must be a vector: got ", index.dim(), " dimensions; reshape it");
  const int64_t d = maybe_wrap_dim(dim, out.dim(), op);
  const Blocks blocks(out.sizes(), d);
  if (source.defined()) {
    TAEDA_CHECK(source.scalar_type() == out.scalar_type(), "[", op, "] self and source expected to have the same dtype, but got (self) ",
                out.scalar_type(), " and (source) ", source.scalar_type(), "; convert the source");
    TAEDA_CHECK(source.dim() == out.dim() || (source.dim() <= 1 && out.dim() <= 1), "[", op,
                "] the source must have as many dimensions as self: got ", source.sizes(), " and ", out.sizes(), "; reshape it");
    for (int64_t i = 0; i < source.dim(); ++i) {
      const int64_t wanted = i == d ? index.numel() : i < out.dim() ? out.size(i) : 1;
      TAEDA_CHECK_INDEX(source.size(i) == wanted, "[", op, "] the source's size in dimension ", i, " must be ", wanted, ": got ",
                        source.sizes(), " for self ", out.sizes(), " and ", index.numel(), " indices; reshape it");
    }
    TAEDA_CHECK_INDEX(source.dim() > 0 || index.numel() == 1, "[", op, "] a 0-dim source takes an index of one element: got ",
                      index.numel(), "; give one");
  }
  const Tensor positions = detail::wrapped_index(detail::long_index(index, op), blocks.rows, op, true);
  detail::check_writable(out, op);
  if (source.defined()) detail::check_no_partial_overlap(out, source, op);
  dispatch_all(out.scalar_type(), op, [&]<class T>() {
    TAEDA_CHECK(alpha.fits<T>() && value.fits<T>(), "[", op, "] the number must fit the dtype: got ", source.defined() ? alpha : value, " for ",
                out.scalar_type(), "; use a smaller number or a wider dtype");
  });
  if (positions.numel() == 0) return;
  Tensor from = source.defined() ? source.contiguous() : source;
  if (from.defined() && from.is_alias_of(out)) from = detail::contiguous_copy(from);
  const Tensor work = out.is_contiguous() ? out : detail::contiguous_copy(out);
  index_write_kernel(out.device(), {out.scalar_type(), work.impl().data(), from.defined() ? from.impl().data() : nullptr,
                                    positions.const_data_ptr<int64_t>(), blocks.outer, blocks.rows, positions.numel(),
                                    blocks.inner, alpha, value, reduce});
  if (!work.is_same(out)) pointwise::copy_elements(out.impl(), work.impl());
}

/// Adds alpha · source's slices to the slices of self that the index names; equal indices add up.
struct IndexAdd {
  static constexpr auto schema = "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self source";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha) {
    write_slices(out, dim, index, source, alpha, 0, ScatterReduce::kAdd, "index_add");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, source, alpha);
    return result;
  }
  static Tensor grad_self(const Tensor& grad) { return grad; }
  static Tensor grad_source(const Tensor& grad, int64_t dim, const Tensor& index, const Scalar& alpha, IntArrayRef source_sizes) {
    const Tensor picked = grad.index_select(dim, index);
    return (alpha.equal(1) ? picked : picked.mul(alpha)).reshape(source_sizes);
  }
};

/// Writes source's slices over the slices of self that the index names.
struct IndexCopy {
  static constexpr auto schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor";
  static constexpr auto out_apart = "self source";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& source) {
    write_slices(out, dim, index, source, 1, 0, ScatterReduce::kAssign, "index_copy");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, source);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim, const Tensor& index) { return grad.index_fill(dim, index, 0); }
  static Tensor grad_source(const Tensor& grad, int64_t dim, const Tensor& index, IntArrayRef source_sizes) {
    return grad.index_select(dim, index).reshape(source_sizes);
  }
};

/// Sets the slices of self that the index names to `value`.
struct IndexFill {
  static constexpr auto schema = "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Scalar& value) {
    write_slices(out, dim, index, Tensor(), 1, value, ScatterReduce::kAssign, "index_fill");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, value);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim, const Tensor& index) { return grad.index_fill(dim, index, 0); }
};
/// Sets the slices of self that the index names to the value of a 0-dim tensor.
struct IndexFillTensor {
  static constexpr auto schema = "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor";
  static constexpr auto inplace = true;
  static constexpr auto out = false;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& value) {
    TAEDA_CHECK(value.dim() == 0, "[index_fill] only a 0-dim value tensor is supported: got ", value.dim(),
                " dimensions; pass a number or one element");
    write_slices(out, dim, index, Tensor(), 1, value.item(), ScatterReduce::kAssign, "index_fill");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, value);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim, const Tensor& index) { return grad.index_fill(dim, index, 0); }
  static Tensor grad_value(const Tensor& grad, int64_t dim, const Tensor& index) {
    // Positions named several times were written once.
    const Tensor once = taeda::zeros_like(grad).index_fill_(dim, index, 1);
    return grad.mul(once).sum();
  }
};

ScatterReduce reduce_by_name(std::string_view name, const char* op) {
  if (name == "sum" || name == "add" || name == "mean") return ScatterReduce::kAdd;
  if (name == "prod" || name == "multiply") return ScatterReduce::kMul;
  if (name == "amin") return ScatterReduce::kMin;
  TAEDA_CHECK(name == "amax", "[", op, "] reduce must be one of sum, prod, mean, amax, amin: got \"", name, "\"; use one of these");
  return ScatterReduce::kMax;
}

/// Combines the slices of self that the index names with source's by "prod", "mean", "amax" or "amin"; without
/// include_self the old values do not take part.
struct IndexReduce {
  static constexpr auto schema =
      "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor";
  static constexpr auto out_apart = "self source";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& source,
                   std::string_view reduce, bool include_self) {
    const ScatterReduce how = reduce_by_name(reduce, "index_reduce");
    TAEDA_CHECK(reduce != "sum" && reduce != "add", "[index_reduce] reduce must be one of prod, mean, amax, amin: got \"", reduce,
                "\"; use index_add for sums");
    detail::check_writable(out, "index_reduce");
    detail::check_no_partial_overlap(out, source, "index_reduce");
    Tensor work = detail::contiguous_copy(out);
    if (!include_self) {
      const bool floating = out.is_floating_point();
      const double inf = std::numeric_limits<double>::infinity();
      Scalar start = how == ScatterReduce::kMul ? Scalar(1) : Scalar(0);
      if (how == ScatterReduce::kMin) start = floating ? Scalar(inf) : Scalar(limit_of(out.scalar_type(), true));
      if (how == ScatterReduce::kMax) start = floating ? Scalar(-inf) : Scalar(limit_of(out.scalar_type(), false));
      write_slices(work, dim, index, Tensor(), 1, start, ScatterReduce::kAssign, "index_reduce");
    }
    write_slices(work, dim, index, source, 1, 0, how, "index_reduce");
    if (reduce == "mean") {
      Tensor counts = include_self ? taeda::ones_like(work) : taeda::zeros_like(work);
      counts.index_add_(dim, index, taeda::ones_like(source));
      counts.masked_fill_(counts.eq(0), 1);
      if (out.is_floating_point()) {
        work.div_(counts);
      } else {
        work = work.to(kDouble).div(counts.to(kDouble)).floor().to(out.scalar_type());
      }
    }
    pointwise::copy_elements(out.impl(), work.impl());
  }
  static int64_t limit_of(ScalarType type, bool largest) {
    return dispatch_all(type, "index_reduce", [&]<class T>() -> int64_t {
      if constexpr (is_floating<T>) return 0;
      else return static_cast<int64_t>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
    });
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                        bool include_self) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, source, reduce, include_self);
    return result;
  }
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                                  const Tensor& source, std::string_view reduce, bool include_self,
                                                  const Tensor& result, std::array<bool, 3> needs) {
    const Tensor at = index.reshape(IntArrayRef(int64_t{-1}));
    Tensor gs;
    Tensor gsrc;
    if (reduce == "mean") {
      Tensor counts = include_self ? taeda::ones_like(grad) : taeda::zeros_like(grad);
      counts = counts.index_add(dim, at, taeda::ones_like(source));
      counts = counts.masked_fill(counts.eq(0), 1);
      gs = grad.div(counts);
      gsrc = gs.index_select(dim, at);
    } else if (reduce == "prod") {
      const Tensor masked_self = self.masked_fill(self.eq(0), 1);
      const Tensor self_part = self.eq(0);
      const Tensor without = masked_self.index_reduce(dim, at, source, "prod", include_self);
      gs = taeda::where(self_part, grad.mul(without), grad.mul(result).div(masked_self));
      const Tensor zero = source.eq(0);
      const Tensor zeros_at = taeda::zeros_like(result).index_add(dim, at, zero.to(grad.scalar_type())).index_select(dim, at);
      const Tensor single = zero.logical_and(zeros_at.eq(1));
      const Tensor product = self.index_reduce(dim, at, source.masked_fill(zero, 1), "prod", include_self).index_select(dim, at);
      const Tensor other = result.index_select(dim, at).div(source.masked_fill(zero, 1));
      gsrc = grad.index_select(dim, at).mul(taeda::where(single, product, other.masked_fill(zero.logical_and(single.logical_not()), 0)));
    } else {
      const Tensor value = result.index_select(dim, at);
      const Tensor self_is = self.eq(result).to(grad.scalar_type());
      const Tensor source_is = source.eq(value).to(grad.scalar_type());
      const Tensor n = (include_self ? self_is : taeda::zeros_like(self_is)).index_add(dim, at, source_is);
      const Tensor share = grad.div(n.masked_fill(n.eq(0), 1));
      gs = self_is.mul(share);
      gsrc = source_is.mul(share.index_select(dim, at));
    }
    if (needs[0] && !include_self) gs = gs.index_fill(dim, at, 0);
    return {needs[0] ? gs : Tensor(), Tensor(), needs[2] ? gsrc.reshape(source.sizes()) : Tensor()};
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/index_select.inc"
