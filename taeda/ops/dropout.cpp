// SPDX-License-Identifier: Apache-2.0
// Dropout in its forms, and the randomised leaky rectifier.
#include <cmath>
#include <mutex>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/random_fill_tensor.h"

namespace taeda {
namespace ops {
namespace {

void check_probability(double p, const char* op) {
  TAEDA_CHECK(p >= 0 && p <= 1, "[", op, "] dropout probability has to be between 0 and 1, but got ", p, "; pass a probability");
}
/// What is kept is divided by 1 - p.
void check_floating(const Tensor& t, const char* op) {
  TAEDA_CHECK(t.is_floating_point(), "[", op, "] result type Float can't be cast to the desired output type ", t.scalar_type(),
              ": got an input of that dtype; convert it to a floating dtype");
}
double scale_of(double p) { return p == 1 ? 0.0 : 1.0 / (1.0 - p); }

/// The input with elements zeroed with probability p and the others divided by 1 - p, and the mask of those kept.
struct NativeDropout {
  static constexpr auto schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor output, Tensor mask)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& input, double p, std::optional<bool> train) {
    check_probability(p, "native_dropout");
    Tensor mask = detail::empty_like_of(input, kBool);
    if (!train.value_or(true)) {
      mask.fill_(true);
      return {input.clone(), mask};
    }
    check_floating(input, "native_dropout");
    detail::fill_in_memory_order<bool>(mask, [&](bool* out, int64_t n, bool) { fill_bernoulli(out, n, 1 - p, cpu_generator()); });
    return {input.mul(mask).mul(scale_of(p)), mask};
  }
  static Tensor grad_input(const Tensor& grad_output, const Tensor& mask, double p, std::optional<bool> train) {
    return train.value_or(true) ? grad_output.mul(mask).mul(scale_of(p)) : grad_output;
  }
};
/// Zeroes elements with probability p and divides the others by 1 - p, in training (Srivastava et al. 2014).
struct Dropout : Composite {
  static constexpr auto schema = "dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double p, bool train) {
    check_probability(p, "dropout");
    if (p == 0 || !train || input.numel() == 0) return input;
    if (p == 1) return input.mul(taeda::zeros({}, input.options()));
    return std::get<0>(taeda::native_dropout(input, p, true));
  }
};
/// `dropout` in place.
struct Dropout_ : Composite {
  static constexpr auto schema = "dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, double p, bool train) {
    check_probability(p, "dropout_");
    if (p == 0 || !train || self.numel() == 0) return const_cast<Tensor&>(self);
    if (p < 1) check_floating(self, "dropout_");
    if (p == 1) return self.mul_(taeda::zeros({}, self.options()));
    Tensor noise = detail::empty_like_of(self);
    noise.bernoulli_(1 - p).mul_(scale_of(p));
    return self.mul_(noise);
  }
};

Tensor feature_noise(const Tensor& input) {
  TAEDA_CHECK(input.dim() >= 2, "[feature_dropout] feature dropout requires at least 2 dimensions in the input: got ", input.dim(), "; use dropout");
  DimVector sizes(input.sizes());
  for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
  return make_tensor(sizes, input.scalar_type());
}
Tensor alpha_form(const Tensor& input, Tensor noise, double p) {
  constexpr double kAlpha = 1.7580993408473766;
  const double a = 1.0 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  noise.bernoulli_(1 - p);
  const Tensor shift = noise.sub(1).mul(kAlpha * a).add(kAlpha * a * p);
  return input.mul(noise.mul(a)).add(shift);
}
/// Whole channels zeroed with probability p, the others divided by 1 - p.
struct FeatureDropout : Composite {
  static constexpr auto schema = "feature_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double p, bool train) {
    check_probability(p, "feature_dropout");
    if (p == 0 || !train || input.numel() == 0) return input;
    if (p < 1) check_floating(input, "feature_dropout");
    if (p == 1) return input.mul(taeda::zeros({}, input.options()));
    Tensor noise = feature_noise(input);
    noise.bernoulli_(1 - p);
    return input.mul(noise.mul(scale_of(p)));
  }
};
/// Dropout that keeps mean and variance under self-normalising activations (Klambauer et al. 2017).
struct AlphaDropout : Composite {
  static constexpr auto schema = "alpha_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double p, bool train) {
    check_probability(p, "alpha_dropout");
    if (p == 0 || !train || input.numel() == 0) return input;
    if (p < 1) check_floating(input, "alpha_dropout");
    if (p == 1) return input.mul(taeda::zeros({}, input.options()));
    return alpha_form(input, detail::empty_like_of(input), p);
  }
};
/// `alpha_dropout` of whole channels.
struct FeatureAlphaDropout : Composite {
  static constexpr auto schema = "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double p, bool train) {
    check_probability(p, "feature_alpha_dropout");
    if (p == 0 || !train || input.numel() == 0) return input;
    if (p < 1) check_floating(input, "feature_alpha_dropout");
    if (p == 1) return input.mul(taeda::zeros({}, input.options()));
    return alpha_form(input, feature_noise(input), p);
  }
};

