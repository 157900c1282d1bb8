// SPDX-License-Identifier: Apache-2.0
// Operators that repeat, reverse and shift elements, and triangles of matrices.
#include <algorithm>
#include <cstring>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/pointwise_run.h"
#include "taeda/ops/strided_iteration.h"

namespace taeda {
namespace ops {
namespace {

/// Elements in reverse order along the given dimensions.
struct Flip {
  static constexpr auto schema = "flip(Tensor self, int[] dims) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef dims) {
    const auto itemsize = static_cast<int64_t>(self.itemsize());
    DimVector strides(self.strides());
    const char* start = self.impl().data();
    uint64_t seen = 0;
    for (const int64_t dim : dims) {
      const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim(), "flip"));
      TAEDA_CHECK(!((seen >> d) & 1), "[flip] dim ", d, " appears multiple times in the list of dims: got ", dims, "; name each once");
      seen |= uint64_t{1} << d;
      if (self.dim() == 0 || self.numel() == 0) continue;
      start += (self.sizes()[d] - 1) * strides[d] * itemsize;
      strides[d] = -strides[d];
    }
    Tensor result = detail::empty_like_of(self);
    StridedIteration<2> it(self.sizes());
    it.add(result.impl());
    it.add(const_cast<char*>(start), self.sizes(), strides, itemsize);
    it.finish();
    dispatch_bytes(self.scalar_type(), "flip", [&]<class T>() {
      it.run(kPointwiseGrain, [](char* const* p, const int64_t* s, int64_t n) {
        for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * s[0]) = *reinterpret_cast<const T*>(p[1] + i * s[1]);
      });
    });
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef dims) { return grad.flip(dims); }
};
/// Columns in reverse order.
struct Fliplr : Composite {
  static constexpr auto schema = "fliplr(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() >= 2, "[fliplr] input must be >= 2-d: got ", self.dim(), " dimensions; use flip");
    return self.flip({1});
  }
};
/// Rows in reverse order.
struct Flipud : Composite {
  static constexpr auto schema = "flipud(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() >= 1, "[flipud] input must be >= 1-d: got 0 dimensions; reshape it");
    return self.flip({0});
  }
};

/// Elements shifted along dimensions, those that fall off coming in at the other end. Without dims: of the flat tensor.
struct Roll : Composite {
  static constexpr auto schema = "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
    TAEDA_CHECK(!shifts.empty(), "[roll] `shifts` required: got none; give at least one");
    if (dims.empty() && shifts.size() == 1) {
      return self.contiguous().view({-1}).roll(shifts[0], IntArrayRef(int64_t{0})).view(self.sizes());
    }
    TAEDA_CHECK(shifts.size() == dims.size(), "[roll] shifts and dimensions must align: got ", shifts, " and ", dims,
                "; give one shift for each dimension");
    Tensor result = self;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (self.numel() == 0) return self.clone();
      const int64_t n = result.size(dims[i]);
      const int64_t start = ((n - shifts[i] % n) % n + n) % n;
      const std::vector<Tensor> parts{result.narrow(dims[i], start, n - start), result.narrow(dims[i], 0, start)};
      result = taeda::cat(parts, dims[i]);
    }
    return result;
  }
};

/// Rotates by 90 degrees k times in the plane of two dimensions.
struct Rot90 : Composite {
  static constexpr auto schema = "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t k, IntArrayRef dims) {
    TAEDA_CHECK(dims.size() == 2, "[rot90] expected total rotation dims == 2, but got ", dims, "; name two dimensions");
    TAEDA_CHECK(self.dim() >= 2, "[rot90] expected total dims >= 2, but got ", self.dim(), "; reshape the tensor");
    const int64_t a = maybe_wrap_dim(dims[0], self.dim(), "rot90");
    const int64_t b = maybe_wrap_dim(dims[1], self.dim(), "rot90");
    TAEDA_CHECK(a != b, "[rot90] expected rotation dims to be different: got ", dims, "; name two dimensions");
    switch ((k % 4 + 4) % 4) {
      case 1: return self.flip({b}).transpose(a, b).clone();
      case 2: return self.flip({a, b});
      case 3: return self.flip({a}).transpose(a, b).clone();
      default: return self.clone();
    }
  }
};

