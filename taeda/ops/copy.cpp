// SPDX-License-Identifier: Apache-2.0
// Operators that copy, convert, fill and resize.
#include "taeda/core/host_watch.h"
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

/// Copies the elements of `src`, broadcast to this shape, into `self`, converting the dtype.
struct Copy_ {
  static constexpr auto schema = "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)";
  static void forward(const Tensor& self, const Tensor& src, bool /*non_blocking*/) {
    if (self.is_same(src)) return;
    const DimVector shape = broadcast_sizes(self.sizes(), src.sizes(), "copy_");
    TAEDA_CHECK(IntArrayRef(shape) == self.sizes(), "[copy_] the source must broadcast to the target's shape: got ", src.sizes(),
                " into ", self.sizes(), "; expand or reshape the source");
    detail::check_writable(self, "copy_");
    Tensor source = src;
    if (source.is_alias_of(self) && !(source.sizes() == self.sizes() && source.strides() == self.strides() &&
                                      source.storage_offset() == self.storage_offset() && source.dtype() == self.dtype())) {
      detail::check_no_partial_overlap(self, src, "copy_");
      source = src.clone();
    }
    pointwise::copy_elements(self.impl(), source.impl());
  }
  static Tensor grad_self(const Tensor& grad) { return taeda::zeros_like(grad); }
  static Tensor grad_src(const Tensor& grad, IntArrayRef src_sizes, ScalarType src_dtype) {
    return sum_to(grad, src_sizes).to(src_dtype);
  }
};

/// The tensor without the repetitions of an expanded one: what is to be written when every element gets the same value.
Tensor without_repetitions(const Tensor& self) {
  Tensor t = self;
  for (int64_t d = self.dim(); d-- > 0;) {
    if (self.size(d) > 1 && self.stride(d) == 0) t = t.select(d, 0);
  }
  return t;
}

/// Sets every element to `value`.
struct Fill_ {
  static constexpr auto schema = "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)";
  static Tensor grad_self(const Tensor& grad) { return taeda::zeros_like(grad); }
  static void forward(const Tensor& self, const Scalar& value) {
    detail::fill_elements(without_repetitions(self).impl(), value);
  }
};
/// Sets every element to the value of a 0-dim tensor.
struct FillTensor_ {
  static constexpr auto schema = "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)";
  static void forward(const Tensor& self, const Tensor& value) {
    TAEDA_CHECK(value.dim() == 0, "[fill_] fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
                " dimensions; pass one element with value.reshape({})");
    pointwise::copy_elements(without_repetitions(self).impl(), value.clone().impl());
  }
  static Tensor grad_self(const Tensor& grad) { return taeda::zeros_like(grad); }
  static Tensor grad_value(const Tensor& grad) { return grad.sum(); }
};
/// Sets every element to zero.
struct Zero_ {
  static constexpr auto schema = "zero_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor grad_self(const Tensor& grad) { return taeda::zeros_like(grad); }
  static void forward(const Tensor& self) {
    detail::fill_elements(without_repetitions(self).impl(), 0);
  }
};
/// A copy filled with `value`.
struct Fill : Composite {
  static constexpr auto schema = "fill.Scalar(Tensor self, Scalar value) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Scalar& value) { return self.clone().fill_(value); }
};
/// A copy filled with the value of a 0-dim tensor.
struct FillTensor : Composite {
  static constexpr auto schema = "fill.Tensor(Tensor self, Tensor value) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const Tensor& value) { return self.clone().fill_(value); }
};

/// A copy with memory of its own; keeps the layout of dense tensors unless another format is asked for.
struct Clone {
  static constexpr auto schema = "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, std::optional<MemoryFormat> memory_format) {
    Tensor result = detail::empty_like_of(self, {}, memory_format);
    pointwise::copy_elements(result.impl(), self.impl());
    return result;
  }
  static Tensor grad_self(const Tensor& grad) { return grad; }
};

/// The tensor itself when it has the layout, else a copy that has.
struct Contiguous : Composite {
  static constexpr auto schema = "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, MemoryFormat memory_format) {
    TAEDA_CHECK(memory_format != MemoryFormat::Preserve,
                "[contiguous] the memory format must say a layout: got Preserve; use Contiguous");
    return self.is_contiguous(memory_format) ? self : self.clone(memory_format);
  }
};

