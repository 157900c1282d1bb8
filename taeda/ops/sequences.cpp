// SPDX-License-Identifier: Apache-2.0
// Lists of tensors of different lengths as one tensor, and back; uninitialised tensors in a given dimension order.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

/// Sequences (length, *) padded to the longest: (longest, batch, *), or (batch, longest, *) with batch_first.
/// padding_side "right" pads at the end, "left" in front.
struct PadSequence : Composite {
  static constexpr auto schema =
      "pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side='right') -> Tensor";
  static Tensor forward(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
    TAEDA_CHECK(!sequences.empty(), "[pad_sequence] received an empty list of sequences; pass at least one");
    TAEDA_CHECK(padding_side == "left" || padding_side == "right", "[pad_sequence] padding_side should be either 'right' or 'left': got '",
                padding_side, "'; use one of these");
    int64_t longest = 0;
    for (const Tensor& s : sequences) {
      TAEDA_CHECK(s.dim() > 0, "[pad_sequence] sequences must have at least one dimension: got a 0-dim tensor; unsqueeze it");
      longest = std::max(longest, s.size(0));
    }
    std::vector<Tensor> padded;
    for (const Tensor& s : sequences) {
      DimVector pad(static_cast<size_t>(2 * s.dim()), 0);
      pad[pad.size() - (padding_side == "left" ? 2 : 1)] = longest - s.size(0);
      padded.push_back(taeda::constant_pad_nd(s.to(sequences[0].scalar_type()), pad, padding_value));
    }
    return taeda::stack(padded, batch_first ? 0 : 1);
  }
};

/// All elements of a list of tensors in one vector.
struct FlattenDenseTensors : Composite {
  static constexpr auto schema = "flatten_dense_tensors(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    std::vector<Tensor> flat;
    for (const Tensor& t : tensors) flat.push_back(t.reshape({-1}));
    return taeda::cat(flat);
  }
};
/// Undoes flatten_dense_tensors: views of `flat` in the shapes of the tensors.
struct UnflattenDenseTensors : Composite {
  static constexpr auto schema = "unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(const Tensor& flat, TensorList tensors) {
    std::vector<Tensor> parts;
    int64_t at = 0;
    for (const Tensor& t : tensors) {
      parts.push_back(flat.narrow(0, at, t.numel()).view(t.sizes()));
      at += t.numel();
    }
    return parts;
  }
};

/// An uninitialised dense tensor whose dimensions lie in memory in the given order, outermost first.
struct EmptyPermuted {
  static constexpr auto schema =
      "empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(IntArrayRef size, IntArrayRef physical_layout, const TensorOptions& options) {
    TAEDA_CHECK(size.size() == physical_layout.size(), "[empty_permuted] number of dimensions in size does not match the length of the "
                "physical_layout: got ", size, " and ", physical_layout, "; name every dimension once");
    DimVector strides(size.size(), -1);
    int64_t step = 1;
    for (size_t i = size.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(maybe_wrap_dim(physical_layout[i], static_cast<int64_t>(size.size()), "empty_permuted"));
      TAEDA_CHECK(strides[d] < 0, "[empty_permuted] duplicate dim in the physical layout: got ", physical_layout,
                  "; name every dimension once");
      strides[d] = step;
      step *= size[d];
    }
    return make_tensor_strided(size, strides, options.scalar_type(), options.device());
  }
};
/// An uninitialised tensor of the given strides with this tensor's dtype and device.
struct NewEmptyStrided : Composite {
  static constexpr auto schema =
      "new_empty_strided(Tensor self, int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
    return taeda::empty_strided(size, stride, detail::like_options(self, options));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/sequences.inc"
