// SPDX-License-Identifier: Apache-2.0
// Elementwise losses between a prediction and a target.
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/loss_util.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce_loss;

/// self - target, of which one may be bool.
Tensor difference(const Tensor& self, const Tensor& target, const char* op) {
  const ScalarType type = result_type(self, target);
  detail::check_floating_loss(type, op);
  return self.to(type).sub(target.to(type));
}

/// Mean of (self - target)^2.
struct MseLoss : Composite {
  static constexpr auto schema = "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor";
  static constexpr auto out_apart = "self target";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction) {
    detail::check_reduction(reduction, "mse_loss");
    return reduce_loss(difference(self, target, "mse_loss").square(), reduction);
  }
};
/// Mean of |self - target|.
struct L1Loss : Composite {
  static constexpr auto schema = "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction) {
    return reduce_loss(self.sub(target).abs(), reduction);
  }
};
/// |d| - beta / 2 for |d| >= beta, d^2 / (2 beta) below, of d = self - target (Girshick 2015).
struct SmoothL1Loss : Composite {
  static constexpr auto schema = "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
    TAEDA_CHECK(beta >= 0, "[smooth_l1_loss] beta must not be negative: got ", beta, "; use l1_loss for 0");
    detail::check_reduction(reduction, "smooth_l1_loss");
    const Tensor d = difference(self, target, "smooth_l1_loss").abs();
    if (beta == 0) return reduce_loss(d, reduction);
    return reduce_loss(taeda::where(d.lt(beta), d.square().mul(0.5 / beta), d.sub(0.5 * beta)), reduction);
  }
};
/// d^2 / 2 for |d| <= delta, delta (|d| - delta / 2) beyond, of d = self - target (Huber 1964).
struct HuberLoss : Composite {
  static constexpr auto schema = "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
    TAEDA_CHECK(delta > 0, "[huber_loss] huber_loss does not support non-positive values for delta: got ", delta, "; pass a positive one");
    const Tensor d = difference(self, target, "huber_loss").abs();
    const Tensor loss = taeda::where(d.le(delta), d.square().mul(0.5), d.sub(0.5 * delta).mul(delta));
    return reduce_loss(detail::loss_like(loss, self, "huber_loss"), reduction);
  }
};

void check_probabilities(const Tensor& self) {
  if (self.numel() == 0) return;
  TAEDA_CHECK(self.min().item<double>() >= 0 && self.max().item<double>() <= 1,
              "[binary_cross_entropy] all elements of input should be between 0 and 1; apply sigmoid, or use binary_cross_entropy_with_logits");
}
Tensor weighted(const Tensor& loss, const std::optional<Tensor>& weight) {
  return weight && weight->defined() ? loss.mul(*weight) : loss;
}
/// -(target log(self) + (1 - target) log(1 - self)), logarithms clamped at -100.
struct BinaryCrossEntropy {
  static constexpr auto schema = "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
    TAEDA_CHECK_VALUE(self.sizes() == target.sizes(), "[binary_cross_entropy] input and target must have one shape: got ", self.sizes(),
                      " and ", target.sizes(), "; reshape or expand one of them");
    TAEDA_CHECK(self.scalar_type() == target.scalar_type(), "[binary_cross_entropy] found dtype ", target.scalar_type(), " but expected ",
                self.scalar_type(), ": input and target must have one dtype; convert the target");
    detail::check_floating_loss(self.scalar_type(), "binary_cross_entropy");
    check_probabilities(self);
    const Tensor loss = target.sub(1).mul(self.neg().log1p().clamp_min(-100)).sub(target.mul(self.log().clamp_min(-100)));
    return reduce_loss(weighted(loss, weight), reduction);
  }
  static Tensor upstream(const Tensor& grad, const Tensor& self, const Tensor& weight, int64_t reduction) {
    Tensor g = reduction == detail::kReduceMean ? grad.div(static_cast<double>(self.numel())) : grad;
    return weight.defined() ? g.mul(weight) : g;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
    const Tensor slope = self.sub(target).div(self.mul(self.neg().add(1)).clamp_min(1e-12));
    return upstream(grad, self, weight, reduction).mul(slope);
  }
  static Tensor grad_target(const Tensor& grad, const Tensor& self, const Tensor& weight, int64_t reduction) {
    return upstream(grad, self, weight, reduction).mul(self.neg().log1p().sub(self.log()));
  }
};
/// Binary cross entropy of sigmoid(self), computed from the logits.
struct BinaryCrossEntropyWithLogits : Composite {
  static constexpr auto schema =
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                        const std::optional<Tensor>& pos_weight, int64_t reduction) {
    TAEDA_CHECK_VALUE(self.sizes() == target.sizes(), "[binary_cross_entropy_with_logits] target size must be the same as input size: got ",
                      target.sizes(), " and ", self.sizes(), "; reshape or expand one of them");
    TAEDA_CHECK(can_cast(result_type(self, target), target.scalar_type()), "[binary_cross_entropy_with_logits] result type ",
                result_type(self, target), " can't be cast to the desired output type ", target.scalar_type(), "; convert the target with to()");
    const Tensor log_sigmoid = taeda::log_sigmoid(self);
    Tensor loss;
    if (pos_weight && pos_weight->defined()) {
      const Tensor factor = pos_weight->sub(1).mul(target).add(1);
      loss = target.neg().add(1).mul(self).sub(factor.mul(log_sigmoid));
    } else {
      loss = target.neg().add(1).mul(self).sub(log_sigmoid);
    }
    if (loss.scalar_type() != target.scalar_type()) loss = loss.to(target.scalar_type());
    return reduce_loss(weighted(loss, weight), reduction);
  }
};

