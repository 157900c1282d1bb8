// SPDX-License-Identifier: Apache-2.0
// Gradients through views: what part of the base a view shows, and writing into that part.
#pragma once

#include "taeda/core/node.h"

namespace taeda::autograd {

/// A view as a function of its base: which elements it shows.
struct ViewGeometry {
  DimVector base_sizes, base_strides;
  DimVector sizes, strides;
  int64_t offset = 0;  ///< in elements, from the base's first

  ViewGeometry(const TensorImpl& base, const TensorImpl& view);
  /// The view shows every element of the base once, in order.
  bool whole() const;
};

/// The part of `base` that the view shows, as a fresh tensor. Differentiable.
Tensor view_gather(const Tensor& base, const ViewGeometry& view);
/// A copy of `base` (undefined: zeros) in which the part that the view shows is `part` (undefined: zeros). Where several
/// elements of the view share memory, theirs are summed. Differentiable in both.
Tensor view_replace(const Tensor& base, const Tensor& part, const ViewGeometry& view, ScalarType dtype, Device device);

}  // namespace taeda::autograd