/// Writes a composite's result into its input; the value is taken before the write.
Tensor& assign(const Tensor& self, const Tensor& result) { return result.is_same(self) ? const_cast<Tensor&>(self) : self.copy_(result); }
/// `feature_dropout` in place.
struct FeatureDropout_ : Composite {
  static constexpr auto schema = "feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, double p, bool train) { return assign(self, taeda::feature_dropout(self, p, train)); }
};
/// `alpha_dropout` in place.
struct AlphaDropout_ : Composite {
  static constexpr auto schema = "alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, double p, bool train) { return assign(self, taeda::alpha_dropout(self, p, train)); }
};
/// `feature_alpha_dropout` in place.
struct FeatureAlphaDropout_ : Composite {
  static constexpr auto schema = "feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, double p, bool train) { return assign(self, taeda::feature_alpha_dropout(self, p, train)); }
};

/// self where positive; elsewhere self times a slope drawn uniformly from [lower, upper] in training, their mean otherwise.
struct Rrelu : Composite {
  static constexpr auto schema =
      "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor slopes(const Tensor& self, double lower, double upper, const std::optional<Generator>& generator) {
    const Tensor x = self.detach().contiguous();
    Tensor noise = make_tensor(x.sizes(), x.scalar_type());
    dispatch_floating(x.scalar_type(), "rrelu", [&]<class T>() {
      const T* in = reinterpret_cast<const T*>(x.impl().data());
      T* out = reinterpret_cast<T*>(noise.impl().data());
      CPUGeneratorImpl& g = cpu_generator(generator);
      std::lock_guard lock(g.mutex_);
      for (int64_t i = 0; i < x.numel(); ++i) {
        out[i] = static_cast<float>(in[i]) <= 0 ? detail::from_double<T>(g.uniform_double() * (upper - lower) + lower) : T(1);
      }
    });
    return noise;
  }
  static std::pair<double, double> bounds(const Scalar& lower, const Scalar& upper) {
    const double low = lower.toDouble(), high = upper.toDouble();
    TAEDA_CHECK(low <= high, "[rrelu] lower bound should be less than or equal to the upper bound: got ", low, " and ", high, "; swap them");
    return {low, high};
  }
  static Tensor forward(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, std::optional<Generator> generator) {
    const auto [low, high] = bounds(lower, upper);
    if (!training) return taeda::leaky_relu(self, (low + high) / 2);
    return self.mul(slopes(self, low, high, generator));
  }
};
/// `rrelu` in place.
struct Rrelu_ : Composite {
  static constexpr auto schema =
      "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, std::optional<Generator> generator) {
    const auto [low, high] = Rrelu::bounds(lower, upper);
    if (!training) return taeda::leaky_relu_(self, (low + high) / 2);
    return self.mul_(Rrelu::slopes(self, low, high, generator));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/dropout.inc"
