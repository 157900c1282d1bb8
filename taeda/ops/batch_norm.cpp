// SPDX-License-Identifier: Apache-2.0
// Batch, instance and local response normalisation.
#include <algorithm>
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/norm.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

using OptTensor = std::optional<Tensor>;
ScalarType compute_dtype(ScalarType t) { return t == kDouble ? kDouble : kFloat; }
bool given(const OptTensor& t) { return t && t->defined(); }
Tensor as_plain(const OptTensor& t, ScalarType type) { return given(t) ? t->to(type).contiguous() : Tensor(); }
void* data_or_null(const Tensor& t) { return t.defined() ? t.impl().data() : nullptr; }
OptTensor optional_of(const Tensor& t) { return t.defined() ? OptTensor(t) : std::nullopt; }

struct Geometry {
  int64_t batch, channels, inner = 1;
};
Geometry geometry_of(const Tensor& input) {
  TAEDA_CHECK(input.dim() >= 2, "[batch_norm] the input must have at least two dimensions, batch and channels: got sizes ", input.sizes(),
              "; add them");
  Geometry g{input.size(0), input.size(1)};
  for (int64_t d = 2; d < input.dim(); ++d) g.inner *= input.size(d);
  return g;
}
void check_vector(const OptTensor& t, int64_t channels, const char* name) {
  TAEDA_CHECK(!given(t) || t->numel() == channels, "[batch_norm] ", name, " should contain ", channels, " elements, not ", t->numel(),
              "; give one for each channel");
}
void check_all(const OptTensor& weight, const OptTensor& bias, const OptTensor& mean, const OptTensor& var, int64_t channels) {
  check_vector(weight, channels, "weight");
  check_vector(bias, channels, "bias");
  check_vector(mean, channels, "running_mean");
  check_vector(var, channels, "running_var");
}
/// running = (1 - momentum) * running + momentum * value
void update(const OptTensor& running, const Tensor& value, double momentum) {
  if (!given(running)) return;
  const Tensor next = running->mul(1 - momentum).add(value.mul(momentum).to(running->scalar_type()));
  detail::mutate(*running, [&] { pointwise::copy_elements(running->impl(), next.impl()); });
}
DimVector channel_shape(int64_t ndim, int64_t channels) {
  DimVector shape(static_cast<size_t>(ndim), 1);
  shape[1] = channels;
  return shape;
}

/// Batch normalisation with the statistics it used. In training they are those of the batch, and the running ones are
/// moved towards them (the variance by its unbiased estimate); otherwise the running ones.
struct NativeBatchNorm {
  static constexpr auto schema =
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, "
      "float eps) -> (Tensor output, Tensor mean, Tensor rstd)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& input, const OptTensor& weight, const OptTensor& bias,
                                                    const OptTensor& running_mean, const OptTensor& running_var, bool training, double momentum,
                                                    double eps) {
    const Geometry g = geometry_of(input);
    check_all(weight, bias, running_mean, running_var, g.channels);
    TAEDA_CHECK(input.is_floating_point(), "[batch_norm] the input must be floating: got ", input.scalar_type(), "; convert it first");
    const ScalarType type = compute_dtype(input.scalar_type());
    const Tensor x = input.to(type).contiguous();
    Tensor mean, var;
    if (training) {
      mean = make_tensor(g.channels, type, input.device());
      var = make_tensor(g.channels, type, input.device());
      const int64_t count = g.batch * g.inner;
      if (count > 0) {
        channel_moments_kernel(input.device(), ChannelMomentsArgs{type, x.impl().data(), mean.impl().data(), var.impl().data(), g.batch, g.channels, g.inner});
        update(running_mean, mean, momentum);
        update(running_var, count > 1 ? var.mul(static_cast<double>(count) / static_cast<double>(count - 1)) : var, momentum);
      } else {
        mean.zero_();
        var.zero_();
      }
    } else {
      TAEDA_CHECK(given(running_mean) && given(running_var), "[batch_norm] expected running_mean and running_var to be defined when training is false: got none; pass both");
      mean = running_mean->to(type).clone();
      var = running_var->to(type);
    }
    const Tensor rstd = var.add(eps).rsqrt();
    Tensor scale = given(weight) ? rstd.mul(weight->to(type)) : rstd;
    Tensor shift = mean.mul(scale).neg();
    if (given(bias)) shift = shift.add(bias->to(type));
    scale = scale.contiguous();
    shift = shift.contiguous();
    Tensor out = make_tensor(input.sizes(), type, input.device());
    if (out.numel() > 0) {
      channel_affine_kernel(input.device(), ChannelAffineArgs{type, x.impl().data(), scale.impl().data(), shift.impl().data(), out.impl().data(),
                                                              g.batch, g.channels, g.inner});
    }
    return {out.to(input.scalar_type()), mean, rstd};
  }
  static constexpr auto grads_for = "input weight bias";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad_output, const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                  const Tensor& mean, const Tensor& rstd, bool training, std::array<bool, 3> needs) {
    if (!grad_output.defined()) return {};
    return taeda::native_batch_norm_backward(grad_output, input, optional_of(weight), optional_of(bias), mean, rstd, training, needs[0],
                                             needs[1] && weight.defined(), needs[2] && bias.defined());
  }
  static constexpr Onnx onnx{"BatchNormalization", 15};
};

