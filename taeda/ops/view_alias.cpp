// SPDX-License-Identifier: Apache-2.0
// Further views: flattening, moving dimensions, diagonals, sliding windows, and writes into a view of a copy.
#include <algorithm>
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/view.h"

namespace taeda {
namespace ops {
namespace {

/// Dimensions start_dim … end_dim as one.
struct Flatten : Composite {
  static constexpr auto schema = "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t start_dim, int64_t end_dim) {
    const int64_t first = maybe_wrap_dim(start_dim, self.dim(), "flatten");
    const int64_t last = maybe_wrap_dim(end_dim, self.dim(), "flatten");
    TAEDA_CHECK(first <= last, "[flatten] flatten() has invalid args: start_dim cannot come after end_dim: got ", start_dim, " and ",
                end_dim, "; swap them");
    if (self.dim() == 0) return self.reshape({1});
    if (first == last) return self;
    DimVector sizes;
    int64_t merged = 1;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (d < first || d > last) {
        sizes.push_back(self.size(d));
        continue;
      }
      merged *= self.size(d);
      if (d == last) sizes.push_back(merged);
    }
    return self.reshape(sizes);
  }
};
/// A vector of all elements.
struct Ravel : Composite {
  static constexpr auto schema = "ravel(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) { return self.contiguous().view({-1}); }
};
/// Dimension `dim` as several; one size may be -1.
struct Unflatten : Composite {
  static constexpr auto schema = "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim, IntArrayRef sizes) {
    const int64_t d = maybe_wrap_dim(dim, self.dim(), "unflatten");
    TAEDA_CHECK(!sizes.empty(), "[unflatten] sizes must be non-empty: got ", sizes, "; give the new sizes");
    const DimVector inferred = detail::infer_size(sizes, self.size(d), "unflatten");
    DimVector shape;
    for (int64_t i = 0; i < self.dim(); ++i) {
      if (i == d) {
        shape.append(inferred.begin(), inferred.end());
      } else {
        shape.push_back(self.size(i));
      }
    }
    if (self.dim() == 0) shape = inferred;
    return self.view(shape);
  }
};
/// reshape to the shape of another tensor.
struct ReshapeAs : Composite {
  static constexpr auto schema = "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, const Tensor& other) { return self.reshape(other.sizes()); }
};
/// view with the shape of another tensor.
struct ViewAs : Composite {
  static constexpr auto schema = "view_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }
};
/// The same bytes read as another dtype; the last dimension changes where the item sizes differ.
struct ViewDtype {
  static constexpr auto schema = "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)";
  static constexpr auto variants = "method";
  static constexpr auto no_grad = "bits have no derivative";
  static Tensor forward(const Tensor& self, ScalarType dtype) {
    const auto from = static_cast<int64_t>(self.itemsize());
    const auto to = static_cast<int64_t>(item_size(dtype));
    TAEDA_CHECK(to != 0, "[view] the dtype must be supported: got ", dtype, "; use a real dtype");
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    int64_t offset = self.storage_offset();
    if (from != to) {
      TAEDA_CHECK(self.dim() > 0, "[view] self.dim() cannot be 0 to view ", self.scalar_type(), " as ", dtype,
                  " (different element sizes); reshape it first");
      TAEDA_CHECK(strides.back() == 1 || sizes.back() <= 1, "[view] the last dimension must be dense: got strides ", self.strides(),
                  "; call contiguous() first");
      const int64_t bytes = sizes.back() * from;
      TAEDA_CHECK(bytes % to == 0 && offset * from % to == 0, "[view] the last dimension must hold whole elements of the new dtype: got ",
                  bytes, " bytes for ", dtype, "; reshape or clone it first");
      for (size_t d = 0; d + 1 < strides.size(); ++d) {
        TAEDA_CHECK(strides[d] * from % to == 0, "[view] strides must be divisible by ", to / from, ": got ", self.strides(),
                    "; call contiguous() first");
        strides[d] = strides[d] * from / to;
      }
      sizes.back() = bytes / to;
      strides.back() = 1;
      offset = offset * from / to;
    }
    Tensor result = make_alias(self);
    TensorImpl& t = result.mutable_impl();
    t.dtype = dtype;
    t.offset = offset;
    t.set_sizes_strides(sizes, strides);
    return result;
  }
};

