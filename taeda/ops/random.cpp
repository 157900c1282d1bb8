// SPDX-License-Identifier: Apache-2.0
// Random numbers written into tensors, and samples drawn from tensors of parameters. All fills go in memory order.
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_run.h"
#include "taeda/ops/random_fill_tensor.h"

namespace taeda {
namespace ops {
namespace {

using detail::fill_in_memory_order;
using OptGenerator = std::optional<Generator>;
Tensor zeros_grad(const Tensor& grad) { return taeda::zeros_like(grad); }

/// Uniform numbers in [from, to).
struct Uniform_ {
  static constexpr auto schema = "uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double from, double to, OptGenerator generator) {
    detail::check_writable(self, "uniform_");
    TAEDA_CHECK(from <= to, "[uniform_] uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to, "; swap them");
    dispatch_floating(self.scalar_type(), "uniform_", [&]<class T>() {
      TAEDA_CHECK(Scalar(from).fits<T>() && Scalar(to).fits<T>(), "[uniform_] from and to must fit the dtype: got ", from, " and ", to, " for ",
                  self.scalar_type(), "; use smaller bounds");
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_uniform(out, n, from, to, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Normal numbers of the given mean and standard deviation.
struct Normal_ {
  static constexpr auto schema = "normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double mean, double std, OptGenerator generator) {
    detail::check_writable(self, "normal_");
    detail::fill_normal_tensor(self, mean, std, generator);
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// exp of normal numbers of the given mean and standard deviation.
struct LogNormal_ {
  static constexpr auto schema = "log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double mean, double std, OptGenerator generator) {
    detail::check_writable(self, "log_normal_");
    TAEDA_CHECK(std > 0, "[log_normal_] log_normal_ expects std > 0.0, but found std=", std, "; pass a positive one");
    dispatch_floating(self.scalar_type(), "log_normal_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_log_normal(out, n, mean, std, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Exponential numbers of rate `lambd`.
struct Exponential_ {
  static constexpr auto schema = "exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double lambd, OptGenerator generator) {
    detail::check_writable(self, "exponential_");
    TAEDA_CHECK(lambd > 0, "[exponential_] exponential_ expects lambda > 0.0, but found lambda=", lambd, "; pass a positive one");
    dispatch_floating(self.scalar_type(), "exponential_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_exponential(out, n, lambd, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Cauchy numbers of the given median and half-width.
struct Cauchy_ {
  static constexpr auto schema = "cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double median, double sigma, OptGenerator generator) {
    detail::check_writable(self, "cauchy_");
    TAEDA_CHECK(sigma > 0, "[cauchy_] cauchy_ expects sigma > 0.0, but found sigma=", sigma, "; pass a positive one");
    dispatch_floating(self.scalar_type(), "cauchy_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_cauchy(out, n, median, sigma, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Numbers of trials up to the first success of probability p.
struct Geometric_ {
  static constexpr auto schema = "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double p, OptGenerator generator) {
    detail::check_writable(self, "geometric_");
    TAEDA_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "[geometric_] is not implemented for Bool; use another dtype");
    TAEDA_CHECK(p > 0 && p < 1, "[geometric_] geometric_ expects p to be in (0, 1), but got p=", p, "; pass a probability");
    dispatch_all(self.scalar_type(), "geometric_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_geometric(out, n, p, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Ones with probability p, zeros otherwise.
struct BernoulliFloat_ {
  static constexpr auto schema = "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, double p, OptGenerator generator) {
    detail::check_writable(self, "bernoulli_");
    TAEDA_CHECK(p >= 0 && p <= 1, "[bernoulli_] bernoulli_ expects p to be in [0, 1], but got p=", p, "; pass a probability");
    dispatch_all(self.scalar_type(), "bernoulli_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_bernoulli(out, n, p, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
void fill_bernoulli_from(const Tensor& out, const Tensor& p, const OptGenerator& generator) {
  TAEDA_CHECK_NOT_IMPLEMENTED(p.is_floating_point(), "[bernoulli_] the probabilities must be floating: got ", p.scalar_type(), "; convert them");
  if (p.numel() > 0) {
    TAEDA_CHECK(p.min().item<double>() >= 0 && p.max().item<double>() <= 1,
                "[bernoulli_] the probabilities must lie between 0 and 1; clamp them");
  }
  // Numbers are drawn in the order in which the elements of the result lie in memory.
  const DimVector order = detail::memory_order(out);
  const Tensor ordered = out.permute(order), probabilities = p.expand(out.sizes()).permute(order).contiguous();
  Tensor plain = ordered.is_contiguous() ? ordered : make_tensor(ordered.sizes(), out.scalar_type(), out.device());
  dispatch_all(out.scalar_type(), "bernoulli_", [&]<class T>() {
    dispatch_floating(p.scalar_type(), "bernoulli_", [&]<class P>() {
      fill_bernoulli(reinterpret_cast<T*>(plain.impl().data()), reinterpret_cast<const P*>(probabilities.impl().data()), out.numel(),
                     cpu_generator(generator));
    });
  });
  if (!ordered.is_contiguous()) pointwise::copy_elements(ordered.impl(), plain.impl());
}
/// Ones with the probability at the same place of p, zeros otherwise.
struct BernoulliTensor_ {
  static constexpr auto schema = "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, const Tensor& p, OptGenerator generator) {
    detail::check_writable(self, "bernoulli_");
    fill_bernoulli_from(self, p, generator);
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Ones with the probabilities that self holds, zeros otherwise.
struct Bernoulli {
  static constexpr auto schema = "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, OptGenerator generator) {
    Tensor out = make_tensor(self.sizes(), self.scalar_type(), self.device());
    fill_bernoulli_from(out, self, generator);
    return out;
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// A tensor shaped as self of ones with probability p, zeros otherwise.
struct BernoulliP {
  static constexpr auto schema = "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, double p, OptGenerator generator) {
    return make_tensor(self.sizes(), self.scalar_type(), self.device()).bernoulli_(p, generator);
  }
};

/// Integers from 0 to the largest up to which the dtype holds every integer.
struct Random_ {
  static constexpr auto schema = "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, OptGenerator generator) {
    detail::check_writable(self, "random_");
    dispatch_all(self.scalar_type(), "random_", [&]<class T>() {
      fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_random(out, n, cpu_generator(generator)); });
    });
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Integers from `from` to `to` - 1 (or the dtype's largest).
struct RandomFrom_ {
  static constexpr auto schema = "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, int64_t from, std::optional<int64_t> to, OptGenerator generator) {
    detail::check_writable(self, "random_");
    const ScalarType type = self.scalar_type();
    if (!to && from == std::numeric_limits<int64_t>::min() && (type == kLong || (is_floating_type(type) && type != kHalf))) {
      detail::fill_range_tensor(self, 0, 0, generator);  // all 64 bits
      return;
    }
    const int64_t last = to ? *to : detail::largest_exact(type);
    TAEDA_CHECK(from < last, "[random_] random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", last, "; swap them");
    const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + (to ? 0 : 1);
    detail::fill_range_tensor(self, from, range, generator);
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};
/// Integers from 0 to `to` - 1.
struct RandomTo_ {
  static constexpr auto schema = "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)";
  static void forward(const Tensor& self, int64_t to, OptGenerator generator) { RandomFrom_::forward(self, 0, to, generator); }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};

/// Poisson numbers of the rates that self holds.
struct Poisson {
  static constexpr auto schema = "poisson(Tensor self, Generator? generator=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, OptGenerator generator) {
    const Tensor rates = self.contiguous();
    Tensor out = make_tensor(self.sizes(), self.scalar_type(), self.device());
    TAEDA_CHECK(self.numel() == 0 || !taeda::any(self.detach().lt(0)).item<bool>(), "[poisson] invalid Poisson rate, expected rate to be non-negative; clamp it");
    dispatch_floating(self.scalar_type(), "poisson", [&]<class T>() {
      fill_poisson(reinterpret_cast<T*>(out.impl().data()), reinterpret_cast<const T*>(rates.impl().data()), out.numel(), cpu_generator(generator));
    });
    return out;
  }
  static Tensor grad_self(const Tensor& grad) { return zeros_grad(grad); }
};

/// Column numbers drawn with the weights of self: (columns) or (rows, columns), non-negative with a positive sum.
struct Multinomial {
  static constexpr auto schema = "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, int64_t num_samples, bool replacement, OptGenerator generator) {
    TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "[multinomial] prob_dist must be 1 or 2 dim: got ", self.dim(), "; reshape it");
    TAEDA_CHECK(self.is_floating_point(), "[multinomial] the weights must be floating: got ", self.scalar_type(), "; convert them");
    const int64_t rows = self.dim() == 1 ? 1 : self.size(0), columns = self.size(-1);
    TAEDA_CHECK(columns > 0 || rows == 0, "[multinomial] there must be something to draw from: got ", self.sizes(), "; pass at least one weight");
    TAEDA_CHECK(num_samples > 0, "[multinomial] cannot sample n_sample <= 0 samples: got ", num_samples, "; ask for at least one");
    TAEDA_CHECK(replacement || num_samples <= columns, "[multinomial] cannot sample n_sample > prob_dist.size(-1) samples without replacement: got ",
                num_samples, " and ", columns, "; draw fewer or with replacement");
    const ScalarType type = self.scalar_type() == kDouble ? kDouble : kFloat;
    const Tensor weights = self.to(type).contiguous();
    if (weights.numel() > 0) {
      const double lowest = weights.min().item<double>(), highest = weights.max().item<double>();
      TAEDA_CHECK(lowest >= 0 && std::isfinite(highest), "[multinomial] the weights must be finite and not negative: got a range of ", lowest,
                  " to ", highest, "; clamp them");
      TAEDA_CHECK(weights.sum(-1).min().item<double>() > 0, "[multinomial] invalid multinomial distribution (sum of probabilities <= 0); give each row a positive weight");
    }
    const bool one_row = self.dim() == 1;
    Tensor out = one_row ? make_tensor(num_samples, kLong) : make_tensor({rows, num_samples}, kLong);
    int64_t* indices = reinterpret_cast<int64_t*>(out.impl().data());
    if (out.numel() == 0) return out;
    const bool by_noise = !replacement || num_samples == 1;
    const auto draw = [&]<class T>() {
      const T* w = reinterpret_cast<const T*>(weights.impl().data());
      if (by_noise) multinomial_by_noise(w, rows, columns, num_samples, indices, cpu_generator(generator));
      else multinomial_with_replacement(w, rows, columns, num_samples, indices, cpu_generator(generator));
    };
    dispatch_float_double(type, "multinomial", draw);
    return out;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/random.inc"
