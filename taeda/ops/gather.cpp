// SPDX-License-Identifier: Apache-2.0
// Operators that take or write single elements named by an index tensor: gather, scatter and kin.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

int64_t rank_of(const Tensor& t) { return std::max<int64_t>(t.dim(), 1); }

void check_gather_shapes(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const char* op) {
  if (index.numel() == 0) return;
  TAEDA_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, "[", op, "] expected dtype int64 for index: got ",
              index.scalar_type(), "; convert it with .to(kLong)");
  TAEDA_CHECK(rank_of(index) == rank_of(self), "[", op, "] the index must have as many dimensions as self: got ", index.sizes(),
              " and ", self.sizes(), "; reshape it");
  for (int64_t d = 0; d < index.dim() && d < self.dim(); ++d) {
    TAEDA_CHECK(d == dim || index.size(d) <= self.size(d), "[", op, "] size of the index must not exceed self's apart from dimension ",
                dim, ": got ", index.sizes(), " and ", self.sizes(), "; narrow the index");
  }
  if (!source.defined()) return;
  TAEDA_CHECK(rank_of(source) == rank_of(index), "[", op, "] the source must have as many dimensions as the index: got ",
              source.sizes(), " and ", index.sizes(), "; reshape it");
  for (int64_t d = 0; d < index.dim(); ++d) {
    TAEDA_CHECK(index.size(d) <= (source.dim() == 0 ? 1 : source.size(d)), "[", op, "] size of the index must not exceed the source's: got ",
                index.sizes(), " and ", source.sizes(), "; narrow the index");
  }
}

/// The tensor as one with dimensions, for kernels that want equal ranks.
Tensor at_least_1d(const Tensor& t) { return t.dim() == 0 ? t.reshape(IntArrayRef(int64_t{1})) : t; }

/// Elements self[…, index[…], …] along `dim`, in the shape of the index.
struct Gather {
  static constexpr auto schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
    const int64_t d = maybe_wrap_dim(dim, self.dim(), "gather");
    check_gather_shapes(self, d, index, Tensor(), "gather");
    Tensor result = make_tensor(index.sizes(), self.scalar_type(), self.device());
    if (index.numel() == 0) return result;
    const Tensor from = at_least_1d(self);
    const Tensor positions =
        at_least_1d(detail::wrapped_index(detail::long_index(index, "gather"), from.size(d), "gather", false));
    const Tensor to = at_least_1d(result);
    gather_kernel(self.device(), {&from.impl(), &positions.impl(), &to.impl(), d});
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
    return taeda::zeros(self_sizes, grad.options()).scatter_add_(dim, index, grad);
  }
  static constexpr Onnx onnx{"GatherElements", 13};
};

void scatter_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source, ScatterReduce reduce, const char* op) {
  const int64_t d = maybe_wrap_dim(dim, out.dim(), op);
  check_gather_shapes(out, d, index, source, op);
  TAEDA_CHECK(source.scalar_type() == out.scalar_type(), "[", op, "] expected self.dtype to be equal to src.dtype: got ",
              out.scalar_type(), " and ", source.scalar_type(), "; convert the source");
  detail::check_writable(out, op);
  detail::check_no_partial_overlap(out, source, op);
  if (index.numel() == 0) return;
  const Tensor to = out.dim() == 0 ? out.view(IntArrayRef(int64_t{1})) : out;
  const Tensor positions = at_least_1d(detail::wrapped_index(detail::long_index(index, op), to.size(d), op, false));
  Tensor from = at_least_1d(source);
  if (from.is_alias_of(out)) from = detail::contiguous_copy(from);
  scatter_kernel(out.device(), {&to.impl(), &positions.impl(), &from.impl(), d, reduce});
}

/// One number in the shape of the index, without memory for each.
Tensor filled_like(const Scalar& value, const Tensor& index, ScalarType dtype) {
  Tensor one = make_tensor({}, dtype);
  detail::fill_elements(one.impl(), value);
  return one.expand(index.sizes());
}

ScatterReduce scatter_by_name(std::string_view reduce) {
  if (reduce == "add") return ScatterReduce::kAdd;
  TAEDA_CHECK(reduce == "multiply", "[scatter] reduce must be either add or multiply: got \"", reduce,
              "\"; use scatter_reduce for others");
  return ScatterReduce::kMul;
}

