// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/ctc.h"
#include "taeda/ops/loss_util.h"

namespace taeda {
namespace ops {
namespace {

struct Prepared {
  Tensor log_probs, targets;
  std::vector<int64_t> offsets;
  CtcArgs args;
};
const int64_t* data_of(const Tensor& t) { return reinterpret_cast<const int64_t*>(t.impl().data()); }

Prepared prepare(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank) {
  TAEDA_CHECK(log_probs.dim() == 3, "[ctc_loss] log_probs must be (time, batch, classes): got ", log_probs.sizes(), "; reshape it");
  TAEDA_CHECK(is_integral_type(targets.scalar_type(), false), "[ctc_loss] targets must be integral: got ", targets.scalar_type(), "; convert them");
  const int64_t time = log_probs.size(0), batch = log_probs.size(1), classes = log_probs.size(2);
  TAEDA_CHECK(blank >= 0 && blank < classes, "[ctc_loss] blank must be in label range: got ", blank, " of ", classes, " classes; choose one of them");
  TAEDA_CHECK(static_cast<int64_t>(input_lengths.size()) == batch && static_cast<int64_t>(target_lengths.size()) == batch,
              "[ctc_loss] input_lengths and target_lengths must be of size batch_size: got ", input_lengths.size(), " and ", target_lengths.size(),
              " for ", batch, "; give one for each sample");
  TAEDA_CHECK(targets.dim() == 1 || targets.dim() == 2, "[ctc_loss] targets must be 1D or 2D: got ", targets.sizes(), "; reshape them");
  const ScalarType type = log_probs.scalar_type() == kDouble ? kDouble : kFloat;
  Prepared p{log_probs.to(type).contiguous(), targets.to(kLong).contiguous(), {}, {}};
  int64_t at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto i = static_cast<size_t>(b);
    TAEDA_CHECK(input_lengths[i] >= 0 && input_lengths[i] <= time, "[ctc_loss] expected input_lengths to have value at most ", time, ", but got value ",
                input_lengths[i], "; shorten it");
    TAEDA_CHECK(target_lengths[i] >= 0, "[ctc_loss] expected target_lengths to be at least 0, but got ", target_lengths[i], "; pass lengths");
    p.offsets.push_back(targets.dim() == 2 ? b * targets.size(1) : at);
    TAEDA_CHECK(p.offsets.back() + target_lengths[i] <= targets.numel() && (targets.dim() == 1 || target_lengths[i] <= targets.size(1)),
                "[ctc_loss] the targets must hold target_lengths elements for each sample: got sizes ", targets.sizes(), "; pad them");
    at += target_lengths[i];
  }
  if (p.targets.numel() > 0) {
    TAEDA_CHECK(p.targets.max().item<int64_t>() < classes, "[ctc_loss] targets must be below the number of classes, ", classes, "; check them");
  }
  p.args = CtcArgs{type, p.log_probs.impl().data(), data_of(p.targets), nullptr, input_lengths.data(), target_lengths.data(), nullptr, nullptr,
                   nullptr, time, batch, classes, blank, false};
  return p;
}

/// Negative log-likelihood of each sample's targets.
struct CtcForward {
  static constexpr auto schema =
      "_ctc_nll(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank, bool zero_infinity) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank,
                        bool /*zero_infinity*/) {
    Prepared p = prepare(log_probs, targets, input_lengths, target_lengths, blank);
    Tensor loss = make_tensor(p.args.batch, p.args.dtype, log_probs.device());
    p.args.offsets = p.offsets.data();
    p.args.loss = loss.impl().data();
    ctc_kernel(log_probs.device(), p.args);
    return loss.to(log_probs.scalar_type());
  }
  static Tensor grad_log_probs(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                               IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
    return taeda::_ctc_nll_backward(grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity);
  }
};
/// Gradient of `_ctc_nll`, which counts on log_probs being normalised.
struct CtcBackward {
  static constexpr auto schema =
      "_ctc_nll_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank, bool zero_infinity) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "second derivatives of the alignment sums are not available";
  static Tensor forward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                        int64_t blank, bool zero_infinity) {
    Prepared p = prepare(log_probs, targets, input_lengths, target_lengths, blank);
    const Tensor g = grad.to(p.args.dtype).contiguous();
    Tensor out = taeda::zeros(log_probs.sizes(), p.log_probs.options());
    p.args.offsets = p.offsets.data();
    p.args.grad = g.impl().data();
    p.args.grad_in = out.impl().data();
    p.args.zero_infinity = zero_infinity;
    ctc_kernel(log_probs.device(), p.args);
    return out.to(log_probs.scalar_type());
  }
};

/// Loss of label sequences without alignment (Graves et al. 2006). log_probs (time, batch, classes) or (time, classes);
/// targets (batch, length) or concatenated. The mean divides each loss by its target's length.
struct CtcLoss : Composite {
  static constexpr auto schema =
      "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, "
      "bool zero_infinity=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
    const bool batched = log_probs.dim() == 3;
    Tensor loss = taeda::_ctc_nll(batched ? log_probs : log_probs.unsqueeze(1), targets, input_lengths, target_lengths, blank, zero_infinity);
    if (zero_infinity) loss = taeda::where(loss.eq(std::numeric_limits<double>::infinity()), taeda::zeros({}, loss.options()), loss);
    if (reduction == detail::kReduceMean) {
      Tensor lengths = make_tensor(static_cast<int64_t>(target_lengths.size()), kLong);
      std::copy(target_lengths.begin(), target_lengths.end(), reinterpret_cast<int64_t*>(lengths.impl().data()));
      return loss.div(lengths.clamp_min(1)).mean();
    }
    if (reduction == detail::kReduceSum) return loss.sum();
    return batched ? loss : loss.squeeze(0);
  }
};
/// `ctc_loss` with the lengths in tensors.
struct CtcLossTensor : Composite {
  static constexpr auto schema =
      "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, "
      "bool zero_infinity=False) -> Tensor";
  static constexpr auto variants = "function";
  static std::vector<int64_t> numbers(const Tensor& t) {
    TAEDA_CHECK(is_integral_type(t.scalar_type(), false), "[ctc_loss] lengths must be integral: got ", t.scalar_type(), "; convert them");
    const Tensor plain = t.to(kLong).contiguous();
    const int64_t* data = data_of(plain);
    return {data, data + plain.numel()};
  }
  static Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
    return taeda::ctc_loss(log_probs, targets, IntArrayRef(numbers(input_lengths)), IntArrayRef(numbers(target_lengths)), blank, reduction, zero_infinity);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/loss_ctc.inc"