/// Gradients of `native_batch_norm`; the undefined ones were not asked for.
struct NativeBatchNormBackward {
  static constexpr auto schema =
      "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor rstd, bool training, "
      "bool need_input, bool need_weight, bool need_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& grad_out, const Tensor& input, const OptTensor& weight, const OptTensor& /*bias*/,
                                                    const Tensor& mean, const Tensor& rstd, bool training, bool need_input, bool need_weight,
                                                    bool need_bias) {
    TAEDA_CHECK(input.dim() >= 2 && grad_out.sizes() == input.sizes(), "[native_batch_norm_backward] input and gradient must have the same sizes, two dimensions or more: got ",
                input.sizes(), " and ", grad_out.sizes(), "; pass those of the forward");
    TAEDA_CHECK(mean.numel() == input.size(1) && rstd.numel() == input.size(1) && (!given(weight) || weight->numel() == input.size(1)),
                "[native_batch_norm_backward] mean, rstd and weight must have an element for each of ", input.size(1), " channels: got ", mean.sizes(), ", ",
                rstd.sizes(), given(weight) ? str(" and ", weight->sizes()) : std::string(), "; pass those of the forward");
    const Geometry geo = geometry_of(input);
    const ScalarType type = compute_dtype(input.scalar_type());
    const Tensor g = grad_out.to(type).contiguous(), x = input.to(type).contiguous(), w = as_plain(weight, type);
    const Tensor m = mean.to(type).contiguous(), r = rstd.to(type).contiguous();
    Tensor dx, dw, db;
    if (need_input) dx = make_tensor(input.sizes(), type, input.device());
    if (need_weight) dw = make_tensor(geo.channels, type, input.device());
    if (need_bias) db = make_tensor(geo.channels, type, input.device());
    batch_norm_backward_kernel(input.device(),
                               BatchNormBackwardArgs{type, g.impl().data(), x.impl().data(), m.impl().data(), r.impl().data(), data_or_null(w),
                                                     data_or_null(dx), data_or_null(dw), data_or_null(db), geo.batch, geo.channels, geo.inner, training});
    const ScalarType affine = given(weight) ? weight->scalar_type() : type;
    const auto back = [](const Tensor& t, ScalarType to) { return t.defined() ? t.to(to) : t; };
    return {back(dx, input.scalar_type()), back(dw, affine), back(db, affine)};
  }
  static constexpr auto grads_for = "grad_out input weight";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad_grad_input, const Tensor& grad_grad_weight, const Tensor& grad_grad_bias,
                                                  const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                  const Tensor& rstd, bool training, std::array<bool, 3> needs) {
    const int64_t channels = input.size(1);
    const DimVector shape = channel_shape(input.dim(), channels);
    DimVector dims;
    for (int64_t d = 0; d < input.dim(); ++d) {
      if (d != 1) dims.push_back(d);
    }
    const auto mean_of = [&](const Tensor& t) { return t.mean(IntArrayRef(dims), true); };
    const auto project = [&](const Tensor& t, const Tensor& hat) {
      return training ? t.sub(mean_of(t)).sub(hat.mul(mean_of(t.mul(hat)))) : t;
    };
    const Tensor r = rstd.reshape(shape);
    const Tensor w = weight.defined() ? weight.reshape(shape) : Tensor();
    const Tensor hat = input.sub(mean.reshape(shape)).mul(r);
    const Tensor g = w.defined() ? grad_out.mul(w) : grad_out;
    Tensor d_grad = taeda::zeros_like(grad_out), d_input = taeda::zeros_like(input), d_weight;
    if (w.defined() && needs[2]) d_weight = taeda::zeros_like(weight);
    if (grad_grad_input.defined()) {
      const Tensor v = grad_grad_input;
      const Tensor pv = project(v, hat).mul(r);
      d_grad = d_grad.add(w.defined() ? pv.mul(w) : pv);
      if (d_weight.defined()) d_weight = d_weight.add(grad_out.mul(pv).sum(IntArrayRef(dims)));
      if (training) {
        const Tensor a = mean_of(g.mul(hat)), c = mean_of(v.mul(hat));
        const Tensor dot = mean_of(v.mul(project(g, hat)));
        const Tensor d_hat = g.mul(c).add(v.mul(a)).neg();
        d_input = d_input.add(project(d_hat.mul(r), hat).mul(r)).sub(hat.mul(dot).mul(r).mul(r));
      }
    }
    if (grad_grad_weight.defined()) {
      const Tensor u = grad_grad_weight.reshape(shape);
      d_grad = d_grad.add(hat.mul(u));
      d_input = d_input.add(project(grad_out.mul(u), hat).mul(r));
    }
    if (grad_grad_bias.defined()) d_grad = d_grad.add(grad_grad_bias.reshape(shape).expand(grad_out.sizes()));
    return {d_grad, d_input, d_weight};
  }
};

