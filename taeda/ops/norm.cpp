// SPDX-License-Identifier: Apache-2.0
// Layer, root-mean-square and group normalisation.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/norm.h"

namespace taeda {
namespace ops {
namespace {

ScalarType compute_dtype(ScalarType t) { return t == kDouble ? kDouble : kFloat; }
Tensor as_plain(const std::optional<Tensor>& t, ScalarType type) {
  return t && t->defined() ? t->to(type).contiguous() : Tensor();
}
const void* data_or_null(const Tensor& t) { return t.defined() ? t.impl().data() : nullptr; }
void* mutable_or_null(const Tensor& t) { return t.defined() ? t.impl().data() : nullptr; }
std::optional<Tensor> optional_of(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

struct Rows {
  int64_t rows = 1, n = 1;
  DimVector stat_sizes;
};
Rows rows_of(const Tensor& input, IntArrayRef shape, const char* op) {
  TAEDA_CHECK(!shape.empty(), "[", op, "] normalized_shape must have at least one dimension: got [], pass the sizes of the last dimensions");
  const size_t lead = static_cast<size_t>(input.dim()) - std::min<size_t>(static_cast<size_t>(input.dim()), shape.size());
  const bool fits = static_cast<size_t>(input.dim()) >= shape.size() && input.sizes().slice(lead) == shape;
  TAEDA_CHECK(fits, "[", op, "] normalized_shape must be a suffix of the input's shape: got ", shape, " and ", input.sizes(),
              "; pass the sizes of the last dimensions");
  Rows r;
  for (size_t d = 0; d < static_cast<size_t>(input.dim()); ++d) {
    (d < lead ? r.rows : r.n) *= input.sizes()[d];
    r.stat_sizes.push_back(d < lead ? input.sizes()[d] : 1);
  }
  return r;
}
void check_affine(const std::optional<Tensor>& t, IntArrayRef shape, const char* name, const char* op) {
  TAEDA_CHECK(!t || !t->defined() || t->sizes() == shape, "[", op, "] ", name, " must have shape normalized_shape: got ",
              t->sizes(), " and ", shape, "; reshape it");
}

/// Layer normalisation with the mean and the reciprocal standard deviation of each row.
struct NativeLayerNorm {
  static constexpr auto schema =
      "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor output, Tensor mean, Tensor rstd)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                                                    const std::optional<Tensor>& bias, double eps) {
    const Rows r = rows_of(input, normalized_shape, "layer_norm");
    check_affine(weight, normalized_shape, "weight", "layer_norm");
    check_affine(bias, normalized_shape, "bias", "layer_norm");
    TAEDA_CHECK(input.is_floating_point(), "[layer_norm] the input must be floating: got ", input.scalar_type(), "; convert it first");
    const ScalarType type = compute_dtype(input.scalar_type());
    const Tensor x = input.to(type).contiguous();
    const Tensor w = as_plain(weight, type), b = as_plain(bias, type);
    Tensor out = make_tensor(input.sizes(), type, input.device());
    Tensor mean = make_tensor(r.stat_sizes, type, input.device());
    Tensor rstd = make_tensor(r.stat_sizes, type, input.device());
    if (r.n == 0) {
      mean.zero_();
      rstd.fill_(std::numeric_limits<double>::quiet_NaN());
    } else if (r.rows > 0) {
      layer_norm_kernel(input.device(), LayerNormArgs{type, x.impl().data(), data_or_null(w), data_or_null(b), out.impl().data(),
                                                      mean.impl().data(), rstd.impl().data(), r.rows, r.n, eps});
    }
    return {out.to(input.scalar_type()), mean, rstd};
  }
  static constexpr auto grads_for = "input weight bias";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad_output, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
                                                  const Tensor& rstd, const Tensor& weight, const Tensor& bias, std::array<bool, 3> needs) {
    if (!grad_output.defined()) return {};
    return taeda::native_layer_norm_backward(grad_output, input, normalized_shape, mean, rstd, optional_of(weight), optional_of(bias), needs[0],
                                             needs[1], needs[2]);
  }
  static constexpr Onnx onnx{"LayerNormalization", 17};
};

/// Gradients of `native_layer_norm`; the undefined ones were not asked for.
struct NativeLayerNormBackward {
  static constexpr auto schema =
      "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, "
      "bool need_input, bool need_weight, bool need_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
                                                    const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                                    bool need_input, bool need_weight, bool need_bias) {
    const Rows r = rows_of(input, normalized_shape, "layer_norm");
    const ScalarType type = compute_dtype(input.scalar_type());
    const Tensor g = grad_out.to(type).contiguous(), x = input.to(type).contiguous(), w = as_plain(weight, type);
    const Tensor m = mean.to(type).contiguous(), s = rstd.to(type).contiguous();
    Tensor dx, dw, db;
    if (need_input) dx = make_tensor(input.sizes(), type, input.device());
    if (need_weight && w.defined()) dw = make_tensor(normalized_shape, type, input.device());
    if (need_bias && bias && bias->defined()) db = make_tensor(normalized_shape, type, input.device());
    if (r.rows == 0) {
      if (dw.defined()) dw.zero_();
      if (db.defined()) db.zero_();
    } else if (r.n > 0) {
      layer_norm_backward_kernel(input.device(),
                                 LayerNormBackwardArgs{type, g.impl().data(), x.impl().data(), m.impl().data(), s.impl().data(), data_or_null(w),
                                                       mutable_or_null(dx), mutable_or_null(dw), mutable_or_null(db), r.rows, r.n});
    }
    const auto back = [&](const Tensor& t, ScalarType to) { return t.defined() ? t.to(to) : t; };
    return {back(dx, input.scalar_type()), back(dw, w.defined() ? weight->scalar_type() : type),
            back(db, db.defined() ? bias->scalar_type() : type)};
  }
  static constexpr auto grads_for = "grad_out input weight";
  static constexpr auto undefined_grads = true;
  /// The gradient of the gradient: with s = Σ over the three outputs of (cotangent · output), differentiated by the
  /// formulas of means and products; rstd is written out as a function of the input.
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad_grad_input, const Tensor& grad_grad_weight, const Tensor& grad_grad_bias,
                                                  const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd,
                                                  const Tensor& weight, std::array<bool, 3> needs) {
    const auto k = static_cast<int64_t>(normalized_shape.size());
    DimVector dims, lead;
    for (int64_t d = 0; d < input.dim(); ++d) (d < input.dim() - k ? lead : dims).push_back(d);
    const auto mean_of = [&](const Tensor& t) { return t.mean(IntArrayRef(dims), true); };
    const auto project = [&](const Tensor& t, const Tensor& hat) { return t.sub(mean_of(t)).sub(hat.mul(mean_of(t.mul(hat)))); };
    const Tensor hat = input.sub(mean_of(input)).mul(rstd);
    const Tensor g = weight.defined() ? grad_out.mul(weight) : grad_out;
    Tensor d_grad = taeda::zeros_like(grad_out), d_input = taeda::zeros_like(input), d_weight;
    if (weight.defined() && needs[2]) d_weight = taeda::zeros_like(weight);
    if (grad_grad_input.defined()) {
      const Tensor v = grad_grad_input;
      const Tensor pv = project(v, hat).mul(rstd);
      d_grad = d_grad.add(weight.defined() ? pv.mul(weight) : pv);
      if (d_weight.defined()) {
        const Tensor t = grad_out.mul(pv);
        d_weight = d_weight.add(lead.empty() ? t : t.sum(IntArrayRef(lead)));
      }
      // dx = rstd P g; through hat: P depends on hat twice, and rstd on the input.
      const Tensor a = mean_of(g.mul(hat)), c = mean_of(v.mul(hat));
      const Tensor dot = mean_of(v.mul(project(g, hat)));
      const Tensor d_hat = g.mul(c).add(v.mul(a)).neg();
      d_input = d_input.add(project(d_hat.mul(rstd), hat).mul(rstd)).sub(hat.mul(dot).mul(rstd).mul(rstd));
    }
    if (grad_grad_weight.defined()) {
      d_grad = d_grad.add(hat.mul(grad_grad_weight));
      d_input = d_input.add(project(grad_out.mul(grad_grad_weight), hat).mul(rstd));
    }
    if (grad_grad_bias.defined()) d_grad = d_grad.add(grad_grad_bias.expand(grad_out.sizes()));
    return {d_grad, d_input, d_weight};
  }
};
/// Layer normalisation over the last dimensions, of sizes `normalized_shape` (Ba, Kiros, Hinton 2016, eq. 3).
struct LayerNorm : Composite {
  static constexpr auto schema =
      "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto autocast = "fp32";
  static Tensor forward(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                        double eps, bool /*cudnn_enable*/) {
    return std::get<0>(taeda::native_layer_norm(input, normalized_shape, weight, bias, eps));
  }
};

