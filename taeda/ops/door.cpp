// SPDX-License-Identifier: Apache-2.0
// The slow-path helpers of operator doors.
#include "taeda/ops/door.h"

#include <cmath>

#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {

namespace detail {

Value intercept(const OpInfo& op, std::vector<Value> args) {
  return static_cast<Interceptor*>(tls_modes.interceptor)->call(op, std::move(args));
}

void materialize_grads(const autograd::Node& node, std::span<Tensor> grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) continue;
    const autograd::OutputMeta& meta = node.output_meta(i);
    if (!is_floating_type(meta.dtype)) continue;
    grads[i] = taeda::zeros(IntArrayRef(meta.sizes), TensorOptions(meta.dtype));
  }
}

std::vector<DimVector> list_sizes(TensorList list) {
  std::vector<DimVector> sizes;
  for (const Tensor& t : list) sizes.emplace_back(t.sizes());
  return sizes;
}

void check_writable(const Tensor& self, const char* op) {
  const TensorImpl& t = self.impl();
  if (t.contiguous) return;
  for (size_t d = 0; d < t.ndim; ++d) {
    TAEDA_CHECK(t.sizes()[d] <= 1 || t.strides()[d] != 0, "[", op,
                "] unsupported operation: more than one element of the written-to tensor refers to a single memory location"
                ": got sizes ", t.sizes(), " with strides ", t.strides(), "; call clone() on it first");
  }
}

void write_inplace(const Tensor& self, const Tensor& result, const char* op) {
  TAEDA_CHECK(can_cast(result.scalar_type(), self.scalar_type()), "[", op, "] result type ", result.scalar_type(),
              " can't be cast to the desired output type ", self.scalar_type(), "; use the form that returns a new tensor");
  TAEDA_CHECK(self.sizes() == result.sizes(), "[", op, "] output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", result.sizes(), "; use the form that returns a new tensor");
  check_writable(self, op);
  pointwise::copy_elements(self.impl(), result.impl());
  self.mutable_impl().count_write(op);
}

Tensor& write_out(Tensor& out, const Tensor& result, const char* op) {
  if (!out.defined()) return out = result;
  if (TAEDA_UNLIKELY(capture::active())) finish_recorded();
  TAEDA_CHECK(can_cast(result.scalar_type(), out.scalar_type()), "[", op, "] result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type(), "; pass an output of another dtype");
  if (out.sizes() != result.sizes()) out.resize_(result.sizes());
  check_writable(out, op);
  pointwise::copy_elements(out.impl(), result.impl());
  out.mutable_impl().count_write();
  return out;
}

void throw_out_grad(const char* op) {
  TAEDA_CHECK(false, "[", op, "] functions with out=... arguments don't support automatic differentiation, but one of the "
              "arguments requires grad; use the form that returns a new tensor, or NoGradGuard");
}

TensorOptions options_from(const Value* four) {
  TensorOptions options;
  if (const auto t = opt_enum<ScalarType>(four[0])) options = options.dtype(t);
  if (const auto l = opt_enum<Layout>(four[1])) options = options.layout(l);
  if (const auto d = opt_device(four[2])) options = options.device(d);
  if (const auto p = opt_bool(four[3])) options = options.pinned_memory(p);
  return options;
}

}  // namespace detail

Tensor sum_to(const Tensor& tensor, IntArrayRef sizes) {
  if (tensor.sizes() == sizes) return tensor;
  const size_t lead = static_cast<size_t>(tensor.dim()) - sizes.size();
  DimVector dims;
  for (size_t d = 0; d < static_cast<size_t>(tensor.dim()); ++d) {
    if (d < lead || (sizes[d - lead] == 1 && tensor.sizes()[d] != 1)) dims.push_back(static_cast<int64_t>(d));
  }
  if (dims.size() == lead) return tensor.sum(IntArrayRef(dims), false);
  const Tensor summed = dims.empty() ? tensor : tensor.sum(IntArrayRef(dims), true);
  return lead > 0 ? summed.reshape(sizes) : summed;
}

}  // namespace taeda
