// SPDX-License-Identifier: Apache-2.0
// Operators that cut a tensor into several views.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

/// One view of `sizes[i]` elements along `dim` for each i; the sizes add up to the whole.
struct SplitWithSizes {
  static constexpr auto schema = "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[split] split expects at least a 1-dimensional tensor: got 0 dimensions; reshape it");
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim(), "split"));
    int64_t sum = 0;
    for (const int64_t n : split_sizes) {
      TAEDA_CHECK(n >= 0, "[split] split sizes must not be negative: got ", split_sizes, "; use 0 or more");
      sum += n;
    }
    TAEDA_CHECK(sum == self.sizes()[d], "[split] split_sizes must sum to ", self.sizes()[d], " (the size at dimension ", d,
                "): got ", split_sizes, "; adjust them");
    std::vector<Tensor> parts;
    parts.reserve(split_sizes.size());
    DimVector sizes(self.sizes());
    int64_t at = 0;
    for (const int64_t n : split_sizes) {
      sizes[d] = n;
      parts.push_back(make_view(self, sizes, self.strides(), self.storage_offset() + at * self.strides()[d]));
      at += n;
    }
    return parts;
  }
  static Tensor grad_self(TensorList grads, int64_t dim) { return taeda::cat(grads, dim); }
  static constexpr Onnx onnx{"Split", 13};
};
/// Views of `split_size` elements along `dim`, the last one shorter.
struct Split : Composite {
  static constexpr auto schema = "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t split_size, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[split] split expects at least a 1-dimensional tensor: got 0 dimensions; reshape it");
    const int64_t n = self.size(dim);
    TAEDA_CHECK(split_size >= 0, "[split] split_size must be non-negative: got ", split_size, "; pass 1 or more");
    TAEDA_CHECK(split_size > 0 || n == 0, "[split] split_size can only be 0 if the dimension size is 0: got ", split_size, " for ",
                n, "; pass 1 or more");
    const int64_t count = split_size == 0 ? 1 : std::max<int64_t>((n + split_size - 1) / split_size, 1);
    DimVector sizes(static_cast<size_t>(count), split_size);
    sizes.back() = n - split_size * (count - 1);
    return self.split_with_sizes(sizes, dim);
  }
};
/// Views of the given sizes.
struct SplitSizes : Composite {
  static constexpr auto schema = "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef split_size, int64_t dim) {
    return self.split_with_sizes(split_size, dim);
  }
};
/// At most `chunks` views of equal size, the last one shorter.
struct Chunk : Composite {
  static constexpr auto schema = "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t chunks, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[chunk] chunk expects at least a 1-dimensional tensor: got 0 dimensions; reshape it");
    TAEDA_CHECK(chunks > 0, "[chunk] chunk expects `chunks` to be greater than 0, got: ", chunks, "; pass 1 or more");
    const int64_t n = self.size(dim);
    const int64_t each = (n + chunks - 1) / chunks;
    if (each == 0) return self.split_with_sizes(DimVector(static_cast<size_t>(chunks), 0), dim);
    return self.split(each, dim);
  }
};
/// One view for each index along `dim`, that dimension removed.
struct Unbind {
  static constexpr auto schema = "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t dim) {
    TAEDA_CHECK_INDEX(self.dim() > 0, "[unbind] a 0-dim tensor has no dimension to take apart: got dimension ", dim, "; reshape it");
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, self.dim(), "unbind"));
    DimVector sizes(self.sizes());
    DimVector strides(self.strides());
    const int64_t n = sizes[d];
    const int64_t step = strides[d];
    sizes.erase(d);
    strides.erase(d);
    std::vector<Tensor> parts;
    parts.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) parts.push_back(make_view(self, sizes, strides, self.storage_offset() + i * step));
    return parts;
  }
  static Tensor grad_self(TensorList grads, int64_t dim, IntArrayRef self_sizes) {
    if (grads.empty()) return taeda::zeros(self_sizes);
    return taeda::stack(grads, dim);
  }
};

