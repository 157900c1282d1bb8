// SPDX-License-Identifier: Apache-2.0
// View operators in place: the tensor itself changes its shape and strides, its elements stay where they are.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

/// Takes over the geometry of a view of `self`.
void become(const Tensor& self, const Tensor& view) {
  TensorImpl& t = self.mutable_impl();
  const DimVector sizes(view.sizes());
  const DimVector strides(view.strides());
  t.offset = view.storage_offset();
  t.set_sizes_strides(sizes, strides);
}

/// All dimensions of size 1 removed, in place.
struct Squeeze_ {
  static constexpr auto schema = "squeeze_(Tensor(a!) self) -> Tensor(a!)";
  static void forward(const Tensor& self) { become(self, self.squeeze()); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// Dimension `dim` removed, in place, if its size is 1.
struct SqueezeDim_ {
  static constexpr auto schema = "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)";
  static void forward(const Tensor& self, int64_t dim) { become(self, self.squeeze(dim)); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// The named dimensions removed, in place, where their size is 1.
struct SqueezeDims_ {
  static constexpr auto schema = "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)";
  static void forward(const Tensor& self, IntArrayRef dim) { become(self, self.squeeze(dim)); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// A dimension of size 1 inserted, in place.
struct Unsqueeze_ {
  static constexpr auto schema = "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)";
  static void forward(const Tensor& self, int64_t dim) { become(self, self.unsqueeze(dim)); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// Two dimensions swapped, in place.
struct Transpose_ {
  static constexpr auto schema = "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)";
  static void forward(const Tensor& self, int64_t dim0, int64_t dim1) { become(self, self.transpose(dim0, dim1)); }
  static Tensor grad_self(const Tensor& grad, int64_t dim0, int64_t dim1) { return grad.transpose(dim0, dim1); }
};
/// transpose_.
struct Swapdims_ : Composite {
  static constexpr auto schema = "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, int64_t dim0, int64_t dim1) { return self.transpose_(dim0, dim1); }
};
/// transpose_.
struct Swapaxes_ : Composite {
  static constexpr auto schema = "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, int64_t axis0, int64_t axis1) { return self.transpose_(axis0, axis1); }
};
/// Transposed matrix, in place.
struct T_ {
  static constexpr auto schema = "t_(Tensor(a!) self) -> Tensor(a!)";
  static void forward(const Tensor& self) { become(self, self.t()); }
  static Tensor grad_self(const Tensor& grad) { return grad.t(); }
};
/// Explicit sizes, strides and offset, in place.
struct AsStrided_ {
  static constexpr auto schema =
      "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)";
  static constexpr auto no_grad = "use as_strided, which has a gradient";
  static void forward(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
    TAEDA_CHECK(!self.requires_grad(), "[as_strided_] a tensor that requires grad cannot change in this way: got sizes ", self.sizes(),
                "; use as_strided");
    become(self, self.as_strided(size, stride, storage_offset));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/inplace_view.inc"