/// Batch normalisation over (batch, channels, …) (Ioffe, Szegedy 2015); see `native_batch_norm` for the statistics.
struct BatchNorm : Composite {
  static constexpr auto schema =
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, "
      "bool cudnn_enabled) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const OptTensor& weight, const OptTensor& bias, const OptTensor& running_mean,
                        const OptTensor& running_var, bool training, double momentum, double eps, bool /*cudnn_enabled*/) {
    return std::get<0>(taeda::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
  }
};
/// `batch_norm` in the order of arguments of Python's functional form. Throws ValueError for one value per channel in training.
struct NnFunctionalBatchNorm : Composite {
  static constexpr auto schema =
      "nn_functional_batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, "
      "float momentum=0.1, float eps=1e-05) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const OptTensor& running_mean, const OptTensor& running_var, const OptTensor& weight,
                        const OptTensor& bias, bool training, double momentum, double eps) {
    if (training && input.dim() >= 2) {
      const Geometry g = geometry_of(input);
      TAEDA_CHECK_VALUE(g.batch * g.inner != 1, "[batch_norm] expected more than 1 value per channel when training: got input size ",
                        input.sizes(), "; use a larger batch or evaluation mode");
    }
    return taeda::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, false);
  }
};

/// Each channel of each sample normalised over its own elements (Ulyanov, Vedaldi, Lempitsky 2016).
struct InstanceNorm : Composite {
  static constexpr auto schema =
      "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, "
      "float eps, bool cudnn_enabled) -> Tensor";
  static constexpr auto variants = "function";
  static OptTensor repeated(const OptTensor& t, int64_t batch) { return given(t) ? OptTensor(t->repeat(batch)) : std::nullopt; }
  static Tensor forward(const Tensor& input, const OptTensor& weight, const OptTensor& bias, const OptTensor& running_mean,
                        const OptTensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
    const Geometry g = geometry_of(input);
    check_all(weight, bias, running_mean, running_var, g.channels);
    TAEDA_CHECK(use_input_stats || (given(running_mean) && given(running_var)),
                "[instance_norm] expected running_mean and running_var to be defined when use_input_stats is false: got none; pass both");
    DimVector sizes(input.sizes());
    sizes[0] = 1;
    sizes[1] = g.batch * g.channels;
    const OptTensor mean = repeated(running_mean, g.batch), var = repeated(running_var, g.batch);
    const Tensor out = taeda::batch_norm(input.reshape(sizes), repeated(weight, g.batch), repeated(bias, g.batch), mean, var, use_input_stats,
                                         momentum, eps, cudnn_enabled);
    if (use_input_stats) {
      const auto fold = [&](const OptTensor& to, const OptTensor& from) {
        if (given(to)) to->detach().copy_(from->reshape({g.batch, g.channels}).mean(0));
      };
      fold(running_mean, mean);
      fold(running_var, var);
    }
    return out.reshape(input.sizes());
  }
};
/// `instance_norm` in the order of arguments of Python's functional form.
struct NnFunctionalInstanceNorm : Composite {
  static constexpr auto schema =
      "nn_functional_instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, "
      "bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const OptTensor& running_mean, const OptTensor& running_var, const OptTensor& weight,
                        const OptTensor& bias, bool use_input_stats, double momentum, double eps) {
    if (use_input_stats && input.dim() >= 2) {
      TAEDA_CHECK_VALUE(geometry_of(input).inner != 1, "[instance_norm] expected more than 1 spatial element when training: got input size ",
                        input.sizes(), "; use larger inputs or running statistics");
    }
    return taeda::instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, false);
  }
};

/// input / (k + alpha * mean of squares over `size` neighbouring channels)^beta (Krizhevsky, Sutskever, Hinton 2012).
struct LocalResponseNorm : Composite {
  static constexpr auto schema =
      "nn_functional_local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t size, double alpha, double beta, double k) {
    TAEDA_CHECK_VALUE(input.dim() >= 3, "[local_response_norm] expected 3D or higher dimensionality input: got ", input.dim(), " dimensions; add them");
    TAEDA_CHECK_VALUE(size > 0, "[local_response_norm] size must be positive: got ", size, "; pass the number of neighbouring channels");
    if (input.numel() == 0) return input.clone();
    const int64_t channels = input.size(1);
    const Tensor square = input.square();
    Tensor sum;
    for (int64_t shift = -std::min(size / 2, channels); shift <= std::min((size - 1) / 2, channels); ++shift) {
      const int64_t count = channels - std::abs(shift);
      if (count <= 0) continue;
      Tensor part = square.narrow(1, std::max<int64_t>(0, shift), count);
      DimVector gap(input.sizes());
      gap[1] = std::abs(shift);
      if (shift != 0) {
        const Tensor zeros = taeda::zeros(gap, input.options());
        part = shift < 0 ? taeda::cat({zeros, part}, 1) : taeda::cat({part, zeros}, 1);
      }
      sum = sum.defined() ? sum.add(part) : part;
    }
    return input.div(sum.mul(alpha / static_cast<double>(size)).add(k).pow(beta));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/batch_norm.inc"
