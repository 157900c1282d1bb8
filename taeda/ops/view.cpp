// SPDX-License-Identifier: Apache-2.0
// Operators whose results share the input's memory: reshaping, permuting, slicing.
#include "taeda/ops/view.h"

#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {

namespace detail {

DimVector infer_size(IntArrayRef shape, int64_t numel, const char* op) {
  DimVector sizes(shape);
  int64_t known = 1;
  int64_t inferred = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TAEDA_CHECK(inferred < 0, "[", op, "] only one dimension can be inferred: got ", shape, "; give the others");
      inferred = static_cast<int64_t>(i);
    } else {
      TAEDA_CHECK(shape[i] >= 0, "[", op, "] invalid shape dimension ", shape[i], ": got ", shape,
                  "; use sizes of 0 or more, and -1 at most once");
      TAEDA_CHECK(!__builtin_mul_overflow(known, shape[i], &known), "[", op, "] the shape is too large: got ", shape,
                  "; use smaller sizes");
    }
  }
  const bool fits = inferred < 0 ? known == numel : known > 0 && numel % known == 0;
  TAEDA_CHECK(!(inferred >= 0 && known == 0 && numel == 0), "[", op, "] cannot reshape tensor of 0 elements into shape ", shape,
              " because the unspecified dimension size -1 can be any value; give all sizes");
  TAEDA_CHECK(fits, "[", op, "] shape '", shape, "' is invalid for input of size ", numel,
              "; the sizes must multiply to the number of elements");
  if (inferred >= 0) sizes[static_cast<size_t>(inferred)] = numel / known;
  return sizes;
}

std::optional<DimVector> view_strides(IntArrayRef old_sizes, IntArrayRef old_strides, int64_t numel, IntArrayRef sizes) {
  if (numel == 0) {
    if (old_sizes == sizes) return DimVector(old_strides);
    return contiguous_strides(sizes);
  }
  if (old_sizes.empty()) return DimVector(sizes.size(), 1);
  DimVector strides(sizes.size());
  // Runs of old dimensions that are contiguous among themselves are matched with runs of new ones, from the inside.
  auto view_d = static_cast<int64_t>(sizes.size()) - 1;
  int64_t chunk_stride = old_strides.back();
  int64_t chunk_numel = 1;
  int64_t view_numel = 1;
  for (auto d = static_cast<int64_t>(old_sizes.size()) - 1; d >= 0; --d) {
    chunk_numel *= old_sizes[static_cast<size_t>(d)];
    const bool chunk_ends = d == 0 || (old_sizes[static_cast<size_t>(d - 1)] != 1 &&
                                       old_strides[static_cast<size_t>(d - 1)] != chunk_numel * chunk_stride);
    if (!chunk_ends) continue;
    while (view_d >= 0 && (view_numel < chunk_numel || sizes[static_cast<size_t>(view_d)] == 1)) {
      strides[static_cast<size_t>(view_d)] = view_numel * chunk_stride;
      view_numel *= sizes[static_cast<size_t>(view_d)];
      --view_d;
    }
    if (view_numel != chunk_numel) return std::nullopt;
    if (d > 0) {
      chunk_stride = old_strides[static_cast<size_t>(d - 1)];
      chunk_numel = 1;
      view_numel = 1;
    }
  }
  if (view_d != -1) return std::nullopt;
  return strides;
}

SliceBounds clamp_slice(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TAEDA_CHECK(step > 0, "[slice] slice step must be positive: got ", step, "; use flip for the reverse order");
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t first = bound(start.value_or(0));
  const int64_t last = std::max(first, bound(end.value_or(std::numeric_limits<int64_t>::max())));
  return {first, (last - first + step - 1) / step};
}

}  // namespace detail