/// transpose.
struct Swapdims : Composite {
  static constexpr auto schema = "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim0, int64_t dim1) { return self.transpose(dim0, dim1); }
};
/// transpose.
struct Swapaxes : Composite {
  static constexpr auto schema = "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t axis0, int64_t axis1) { return self.transpose(axis0, axis1); }
};
/// Moves dimensions `source` to the places `destination`; the others keep their order.
struct MovedimList : Composite {
  static constexpr auto schema = "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
    TAEDA_CHECK(source.size() == destination.size(), "[movedim] source and destination must have the same number of elements: got ",
                source, " and ", destination, "; make them match");
    const int64_t n = self.dim();
    DimVector order(static_cast<size_t>(n), -1);
    uint64_t used = 0;
    for (size_t i = 0; i < source.size(); ++i) {
      const int64_t from = maybe_wrap_dim(source[i], n, "movedim");
      const int64_t to = maybe_wrap_dim(destination[i], n, "movedim");
      TAEDA_CHECK(!((used >> from) & 1) && (n == 0 || order[static_cast<size_t>(to)] < 0), "[movedim] repeated dim: got ", source,
                  " and ", destination, "; name each dimension once");
      used |= uint64_t{1} << from;
      if (n > 0) order[static_cast<size_t>(to)] = from;
    }
    int64_t next = 0;
    for (int64_t& o : order) {
      if (o >= 0) continue;
      while ((used >> next) & 1) ++next;
      o = next++;
    }
    return self.permute(order);
  }
};
/// Moves one dimension.
struct Movedim : Composite {
  static constexpr auto schema = "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t source, int64_t destination) {
    return self.movedim(IntArrayRef(source), IntArrayRef(destination));
  }
};
/// movedim.
struct MoveaxisList : Composite {
  static constexpr auto schema = "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)";
  static Tensor forward(const Tensor& self, IntArrayRef source, IntArrayRef destination) { return self.movedim(source, destination); }
};
/// movedim.
struct Moveaxis : Composite {
  static constexpr auto schema = "moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t source, int64_t destination) { return self.movedim(source, destination); }
};
/// All dimensions in reverse order (the attribute `T`).
struct NumpyT : Composite {
  static constexpr auto schema = "numpy_T(Tensor(a) self) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self) {
    DimVector order;
    for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
    return self.permute(order);
  }
};
/// The last two dimensions swapped.
struct MatrixT : Composite {
  static constexpr auto schema = "mT(Tensor(a) self) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() >= 2, "[mT] only supported on matrices or batches of matrices: got ", self.dim(), "-D tensor; reshape it");
    return self.transpose(-2, -1);
  }
};
/// mT (real tensors are their own conjugates).
struct MatrixH : Composite {
  static constexpr auto schema = "mH(Tensor(a) self) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() >= 2, "[mH] only supported on matrices or batches of matrices: got ", self.dim(), "-D tensor; reshape it");
    return self.transpose(-2, -1);
  }
};
/// The transposed matrix; a 0-dim tensor unchanged.
struct MatrixHOnly : Composite {
  static constexpr auto schema = "matrix_H(Tensor(a) self) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() == 2 || self.dim() == 0, "[matrix_H] only supported on matrices: got ", self.dim(), "-D tensor; use mH");
    return self.dim() == 0 ? self.view(self.sizes()) : self.transpose(0, 1);
  }
};
/// mT.
struct Adjoint : Composite {
  static constexpr auto schema = "adjoint(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() != 1, "[adjoint] a 1-D tensor is not a matrix: got ", self.sizes(), "; unsqueeze it");
    return self.dim() == 0 ? self.view(self.sizes()) : self.transpose(-2, -1);
  }
};
/// narrow with the start in a 0-dim integer tensor.
struct NarrowTensor : Composite {
  static constexpr auto schema = "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
    TAEDA_CHECK(start.dim() == 0 && is_integral_type(start.scalar_type(), false),
                "[narrow] start must be a 0-dim integral tensor: got ", start.toString(), " ", start.sizes(), "; pass an integer");
    int64_t first = start.item<int64_t>();
    const int64_t n = self.size(dim);
    if (first < 0 && n > 0) first += n;
    return self.narrow(dim, first, length);
  }
};