/// Cuts along `dim` before the given positions.
struct TensorSplitIndices : Composite {
  static constexpr auto schema = "tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef indices, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[tensor_split] expected at least a 1-dimensional tensor: got 0 dimensions; reshape it");
    std::vector<Tensor> parts;
    int64_t from = 0;
    for (const int64_t i : indices) {
      parts.push_back(self.slice(dim, from, i, 1));
      from = i;
    }
    parts.push_back(self.slice(dim, from, std::nullopt, 1));
    return parts;
  }
};
/// `sections` parts along `dim` whose sizes differ by at most one.
struct TensorSplitSections : Composite {
  static constexpr auto schema = "tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t sections, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[tensor_split] expected at least a 1-dimensional tensor: got 0 dimensions; reshape it");
    TAEDA_CHECK(sections > 0, "[tensor_split] number of sections must be larger than 0, got ", sections, "; pass 1 or more");
    const int64_t n = self.size(dim);
    DimVector sizes(static_cast<size_t>(sections), n / sections);
    for (int64_t i = 0; i < n % sections; ++i) ++sizes[static_cast<size_t>(i)];
    return self.split_with_sizes(sizes, dim);
  }
};
/// tensor_split with a 0-dim tensor (sections) or a vector (positions).
struct TensorSplitTensor : Composite {
  static constexpr auto schema =
      "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim) {
    const Tensor& t = tensor_indices_or_sections;
    TAEDA_CHECK(t.scalar_type() == kLong && t.dim() <= 1,
                "[tensor_split] expected tensor_indices_or_sections to be a 0-dim or 1-dim int64 tensor: got ", t.toString(), " ",
                t.sizes(), "; convert it");
    if (t.dim() == 0) return self.tensor_split(t.item<int64_t>(), dim);
    const Tensor flat = t.contiguous();
    return self.tensor_split(IntArrayRef(flat.const_data_ptr<int64_t>(), static_cast<size_t>(flat.numel())), dim);
  }
};

void check_split(const Tensor& self, int64_t least, int64_t sections, int64_t dim, const char* op) {
  TAEDA_CHECK(self.dim() >= least, "[", op, "] requires a tensor with at least ", least, " dimension(s): got ", self.dim(),
              "; reshape it");
  TAEDA_CHECK(sections > 0 && self.size(dim) % sections == 0, "[", op, "] attempted to split along dimension ", dim,
              ", but the size of the dimension ", self.size(dim), " is not divisible by the split_size ", sections,
              "; use tensor_split");
}

/// Equal parts along columns (of a vector: along its only dimension).
struct Hsplit : Composite {
  static constexpr auto schema = "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t sections) {
    const int64_t dim = self.dim() == 1 ? 0 : 1;
    check_split(self, 1, sections, dim, "hsplit");
    return self.tensor_split(sections, dim);
  }
};
/// Cuts columns before the given positions.
struct HsplitIndices : Composite {
  static constexpr auto schema = "hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef indices) {
    TAEDA_CHECK(self.dim() >= 1, "[hsplit] requires a tensor with at least 1 dimension(s): got 0; reshape it");
    return self.tensor_split(indices, self.dim() == 1 ? 0 : 1);
  }
};
/// Equal parts along rows.
struct Vsplit : Composite {
  static constexpr auto schema = "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t sections) {
    check_split(self, 2, sections, 0, "vsplit");
    return self.tensor_split(sections, 0);
  }
};
/// Cuts rows before the given positions.
struct VsplitIndices : Composite {
  static constexpr auto schema = "vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef indices) {
    TAEDA_CHECK(self.dim() >= 2, "[vsplit] requires a tensor with at least 2 dimension(s): got ", self.dim(), "; reshape it");
    return self.tensor_split(indices, 0);
  }
};
/// Equal parts along the third dimension.
struct Dsplit : Composite {
  static constexpr auto schema = "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, int64_t sections) {
    check_split(self, 3, sections, 2, "dsplit");
    return self.tensor_split(sections, 2);
  }
};
/// Cuts the third dimension before the given positions.
struct DsplitIndices : Composite {
  static constexpr auto schema = "dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef indices) {
    TAEDA_CHECK(self.dim() >= 3, "[dsplit] requires a tensor with at least 3 dimension(s): got ", self.dim(), "; reshape it");
    return self.tensor_split(indices, 2);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/split.inc"