/// The tensor repeated along each dimension; new dimensions go in front.
struct Repeat : Composite {
  static constexpr auto schema = "repeat(Tensor self, int[] repeats) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef repeats) {
    const auto n = static_cast<int64_t>(repeats.size());
    TAEDA_CHECK(n >= self.dim(), "[repeat] number of dimensions of repeat dims can not be smaller than number of dimensions of "
                "tensor: got ", repeats, " for ", self.sizes(), "; add ones in front");
    // (1, s0, 1, s1, …) expanded to (r0, s0, r1, s1, …) and copied.
    DimVector shape;
    DimVector expanded;
    DimVector sizes;
    for (int64_t d = 0; d < n; ++d) {
      const int64_t own = d - (n - self.dim());
      const int64_t size = own < 0 ? 1 : self.size(own);
      const int64_t times = repeats[static_cast<size_t>(d)];
      TAEDA_CHECK(times >= 0, "[repeat] trying to repeat with negative dimension values: got ", repeats, "; use 0 or more");
      shape.push_back(1);
      shape.push_back(size);
      expanded.push_back(times);
      expanded.push_back(size);
      sizes.push_back(times * size);
    }
    return self.reshape(shape).expand(expanded).clone(MemoryFormat::Contiguous).view(sizes);
  }
};
/// repeat; missing repeats in front are 1.
struct Tile : Composite {
  static constexpr auto schema = "tile(Tensor self, int[] dims) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef dims) {
    DimVector repeats(static_cast<size_t>(std::max<int64_t>(0, self.dim() - static_cast<int64_t>(dims.size()))), 1);
    repeats.append(dims.begin(), dims.end());
    return self.repeat(repeats);
  }
};

/// Index i repeated repeats[i] times: (0, 0, 2, 2, 2) from (2, 0, 3).
struct RepeatInterleaveIndex {
  static constexpr auto schema = "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor";
  static constexpr auto shape_from = "values";
  static constexpr auto no_grad = "positions are integers";
  static Tensor forward(const Tensor& repeats, std::optional<int64_t> output_size) {
    TAEDA_CHECK(repeats.dim() == 1, "[repeat_interleave] repeats must be a vector: got ", repeats.sizes(), "; flatten it");
    TAEDA_CHECK(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt, "[repeat_interleave] repeats has to be Long or Int "
                "tensor: got ", repeats.scalar_type(), "; convert it");
    const Tensor counts = detail::long_index(repeats, "repeat_interleave");
    const auto* n = reinterpret_cast<const int64_t*>(counts.impl().data());
    int64_t total = 0;
    for (int64_t i = 0; i < counts.numel(); ++i) {
      TAEDA_CHECK(n[i] >= 0, "[repeat_interleave] repeats can not be negative: got ", n[i], "; use 0 or more");
      total += n[i];
    }
    TAEDA_CHECK(!output_size || *output_size == total, "[repeat_interleave] allocated size does not match required size: got ",
                output_size.value_or(0), " for ", total, "; leave output_size out");
    Tensor result = make_tensor(IntArrayRef(total), kLong);
    auto* out = reinterpret_cast<int64_t*>(result.impl().data());
    for (int64_t i = 0; i < counts.numel(); ++i) out = std::fill_n(out, n[i], i);
    return repeats.scalar_type() == kInt ? result.to(kInt) : result;
  }
};
/// Each slice along `dim` repeated as often as its entry of `repeats` says. Without dim: of the flat tensor.
struct RepeatInterleave : Composite {
  static constexpr auto schema =
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
    const Tensor source = dim && self.dim() > 0 ? self : self.flatten();
    const int64_t d = maybe_wrap_dim(dim.value_or(0), source.dim(), "repeat_interleave");
    const int64_t n = source.size(d);
    Tensor counts = repeats;
    if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
      counts = repeats.reshape({1}).expand({n});
    } else {
      TAEDA_CHECK(repeats.dim() == 1 && repeats.size(0) == n, "[repeat_interleave] repeats must have the same size as input along dim, "
                  "but got ", repeats.sizes(), " and ", n, "; make them match");
    }
    return source.index_select(d, taeda::repeat_interleave(counts, output_size));
  }
};
/// Each slice along `dim` repeated `repeats` times. Without dim: of the flat tensor.
struct RepeatInterleaveInt : Composite {
  static constexpr auto schema =
      "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
    const Tensor source = dim && self.dim() > 0 ? self : self.flatten();
    const int64_t d = maybe_wrap_dim(dim.value_or(0), source.dim(), "repeat_interleave");
    TAEDA_CHECK(repeats >= 0, "[repeat_interleave] repeats must be non-negative: got ", repeats, "; use 0 or more");
    TAEDA_CHECK(!output_size || *output_size == repeats * source.size(d), "[repeat_interleave] allocated size does not match required "
                "size: got ", output_size.value_or(0), "; leave output_size out");
    DimVector sizes(source.sizes());
    DimVector wide(source.sizes());
    wide.insert(static_cast<size_t>(d) + 1, repeats);
    sizes[static_cast<size_t>(d)] *= repeats;
    return source.unsqueeze(d + 1).expand(wide).clone(MemoryFormat::Contiguous).view(sizes);
  }
};