/// A converted copy (always a new tensor).
struct ToCopy {
  static constexpr auto schema =
      "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const TensorOptions& options, bool /*non_blocking*/,
                        std::optional<MemoryFormat> memory_format) {
    Tensor result = detail::empty_like_of(self, options.memory_format(std::nullopt), memory_format);
    pointwise::copy_elements(result.impl(), self.impl());
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const TensorOptions& self_options) { return grad.to(self_options); }
};

/// Changes shape and, where needed, memory; contents beyond the old elements are undefined.
struct Resize_ {
  static constexpr auto schema = "resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)";
  static constexpr auto no_grad = "the result does not depend on the values";
  static void forward(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
    TAEDA_CHECK(!self.requires_grad(), "[resize_] cannot resize variables that require grad: got a tensor of sizes ",
                self.sizes(), "; detach it first");
    TensorImpl& t = self.mutable_impl();
    const bool last = memory_format == MemoryFormat::ChannelsLast || memory_format == MemoryFormat::ChannelsLast3d;
    if (self.sizes() == size && !last) return;
    detail::checked_numel(size, "resize_");
    const DimVector strides = last ? detail::channels_last_strides(size) : detail::contiguous_strides(size);
    const size_t bytes = detail::storage_bytes(size, strides, t.offset, t.itemsize(), "resize_");
    if (bytes > t.storage->nbytes) t.storage->resize(bytes);
    t.set_sizes_strides(size, strides);
  }
};
/// Resizes to the shape of another tensor.
struct ResizeAs_ : Composite {
  static constexpr auto schema =
      "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
    return self.resize_(the_template.sizes(), memory_format);
  }
};

/// The value of a one-element tensor as a number.
Scalar read_one(const Tensor& self) {
  TAEDA_CHECK(self.numel() == 1, "[item] a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar; pick one element first");
  return dispatch_all(self.scalar_type(), "item", [&]<class T>() -> Scalar {
    return Scalar(*reinterpret_cast<const T*>(self.impl().data()));
  });
}

}  // namespace
}  // namespace ops

Scalar Tensor::item() const {
  if (TAEDA_UNLIKELY(detail::tls_host_watch != nullptr)) detail::tls_host_watch->read(mutable_impl());
  return ops::read_one(*this);
}

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  if (!memory_format) memory_format = options.memory_format_opt();
  const bool same_type = !options.has_dtype() || options.scalar_type() == scalar_type();
  const bool same_device = !options.has_device() || options.device().type() == device().type();
  const bool same_layout = !memory_format || *memory_format == MemoryFormat::Preserve || is_contiguous(*memory_format);
  if (same_type && same_device && same_layout && !copy) return *this;
  return taeda::_to_copy(*this, options.requires_grad(std::nullopt), non_blocking, memory_format);
}
Tensor Tensor::to(Device where, bool non_blocking, bool copy) const {
  return to(TensorOptions().device(std::optional<Device>(where)), non_blocking, copy);
}
Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const {
  return to(TensorOptions(type), non_blocking, copy, memory_format);
}
Tensor Tensor::to(Device where, ScalarType type, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  return to(TensorOptions(type).device(std::optional<Device>(where)), non_blocking, copy, memory_format);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const {
  return to(other.device(), other.scalar_type(), non_blocking, copy, memory_format);
}
Tensor Tensor::cpu() const { return to(Device(kCPU)); }
bool Tensor::is_nonzero() const {
  TAEDA_CHECK(numel() == 1, "[is_nonzero] the truth of a tensor is that of its one element: got ", numel(), " elements; use any() or all()");
  const Scalar value = item();
  return value.isFloatingPoint() ? value.toDouble() != 0 : value.toLong() != 0;
}
bool Tensor::is_set_to(const Tensor& other) const {
  return storage().is_alias_of(other.storage()) && storage_offset() == other.storage_offset() && sizes() == other.sizes() &&
         strides() == other.strides();
}
Tensor Tensor::toType(ScalarType type) const { return to(type); }

}  // namespace taeda

#include "taeda/ops/generated/copy.inc"
