// SPDX-License-Identifier: Apache-2.0
// Operators with masks, positions of nonzero elements, and the remaining forms of where.
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

void check_mask(const Tensor& mask, const char* op) {
  TAEDA_CHECK(mask.scalar_type() == kBool, "[", op, "] expected a mask of dtype bool: got ", mask.scalar_type(),
              "; convert it with .to(kBool)");
}

/// One element of `dtype`.
Tensor one_element(const Scalar& value, ScalarType dtype, Device device) {
  Tensor t = make_tensor({}, dtype, device);
  detail::fill_elements(t.impl(), value);
  return t;
}

/// self with `value` where the mask, of a shape that broadcasts, is true.
struct MaskedFill {
  static constexpr auto schema = "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, const Tensor& mask, const Scalar& value) {
    check_mask(mask, "masked_fill");
    return taeda::where(mask, one_element(value, self.scalar_type(), self.device()), self);
  }
  static void into(const Tensor& out, const Tensor& self, const Tensor& mask, const Scalar& value) {
    const Tensor result = forward(self, mask, value);
    TAEDA_CHECK(result.sizes() == out.sizes(), "[masked_fill_] the mask must broadcast to self's shape: got ", mask.sizes(),
                " and ", self.sizes(), "; use masked_fill");
    detail::check_writable(out, "masked_fill_");
    pointwise::copy_elements(out.impl(), result.impl());
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mask, IntArrayRef self_sizes) {
    return sum_to(grad.masked_fill(mask, 0), self_sizes);
  }
};
/// self with the value of a 0-dim tensor where the mask is true.
struct MaskedFillTensor {
  static constexpr auto schema = "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor";
  static constexpr auto inplace = true;
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const Tensor& mask, const Tensor& value) {
    TAEDA_CHECK(value.dim() == 0, "[masked_fill] only a 0-dim value tensor is supported: got ", value.dim(),
                " dimensions; pass a number or one element");
    return MaskedFill::forward(self, mask, value.item());
  }
  static void into(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
    TAEDA_CHECK(value.dim() == 0, "[masked_fill_] only a 0-dim value tensor is supported: got ", value.dim(),
                " dimensions; pass a number or one element");
    MaskedFill::into(out, self, mask, value.item());
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mask, IntArrayRef self_sizes) {
    return sum_to(grad.masked_fill(mask, 0), self_sizes);
  }
  static Tensor grad_value(const Tensor& grad, const Tensor& mask) { return taeda::where(mask, grad, 0).sum(); }
};

/// The elements where the mask is true, as a vector.
struct MaskedSelect {
  static constexpr auto schema = "masked_select(Tensor self, Tensor mask) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto shape_from = "values";
  static Tensor forward(const Tensor& self, const Tensor& mask) {
    check_mask(mask, "masked_select");
    const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes(), "masked_select");
    const Tensor elements = self.expand(shape).contiguous();
    const Tensor choice = mask.expand(shape).contiguous();
    Tensor result = make_tensor(IntArrayRef(count_nonzero_kernel(choice.device(), choice.impl())), self.scalar_type(), self.device());
    masked_select_kernel(self.device(), {result.impl().data(), elements.impl().data(), choice.const_data_ptr<bool>(),
                                         elements.numel(), static_cast<int64_t>(self.itemsize())});
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mask, IntArrayRef self_sizes) {
    const DimVector shape = broadcast_sizes(self_sizes, mask.sizes(), "masked_select");
    return sum_to(taeda::zeros(shape, grad.options()).masked_scatter(mask, grad), self_sizes);
  }
};