namespace ops {
namespace {

/// A view with explicit sizes, strides and offset, all in elements. The caller vouches for the geometry; it must lie
/// inside the storage.
struct AsStrided {
  static constexpr auto schema =
      "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
    TAEDA_CHECK(size.size() == stride.size(), "[as_strided] mismatch in length of strides and shape: got ", size, " and ", stride,
                "; give one stride for each size");
    const int64_t offset = storage_offset.value_or(self.storage_offset());
    detail::checked_numel(size, "as_strided");
    for (const int64_t s : stride) {
      TAEDA_CHECK(s >= 0, "[as_strided] negative strides are not supported: got ", stride, "; use flip");
    }
    TAEDA_CHECK(offset >= 0, "[as_strided] the storage offset must not be negative: got ", offset, "; pass 0 or more");
    const size_t bytes = detail::storage_bytes(size, stride, offset, self.itemsize(), "as_strided");
    TAEDA_CHECK(bytes <= self.impl().storage->nbytes, "[as_strided] setStorage: sizes ", size, ", strides ", stride,
                ", storage offset ", offset, " requiring a storage size of ", bytes, " are out of bounds for storage of size ",
                self.impl().storage->nbytes, "; use a smaller view");
    return make_view(self, size, stride, offset);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides, int64_t self_storage_offset,
                          IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
    return as_strided_backward(grad, self_sizes, self_strides, self_storage_offset, size, stride,
                               storage_offset.value_or(self_storage_offset));
  }
  /// Scatters the gradient into the base's geometry; elements that the view shows several times add up, and elements of
  /// the input that share memory each get an equal part.
  static Tensor as_strided_backward(const Tensor& grad, IntArrayRef in_sizes, IntArrayRef in_strides, int64_t in_offset,
                                    IntArrayRef out_sizes, IntArrayRef out_strides, int64_t out_offset) {
    const int64_t shared = std::min(in_offset, out_offset);
    const auto extent = [](IntArrayRef sizes, IntArrayRef strides) {
      int64_t last = 1;
      for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0) return int64_t{0};
        last += (sizes[i] - 1) * strides[i];
      }
      return last;
    };
    const int64_t in_end = in_offset - shared + extent(in_sizes, in_strides);
    const int64_t out_end = out_offset - shared + extent(out_sizes, out_strides);
    const int64_t n = std::max(in_end, out_end);
    const Tensor positions = taeda::arange(n, kLong);
    const Tensor out_index =
        taeda::as_strided(positions, out_sizes, out_strides, out_offset - shared).reshape(IntArrayRef(int64_t{-1}));
    Tensor storage = taeda::zeros(IntArrayRef(n), grad.options()).index_add(0, out_index, grad.reshape(IntArrayRef(int64_t{-1})));
    const Tensor in_index = taeda::as_strided(positions, in_sizes, in_strides, in_offset - shared);
    const Tensor flat_index = in_index.reshape(IntArrayRef(int64_t{-1}));
    const Tensor ones = taeda::ones_like(flat_index, grad.options());
    const Tensor count = taeda::zeros(IntArrayRef(n), grad.options()).index_add(0, flat_index, ones);
    storage = taeda::div(storage, count.clamp_min(1));
    return storage.index_select(0, flat_index).reshape(in_sizes);
  }
};

/// The same elements under another shape; one size may be -1. Throws when the strides do not allow it.
struct View {
  static constexpr auto schema = "view(Tensor(a) self, int[] size) -> Tensor(a)";
  static constexpr auto variants = "method function";
  static Tensor forward(const Tensor& self, IntArrayRef size) {
    const DimVector sizes = detail::infer_size(size, self.numel(), "view");
    const auto strides = detail::view_strides(self.sizes(), self.strides(), self.numel(), sizes);
    TAEDA_CHECK(strides.has_value(), "[view] view size is not compatible with input tensor's size and stride (at least one "
                "dimension spans across two contiguous subspaces): got ", self.sizes(), " with strides ", self.strides(),
                " into ", size, "; use reshape(...) instead");
    return make_view(self, sizes, *strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};

/// A view when the strides allow it, else a copy.
struct Reshape : Composite {
  static constexpr auto schema = "reshape(Tensor(a) self, int[] shape) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef shape) {
    const DimVector sizes = detail::infer_size(shape, self.numel(), "reshape");
    if (detail::view_strides(self.sizes(), self.strides(), self.numel(), sizes)) return self.view(sizes);
    return self.clone(MemoryFormat::Contiguous).view(sizes);
  }
};

/// Dimensions in the given order.
struct Permute {
  static constexpr auto schema = "permute(Tensor(a) self, int[] dims) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef dims) {
    const int64_t n = self.dim();
    TAEDA_CHECK(static_cast<int64_t>(dims.size()) == n, "[permute] number of dimensions in the tensor input does not match the "
                "length of the desired ordering of dimensions: got ", n, " and ", dims.size(), "; name every dimension once");
    DimVector sizes(dims.size());
    DimVector strides(dims.size());
    uint64_t seen = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t d = maybe_wrap_dim(dims[i], n, "permute");
      TAEDA_CHECK(!((seen >> d) & 1), "[permute] duplicate dims are not allowed: got ", dims, "; name every dimension once");
      seen |= uint64_t{1} << d;
      sizes[i] = self.sizes()[static_cast<size_t>(d)];
      strides[i] = self.strides()[static_cast<size_t>(d)];
    }
    return make_view(self, sizes, strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef dims) {
    DimVector inverse(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      inverse[static_cast<size_t>(maybe_wrap_dim(dims[i], static_cast<int64_t>(dims.size())))] = static_cast<int64_t>(i);
    }
    return grad.permute(inverse);
  }
};

