// SPDX-License-Identifier: Apache-2.0
// Losses over classes: negative log-likelihood and cross entropy.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/loss.h"
#include "taeda/ops/loss_util.h"

namespace taeda {
namespace ops {
namespace {

struct Shape {
  int64_t batch, classes, inner;
};
/// (classes) with a single target, or (batch, classes, …) with targets (batch, …).
Shape check_shapes(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
  TAEDA_CHECK_VALUE(reduction >= 0 && reduction <= 2, "[nll_loss] the reduction must be 0 (none), 1 (mean) or 2 (sum): got ", reduction,
                    "; pass one of these");
  TAEDA_CHECK(self.dim() > 0, "[nll_loss] input tensor should be 1D or more: got 0D; add the dimension of classes");
  TAEDA_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, "[nll_loss] expected scalar type Long or Byte for the targets: got ",
              target.scalar_type(), "; convert them with to(kLong)");
  Shape s{1, self.size(self.dim() == 1 ? 0 : 1), 1};
  if (self.dim() == 1) {
    TAEDA_CHECK(target.dim() <= 1 && target.numel() == 1, "[nll_loss] an input of one sample takes one target: got sizes ",
                target.sizes(), "; pass a single class");
  } else {
    DimVector wanted(self.sizes());
    wanted.erase(1);
    TAEDA_CHECK_VALUE(target.sizes() == IntArrayRef(wanted), "[nll_loss] size mismatch (got input: ", self.sizes(), ", target: ",
                      target.sizes(), "); the target has the input's shape without dimension 1");
    s.batch = self.size(0);
    for (int64_t d = 2; d < self.dim(); ++d) s.inner *= self.size(d);
  }
  if (weight && weight->defined()) {
    TAEDA_CHECK(weight->dim() == 1 && weight->numel() == s.classes, "[nll_loss] weight tensor should be defined either for all ",
                s.classes, " classes or no classes: got weight tensor of shape ", weight->sizes(), "; give one weight for each class");
    TAEDA_CHECK(weight->scalar_type() == self.scalar_type(), "[nll_loss] expected the weights' dtype to be the input's: got ",
                weight->scalar_type(), " and ", self.scalar_type(), "; convert the weights");
  }
  return s;
}
ScalarType compute_dtype(ScalarType t) { return t == kDouble ? kDouble : kFloat; }
const void* data_or_null(const Tensor& t) { return t.defined() ? t.impl().data() : nullptr; }

std::tuple<Tensor, Tensor> nll_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                                       int64_t ignore_index) {
  const Shape s = check_shapes(self, target, weight, reduction);
  detail::check_floating_loss(self.scalar_type(), "nll_loss");
  const ScalarType type = compute_dtype(self.scalar_type());
  const Tensor x = self.to(type).contiguous();
  const Tensor t = target.to(kLong).contiguous();
  const Tensor w = weight && weight->defined() ? weight->to(type).contiguous() : Tensor();
  Tensor out = make_tensor(reduction == 0 && self.dim() > 1 ? target.sizes() : IntArrayRef(), type, self.device());
  Tensor total = make_tensor({}, type, self.device());
  nll_kernel(self.device(), NllArgs{type, x.impl().data(), reinterpret_cast<const int64_t*>(t.impl().data()), data_or_null(w), out.impl().data(),
                                    total.impl().data(), s.batch, s.classes, s.inner, reduction, ignore_index});
  return {out.to(self.scalar_type()), total.to(self.scalar_type())};
}
Tensor nll_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                    int64_t ignore_index, const Tensor& total_weight) {
  const Shape s = check_shapes(self, target, weight, reduction);
  detail::check_floating_loss(self.scalar_type(), "nll_loss_backward");
  const ScalarType type = compute_dtype(self.scalar_type());
  const Tensor g = grad.to(type).contiguous();
  const Tensor t = target.to(kLong).contiguous();
  const Tensor w = weight && weight->defined() ? weight->to(type).contiguous() : Tensor();
  const Tensor total = total_weight.to(type);
  Tensor out = taeda::zeros(self.sizes(), self.options().dtype(type));
  nll_backward_kernel(self.device(), NllBackwardArgs{type, g.impl().data(), reinterpret_cast<const int64_t*>(t.impl().data()), data_or_null(w),
                                                     total.impl().data(), out.impl().data(), s.batch, s.classes, s.inner, reduction, ignore_index});
  return out.to(self.scalar_type());
}

