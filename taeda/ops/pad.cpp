// SPDX-License-Identifier: Apache-2.0
// Padding: constant, reflected, replicated, circular.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

/// Padding lists go from the last dimension backwards: (left, right, top, bottom, …). Negative amounts cut.
struct ConstantPad {
  static constexpr auto schema = "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef pad, const Scalar& value) {
    const auto n = static_cast<int64_t>(pad.size() / 2);
    TAEDA_CHECK(pad.size() % 2 == 0, "[constant_pad_nd] length of pad must be even but instead it equals ", pad.size(),
                "; give two amounts for each dimension");
    TAEDA_CHECK(n <= self.dim(), "[constant_pad_nd] length of pad should be no more than twice the number of dimensions of the input: got ",
                pad, " for ", self.sizes(), "; shorten it");
    DimVector sizes(self.sizes());
    Tensor from = self;
    DimVector begin(static_cast<size_t>(self.dim()), 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t d = self.dim() - 1 - i;
      const int64_t before = pad[static_cast<size_t>(2 * i)];
      const int64_t after = pad[static_cast<size_t>(2 * i + 1)];
      const int64_t size = self.size(d);
      TAEDA_CHECK(size + before + after >= 0, "[constant_pad_nd] the input size ", size, ", plus negative padding ", before, " and ",
                  after, ", resulted in a negative output size, which is invalid; cut less");
      sizes[static_cast<size_t>(d)] = size + before + after;
      const int64_t first = std::min(size, std::max<int64_t>(0, -before));
      const int64_t last = std::max(first, size - std::max<int64_t>(0, -after));
      from = from.slice(d, first, last, 1);
      begin[static_cast<size_t>(d)] = std::max<int64_t>(0, before);
    }
    const MemoryFormat format = self.suggest_memory_format();
    Tensor result = detail::empty_with(sizes, self.options(), format);
    detail::fill_elements(result.impl(), value);
    if (from.numel() == 0) return result;
    Tensor to = result;
    for (int64_t d = 0; d < self.dim(); ++d) to = to.narrow(d, begin[static_cast<size_t>(d)], from.size(d));
    pointwise::copy_elements(to.impl(), from.impl());
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef pad) {
    DimVector back;
    for (const int64_t p : pad) back.push_back(-p);
    return taeda::constant_pad_nd(grad, back, 0);
  }
  static constexpr Onnx onnx{"Pad", 13};
};

enum class Border { kReflect, kReplicate, kCircular };

/// Where each element of a padded dimension comes from.
Tensor border_index(int64_t size, int64_t before, int64_t after, Border border) {
  const int64_t total = size + before + after;
  Tensor index = make_tensor(IntArrayRef(total), kLong);
  auto* out = reinterpret_cast<int64_t*>(index.impl().data());
  for (int64_t i = 0; i < total; ++i) {
    int64_t at = i - before;
    if (border == Border::kReplicate) {
      at = std::clamp<int64_t>(at, 0, size - 1);
    } else if (border == Border::kReflect) {
      if (at < 0) at = -at;
      if (at >= size) at = 2 * (size - 1) - at;
    } else {
      at = ((at % size) + size) % size;
    }
    out[i] = at;
  }
  return index;
}

Tensor pad_border(const Tensor& self, IntArrayRef pad, Border border, const char* op) {
  const auto n = static_cast<int64_t>(pad.size() / 2);
  TAEDA_CHECK(pad.size() % 2 == 0 && n >= 1 && (self.dim() == n + 1 || self.dim() == n + 2), "[", op,
              "] only 2D, 3D, 4D, 5D padding with non-constant padding of the last dimensions is supported: got pad ", pad, " for ",
              self.sizes(), "; the input must have one or two dimensions more than are padded");
  TAEDA_CHECK_NOT_IMPLEMENTED(border == Border::kCircular || self.scalar_type() != kBool, "[", op, "] is not implemented for Bool; convert the input");
  // Only the batch dimension may be empty.
  for (int64_t d = self.dim() == n + 2 ? 1 : 0; d < self.dim(); ++d) {
    TAEDA_CHECK(self.size(d) > 0, "[", op, "] expected a tensor with possibly 0 batch size and other non-zero dimensions: got ",
                self.sizes(), "; check the input");
  }
  Tensor result = self;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = self.dim() - 1 - i;
    const int64_t size = self.size(d);
    const int64_t before = pad[static_cast<size_t>(2 * i)];
    const int64_t after = pad[static_cast<size_t>(2 * i + 1)];
    TAEDA_CHECK(border != Border::kReflect || (before < size && after < size), "[", op,
                "] padding size should be less than the corresponding input dimension: got (", before, ", ", after, ") at dimension ", d,
                " of input ", self.sizes(), "; pad less");
    TAEDA_CHECK(border != Border::kCircular || (before <= size && after <= size), "[", op,
                "] padding value causes wrapping around more than once: got (", before, ", ", after, ") at dimension ", d, " of input ",
                self.sizes(), "; pad less");
    TAEDA_CHECK(size + before + after >= (border == Border::kCircular ? 0 : 1), "[", op, "] input (", size,
                ") is too small: the padded size would be ", size + before + after, "; cut less");
    if (before == 0 && after == 0) continue;
    if (border != Border::kCircular) {
      result = result.index_select(d, border_index(size, before, after, border));
      continue;
    }
    // Negative amounts cut first: what is left continues at its other end.
    const int64_t first = std::max<int64_t>(0, -before);
    const int64_t left = size - first - std::max<int64_t>(0, -after);
    TAEDA_CHECK(left > 0 || (before <= 0 && after <= 0), "[", op, "] nothing is left to continue with: got (", before, ", ", after,
                ") at dimension ", d, " of input ", self.sizes(), "; cut less");
    result = result.narrow(d, first, std::max<int64_t>(left, 0));
    if (before > 0 || after > 0) {
      result = result.index_select(d, border_index(left, std::max<int64_t>(0, before), std::max<int64_t>(0, after), border));
    }
  }
  return result.is_same(self) ? self.clone() : result;
}