/// The diagonal `offset` above the main one of dimensions dim1, dim2, as a new last dimension (a view).
struct Diagonal {
  static constexpr auto schema = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)";
  static Tensor forward(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
    const auto a = static_cast<size_t>(maybe_wrap_dim(dim1, self.dim(), "diagonal"));
    const auto b = static_cast<size_t>(maybe_wrap_dim(dim2, self.dim(), "diagonal"));
    TAEDA_CHECK(a != b, "[diagonal] diagonal dimensions cannot be identical ", dim1, ", ", dim2, "; name two dimensions");
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t length = offset >= 0 ? std::min(sizes[a], sizes[b] - offset) : std::min(sizes[a] + offset, sizes[b]);
    int64_t start = self.storage_offset();
    if (length > 0) start += offset >= 0 ? offset * strides[b] : -offset * strides[a];
    const int64_t step = strides[a] + strides[b];
    sizes.erase(std::max(a, b));
    strides.erase(std::max(a, b));
    sizes.erase(std::min(a, b));
    strides.erase(std::min(a, b));
    sizes.push_back(std::max<int64_t>(length, 0));
    strides.push_back(step);
    return make_view(self, sizes, strides, start);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
    return taeda::diagonal_backward(grad, self_sizes, offset, dim1, dim2);
  }
};
/// Zeros of the input's shape with `grad` on the diagonal.
struct DiagonalBackward {
  static constexpr auto schema =
      "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor";
  static Tensor forward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
    Tensor result = taeda::zeros(input_sizes, grad_output.options());
    result.diagonal(offset, dim1, dim2).copy_(grad_output);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, int64_t offset, int64_t dim1, int64_t dim2) {
    return grad.diagonal(offset, dim1, dim2);
  }
};
/// diagonal with the last two dimensions by default.
struct LinalgDiagonal : Composite {
  static constexpr auto schema = "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)";
  static Tensor forward(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) { return A.diagonal(offset, dim1, dim2); }
};
/// The last dimension laid on the diagonal `offset` of two new dimensions, zeros elsewhere.
struct DiagEmbed : Composite {
  static constexpr auto schema = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
    const int64_t n = self.dim() + 1;
    const int64_t a = maybe_wrap_dim(dim1, n, "diag_embed");
    const int64_t b = maybe_wrap_dim(dim2, n, "diag_embed");
    TAEDA_CHECK(a != b, "[diag_embed] diagonal dimensions cannot be identical ", dim1, ", ", dim2, "; name two dimensions");
    const int64_t length = self.size(-1) + std::abs(offset);
    DimVector sizes(self.sizes());
    sizes.pop_back();
    sizes.insert(static_cast<size_t>(std::min(a, b)), length);
    sizes.insert(static_cast<size_t>(std::max(a, b)), length);
    return taeda::diagonal_backward(self, sizes, offset, a, b);
  }
};
/// Of a vector: a matrix with it on the diagonal. Of a matrix: its diagonal.
struct Diag : Composite {
  static constexpr auto schema = "diag(Tensor self, int diagonal=0) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t diagonal) {
    TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "[diag] supports 1D or 2D tensors: got ", self.dim(), "D; use diagonal or diag_embed");
    return self.dim() == 1 ? self.diag_embed(diagonal) : self.diagonal(diagonal).clone();
  }
};
/// A matrix with the flattened elements on the diagonal.
struct Diagflat : Composite {
  static constexpr auto schema = "diagflat(Tensor self, int offset=0) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t offset) { return self.contiguous().view({-1}).diag(offset); }
};

/// Windows of `size` elements at every `step` along `dimension`, as a new last dimension (a view).
struct Unfold {
  static constexpr auto schema = "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
    const auto d = static_cast<size_t>(maybe_wrap_dim(dimension, self.dim(), "unfold"));
    const int64_t n = self.dim() == 0 ? 1 : self.sizes()[d];
    TAEDA_CHECK(size >= 0, "[unfold] size is ", size, " but must be >= 0; pass 0 or more");
    TAEDA_CHECK(size <= n, "[unfold] maximum size for tensor at dimension ", d, " is ", n, " but size is ", size, "; use a smaller one");
    TAEDA_CHECK(step > 0, "[unfold] step is ", step, " but must be > 0; pass 1 or more");
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t stride = self.dim() == 0 ? 1 : strides[d];
    if (self.dim() > 0) {
      sizes[d] = (n - size) / step + 1;
      strides[d] *= step;
    }
    sizes.push_back(size);
    strides.push_back(stride);
    return make_view(self, sizes, strides, self.storage_offset());
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, int64_t dimension, int64_t size, int64_t step) {
    return taeda::unfold_backward(grad, self_sizes, dimension, size, step);
  }
};
/// Adds the windows back into a tensor of the input's shape.
struct UnfoldBackward {
  static constexpr auto schema = "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor";
  static Tensor forward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step) {
    Tensor result = taeda::zeros(input_sizes, grad_in.options());
    if (input_sizes.empty()) return size == 0 ? result : result.add_(grad_in.select(-1, 0));
    const int64_t d = maybe_wrap_dim(dim, result.dim());
    const int64_t windows = grad_in.size(d);
    for (int64_t k = 0; k < size; ++k) {
      result.slice(d, k, k + (windows - 1) * step + 1, step).add_(grad_in.select(-1, k));
    }
    return result;
  }
  static Tensor grad_grad_in(const Tensor& grad, int64_t dim, int64_t size, int64_t step) { return grad.unfold(dim, size, step); }
};

