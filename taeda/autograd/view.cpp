// SPDX-License-Identifier: Apache-2.0
// Gradients through views: reading and replacing the part of a base that a view shows.
#include "taeda/autograd/view.h"

#include <algorithm>

#include "taeda/core/host_watch.h"
#include "taeda/ops/functions.h"

namespace taeda::autograd {

ViewGeometry::ViewGeometry(const TensorImpl& base, const TensorImpl& view)
    : base_sizes(base.sizes()),
      base_strides(base.strides()),
      sizes(view.sizes()),
      strides(view.strides()),
      offset(view.offset - base.offset) {
  TAEDA_CHECK_NOT_IMPLEMENTED(base.dtype == view.dtype,
                              "[view] gradients flow only through views of the base's dtype: got ", view.dtype,
                              " over ", base.dtype, "; use to(dtype)");
}

bool ViewGeometry::whole() const {
  return offset == 0 && base_strides == taeda::detail::contiguous_strides(base_sizes) &&
         strides == taeda::detail::contiguous_strides(sizes) &&
         taeda::detail::checked_numel(sizes, "view") == taeda::detail::checked_numel(base_sizes, "view");
}

namespace {

/// Whether no two elements of the view share memory; a sufficient test on sorted strides.
bool distinct(const ViewGeometry& view) {
  SmallVector<int64_t, 8> order;
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] > 1) order.push_back(static_cast<int64_t>(d));
  }
  const auto stride = [&](int64_t d) { return view.strides[static_cast<size_t>(d)]; };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return stride(a) < stride(b); });
  int64_t reach = 0;
  for (const int64_t d : order) {
    if (stride(d) <= reach) return false;
    reach += stride(d) * (view.sizes[static_cast<size_t>(d)] - 1);
  }
  return true;
}

/// A view of `whole`, which has the base's strides, without any relation for autograd.
Tensor part_of(const Tensor& whole, const ViewGeometry& view) {
  Tensor part = make_alias(whole);
  TensorImpl& impl = part.mutable_impl();
  impl.offset = whole.storage_offset() + view.offset;
  impl.set_sizes_strides(view.sizes, view.strides);
  return part;
}

/// `base` with exactly the strides of the geometry; undefined: zeros.
Tensor in_base_layout(const Tensor& base, const ViewGeometry& view, ScalarType dtype, Device device) {
  const TensorOptions options = TensorOptions().dtype(dtype).device(device);
  Tensor copy = taeda::empty_strided(view.base_sizes, view.base_strides, options);
  if (!base.defined() || !copy.is_non_overlapping_and_dense()) {
    // Gaps between elements may be reached by another view of the storage.
    copy = make_alias(taeda::zeros({static_cast<int64_t>(copy.storage().nbytes() / item_size(dtype))}, options));
    copy.mutable_impl().set_sizes_strides(view.base_sizes, view.base_strides);
  }
  if (base.defined()) copy.copy_(base);
  return copy;
}

template <class T>
void add_elements(const Tensor& whole, const Tensor& part, const ViewGeometry& view) {
  auto* const out = static_cast<T*>(whole.storage().data()) + whole.storage_offset() + view.offset;
  const T* const in = static_cast<const T*>(part.const_data_ptr());
  DimVector index(view.sizes.size());
  for (int64_t i = 0, n = part.numel(); i < n; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
    out[at] = static_cast<T>(out[at] + in[i]);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == view.sizes[d];) index[d] = 0;
  }
}

void add_overlapping(const Tensor& whole, const Tensor& part, const ViewGeometry& view) {
  switch (whole.scalar_type()) {
    case ScalarType::Double: return add_elements<double>(whole, part.contiguous(), view);
    case ScalarType::Half: return add_elements<Half>(whole, part.contiguous(), view);
    case ScalarType::BFloat16: return add_elements<BFloat16>(whole, part.contiguous(), view);
    default: return add_elements<float>(whole, part.contiguous(), view);
  }
}

Tensor gather_now(const Tensor& base, const ViewGeometry& view) {
  if (view.whole()) return base.reshape(view.sizes);
  return part_of(in_base_layout(base, view, base.scalar_type(), base.device()), view).clone();
}

Tensor replace_now(const Tensor& base, const Tensor& part, const ViewGeometry& view, ScalarType dtype, Device device) {
  if (view.whole() && part.defined()) return part.reshape(view.base_sizes);
  Tensor result = in_base_layout(base, view, dtype, device);
  const Tensor shown = part_of(result, view);
  if (distinct(view)) {
    if (part.defined()) {
      shown.copy_(part);
    } else {
      shown.zero_();
    }
    return result;
  }
  shown.zero_();
  if (part.defined()) add_overlapping(result, part, view);
  return result;
}

struct ViewReplace final : Node {
  ViewGeometry view;
  ScalarType dtype;
  Device device;
  ViewReplace(const ViewGeometry& v, ScalarType t, Device d) : view(v), dtype(t), device(d) {}
  std::string name() const override { return "ViewReplaceBackward"; }
  void backward(std::span<Tensor> in, std::span<Tensor> out) override {
    if (needs(0)) out[0] = view_replace(in[0], {}, view, dtype, device);
    if (needs(1)) out[1] = view_gather(in[0], view);
  }
};

struct ViewGather final : Node {
  ViewGeometry view;
  ScalarType dtype;
  Device device;
  ViewGather(const ViewGeometry& v, const Tensor& base) : view(v), dtype(base.scalar_type()), device(base.device()) {}
  std::string name() const override { return "ViewGatherBackward"; }
  void backward(std::span<Tensor> in, std::span<Tensor> out) override {
    if (needs(0)) out[0] = view_replace({}, in[0], view, dtype, device);
  }
};

}  // namespace

Tensor view_gather(const Tensor& base, const ViewGeometry& view) {
  IntrusivePtr<Node> node;
  if (recording() && base.requires_grad()) {
    node = IntrusivePtr<ViewGather>::adopt(new ViewGather(view, base));
    add_edge(*node, base);
  }
  Tensor result = taeda::detail::below_door([&] { return gather_now(base, view); });
  if (node) {
    if (result.impl().autograd || result.is_view()) result = make_alias(result);
    set_history(result, std::move(node));
  }
  return result;
}

Tensor view_replace(const Tensor& base, const Tensor& part, const ViewGeometry& view, ScalarType dtype, Device device) {
  IntrusivePtr<Node> node;
  if (recording() && (needs_grad(base) || needs_grad(part))) {
    node = IntrusivePtr<ViewReplace>::adopt(new ViewReplace(view, dtype, device));
    add_edge(*node, base);
    add_edge(*node, part);
  }
  Tensor result = taeda::detail::below_door([&] { return replace_now(base, part, view, dtype, device); });
  if (node) {
    if (result.impl().autograd || result.is_view()) result = make_alias(result);
    set_history(result, std::move(node));
  }
  return result;
}

}  // namespace taeda::autograd