/// target (log(target) - self), or exp(target) (target - self) for a target of logarithms; 0 log 0 is 0.
struct KlDiv : Composite {
  static constexpr auto schema = "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
    TAEDA_CHECK(is_floating_type(self.scalar_type()) && is_floating_type(target.scalar_type()),
                "[kl_div] integral inputs are not supported: got ", self.scalar_type(), " and ", target.scalar_type(), "; convert them");
    const Tensor loss = log_target ? target.exp().mul(target.sub(self)) : taeda::xlogy(target, target).sub(target.mul(self));
    return reduce_loss(loss, reduction);
  }
};
/// exp(input) - target input, or input - target log(input + eps); `full` adds Stirling's term for targets above 1.
struct PoissonNllLoss : Composite {
  static constexpr auto schema =
      "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) {
    Tensor loss = log_input ? input.exp().sub(target.mul(input)) : input.sub(target.mul(input.add(eps).log()));
    if (full) {
      const Tensor stirling = target.mul(target.log()).sub(target).add(target.mul(2 * 3.14159265358979323846).log().mul(0.5));
      loss = detail::loss_like(loss.add(stirling.masked_fill(target.le(1), 0)), loss, "poisson_nll_loss");
    }
    return reduce_loss(loss, reduction);
  }
};
/// self where target is 1, max(0, margin - self) where it is -1.
struct HingeEmbeddingLoss : Composite {
  static constexpr auto schema = "hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
    const Tensor zero = taeda::zeros({}, self.options()), limit = taeda::full({}, margin, self.options());
    const Tensor hinge = taeda::where(target.ne(1), self.neg().add(limit).clamp_min(0), zero);
    return reduce_loss(hinge.add(taeda::where(target.ne(-1), self, zero)), reduction);
  }
};
/// max(0, -target (input1 - input2) + margin).
struct MarginRankingLoss : Composite {
  static constexpr auto schema =
      "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
    return reduce_loss(target.neg().mul(input1.sub(input2)).add(margin).clamp_min(0), reduction);
  }
};
/// log(1 + exp(-target self)).
struct SoftMarginLoss : Composite {
  static constexpr auto schema = "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction) {
    detail::check_reduction(reduction, "soft_margin_loss");
    return reduce_loss(detail::loss_like(taeda::log_sigmoid(target.mul(self)).neg(), self, "soft_margin_loss"), reduction);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/loss.inc"