/// Negative log-likelihood of the targets, and the sum of their weights.
struct NllLossForward {
  static constexpr auto schema =
      "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                                            int64_t ignore_index) {
    return nll_forward(self, target, weight, reduction, ignore_index);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                          int64_t ignore_index, const Tensor& total_weight) {
    return taeda::nll_loss_backward(grad, self, target, weight.defined() ? std::optional<Tensor>(weight) : std::nullopt, reduction,
                                    ignore_index, total_weight);
  }
  static constexpr Onnx onnx{"NegativeLogLikelihoodLoss", 13};
};
/// Minus weight times gradient at the targets' places.
struct NllLossBackward {
  static constexpr auto schema =
      "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, Tensor total_weight) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                        int64_t reduction, int64_t ignore_index, const Tensor& total_weight) {
    return nll_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight);
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
    return std::get<0>(taeda::nll_loss_forward(grad, target, weight.defined() ? std::optional<Tensor>(weight) : std::nullopt, reduction,
                                               ignore_index));
  }
};
/// Negative log-likelihood loss. self (classes) or (batch, classes, …) log-probabilities; target (batch, …) class numbers.
struct NllLossNd : Composite {
  static constexpr auto schema =
      "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
    return std::get<0>(taeda::nll_loss_forward(self, target, weight, reduction, ignore_index));
  }
};
/// See `nll_loss_nd`.
struct NllLoss : Composite {
  static constexpr auto schema =
      "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
    return taeda::nll_loss_nd(self, target, weight, reduction, ignore_index);
  }
};
/// See `nll_loss_nd`; inputs of four dimensions.
struct NllLoss2d : Composite {
  static constexpr auto schema =
      "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
    TAEDA_CHECK(self.dim() == 4, "[nll_loss2d] the input must have four dimensions: got sizes ", self.sizes(), "; use nll_loss_nd");
    return taeda::nll_loss_nd(self, target, weight, reduction, ignore_index);
  }
};

Tensor along_classes(const Tensor& weight, int64_t ndim) {
  DimVector sizes(static_cast<size_t>(ndim), 1);
  sizes[ndim == 1 ? 0 : 1] = weight.numel();
  return weight.reshape(sizes);
}
Tensor soft_target_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, double smoothing) {
  TAEDA_CHECK(self.sizes() == target.sizes(), "[cross_entropy_loss] targets given as probabilities have the input's shape: got ",
              self.sizes(), " and ", target.sizes(), "; pass class numbers or one probability for each class");
  TAEDA_CHECK(target.is_floating_point(), "[cross_entropy_loss] probabilities must be floating: got ", target.scalar_type(), "; convert them");
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.size(dim);
  Tensor wanted = target;
  if (smoothing > 0) wanted = target.mul(1 - smoothing).add(smoothing / static_cast<double>(classes));
  Tensor terms = self.log_softmax(dim).mul(wanted);
  if (weight && weight->defined()) terms = terms.mul(along_classes(*weight, self.dim()));
  if (reduction == detail::kReduceNone) return terms.sum(dim).neg();
  const Tensor sum = terms.sum().neg();
  if (reduction == detail::kReduceSum) return sum;
  return sum.div(std::max<double>(1.0, static_cast<double>(self.numel() / std::max<int64_t>(classes, 1))));
}
Tensor smoothed_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                     double smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.size(dim);
  const Tensor logs = self.log_softmax(dim);
  const Tensor nll = taeda::nll_loss_nd(logs, target, weight, reduction, ignore_index);
  const bool weighted = weight && weight->defined();
  Tensor smooth = (weighted ? logs.mul(along_classes(*weight, self.dim())) : logs).sum(dim).neg();
  const Tensor ignored = target.eq(ignore_index);
  smooth = smooth.masked_fill(ignored.reshape(smooth.sizes()), 0);
  if (reduction == detail::kReduceSum) {
    smooth = smooth.sum();
  } else if (reduction == detail::kReduceMean) {
    if (weighted) {
      const Tensor picked = weight->index_select(0, target.masked_fill(ignored, 0).reshape(IntArrayRef(int64_t{-1}))).reshape(target.sizes());
      smooth = smooth.sum().div(picked.masked_fill(ignored, 0).sum());
    } else {
      smooth = smooth.sum().div(ignored.logical_not().sum());
    }
  }
  return nll.mul(1 - smoothing).add(smooth.mul(smoothing / static_cast<double>(classes)));
}

/// Cross entropy of logits against class numbers, or against probabilities of the input's shape.
struct CrossEntropyLoss : Composite {
  static constexpr auto schema =
      "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100, float label_smoothing=0.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                        double label_smoothing) {
    TAEDA_CHECK_VALUE(reduction >= 0 && reduction <= 2, "[cross_entropy_loss] the reduction must be 0 (none), 1 (mean) or 2 (sum): got ",
                      reduction, "; pass one of these");
    TAEDA_CHECK(label_smoothing >= 0 && label_smoothing <= 1, "[cross_entropy_loss] label_smoothing must be between 0.0 and 1.0: got ",
                label_smoothing, "; choose a share of the probability");
    TAEDA_CHECK(self.dim() > 0, "[cross_entropy_loss] the input must have a dimension of classes: got a 0-dim tensor; add it");
    if (self.sizes() == target.sizes() && target.is_floating_point()) {
      TAEDA_CHECK(ignore_index < 0, "[cross_entropy_loss] ignore_index is not supported for floating point target: got ", ignore_index, "; leave it out");
      return soft_target_loss(self, target, weight, reduction, label_smoothing);
    }
    if (label_smoothing > 0) return smoothed_loss(self, target, weight, reduction, ignore_index, label_smoothing);
    return taeda::nll_loss_nd(self.log_softmax(self.dim() == 1 ? 0 : 1), target, weight, reduction, ignore_index);
  }
  static constexpr Onnx onnx{"SoftmaxCrossEntropyLoss", 13};
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/loss_class.inc"
