// SPDX-License-Identifier: Apache-2.0
// Losses with the arguments of Python's functional forms: the reduction by name, options in that order.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/loss_util.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce_loss;
using detail::reduction_of;
using OptTensor = std::optional<Tensor>;
using Name = std::string_view;

/// See `mse_loss`.
struct FMseLoss : Composite {
  static constexpr auto schema = "nn_functional_mse_loss(Tensor input, Tensor target, str reduction='mean', Tensor? weight=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction, const OptTensor& weight) {
    const Tensor loss = taeda::mse_loss(input, target, 0);
    return reduce_loss(weight && weight->defined() ? loss.mul(*weight) : loss, reduction_of(reduction));
  }
};
/// See `l1_loss`.
struct FL1Loss : Composite {
  static constexpr auto schema = "nn_functional_l1_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction) { return taeda::l1_loss(input, target, reduction_of(reduction)); }
};
/// See `smooth_l1_loss`.
struct FSmoothL1Loss : Composite {
  static constexpr auto schema = "nn_functional_smooth_l1_loss(Tensor input, Tensor target, str reduction='mean', float beta=1.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction, double beta) {
    return taeda::smooth_l1_loss(input, target, reduction_of(reduction), beta);
  }
};
/// See `huber_loss`.
struct FHuberLoss : Composite {
  static constexpr auto schema = "nn_functional_huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction, double delta) {
    return taeda::huber_loss(input, target, reduction_of(reduction), delta);
  }
};
/// See `binary_cross_entropy`.
struct FBinaryCrossEntropy : Composite {
  static constexpr auto schema =
      "nn_functional_binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const OptTensor& weight, Name reduction) {
    return taeda::binary_cross_entropy(input, target, weight, reduction_of(reduction));
  }
};
/// See `binary_cross_entropy_with_logits`.
struct FBinaryCrossEntropyWithLogits : Composite {
  static constexpr auto schema =
      "nn_functional_binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', "
      "Tensor? pos_weight=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const OptTensor& weight, Name reduction, const OptTensor& pos_weight) {
    return taeda::binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_of(reduction));
  }
};
/// See `cross_entropy_loss`.
struct FCrossEntropy : Composite {
  static constexpr auto schema =
      "nn_functional_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', "
      "float label_smoothing=0.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const OptTensor& weight, int64_t ignore_index, Name reduction,
                        double label_smoothing) {
    return taeda::cross_entropy_loss(input, target, weight, reduction_of(reduction), ignore_index, label_smoothing);
  }
};
/// Cross entropy of the logits input * linear_weight^T + linear_bias. For loss over positions d_1 ... d_k the weight is
/// (classes, d_1, ..., d_k, features), the bias (classes, d_1, ..., d_k) and the logits (samples, classes, d_1, ..., d_k).
struct FLinearCrossEntropy : Composite {
  static constexpr auto schema =
      "nn_functional_linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, Tensor? weight=None, "
      "int ignore_index=-100, str reduction='mean', float label_smoothing=0.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const OptTensor& linear_bias, const OptTensor& weight,
                        int64_t ignore_index, Name reduction, double label_smoothing) {
    TAEDA_CHECK(linear_weight.dim() >= 2 && (input.dim() == 1 || input.dim() == 2) && input.size(-1) == linear_weight.size(-1),
                "[linear_cross_entropy] the input must be (samples, features) or (features) and the weight (classes, ..., features): got ", input.sizes(),
                " and ", linear_weight.sizes(), "; reshape them");
    const IntArrayRef outputs = linear_weight.sizes().slice(0, static_cast<size_t>(linear_weight.dim() - 1));
    const bool biased = linear_bias && linear_bias->defined();
    TAEDA_CHECK(!biased || linear_bias->sizes() == outputs, "[linear_cross_entropy] the bias must have the shape of the weight without its last dimension: got ",
                biased ? linear_bias->sizes() : IntArrayRef(), " and ", linear_weight.sizes(), "; reshape it");
    const OptTensor bias = biased ? OptTensor(linear_bias->flatten()) : OptTensor();
    Tensor logits = taeda::linear(input, linear_weight.flatten(0, -2), bias);
    if (outputs.size() > 1) logits = logits.unflatten(-1, outputs);
    return taeda::cross_entropy_loss(logits, target, weight, reduction_of(reduction), ignore_index, label_smoothing);
  }
};
/// See `nll_loss_nd`.
struct FNllLoss : Composite {
  static constexpr auto schema =
      "nn_functional_nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const OptTensor& weight, int64_t ignore_index, Name reduction) {
    return taeda::nll_loss_nd(input, target, weight, reduction_of(reduction), ignore_index);
  }
};
/// See `kl_div`; "batchmean" divides the sum by the first size.
struct FKlDiv : Composite {
  static constexpr auto schema = "nn_functional_kl_div(Tensor input, Tensor target, str reduction='mean', bool log_target=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction, bool log_target) {
    if (reduction != "batchmean") return taeda::kl_div(input, target, reduction_of(reduction), log_target);
    const Tensor sum = taeda::kl_div(input, target, detail::kReduceSum, log_target);
    return input.dim() == 0 ? sum : sum.div(static_cast<double>(input.size(0)));
  }
};
/// See `poisson_nll_loss`.
struct FPoissonNllLoss : Composite {
  static constexpr auto schema =
      "nn_functional_poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float eps=1e-08, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, Name reduction) {
    return taeda::poisson_nll_loss(input, target, log_input, full, eps, reduction_of(reduction));
  }
};
/// (log(var) + (input - target)^2 / var) / 2 with var at least eps; `full` adds log(2 pi) / 2.
struct FGaussianNllLoss : Composite {
  static constexpr auto schema =
      "nn_functional_gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var, bool full, double eps, Name reduction) {
    Tensor v = var;
    if (var.sizes() != input.sizes() && var.dim() > 0) {
      const auto lead = input.sizes().slice(0, static_cast<size_t>(std::max<int64_t>(input.dim() - 1, 0)));
      const bool one_less = var.sizes() == lead;
      TAEDA_CHECK_VALUE(one_less || (var.dim() == input.dim() && var.size(-1) == 1 && var.sizes().slice(0, lead.size()) == lead),
                        "[gaussian_nll_loss] var is of incorrect size: got ", var.sizes(), " for ", input.sizes(), "; give the input's shape, or one for each row");
      if (one_less) v = var.unsqueeze(-1);
    }
    TAEDA_CHECK_VALUE(v.numel() == 0 || v.detach().min().item<double>() >= 0, "[gaussian_nll_loss] var has negative entry/entries; pass variances");
    v = v.add(v.detach().clamp_min(eps).sub(v.detach()));  // the bound does not stop the gradient
    Tensor loss = v.log().add(input.sub(target).square().div(v)).mul(0.5);
    if (full) loss = loss.add(0.91893853320467274178);
    return reduce_loss(loss, reduction_of(reduction));
  }
};
/// See `hinge_embedding_loss`.
struct FHingeEmbeddingLoss : Composite {
  static constexpr auto schema = "nn_functional_hinge_embedding_loss(Tensor input, Tensor target, float margin=1., str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, double margin, Name reduction) {
    return taeda::hinge_embedding_loss(input, target, margin, reduction_of(reduction));
  }
};
/// See `margin_ranking_loss`.
struct FMarginRankingLoss : Composite {
  static constexpr auto schema =
      "nn_functional_margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, Name reduction) {
    TAEDA_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
                "[margin_ranking_loss] all input tensors should have the same dimension: got ", input1.sizes(), ", ", input2.sizes(), " and ",
                target.sizes(), "; reshape them");
    return taeda::margin_ranking_loss(input1, input2, target, margin, reduction_of(reduction));
  }
};
/// See `multi_margin_loss`.
struct FMultiMarginLoss : Composite {
  static constexpr auto schema =
      "nn_functional_multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1., Tensor? weight=None, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, int64_t p, double margin, const OptTensor& weight, Name reduction) {
    return taeda::multi_margin_loss(input, target, p, margin, weight, reduction_of(reduction));
  }
};
/// See `multilabel_margin_loss`.
struct FMultilabelMarginLoss : Composite {
  static constexpr auto schema = "nn_functional_multilabel_margin_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction) {
    return taeda::multilabel_margin_loss(input, target, reduction_of(reduction));
  }
};
/// Mean over classes of the binary cross entropy of the logits.
struct FMultilabelSoftMarginLoss : Composite {
  static constexpr auto schema =
      "nn_functional_multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, const OptTensor& weight, Name reduction) {
    Tensor loss = target.mul(taeda::log_sigmoid(input)).add(target.neg().add(1).mul(taeda::log_sigmoid(input.neg()))).neg();
    if (weight && weight->defined()) loss = loss.mul(*weight);
    return reduce_loss(loss.mean(input.dim() - 1), reduction_of(reduction));
  }
};
/// See `soft_margin_loss`.
struct FSoftMarginLoss : Composite {
  static constexpr auto schema = "nn_functional_soft_margin_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& target, Name reduction) { return taeda::soft_margin_loss(input, target, reduction_of(reduction)); }
};
/// See `triplet_margin_loss`.
struct FTripletMarginLoss : Composite {
  static constexpr auto schema =
      "nn_functional_triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=1e-06, "
      "bool swap=False, str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p, double eps, bool swap,
                        Name reduction) {
    TAEDA_CHECK_VALUE(margin > 0, "[triplet_margin_loss] margin must be greater than 0: got ", margin, "; pass a positive one");
    return taeda::triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction_of(reduction));
  }
};
/// See `cosine_embedding_loss`.
struct FCosineEmbeddingLoss : Composite {
  static constexpr auto schema =
      "nn_functional_cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., str reduction='mean') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, Name reduction) {
    return taeda::cosine_embedding_loss(input1, input2, target, margin, reduction_of(reduction));
  }
};
/// See `ctc_loss`.
struct FCtcLoss : Composite {
  static constexpr auto schema =
      "nn_functional_ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, str reduction='mean', "
      "bool zero_infinity=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                        Name reduction, bool zero_infinity) {
    return taeda::ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction_of(reduction), zero_infinity);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/loss_functional.inc"