/// input / sqrt(mean(input^2) + eps) over the last dimensions, times weight (Zhang, Sennrich 2019).
struct RmsNorm : Composite {
  static constexpr auto schema = "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
    rows_of(input, normalized_shape, "rms_norm");
    check_affine(weight, normalized_shape, "weight", "rms_norm");
    DimVector dims;
    for (int64_t d = input.dim() - static_cast<int64_t>(normalized_shape.size()); d < input.dim(); ++d) dims.push_back(d);
    const ScalarType type = input.scalar_type();
    const double small = eps.value_or(type == kDouble ? std::numeric_limits<double>::epsilon()
                                                      : static_cast<double>(std::numeric_limits<float>::epsilon()));
    const Tensor x = input.to(compute_dtype(type));
    Tensor y = x.mul(x.square().mean(IntArrayRef(dims), true).add(small).rsqrt());
    if (weight && weight->defined()) y = y.mul(*weight);
    return y.to(type);
  }
};

/// Each of `num_groups` groups of channels normalised over its elements, times weight plus bias by channel (Wu, He 2018).
struct GroupNorm : Composite {
  static constexpr auto schema =
      "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                        double eps, bool /*cudnn_enabled*/) {
    TAEDA_CHECK(input.dim() >= 2, "[group_norm] expected at least 2 dimensions for input tensor but received ", input.dim(), "; add the batch and channels");
    const int64_t batch = input.size(0), channels = input.size(1);
    TAEDA_CHECK(num_groups > 0 && channels % num_groups == 0, "[group_norm] expected number of channels in input to be divisible by num_groups: got ",
                channels, " and ", num_groups, "; choose a divisor");
    const auto affine_ok = [&](const std::optional<Tensor>& t) { return !t || !t->defined() || (t->dim() == 1 && t->numel() == channels); };
    TAEDA_CHECK(affine_ok(weight) && affine_ok(bias), "[group_norm] weight and bias must be vectors of size equal to the number of channels: got ",
                channels, " channels; reshape them");
    if (input.numel() == 0) return taeda::empty_like(input);
    const int64_t per_group = input.numel() / std::max<int64_t>(1, batch * num_groups);
    const Tensor rows = input.reshape({batch * num_groups, per_group});
    Tensor y = std::get<0>(taeda::native_layer_norm(rows, per_group, std::nullopt, std::nullopt, eps)).reshape(input.sizes());
    DimVector shape(static_cast<size_t>(input.dim()), 1);
    shape[1] = channels;
    if (weight && weight->defined()) y = y.mul(weight->reshape(shape));
    if (bias && bias->defined()) y = y.add(bias->reshape(shape));
    return y;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/norm.inc"