/// Two dimensions swapped.
struct Transpose {
  static constexpr auto schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim0, int64_t dim1) {
    const auto a = static_cast<size_t>(maybe_wrap_dim(dim0, self.dim(), "transpose"));
    const auto b = static_cast<size_t>(maybe_wrap_dim(dim1, self.dim(), "transpose"));
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    if (a != b) {
      std::swap(sizes[a], sizes[b]);
      std::swap(strides[a], strides[b]);
    }
    return make_view(self, sizes, strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim0, int64_t dim1) { return grad.transpose(dim0, dim1); }
};

/// Transposed matrix; vectors and 0-dim tensors unchanged.
struct T : Composite {
  static constexpr auto schema = "t(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() <= 2, "[t] t() expects a tensor with <= 2 dimensions: got ", self.dim(), "D; use transpose or mT");
    return self.dim() < 2 ? self.view(self.sizes()) : self.transpose(0, 1);
  }
};

/// Size-1 dimensions repeated to the given sizes without copying; -1 keeps a size, new dimensions go in front.
struct Expand {
  static constexpr auto schema = "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
    const int64_t n = self.dim();
    const auto wanted = static_cast<int64_t>(size.size());
    TAEDA_CHECK(wanted >= n, "[expand] the number of sizes provided (", wanted, ") must be greater or equal to the number of "
                "dimensions in the tensor (", n, "): got ", size, "; add sizes in front");
    DimVector sizes(size);
    DimVector strides(size.size(), 0);
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t d = i - (wanted - n);
      const auto at = static_cast<size_t>(i);
      if (d < 0) {
        TAEDA_CHECK(size[at] >= 0, "[expand] the expanded size (", size[at],
                    ") isn't allowed in a leading, non-existing dimension ", i, "; give its size");
        continue;
      }
      const int64_t own = self.sizes()[static_cast<size_t>(d)];
      if (size[at] == -1) sizes[at] = own;
      TAEDA_CHECK(sizes[at] == own || own == 1, "[expand] the expanded size of the tensor (", sizes[at],
                  ") must match the existing size (", own, ") at non-singleton dimension ", i, ": got ", size, " from ",
                  self.sizes(), "; only dimensions of size 1 can be expanded");
      TAEDA_CHECK(sizes[at] >= 0, "[expand] sizes must not be negative: got ", size, "; use -1 to keep a size");
      strides[at] = sizes[at] == own ? self.strides()[static_cast<size_t>(d)] : 0;
    }
    detail::checked_numel(sizes, "expand");
    return make_view(self, sizes, strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return sum_to(grad, self_sizes); }
};
/// Expands to the shape of another tensor.
struct ExpandAs : Composite {
  static constexpr auto schema = "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }
};
/// Expands to a shape.
struct BroadcastTo : Composite {
  static constexpr auto schema = "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef size) { return self.expand(size); }
};

/// Element `index` along `dim`; that dimension disappears.
struct Select {
  static constexpr auto schema = "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim, int64_t index) {
    TAEDA_CHECK_INDEX(self.dim() > 0, "[select] select() cannot be applied to a 0-dim tensor; use item()");
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim(), "select"));
    const int64_t size = self.sizes()[d];
    TAEDA_CHECK_INDEX(index >= -size && index < size, "[select] index ", index, " out of range for tensor of size ",
                      self.sizes(), " at dimension ", d, "; use an index from ", -size, " to ", size - 1);
    if (index < 0) index += size;
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t offset = self.storage_offset() + index * strides[d];
    sizes.erase(d);
    strides.erase(d);
    return make_view(self, sizes, strides, offset);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, int64_t index) {
    return taeda::select_backward(grad, self_sizes, dim, index);
  }
};
/// Zeros of the input's shape with `grad` at the selected place.
struct SelectBackward {
  static constexpr auto schema = "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor";
  static Tensor forward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index) {
    Tensor result = taeda::zeros(input_sizes, grad_output.options());
    result.select(dim, index).copy_(grad_output);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, int64_t dim, int64_t index) { return grad.select(dim, index); }
};