void check_length(IntArrayRef padding, size_t wanted, const char* op) {
  TAEDA_CHECK(padding.size() == wanted, "[", op, "] padding size is expected to be ", wanted, ", but got ", padding.size(),
              "; give two amounts for each dimension");
}
/// Mirrors the border without repeating it.
struct ReflectionPad1d : Composite {
  static constexpr auto schema = "reflection_pad1d(Tensor self, int[2] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 2, "reflection_pad1d");
    return pad_border(self, padding, Border::kReflect, "reflection_pad1d");
  }
};
/// Mirrors the border without repeating it.
struct ReflectionPad2d : Composite {
  static constexpr auto schema = "reflection_pad2d(Tensor self, int[4] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 4, "reflection_pad2d");
    return pad_border(self, padding, Border::kReflect, "reflection_pad2d");
  }
};
/// Mirrors the border without repeating it.
struct ReflectionPad3d : Composite {
  static constexpr auto schema = "reflection_pad3d(Tensor self, int[6] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 6, "reflection_pad3d");
    return pad_border(self, padding, Border::kReflect, "reflection_pad3d");
  }
};
/// Repeats the border element.
struct ReplicationPad1d : Composite {
  static constexpr auto schema = "replication_pad1d(Tensor self, int[2] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 2, "replication_pad1d");
    return pad_border(self, padding, Border::kReplicate, "replication_pad1d");
  }
};
/// Repeats the border element.
struct ReplicationPad2d : Composite {
  static constexpr auto schema = "replication_pad2d(Tensor self, int[4] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 4, "replication_pad2d");
    return pad_border(self, padding, Border::kReplicate, "replication_pad2d");
  }
};
/// Repeats the border element.
struct ReplicationPad3d : Composite {
  static constexpr auto schema = "replication_pad3d(Tensor self, int[6] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef padding) {
    check_length(padding, 6, "replication_pad3d");
    return pad_border(self, padding, Border::kReplicate, "replication_pad3d");
  }
};
/// Continues at the other end.
struct CircularPad : Composite {
  static constexpr auto schema = "_pad_circular(Tensor self, int[] pad) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef pad) { return pad_border(self, pad, Border::kCircular, "pad"); }
};

/// Padding by mode: "constant" (with value), "reflect", "replicate" or "circular".
struct Pad : Composite {
  static constexpr auto schema = "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
    TAEDA_CHECK(pad.size() % 2 == 0, "[pad] padding length must be divisible by 2: got ", pad, "; give two amounts for each dimension");
    TAEDA_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(), "[pad] padding length should be less than or equal to two times "
                "the input dimension but got padding length ", pad.size(), " and input of dimension ", self.dim(), "; shorten it");
    if (mode == "constant") return taeda::constant_pad_nd(self, pad, value.value_or(0));
    TAEDA_CHECK(!value || *value == 0, "[pad] padding mode \"", mode, "\" doesn't take in value argument: got ", value.value_or(0),
                "; leave it out");
    if (mode == "reflect") return pad_border(self, pad, Border::kReflect, "pad");
    if (mode == "replicate") return pad_border(self, pad, Border::kReplicate, "pad");
    TAEDA_CHECK_NOT_IMPLEMENTED(mode == "circular", "[pad] unrecognised padding mode: got \"", mode,
                                "\"; use constant, reflect, replicate or circular");
    return pad_border(self, pad, Border::kCircular, "pad");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/pad.inc"
