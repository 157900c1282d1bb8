// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: forward and backward variables over the targets with blanks in between
// (Graves et al. 2006, eqs. 6 to 16), in logarithms and double.
#include "taeda/ops/kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "taeda/core/parallel.h"

namespace taeda {
namespace cpu {
namespace {

constexpr double kNever = -HUGE_VAL;

double log_add(double a, double b) {
  const double high = std::max(a, b);
  if (high == kNever) return kNever;
  return high + std::log(std::exp(a - high) + std::exp(b - high));
}

template <class T>
class Sample {
 public:
  Sample(const CtcArgs& a, int64_t b)
      : a_(a), b_(b), time_(a.input_lengths[b]), states_(2 * a.target_lengths[b] + 1), targets_(a.targets + a.offsets[b]) {}

  double loss() {
    if (time_ == 0) return states_ == 1 ? 0 : HUGE_VAL;
    forward();
    const double* last = alpha_.data() + (time_ - 1) * states_;
    return -(states_ > 1 ? log_add(last[states_ - 1], last[states_ - 2]) : last[0]);
  }

  /// After loss(): adds the gradient of `scale` times the loss.
  void add_gradient(double loss, double scale, T* out) {
    if (time_ == 0) return;
    std::vector<double> beta(static_cast<size_t>(states_)), next(static_cast<size_t>(states_));
    std::vector<double> sums(static_cast<size_t>(a_.classes));
    for (int64_t t = time_ - 1; t >= 0; --t) {
      for (int64_t s = 0; s < states_; ++s) {
        double v;
        if (t == time_ - 1) {
          v = s >= states_ - 2 ? 0 : kNever;
        } else {
          v = next[static_cast<size_t>(s)];
          if (s + 1 < states_) v = log_add(v, next[static_cast<size_t>(s + 1)]);
          if (s + 2 < states_ && label(s) != label(s + 2) && label(s + 2) != a_.blank) v = log_add(v, next[static_cast<size_t>(s + 2)]);
        }
        beta[static_cast<size_t>(s)] = v + emission(t, label(s));
      }
      std::fill(sums.begin(), sums.end(), kNever);
      for (int64_t s = 0; s < states_; ++s) {
        double& sum = sums[static_cast<size_t>(label(s))];
        sum = log_add(sum, alpha_[static_cast<size_t>(t * states_ + s)] + beta[static_cast<size_t>(s)]);
      }
      T* row = out + (t * a_.batch + b_) * a_.classes;
      for (int64_t c = 0; c < a_.classes; ++c) {
        const double lp = emission(t, c);
        row[c] = static_cast<T>((std::exp(lp) - std::exp(sums[static_cast<size_t>(c)] + loss - lp)) * scale);
      }
      std::swap(beta, next);
    }
  }

 private:
  int64_t label(int64_t s) const { return s % 2 == 0 ? a_.blank : targets_[s / 2]; }
  double emission(int64_t t, int64_t c) const {
    return static_cast<double>(static_cast<const T*>(a_.log_probs)[(t * a_.batch + b_) * a_.classes + c]);
  }
  void forward() {
    alpha_.assign(static_cast<size_t>(time_ * states_), kNever);
    for (int64_t s = 0; s < std::min<int64_t>(2, states_); ++s) alpha_[static_cast<size_t>(s)] = emission(0, label(s));
    for (int64_t t = 1; t < time_; ++t) {
      const double* before = alpha_.data() + (t - 1) * states_;
      double* now = alpha_.data() + t * states_;
      for (int64_t s = 0; s < states_; ++s) {
        double v = before[s];
        if (s > 0) v = log_add(v, before[s - 1]);
        if (s > 1 && label(s) != a_.blank && label(s) != label(s - 2)) v = log_add(v, before[s - 2]);
        now[s] = v + emission(t, label(s));
      }
    }
  }

  const CtcArgs& a_;
  int64_t b_, time_, states_;
  const int64_t* targets_;
  std::vector<double> alpha_;
};

template <class T>
void ctc(const CtcArgs& a) {
  parallel_for(0, a.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      Sample<T> sample(a, b);
      const double loss = sample.loss();
      if (a.loss) static_cast<T*>(a.loss)[b] = static_cast<T>(loss);
      if (!a.grad_in || (a.zero_infinity && loss == HUGE_VAL)) continue;
      sample.add_gradient(loss, static_cast<double>(static_cast<const T*>(a.grad)[b]), static_cast<T*>(a.grad_in));
    }
  });
}

void ctc_cpu(const KernelContext&, const CtcArgs& a) { a.dtype == kFloat ? ctc<float>(a) : ctc<double>(a); }

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const CtcArgs&)> ctc_kernel{&cpu::ctc_cpu};

}  // namespace taeda