/// Elements start, start + step, … below `end` along `dim`; bounds count from the end when negative and are clamped.
struct Slice {
  static constexpr auto schema =
      "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                        int64_t step) {
    TAEDA_CHECK(self.dim() > 0, "[slice] slice() cannot be applied to a 0-dim tensor; reshape it first");
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim(), "slice"));
    const detail::SliceBounds bounds = detail::clamp_slice(self.sizes()[d], start, end, step);
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t offset = self.storage_offset() + bounds.start * strides[d];
    sizes[d] = bounds.length;
    // A stride that no element needs may be too large to be written down; it stays as it was.
    int64_t stride = 0;
    if (!__builtin_mul_overflow(strides[d], step, &stride)) strides[d] = stride;
    return make_view(self, sizes, strides, offset);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, std::optional<int64_t> start,
                          std::optional<int64_t> end, int64_t step) {
    return taeda::slice_backward(grad, self_sizes, dim, start, end, step);
  }
};
/// Zeros of the input's shape with `grad` in the slice.
struct SliceBackward {
  static constexpr auto schema =
      "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int? start, int? end, int step) -> Tensor";
  static Tensor forward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, std::optional<int64_t> start,
                        std::optional<int64_t> end, int64_t step) {
    Tensor result = taeda::zeros(input_sizes, grad_output.options());
    result.slice(dim, start, end, step).copy_(grad_output);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                                 int64_t step) {
    return grad.slice(dim, start, end, step);
  }
};

/// `length` elements from `start` along `dim`.
struct Narrow : Composite {
  static constexpr auto schema = "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
    TAEDA_CHECK(self.dim() > 0, "[narrow] narrow() cannot be applied to a 0-dim tensor; reshape it first");
    TAEDA_CHECK(length >= 0, "[narrow] length must be non-negative: got ", length, "; pass 0 or more");
    const int64_t size = self.size(dim);
    TAEDA_CHECK_INDEX(start >= -size && start <= size, "[narrow] start out of range (expected to be in range of [", -size, ", ",
                      size, "], but got ", start, "); choose a start inside the dimension");
    if (start < 0) start += size;
    TAEDA_CHECK(start <= size - length, "[narrow] start (", start, ") + length (", length, ") exceeds dimension size (", size,
                "); choose a shorter length");
    return self.slice(dim, start, start + length, 1);
  }
};

/// A dimension of size 1 inserted at `dim`.
struct Unsqueeze {
  static constexpr auto schema = "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim) {
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim() + 1, "unsqueeze"));
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
    sizes.insert(d, 1);
    strides.insert(d, stride);
    return make_view(self, sizes, strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, int64_t dim) { return grad.squeeze(dim); }
};

Tensor squeeze_where(const Tensor& self, uint64_t mask) {
  DimVector sizes;
  DimVector strides;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    if (((mask >> d) & 1) && self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

/// All dimensions of size 1 removed.
struct Squeeze {
  static constexpr auto schema = "squeeze(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return squeeze_where(self, ~uint64_t{0}); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// Dimension `dim` removed if its size is 1.
struct SqueezeDim {
  static constexpr auto schema = "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim) {
    return squeeze_where(self, uint64_t{1} << maybe_wrap_dim(dim, self.dim(), "squeeze"));
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};
/// The named dimensions removed where their size is 1.
struct SqueezeDims {
  static constexpr auto schema = "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef dim) {
    uint64_t mask = 0;
    for (const int64_t d : dim) {
      const uint64_t bit = uint64_t{1} << maybe_wrap_dim(d, self.dim(), "squeeze");
      TAEDA_CHECK(!(mask & bit), "[squeeze] dim ", d, " appears multiple times in the list of dims: got ", dim, "; name each once");
      mask |= bit;
    }
    return squeeze_where(self, mask);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes) { return grad.reshape(self_sizes); }
};

/// A view of the same geometry.
struct Alias {
  static constexpr auto schema = "alias(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) {
    return make_view(self, self.sizes(), self.strides(), self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad) { return grad; }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/view.inc"