/// A copy of self with the source's elements written to the places that the index names along `dim`.
struct Scatter {
  static constexpr auto schema = "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor";
  static constexpr auto out_apart = "self src";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& src) {
    scatter_into(out, dim, index, src, ScatterReduce::kAssign, "scatter");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim, const Tensor& index) { return grad.scatter(dim, index, 0); }
  static Tensor grad_src(const Tensor& grad, int64_t dim, const Tensor& index, IntArrayRef src_sizes) {
    return spread(grad.gather(dim, index), src_sizes);
  }
  /// The source's gradient: what lies beyond the index's shape was not used.
  static Tensor spread(const Tensor& grad, IntArrayRef sizes) {
    if (grad.sizes() == sizes) return grad;
    Tensor result = grad;
    for (int64_t d = 0; d < grad.dim(); ++d) {
      const int64_t missing = sizes[static_cast<size_t>(d)] - result.size(d);
      if (missing == 0) continue;
      DimVector rest(result.sizes());
      rest[static_cast<size_t>(d)] = missing;
      const std::vector<Tensor> parts{result, taeda::zeros(rest, grad.options())};
      result = taeda::cat(parts, d);
    }
    return result.reshape(sizes);
  }
  static constexpr Onnx onnx{"ScatterElements", 16};
};
/// A copy of self with `value` written to the places that the index names along `dim`.
struct ScatterValue {
  static constexpr auto schema = "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Scalar& value) {
    scatter_into(out, dim, index, filled_like(value, index, out.scalar_type()), ScatterReduce::kAssign, "scatter");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, value);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim, const Tensor& index) { return grad.scatter(dim, index, 0); }
};
/// scatter with "add" or "multiply".
struct ScatterBy {
  static constexpr auto schema = "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor";
  static constexpr auto out_apart = "self src";
  static constexpr auto inplace = true;
  static constexpr auto no_grad = "use scatter_add or scatter_reduce, which have gradients";
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& src,
                   std::string_view reduce) {
    scatter_into(out, dim, index, src, scatter_by_name(reduce), "scatter");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, src, reduce);
    return result;
  }
};
/// scatter of one value with "add" or "multiply".
struct ScatterValueBy {
  static constexpr auto schema =
      "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static constexpr auto no_grad = "use scatter_add or scatter_reduce, which have gradients";
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Scalar& value,
                   std::string_view reduce) {
    scatter_into(out, dim, index, filled_like(value, index, out.scalar_type()), scatter_by_name(reduce), "scatter");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, value, reduce);
    return result;
  }
};

/// Adds the source's elements to the places that the index names along `dim`.
struct ScatterAdd {
  static constexpr auto schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor";
  static constexpr auto out_apart = "self src";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& src) {
    scatter_into(out, dim, index, src, ScatterReduce::kAdd, "scatter_add");
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad) { return grad; }
  static Tensor grad_src(const Tensor& grad, int64_t dim, const Tensor& index, IntArrayRef src_sizes) {
    return Scatter::spread(grad.gather(dim, index), src_sizes);
  }
};

