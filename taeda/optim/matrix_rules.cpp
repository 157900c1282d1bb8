// SPDX-License-Identifier: Apache-2.0
// Steps of the optimizers that treat a parameter as a matrix: Adafactor and Muon.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <limits>

#include "taeda/core/host_watch.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "taeda/optim/adafactor.h"
#include "taeda/optim/muon.h"
#include "taeda/optim/step_detail.h"

namespace taeda::optim {

using namespace detail;  // NOLINT(google-build-using-namespace)

namespace {

double root_mean_square(const Tensor& t) {
  return std::sqrt(t.to(kDouble).square().sum().item<double>() / static_cast<double>(std::max<int64_t>(t.numel(), 1)));
}
double smallest_step(ScalarType type) {
  return type == kDouble ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
}
void move_towards(const Tensor& average, const Tensor& value, double weight) { average.lerp_(value, weight); }

/// The estimate of the second moment of a matrix from its row and column means (algorithm 4 of the paper), or of a vector.
Tensor second_moment(AdafactorParamState& s, const Tensor& grad, double weight, double eps) {
  if (grad.dim() < 2) {
    if (!s.variance().defined()) s.variance(taeda::zeros_like(grad));
    move_towards(s.variance(), grad.square(), weight);
    return s.variance().clone();
  }
  const Tensor square = grad.square();
  const Tensor rows = square.mean(IntArrayRef(int64_t{-1}), /*keepdim=*/true);
  const Tensor columns = square.mean(IntArrayRef(int64_t{-2}), /*keepdim=*/true);
  if (!s.row_var().defined()) {
    s.row_var(taeda::zeros_like(rows));
    s.col_var(taeda::zeros_like(columns));
  }
  move_towards(s.row_var(), rows, weight);
  move_towards(s.col_var(), columns, weight);
  const Tensor scale = s.row_var().mean(IntArrayRef(int64_t{-2}), /*keepdim=*/true).clamp_min(eps);
  return s.row_var().matmul(s.col_var()).div(scale);
}

/// Rounds to bfloat16 and back: products are taken in float32.
Tensor coarse(const Tensor& t) { return t.to(kBFloat16).to(kFloat); }

/// Newton-Schulz steps towards the nearest orthogonal matrix (Jordan et al. 2024), every result rounded to bfloat16.
Tensor orthogonalised(const Tensor& matrix, const MuonOptions& o) {
  const auto [a, b, c] = o.ns_coefficients();
  Tensor x = coarse(matrix);
  const bool tall = x.size(0) > x.size(1);
  if (tall) x = x.t();
  const Tensor norm = coarse(x.square().sum().sqrt()).clamp_min(o.eps());
  x = coarse(x / norm);
  for (int64_t i = 0; i < o.ns_steps(); ++i) {
    const Tensor gram = coarse(x.matmul(x.t()));
    const Tensor polynomial = coarse(gram * b + gram.matmul(gram) * c);
    x = coarse(x * a + polynomial.matmul(x));
  }
  return tall ? x.t() : x;
}

double adjusted_rate(const MuonOptions& o, const Tensor& p) {
  const auto rows = static_cast<double>(p.size(0));
  const auto columns = static_cast<double>(p.size(1));
  if (!o.adjust_lr_fn() || *o.adjust_lr_fn() == "original") return o.lr() * std::sqrt(std::max(1.0, rows / columns));
  return o.lr() * 0.2 * std::sqrt(std::max(rows, columns));
}

}  // namespace

AdafactorOptions::AdafactorOptions(double lr) : lr_(lr) {}
bool operator==(const AdafactorOptions& a, const AdafactorOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.beta2_decay(), b.beta2_decay()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.d(), b.d()) && detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.maximize(), b.maximize());
}
bool operator==(const AdafactorParamState& a, const AdafactorParamState& b) {
  return detail::same(a.step(), b.step()) && detail::same(a.row_var(), b.row_var()) &&
         detail::same(a.col_var(), b.col_var()) && detail::same(a.variance(), b.variance());
}
Adafactor::Adafactor(std::vector<Tensor> params, AdafactorOptions defaults)
    : Adafactor({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Adafactor::type_name() const { return "Adafactor"; }
std::unique_ptr<OptimizerParamState> Adafactor::new_state() const { return std::make_unique<AdafactorParamState>(); }

Adafactor::Adafactor(const std::vector<OptimizerParamGroup>& param_groups, AdafactorOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdafactorOptions>(defaults)) {
  check_at_least_zero("Adafactor", "learning rate", defaults.lr());
  TAEDA_CHECK(defaults.beta2_decay() <= 0, "[Adafactor] beta2_decay should be <= 0: got ", defaults.beta2_decay(),
              "; pass a negative power");
  check_at_least_zero("Adafactor", "epsilon1", std::get<0>(defaults.eps()).value_or(0));
  check_at_least_zero("Adafactor", "epsilon2", std::get<1>(defaults.eps()));
  TAEDA_CHECK(defaults.d() >= 1, "[Adafactor] Clipping threshold d should be >= 1: got ", defaults.d(), "; raise it");
  check_at_least_zero("Adafactor", "weight_decay", defaults.weight_decay());
}

Tensor Adafactor::step(LossClosure closure) {
  taeda::detail::refuse_replay("the step of Adafactor needs its own code");
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const AdafactorOptions&>(group.options());
    for_each_gradient(group, [&](const Tensor& p, const Tensor& gradient) {
      auto& s = state_of<AdafactorParamState>(p);
      s.step(s.step() + 1);
      const auto t = static_cast<double>(s.step());
      const double sign = o.maximize() ? -1 : 1;
      const Tensor grad = sign * inverse_scale_ == 1 ? gradient : gradient * (sign * inverse_scale_);
      const double weight = std::pow(t, o.beta2_decay());
      const double rate = std::max(std::get<1>(o.eps()), root_mean_square(p)) * std::min(o.lr(), 1 / std::sqrt(t));
      if (o.weight_decay() != 0) p.mul_(1 - o.lr() * o.weight_decay());
      const double eps = std::get<0>(o.eps()).value_or(smallest_step(p.scalar_type()));
      const Tensor update = second_moment(s, grad, weight, eps).clamp_min(eps * eps).rsqrt().mul(grad);
      p.add_(update, -rate / std::max(1.0, root_mean_square(update) / o.d()));
    });
  }
  return loss;
}

MuonOptions::MuonOptions(double lr) : lr_(lr) {}
bool operator==(const MuonOptions& a, const MuonOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.weight_decay(), b.weight_decay()) &&
         detail::same(a.momentum(), b.momentum()) && detail::same(a.nesterov(), b.nesterov()) &&
         detail::same(a.ns_coefficients(), b.ns_coefficients()) && detail::same(a.eps(), b.eps()) &&
         detail::same(a.ns_steps(), b.ns_steps()) && detail::same(a.adjust_lr_fn(), b.adjust_lr_fn());
}
bool operator==(const MuonParamState& a, const MuonParamState& b) {
  return detail::same(a.momentum_buffer(), b.momentum_buffer());
}
Muon::Muon(std::vector<Tensor> params, MuonOptions defaults)
    : Muon({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string Muon::type_name() const { return "Muon"; }
std::unique_ptr<OptimizerParamState> Muon::new_state() const { return std::make_unique<MuonParamState>(); }

Muon::Muon(const std::vector<OptimizerParamGroup>& param_groups, MuonOptions defaults)
    : Optimizer(param_groups, std::make_unique<MuonOptions>(defaults)) {
  check_at_least_zero("Muon", "learning rate", defaults.lr());
  check_at_least_zero("Muon", "momentum", defaults.momentum());
  check_at_least_zero("Muon", "weight_decay", defaults.weight_decay());
  const auto& fn = defaults.adjust_lr_fn();
  TAEDA_CHECK(!fn || *fn == "original" || *fn == "match_rms_adamw", "[Muon] Adjust learning rate function ", fn.value_or(""),
              " is not supported; choose \"original\" or \"match_rms_adamw\"");
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& p : group.params()) {
      TAEDA_CHECK(p.dim() == 2, "[Muon] Muon only supports 2D parameters: got a parameter of sizes ", p.sizes(),
                  "; give the others to AdamW");
    }
  }
}

Tensor Muon::step(LossClosure closure) {
  taeda::detail::refuse_replay("the step of Muon needs its own code");
  const NoGradGuard no_grad;
  Tensor loss = run_closure(closure);
  if (skip_step()) return loss;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& o = static_cast<const MuonOptions&>(group.options());
    for_each_gradient(group, [&](const Tensor& p, const Tensor& gradient) {
      auto& s = state_of<MuonParamState>(p);
      if (!s.momentum_buffer().defined()) s.momentum_buffer(make_state(p));
      const Tensor grad = inverse_scale_ == 1 ? gradient : gradient * inverse_scale_;
      move_towards(s.momentum_buffer(), grad, 1 - o.momentum());
      const Tensor direction = o.nesterov() ? grad.lerp(s.momentum_buffer(), o.momentum()) : s.momentum_buffer();
      const Tensor update = orthogonalised(direction, o).to(p.scalar_type());
      p.mul_(1 - o.lr() * o.weight_decay());
      p.add_(update, -adjusted_rate(o, p));
    });
  }
  return loss;
}

}  // namespace taeda::optim
