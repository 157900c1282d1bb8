// SPDX-License-Identifier: Apache-2.0
// Losses with margins and distances.
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/loss_util.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce_loss;
bool given(const std::optional<Tensor>& t) { return t && t->defined(); }
/// (classes) or (batch, classes) as (batch, classes).
Tensor as_batch(const Tensor& t, const char* op) {
  TAEDA_CHECK(t.dim() <= 2 && (t.dim() == 0 || t.size(-1) > 0), "[", op, "] expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              t.sizes(), "; reshape it");
  return t.dim() < 2 ? t.reshape({1, t.numel()}) : t;
}

void check_margin_dtype(const Tensor& self, const char* op) {
  TAEDA_CHECK_NOT_IMPLEMENTED(self.scalar_type() == kFloat || self.scalar_type() == kDouble, "[", op, "] is not implemented for ",
                              self.scalar_type(), "; convert the input to float32 or float64");
}

/// Sum over the other classes of max(0, margin - self[target] + self[class])^p, divided by the number of classes.
struct MultiMarginLoss : Composite {
  static constexpr auto schema =
      "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const std::optional<Tensor>& weight,
                        int64_t reduction) {
    detail::check_reduction(reduction, "multi_margin_loss");
    check_margin_dtype(self, "multi_margin_loss");
    const double power = p.toDouble();
    TAEDA_CHECK(power == 1 || power == 2, "[multi_margin_loss] only p == 1 and p == 2 are supported: got ", power, "; choose one of them");
    const Tensor x = as_batch(self, "multi_margin_loss");
    const int64_t classes = x.size(1);
    TAEDA_CHECK(target.numel() == x.size(0) && target.dim() <= 1, "[multi_margin_loss] inconsistent target size, expected ", x.size(0), " but got ",
                target.sizes(), "; give one class for each sample");
    TAEDA_CHECK(!given(weight) || (weight->dim() == 1 && weight->numel() == classes), "[multi_margin_loss] inconsistent weight size, expected ", classes,
                "; give one weight for each class");
    const Tensor index = target.reshape({x.size(0), 1});
    if (index.numel() > 0) {
      TAEDA_CHECK(index.min().item<int64_t>() >= 0 && index.max().item<int64_t>() < classes, "[multi_margin_loss] target out of range: there are ",
                  classes, " classes; use targets from 0 on");
    }
    Tensor terms = x.sub(x.gather(1, index)).add(margin).clamp_min(0);
    if (power == 2) terms = terms.square();
    if (given(weight)) terms = terms.mul(weight->index_select(0, index.reshape(IntArrayRef(int64_t{-1}))).unsqueeze(1));
    terms = terms.scatter(1, index, 0);
    const Tensor loss = terms.sum(1).div(static_cast<double>(classes));
    return reduce_loss(reduction == 0 && self.dim() < 2 ? loss.reshape(target.sizes()) : loss, reduction);
  }
};

/// Sum over targets j and other classes k of max(0, 1 - (self[j] - self[k])), divided by the number of classes. A
/// sample's targets end at the first -1.
struct MultilabelMarginLoss : Composite {
  static constexpr auto schema = "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& target, int64_t reduction) {
    detail::check_reduction(reduction, "multilabel_margin_loss");
    check_margin_dtype(self, "multilabel_margin_loss");
    TAEDA_CHECK(target.scalar_type() == kLong, "[multilabel_margin_loss] expected scalar type Long for the targets: got ", target.scalar_type(),
                "; convert them with to(kLong)");
    const Tensor x = as_batch(self, "multilabel_margin_loss");
    TAEDA_CHECK(target.sizes() == self.sizes() || target.numel() == self.numel(), "[multilabel_margin_loss] inconsistent target size: got ",
                target.sizes(), " for an input of ", self.sizes(), "; pad the targets with -1");
    const Tensor t = target.reshape(x.sizes());
    const int64_t classes = x.size(1);
    if (t.numel() > 0) {
      TAEDA_CHECK(t.min().item<int64_t>() >= -1 && t.max().item<int64_t>() < classes, "[multilabel_margin_loss] target out of range: there are ", classes,
                  " classes; use -1 for the end");
    }
    const Tensor listed = t.ge(0).to(kLong).cumprod(1);  // before the first -1
    const Tensor index = t.mul(listed);
    const Tensor is_target = taeda::zeros_like(index).scatter_add(1, index, listed).gt(0);
    const Tensor gaps = x.unsqueeze(1).sub(x.gather(1, index).unsqueeze(2)).add(1).clamp_min(0);  // (batch, target, class)
    const Tensor counts = listed.unsqueeze(2).mul(is_target.logical_not().unsqueeze(1));
    const Tensor loss = gaps.mul(counts).sum(IntArrayRef({1, 2})).div(static_cast<double>(classes));
    return reduce_loss(reduction == 0 && self.dim() < 2 ? loss.reshape(IntArrayRef()) : loss, reduction);
  }
};

/// 1 - cos(input1, input2) where target is 1, max(0, cos(input1, input2) - margin) where it is -1.
struct CosineEmbeddingLoss : Composite {
  static constexpr auto schema =
      "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
    TAEDA_CHECK(target.dim() == 0 || target.dim() == 1, "[cosine_embedding_loss] 0D or 1D target tensor expected, multi-target not supported: got ",
                target.sizes(), "; pass one target for each pair");
    TAEDA_CHECK(input1.dim() == target.dim() + 1 && input2.dim() == target.dim() + 1, "[cosine_embedding_loss] the inputs have one dimension more than the target: got ",
                input1.sizes(), ", ", input2.sizes(), " and ", target.sizes(), "; reshape them");
    constexpr double kEps = 1e-12;
    const int64_t dim = target.dim();
    const Tensor dot = input1.mul(input2).sum(dim);
    const Tensor lengths = input1.square().sum(dim).add(kEps).mul(input2.square().sum(dim).add(kEps)).sqrt();
    const Tensor cosine = dot.div(lengths);
    const Tensor zero = taeda::zeros({}, cosine.options());
    const Tensor loss = taeda::where(target.eq(1), cosine.neg().add(1), zero).add(taeda::where(target.eq(-1), cosine.sub(margin).clamp_min(0), zero));
    return reduce_loss(loss, reduction);
  }
};

/// max(0, margin + d(anchor, positive) - d(anchor, negative)) of p-norm distances along the last dimension; with `swap`
/// the smaller of d(anchor, negative) and d(positive, negative).
struct TripletMarginLoss : Composite {
  static constexpr auto schema =
      "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=1e-06, bool swap=False, "
      "int reduction=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p, double eps, bool swap,
                        int64_t reduction) {
    TAEDA_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(), "[triplet_margin_loss] all inputs should have same dimension: got ",
                anchor.dim(), "D, ", positive.dim(), "D and ", negative.dim(), "D; reshape them");
    const Tensor near = taeda::pairwise_distance(anchor, positive, p, eps);
    Tensor far = taeda::pairwise_distance(anchor, negative, p, eps);
    if (swap) far = taeda::minimum(far, taeda::pairwise_distance(positive, negative, p, eps));
    return reduce_loss(near.sub(far).add(margin).clamp_min(0), reduction);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/loss_margin.inc"