/// Combines elements by "sum", "prod", "mean", "amax" or "amin"; without include_self the old values do not take part.
struct ScatterReduceTwo {
  static constexpr auto schema =
      "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor";
  static constexpr auto out_apart = "self src";
  static constexpr auto inplace = true;
  static Scalar start_value(std::string_view reduce, ScalarType type) {
    if (reduce == "prod") return 1;
    if (reduce != "amin" && reduce != "amax") return 0;
    const bool least = reduce == "amin";
    if (is_floating_type(type)) {
      const double inf = std::numeric_limits<double>::infinity();
      return least ? inf : -inf;
    }
    return dispatch_all(type, "scatter_reduce", [&]<class T>() -> Scalar {
      if constexpr (is_floating<T>) return 0;
      else return static_cast<int64_t>(least ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
    });
  }
  static ScatterReduce how(std::string_view reduce) {
    if (reduce == "sum" || reduce == "mean") return ScatterReduce::kAdd;
    if (reduce == "prod") return ScatterReduce::kMul;
    if (reduce == "amin") return ScatterReduce::kMin;
    TAEDA_CHECK(reduce == "amax", "[scatter_reduce] reduce must be one of sum, prod, mean, amax, amin: got \"", reduce,
                "\"; use one of these");
    return ScatterReduce::kMax;
  }
  static void into(const Tensor& out, const Tensor& /*self*/, int64_t dim, const Tensor& index, const Tensor& src,
                   std::string_view reduce, bool include_self) {
    const ScatterReduce combine = how(reduce);
    detail::check_writable(out, "scatter_reduce");
    detail::check_no_partial_overlap(out, src, "scatter_reduce");
    Tensor work = detail::contiguous_copy(out);
    if (!include_self) {
      const Scalar start = start_value(reduce, out.scalar_type());
      scatter_into(work, dim, index, filled_like(start, index, out.scalar_type()), ScatterReduce::kAssign, "scatter_reduce");
    }
    scatter_into(work, dim, index, src, combine, "scatter_reduce");
    if (reduce == "mean") {
      const Tensor counts = count_written(work, dim, index, include_self, kDouble);
      const Tensor mean = work.to(kDouble).div(counts);
      work = (out.is_floating_point() ? mean : mean.floor()).to(out.scalar_type());
    }
    pointwise::copy_elements(out.impl(), work.impl());
  }
  static Tensor count_written(const Tensor& like, int64_t dim, const Tensor& index, bool include_self, ScalarType type) {
    Tensor counts = taeda::full(like.sizes(), include_self ? 1 : 0, TensorOptions(type));
    counts.scatter_add_(dim, index, taeda::ones(index.sizes(), TensorOptions(type)));
    return counts.clamp_min(1);
  }
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                        bool include_self) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, dim, index, src, reduce, include_self);
    return result;
  }
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                                  const Tensor& src, std::string_view reduce, bool include_self,
                                                  const Tensor& result, std::array<bool, 3> needs) {
    if (index.numel() == 0) return {needs[0] ? grad : Tensor(), Tensor(), needs[2] ? taeda::zeros_like(src) : Tensor()};
    const Tensor used = narrowed(src, index.sizes());
    Tensor gs;
    Tensor gsrc;
    if (reduce == "sum") {
      gs = grad;
      gsrc = grad.gather(dim, index);
    } else if (reduce == "mean") {
      gs = grad.div(count_written(self, dim, index, include_self, grad.scalar_type()));
      gsrc = gs.gather(dim, index);
    } else if (reduce == "prod") {
      const Tensor self_zero = self.eq(0);
      const Tensor safe_self = self.masked_fill(self_zero, 1);
      const Tensor self_grad = grad.mul(safe_self.scatter_reduce(dim, index, used, "prod", include_self)).div(safe_self);
      gs = taeda::where(self_zero, self_grad, grad.mul(result).div(safe_self));
      const Tensor zero = used.eq(0);
      const Tensor zero_count =
          taeda::zeros_like(self).scatter_add(dim, index, zero.to(grad.scalar_type())).gather(dim, index);
      const Tensor single = zero.logical_and(zero_count.eq(1));
      const Tensor safe = used.masked_fill(zero, 1);
      const Tensor product = self.scatter_reduce(dim, index, safe, "prod", include_self).gather(dim, index);
      const Tensor others = result.gather(dim, index).div(safe).masked_fill(zero, 0);
      gsrc = grad.gather(dim, index).mul(taeda::where(single, product, others));
    } else {
      const Tensor self_is = self.eq(result).to(grad.scalar_type());
      const Tensor used_is = used.eq(result.gather(dim, index)).to(grad.scalar_type());
      const Tensor n = (include_self ? self_is : self_is.scatter(dim, index, 0)).scatter_add(dim, index, used_is);
      const Tensor share = grad.div(n.clamp_min(1));
      gs = self_is.mul(share);
      gsrc = used_is.mul(share.gather(dim, index));
    }
    if (!include_self) gs = gs.scatter(dim, index, 0);
    return {needs[0] ? gs : Tensor(), Tensor(), needs[2] ? Scatter::spread(gsrc, src.sizes()) : Tensor()};
  }
  static Tensor narrowed(const Tensor& t, IntArrayRef sizes) {
    Tensor result = t.dim() == static_cast<int64_t>(sizes.size()) ? t : t.reshape(sizes);
    for (size_t d = 0; d < sizes.size(); ++d) result = result.narrow(static_cast<int64_t>(d), 0, sizes[d]);
    return result;
  }
};