/// self with the source's first elements, in order, where the mask is true.
struct MaskedScatter {
  static constexpr auto schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor";
  static constexpr auto inplace = true;
  static void scatter(const Tensor& work, const Tensor& mask, const Tensor& source) {
    check_mask(mask, "masked_scatter");
    TAEDA_CHECK(work.scalar_type() == source.scalar_type(), "[masked_scatter] expected self and source to have the same dtype: got ",
                work.scalar_type(), " and ", source.scalar_type(), "; convert the source");
    const Tensor choice = mask.expand(work.sizes()).contiguous();
    const int64_t wanted = count_nonzero_kernel(choice.device(), choice.impl());
    TAEDA_CHECK(wanted <= source.numel(), "[masked_scatter] number of elements of source < number of ones in mask: got ",
                source.numel(), " < ", wanted, "; give more elements");
    const Tensor from = source.contiguous();
    masked_scatter_kernel(work.device(), {work.impl().data(), from.impl().data(), choice.const_data_ptr<bool>(), work.numel(),
                                          static_cast<int64_t>(work.itemsize())});
  }
  static Tensor forward(const Tensor& self, const Tensor& mask, const Tensor& source) {
    const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes(), "masked_scatter");
    Tensor result = detail::contiguous_copy(self.expand(shape));
    scatter(result, mask, source);
    return result;
  }
  static void into(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& source) {
    const Tensor work = detail::contiguous_copy(self);
    scatter(work, mask, source);
    detail::check_writable(out, "masked_scatter_");
    pointwise::copy_elements(out.impl(), work.impl());
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mask, IntArrayRef self_sizes) {
    return sum_to(grad.masked_fill(mask, 0), self_sizes);
  }
  static Tensor grad_source(const Tensor& grad, const Tensor& mask, IntArrayRef source_sizes) {
    const Tensor used = grad.masked_select(mask);
    const int64_t missing = detail::checked_numel(source_sizes, "masked_scatter") - used.numel();
    if (missing == 0) return used.reshape(source_sizes);
    const std::vector<Tensor> parts{used, taeda::zeros({missing}, grad.options())};
    return taeda::cat(parts).reshape(source_sizes);
  }
};

/// Positions of the nonzero elements: (count, dim), in row-major order; the coordinates of one dimension lie side by side.
struct Nonzero {
  static constexpr auto schema = "nonzero(Tensor self) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto shape_from = "values";
  static constexpr auto no_grad = "positions are integers";
  static Tensor forward(const Tensor& self) {
    const Tensor input = self.contiguous();
    const int64_t count = count_nonzero_kernel(self.device(), input.impl());
    Tensor result = taeda::empty_strided({count, self.dim()}, {1, count}, self.options().dtype(kLong));
    if (self.dim() > 0 && count > 0) {
      nonzero_kernel(self.device(), {&input.impl(), reinterpret_cast<int64_t*>(result.impl().data()), count});
    }
    return result;
  }
};
/// One vector of positions for each dimension.
struct NonzeroNumpy : Composite {
  static constexpr auto schema = "nonzero_numpy(Tensor self) -> Tensor[]";
  static std::vector<Tensor> forward(const Tensor& self) {
    if (self.dim() == 0) return self.unsqueeze(0).nonzero().unbind(1);
    return self.nonzero().unbind(1);
  }
};
/// nonzero; a 0-dim tensor gives (0 or 1, 0).
struct Argwhere : Composite {
  static constexpr auto schema = "argwhere(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return self.nonzero(); }
};
/// The first `size` rows of nonzero, filled up with fill_value.
struct NonzeroStatic : Composite {
  static constexpr auto schema = "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t size, int64_t fill_value) {
    TAEDA_CHECK(size >= 0, "[nonzero_static] size must be a non-negative integer: got ", size, "; pass 0 or more");
    const Tensor found = self.nonzero();
    const int64_t n = std::min(size, found.size(0));
    Tensor result = taeda::full({size, self.dim()}, fill_value, TensorOptions(kLong).device(std::optional<Device>(self.device())));
    result.narrow(0, 0, n).copy_(found.narrow(0, 0, n));
    return result;
  }
};

/// Positions of the true elements, one vector for each dimension.
struct WherePositions : Composite {
  static constexpr auto schema = "where(Tensor condition) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& condition) { return condition.nonzero_numpy(); }
};
/// One of two numbers by condition.
struct WhereNumbers : Composite {
  static constexpr auto schema = "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& condition, const Scalar& self, const Scalar& other) {
    const auto dtype_of = [](const Scalar& s) {
      return s.isFloatingPoint() ? default_scalar_type() : s.isBoolean() ? kBool : kLong;
    };
    const ScalarType dtype = promote_types(dtype_of(self), dtype_of(other));
    return taeda::where(condition, one_element(self, dtype, condition.device()), one_element(other, dtype, condition.device()));
  }
};

}  // namespace
}  // namespace ops

Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return taeda::where(condition, *this, other); }
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const { return taeda::where(condition, *this, other); }

}  // namespace taeda

#include "taeda/ops/generated/mask_index.inc"
