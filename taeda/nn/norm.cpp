// SPDX-License-Identifier: Apache-2.0
// Normalisation modules.
#include "taeda/nn/norm.h"

#include <ostream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn {

namespace F = functional;

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset() {
  const IntArrayRef size(options.num_features());
  const auto parameter = [&](const char* name) {
    return options.affine() ? this->register_parameter(name, taeda::empty(size, TensorOptions()))
                            : this->register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  weight = parameter("weight");
  bias = parameter("bias");
  const bool track = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", track ? taeda::zeros(size, TensorOptions()) : Tensor());
  running_var = this->register_buffer("running_var", track ? taeda::ones(size, TensorOptions()) : Tensor());
  num_batches_tracked = this->register_buffer("num_batches_tracked", track ? taeda::zeros({}, TensorOptions(kLong)) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::print_options(std::ostream& stream, const char* name,
                                                             std::optional<double> momentum) const {
  stream << std::boolalpha << "torch::nn::" << name << D << "d(" << options.num_features() << ", eps=" << options.eps()
         << ", momentum=";
  if (momentum) {
    stream << *momentum;
  } else {
    stream << "None";
  }
  stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ")";
}

namespace {

template <size_t D>
void check_rank(const Tensor& input, const char* op, bool unbatched) {
  const int64_t n = input.dim();
  const auto d = static_cast<int64_t>(D);
  const bool fine = n == d + 2 || (D == 1 && n == 2) || (unbatched && n == d + 1);
  TAEDA_CHECK(fine, "[", op, "] expected ", D == 1 ? "2D or " : "", d + 2, "D input (got ", n,
              "D input); reshape it to (N, C, …)");
}

template <class Impl>
Tensor batch_norm_forward(Impl& m, const Tensor& input) {
  const auto& options = m.noted(m.options);
  double factor = options.momentum().value_or(0.0);
  if (m.is_training() && options.track_running_stats() && m.num_batches_tracked.defined()) {
    const NoGradGuard no_grad;
    m.num_batches_tracked.add_(1);
    // Without a momentum the running statistics are a plain average over all batches.
    if (!options.momentum()) factor = 1.0 / m.num_batches_tracked.template item<double>();
  }
  return F::batch_norm(input, m.running_mean, m.running_var,
                       F::BatchNormFuncOptions()
                           .weight(m.weight)
                           .bias(m.bias)
                           .training(m.is_training() || !options.track_running_stats())
                           .momentum(factor)
                           .eps(options.eps()));
}

template <class Impl>
Tensor instance_norm_forward(Impl& m, const Tensor& input, int64_t spatial) {
  const bool batched = input.dim() == spatial + 2;
  const auto& options = m.noted(m.options);
  const Tensor result = F::instance_norm(batched ? input : input.unsqueeze(0),
                                         F::InstanceNormFuncOptions()
                                             .running_mean(m.running_mean)
                                             .running_var(m.running_var)
                                             .weight(m.weight)
                                             .bias(m.bias)
                                             .use_input_stats(m.is_training() || !options.track_running_stats())
                                             .momentum(options.momentum())
                                             .eps(options.eps()));
  return batched ? result : result.squeeze(0);
}

}  // namespace

#define TAEDA_DEFINE_NORMS(rank)                                                                  \
  template class NormImplBase<rank, BatchNorm##rank##dImpl, BatchNormOptions>;                    \
  template class NormImplBase<rank, InstanceNorm##rank##dImpl, InstanceNormOptions>;              \
  Tensor BatchNorm##rank##dImpl::forward(const Tensor& input) {                                   \
    check_rank<rank>(input, "batch_norm", false);                                                 \
    return batch_norm_forward(*this, input);                                                      \
  }                                                                                               \
  void BatchNorm##rank##dImpl::pretty_print(std::ostream& stream) const {                         \
    print_options(stream, "BatchNorm", options.momentum());                                       \
  }                                                                                               \
  Tensor InstanceNorm##rank##dImpl::forward(const Tensor& input) {                                \
    check_rank<rank>(input, "instance_norm", true);                                               \
    return instance_norm_forward(*this, input, rank);                                             \
  }                                                                                               \
  void InstanceNorm##rank##dImpl::pretty_print(std::ostream& stream) const {                      \
    print_options(stream, "InstanceNorm", options.momentum());                                    \
  }
TAEDA_DEFINE_NORMS(1)
TAEDA_DEFINE_NORMS(2)
TAEDA_DEFINE_NORMS(3)
#undef TAEDA_DEFINE_NORMS

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { LayerNormImpl::reset(); }
void LayerNormImpl::reset() {
  const auto parameter = [&](const char* name) {
    return options.elementwise_affine() ? register_parameter(name, taeda::empty(options.normalized_shape(), TensorOptions()))
                                        : register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  weight = parameter("weight");
  bias = parameter("bias");
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape()) << ", eps=" << options.eps()
         << ", elementwise_affine=" << options.elementwise_affine() << ")";
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  const auto& o = noted(options);
  return F::layer_norm(input, F::LayerNormFuncOptions(o.normalized_shape()).weight(weight).bias(bias).eps(o.eps()));
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) { GroupNormImpl::reset(); }
void GroupNormImpl::reset() {
  const auto parameter = [&](const char* name) {
    return options.affine() ? register_parameter(name, taeda::empty(IntArrayRef(options.num_channels()), TensorOptions()))
                            : register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  weight = parameter("weight");
  bias = parameter("bias");
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return F::group_norm(input, F::GroupNormFuncOptions(noted(options).num_groups()).weight(weight).bias(bias).eps(options.eps()));
}

Tensor LocalResponseNormImpl::forward(const Tensor& input) { return F::local_response_norm(input, noted(options)); }
void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha() << ", beta=" << options.beta()
         << ", k=" << options.k() << ")";
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  TAEDA_CHECK(input.dim() == 4, "[CrossMapLRN2d] expected 4D input (got ", input.dim(), "D input); reshape it to (N, C, H, W)");
  TAEDA_CHECK(noted(options).size() > 0, "[CrossMapLRN2d] size must be positive: got ", options.size(), "; pass 1 or more");
  const int64_t reach = (options.size() - 1) / 2;  // channels on each side
  const int64_t channels = input.size(1);
  const Tensor square = taeda::constant_pad_nd(input.square(), {0, 0, 0, 0, reach, reach});
  Tensor sum = square.slice(1, 0, channels);
  for (int64_t shift = 1; shift <= 2 * reach; ++shift) sum = sum + square.slice(1, shift, shift + channels);
  const double share = options.alpha() / static_cast<double>(options.size());
  return input * (sum * share + static_cast<double>(options.k())).pow(-options.beta());
}
void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha() << ", beta=" << options.beta()
         << ", k=" << options.k() << ")";
}

}  // namespace taeda::nn