void check_part(const Tensor& src, const Tensor& part, const char* op) {
  TAEDA_CHECK(src.sizes() == part.sizes(), "[", op, "] expected src to have a size equal to the slice of self: got ", src.sizes(),
              " and ", part.sizes(), "; reshape the source");
}

/// A copy of self with `src` in place of one index.
struct SelectScatter {
  static constexpr auto schema = "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
    Tensor result = self.clone();
    const Tensor part = result.select(dim, index);
    check_part(src, part, "select_scatter");
    part.copy_(src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef src_sizes, int64_t dim, int64_t index) {
    return grad.select_scatter(taeda::zeros(src_sizes, grad.options()), dim, index);
  }
  static Tensor grad_src(const Tensor& grad, int64_t dim, int64_t index) { return grad.select(dim, index); }
};
/// A copy of self with `src` in place of a slice.
struct SliceScatter {
  static constexpr auto schema =
      "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                        std::optional<int64_t> end, int64_t step) {
    Tensor result = self.clone();
    const Tensor part = result.slice(dim, start, end, step);
    check_part(src, part, "slice_scatter");
    part.copy_(src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef src_sizes, int64_t dim, std::optional<int64_t> start,
                          std::optional<int64_t> end, int64_t step) {
    return grad.slice_scatter(taeda::zeros(src_sizes, grad.options()), dim, start, end, step);
  }
  static Tensor grad_src(const Tensor& grad, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
    return grad.slice(dim, start, end, step);
  }
};
/// A copy of self with `src` on a diagonal.
struct DiagonalScatter {
  static constexpr auto schema = "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
    Tensor result = self.clone();
    const Tensor part = result.diagonal(offset, dim1, dim2);
    check_part(src, part, "diagonal_scatter");
    part.copy_(src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef src_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
    return grad.diagonal_scatter(taeda::zeros(src_sizes, grad.options()), offset, dim1, dim2);
  }
  static Tensor grad_src(const Tensor& grad, int64_t offset, int64_t dim1, int64_t dim2) { return grad.diagonal(offset, dim1, dim2); }
};
/// A copy of self with `src` in place of a strided view of it.
struct AsStridedScatter {
  static constexpr auto schema =
      "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                        std::optional<int64_t> storage_offset) {
    Tensor result = self.clone(MemoryFormat::Contiguous);
    const Tensor part = result.as_strided(size, stride, storage_offset);
    check_part(src, part, "as_strided_scatter");
    part.copy_(src);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef src_sizes, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
    return grad.as_strided_scatter(taeda::zeros(src_sizes, grad.options()), size, stride, storage_offset);
  }
  static Tensor grad_src(const Tensor& grad, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
    return grad.contiguous().as_strided(size, stride, storage_offset);
  }
};

/// Writes `fill_value` on the main diagonal of a matrix or of a cube of any dimension. With `wrap`, the diagonal of a tall matrix begins
/// again one row below its end.
struct FillDiagonal_ : Composite {
  static constexpr auto schema = "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Scalar& fill_value, bool wrap) {
    const int64_t dims = self.dim();
    TAEDA_CHECK(dims >= 2, "[fill_diagonal_] the input must have at least 2 dimensions: got ", dims, "; reshape it");
    if (dims > 2) {
      int64_t stride = 0;
      for (int64_t d = 0; d < dims; ++d) {
        TAEDA_CHECK(self.size(d) == self.size(0), "[fill_diagonal_] all dimensions of an input of more than 2 must have one size: got ",
                    self.sizes(), "; fill a matrix at a time");
        stride += self.stride(d);
      }
      self.as_strided({self.size(0)}, {stride}, self.storage_offset()).fill_(fill_value);
      return const_cast<Tensor&>(self);
    }
    const int64_t rows = self.size(0), columns = self.size(1);
    self.diagonal().fill_(fill_value);
    for (int64_t row = columns + 1; wrap && row < rows; row += columns + 1) {
      self.narrow(0, row, std::min(columns, rows - row)).diagonal().fill_(fill_value);
    }
    return const_cast<Tensor&>(self);
  }
};

/// narrow into memory of its own.
struct NarrowCopy : Composite {
  static constexpr auto schema = "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
    return self.narrow(dim, start, length).clone(MemoryFormat::Contiguous);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/view_alias.inc"