/// gather where index and self are first broadcast apart from `dim`; without `dim`, of the flattened tensors.
struct TakeAlongDim : Composite {
  static constexpr auto schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
    TAEDA_CHECK(indices.scalar_type() == kLong, "[take_along_dim] expected dtype int64 for indices: got ", indices.scalar_type(),
                "; convert them with .to(kLong)");
    if (!dim) return self.reshape(IntArrayRef(int64_t{-1})).gather(0, indices.reshape(IntArrayRef(int64_t{-1})));
    TAEDA_CHECK(self.dim() == indices.dim(), "[take_along_dim] input and indices should have the same number of dimensions, but got ",
                self.dim(), " and ", indices.dim(), "; unsqueeze one of them");
    const int64_t d = maybe_wrap_dim(*dim, self.dim(), "take_along_dim");
    DimVector self_sizes(self.sizes());
    DimVector index_sizes(indices.sizes());
    self_sizes[static_cast<size_t>(d)] = 1;
    index_sizes[static_cast<size_t>(d)] = 1;
    const DimVector common = broadcast_sizes(self_sizes, index_sizes, "take_along_dim");
    self_sizes = common;
    index_sizes = common;
    self_sizes[static_cast<size_t>(d)] = self.size(d);
    index_sizes[static_cast<size_t>(d)] = indices.size(d);
    return self.expand(self_sizes).gather(d, indices.expand(index_sizes));
  }
};

/// Elements of the flattened self, in the shape of the index. Negative positions count from the end.
struct Take {
  static constexpr auto schema = "take(Tensor self, Tensor index) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, const Tensor& index) {
    TAEDA_CHECK(index.scalar_type() == kLong, "[take] expected a long tensor for index: got ", index.scalar_type(),
                "; convert it with .to(kLong)");
    TAEDA_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "[take] cannot take from an empty tensor: got ", index.numel(),
                      " indices; check the input");
    const Tensor positions = detail::wrapped_index(index.contiguous(), self.numel(), "take", true);
    const Tensor flat = self.contiguous();
    Tensor result = make_tensor(index.sizes(), self.scalar_type(), self.device());
    index_select_kernel(self.device(), {result.impl().data(), flat.impl().data(), positions.const_data_ptr<int64_t>(), 1,
                                        self.numel(), index.numel(), static_cast<int64_t>(self.itemsize())});
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& index) {
    return taeda::zeros(self_sizes, grad.options()).put(index, grad, true);
  }
};

/// Writes the source's elements to positions of the flattened self; `accumulate` adds.
struct Put {
  static constexpr auto schema = "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, const Tensor& index, const Tensor& source, bool accumulate) {
    TAEDA_CHECK(index.scalar_type() == kLong, "[put] expected a long tensor for index: got ", index.scalar_type(),
                "; convert it with .to(kLong)");
    TAEDA_CHECK(source.scalar_type() == out.scalar_type(), "[put] self and source must have the same dtype: got ",
                out.scalar_type(), " and ", source.scalar_type(), "; convert the source");
    TAEDA_CHECK(source.numel() == index.numel(), "[put] source and index must have the same number of elements: got ",
                source.numel(), " and ", index.numel(), "; make them match");
    const Tensor positions = detail::wrapped_index(index.contiguous(), out.numel(), "put", true);
    detail::check_writable(out, "put");
    detail::check_no_partial_overlap(out, source, "put");
    const Tensor from = detail::contiguous_copy(source);
    const Tensor work = out.is_contiguous() ? out : detail::contiguous_copy(out);
    index_write_kernel(out.device(), {out.scalar_type(), work.impl().data(), from.impl().data(),
                                      positions.const_data_ptr<int64_t>(), 1, out.numel(), positions.numel(), 1, 1, 0,
                                      accumulate ? ScatterReduce::kAdd : ScatterReduce::kAssign});
    if (!work.is_same(out)) pointwise::copy_elements(out.impl(), work.impl());
  }
  static Tensor forward(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, index, source, accumulate);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& index, bool accumulate) {
    return accumulate ? grad : grad.put(index, taeda::zeros(index.sizes(), grad.options()), false);
  }
  static Tensor grad_source(const Tensor& grad, const Tensor& index, IntArrayRef source_sizes) {
    return grad.take(index).reshape(source_sizes);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/gather.inc"