Tensor triangle(const Tensor& self, int64_t diagonal, bool upper, const char* op) {
  TAEDA_CHECK(self.dim() >= 2, "[", op, "] input tensor must have at least 2 dimensions: got ", self.dim(), "; reshape it");
  const Tensor from = self.contiguous();
  Tensor result = make_tensor(self.sizes(), self.scalar_type(), self.device());
  const int64_t rows = self.size(-2);
  const int64_t columns = self.size(-1);
  const int64_t batch = rows * columns == 0 ? 0 : self.numel() / (rows * columns);
  triangle_kernel(self.device(), {result.impl().data(), from.impl().data(), batch, rows, columns, diagonal,
                                  static_cast<int64_t>(self.itemsize()), upper});
  return result;
}
/// The lower triangle of matrices, up to `diagonal` above the main one; zeros elsewhere.
struct Tril {
  static constexpr auto schema = "tril(Tensor self, int diagonal=0) -> Tensor";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, false, "tril"); }
  static Tensor grad_self(const Tensor& grad, int64_t diagonal) { return grad.tril(diagonal); }
  static constexpr Onnx onnx{"Trilu", 14};
};
/// The upper triangle of matrices, from `diagonal` above the main one; zeros elsewhere.
struct Triu {
  static constexpr auto schema = "triu(Tensor self, int diagonal=0) -> Tensor";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, true, "triu"); }
  static Tensor grad_self(const Tensor& grad, int64_t diagonal) { return grad.triu(diagonal); }
  static constexpr Onnx onnx{"Trilu", 14};
};

/// Rows of the identity matrix: int64 classes of any shape to (…, num_classes); -1 takes the largest class + 1.
struct OneHot : Composite {
  static constexpr auto schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t num_classes) {
    TAEDA_CHECK(self.scalar_type() == kLong, "[one_hot] one_hot is only applicable to index tensor of type LongTensor: got ",
                self.scalar_type(), "; convert it with .to(kLong)");
    const Tensor classes = self.contiguous();
    const auto* c = reinterpret_cast<const int64_t*>(classes.impl().data());
    TAEDA_CHECK(self.numel() > 0 || num_classes > 0, "[one_hot] can not infer total number of classes from empty tensor: got sizes ",
                self.sizes(), "; give num_classes");
    int64_t largest = -1;
    for (int64_t i = 0; i < self.numel(); ++i) {
      TAEDA_CHECK(c[i] >= 0, "[one_hot] class values must be non-negative: got ", c[i], "; use 0 or more");
      largest = std::max(largest, c[i]);
    }
    if (num_classes == -1) num_classes = largest + 1;
    TAEDA_CHECK(num_classes > 0 && largest < num_classes, "[one_hot] class values must be smaller than num_classes: got ", largest,
                " for ", num_classes, "; raise num_classes");
    DimVector sizes(self.sizes());
    sizes.push_back(num_classes);
    Tensor result = taeda::zeros(sizes, TensorOptions(kLong));
    auto* out = reinterpret_cast<int64_t*>(result.impl().data());
    for (int64_t i = 0; i < self.numel(); ++i) out[i * num_classes + c[i]] = 1;
    return result;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/rearrange.inc"
