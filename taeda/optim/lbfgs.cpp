// SPDX-License-Identifier: Apache-2.0
// Limited-memory BFGS with an optional line search (Nocedal, Wright: Numerical Optimization, algorithms 7.4, 3.5 and 3.6).
#include "taeda/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/host_watch.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::optim {

namespace {

double product(const Tensor& a, const Tensor& b) { return a.dot(b).item<double>(); }
double largest(const Tensor& t) { return t.abs().max().item<double>(); }

/// The minimum of the cubic through two points with values f and slopes g, kept within [low, high].
double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double low, double high) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2);
  const double square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double x = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
                            : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(x, low), high);
}

}  // namespace

/// The function at one point of the line.
struct LBFGS::Evaluation {
  double t = 0, loss = 0, slope = 0;
  Tensor grad;
};

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}
bool operator==(const LBFGSOptions& a, const LBFGSOptions& b) {
  return detail::same(a.lr(), b.lr()) && detail::same(a.max_iter(), b.max_iter()) &&
         detail::same(a.max_eval(), b.max_eval()) && detail::same(a.tolerance_grad(), b.tolerance_grad()) &&
         detail::same(a.tolerance_change(), b.tolerance_change()) && detail::same(a.history_size(), b.history_size()) &&
         detail::same(a.line_search_fn(), b.line_search_fn());
}
bool operator==(const LBFGSParamState& a, const LBFGSParamState& b) {
  return detail::same(a.func_evals(), b.func_evals()) && detail::same(a.n_iter(), b.n_iter()) &&
         detail::same(a.t(), b.t()) && detail::same(a.prev_loss(), b.prev_loss()) && detail::same(a.d(), b.d()) &&
         detail::same(a.H_diag(), b.H_diag()) && detail::same(a.prev_flat_grad(), b.prev_flat_grad()) &&
         detail::same(a.old_dirs(), b.old_dirs()) && detail::same(a.old_stps(), b.old_stps()) &&
         detail::same(a.ro(), b.ro()) && detail::same(a.al(), b.al());
}
LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
std::string LBFGS::type_name() const { return "LBFGS"; }
std::unique_ptr<OptimizerParamState> LBFGS::new_state() const { return std::make_unique<LBFGSParamState>(); }

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults)
    : Optimizer(param_groups, std::make_unique<LBFGSOptions>(defaults)) {
  TAEDA_CHECK(param_groups_.size() == 1, "[LBFGS] LBFGS doesn't support per-parameter options (parameter groups): got ",
              param_groups_.size(), " groups; put all parameters into one");
  TAEDA_CHECK(!param_groups_[0].params().empty(), "[LBFGS] there must be parameters: got none; pass the model's parameters()");
  TAEDA_CHECK(defaults.max_iter() > 0 && defaults.history_size() > 0, "[LBFGS] max_iter and history_size must be positive: got ",
              defaults.max_iter(), " and ", defaults.history_size(), "; pass 1 or more");
  for (OptimizerOptions* options : {defaults_.get(), &param_groups_[0].options()}) {
    auto& own = static_cast<LBFGSOptions&>(*options);
    if (!own.max_eval()) own.max_eval(own.max_iter() * 5 / 4);
  }
}

Tensor LBFGS::flat_gradient() const {
  std::vector<Tensor> parts;
  for (const Tensor& p : param_groups_[0].params()) {
    const Tensor& grad = p.grad();
    parts.push_back(grad.defined() ? grad.detach().reshape(IntArrayRef(int64_t{-1})) : taeda::zeros({p.numel()}, p.options()));
  }
  const Tensor flat = taeda::cat(parts, 0);
  return inverse_scale_ == 1 ? flat : flat * inverse_scale_;
}

void LBFGS::move(double amount, const Tensor& direction) {
  int64_t at = 0;
  for (Tensor& p : param_groups_[0].params()) {
    p.add_(direction.slice(0, at, at + p.numel()).view(p.sizes()), amount);
    at += p.numel();
  }
}

void LBFGS::set_parameters(const std::vector<Tensor>& values) {
  auto& params = param_groups_[0].params();
  for (size_t i = 0; i < params.size(); ++i) params[i].copy_(values[i]);
}

double LBFGS::evaluate(const LossClosure& closure) const {
  const AutoGradMode with_grad(true);
  return closure().item<double>();
}

LBFGS::Evaluation LBFGS::evaluate_along(const LossClosure& closure, const std::vector<Tensor>& start, double t,
                                        const Tensor& direction) {
  move(t, direction);
  Evaluation e;
  e.t = t;
  e.loss = evaluate(closure);
  e.grad = flat_gradient();
  e.slope = product(e.grad, direction);
  set_parameters(start);
  return e;
}

/// The quasi-Newton direction from the last changes of the point and the gradient (the two-loop recursion).
void LBFGS::update_direction(LBFGSParamState& s, const LBFGSOptions& o, const Tensor& flat_grad) {
  if (s.n_iter() == 1) {
    s.d(flat_grad.neg());
    s.old_dirs().clear();
    s.old_stps().clear();
    s.ro().clear();
    s.H_diag(taeda::ones({}, flat_grad.options()));
    return;
  }
  const Tensor y = flat_grad - s.prev_flat_grad();
  const Tensor change = s.d() * s.t();
  const Tensor curvature = y.dot(change);
  if (curvature.item<double>() > 1e-10) {
    if (static_cast<int64_t>(s.old_dirs().size()) == o.history_size()) {
      s.old_dirs().pop_front();
      s.old_stps().pop_front();
      s.ro().pop_front();
    }
    s.old_dirs().push_back(y);
    s.old_stps().push_back(change);
    s.ro().push_back(curvature.reciprocal());
    s.H_diag(curvature / y.dot(y));
  }
  const size_t n = s.old_dirs().size();
  if (!s.al()) s.al(std::vector<Tensor>(static_cast<size_t>(o.history_size())));
  std::vector<Tensor>& al = *s.al();
  Tensor q = flat_grad.neg();
  for (size_t i = n; i-- > 0;) {
    al[i] = s.old_stps()[i].dot(q) * s.ro()[i];
    q = q - s.old_dirs()[i] * al[i];
  }
  Tensor r = q * s.H_diag();
  for (size_t i = 0; i < n; ++i) r = r + s.old_stps()[i] * (al[i] - s.old_dirs()[i].dot(r) * s.ro()[i]);
  s.d(r);
}

/// Finds a step along the direction that satisfies the strong Wolfe conditions, sets t, loss and gradient to it and returns the
/// number of evaluations.
int64_t LBFGS::strong_wolfe(const LossClosure& closure, LBFGSParamState& s, const LBFGSOptions& o, double slope, double& loss,
                            Tensor& flat_grad) {
  constexpr double kDecrease = 1e-4;
  constexpr double kCurvature = 0.9;
  constexpr int64_t kMost = 25;
  std::vector<Tensor> start;
  for (const Tensor& p : param_groups_[0].params()) start.push_back(p.detach().clone());
  const auto at = [&](double t) { return evaluate_along(closure, start, t, s.d()); };
  const double size = largest(s.d());
  const Evaluation origin{0, loss, slope, flat_grad};
  const auto too_high = [&](const Evaluation& e) { return e.loss > origin.loss + kDecrease * e.t * slope; };
  const auto flat_enough = [&](const Evaluation& e) { return std::abs(e.slope) <= -kCurvature * slope; };

  // Widen until the bracket holds such a step.
  Evaluation previous = origin;
  Evaluation current = at(s.t());
  int64_t evaluations = 1;
  int64_t rounds = 0;
  bool done = false;
  std::vector<Evaluation> bracket;
  for (; rounds < kMost; ++rounds) {
    if (too_high(current) || (rounds > 1 && current.loss >= previous.loss)) {
      bracket = {previous, current};
      break;
    }
    if (flat_enough(current)) {
      bracket = {current};
      done = true;
      break;
    }
    if (current.slope >= 0) {
      bracket = {previous, current};
      break;
    }
    const double least = current.t + 0.01 * (current.t - previous.t);
    const double next = cubic_minimum(previous.t, previous.loss, previous.slope, current.t, current.loss, current.slope, least,
                                      current.t * 10);
    previous = current;
    current = at(next);
    ++evaluations;
  }
  if (rounds == kMost) bracket = {origin, current};

  // Narrow it.
  bool stuck = false;
  size_t low = bracket.front().loss <= bracket.back().loss ? 0 : 1;
  if (bracket.size() == 1) low = 0;
  while (!done && rounds < kMost) {
    const double left = std::min(bracket[0].t, bracket[1].t);
    const double right = std::max(bracket[0].t, bracket[1].t);
    if ((right - left) * size < o.tolerance_change()) break;
    double t = cubic_minimum(bracket[0].t, bracket[0].loss, bracket[0].slope, bracket[1].t, bracket[1].loss, bracket[1].slope, left,
                             right);
    // A point too near an end brings little: the second time in a row, or outside, a tenth of the width away from it is taken.
    const double margin = 0.1 * (right - left);
    if (std::min(right - t, t - left) < margin) {
      if (stuck || t >= right || t <= left) {
        t = std::abs(t - right) < std::abs(t - left) ? right - margin : left + margin;
        stuck = false;
      } else {
        stuck = true;
      }
    } else {
      stuck = false;
    }
    const Evaluation e = at(t);
    ++evaluations;
    ++rounds;
    const size_t high = 1 - low;
    if (too_high(e) || e.loss >= bracket[low].loss) {
      bracket[high] = e;
      low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
      continue;
    }
    if (flat_enough(e)) {
      done = true;
    } else if (e.slope * (bracket[high].t - bracket[low].t) >= 0) {
      bracket[high] = bracket[low];
    }
    bracket[low] = e;
  }
  s.t(bracket[low].t);
  loss = bracket[low].loss;
  flat_grad = bracket[low].grad;
  return evaluations;
}

Tensor LBFGS::step(LossClosure closure) {
  taeda::detail::refuse_replay("the step of LBFGS needs its own code");
  TAEDA_CHECK(closure != nullptr, "[LBFGS] LBFGS requires a closure function: got none; pass one that computes the loss and its gradients");
  const NoGradGuard no_grad;
  const auto& o = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  const bool search = o.line_search_fn().has_value();
  TAEDA_CHECK(!search || *o.line_search_fn() == "strong_wolfe", "[LBFGS] only 'strong_wolfe' is supported: got line_search_fn ",
              o.line_search_fn().value_or(""), "; choose it or leave it out");
  const int64_t max_eval = o.max_eval().value_or(o.max_iter() * 5 / 4);
  auto& s = state_of<LBFGSParamState>(param_groups_[0].params()[0]);
  const auto orig_loss = [&] {
    const AutoGradMode with_grad(true);
    return closure();
  }();
  if (skip_step()) return orig_loss;
  double loss = orig_loss.item<double>();
  int64_t evaluations = 1;
  s.func_evals(s.func_evals() + 1);
  Tensor flat_grad = flat_gradient();
  if (largest(flat_grad) <= o.tolerance_grad()) return orig_loss;

  for (int64_t i = 1; i <= o.max_iter(); ++i) {
    s.n_iter(s.n_iter() + 1);
    update_direction(s, o, flat_grad);
    s.prev_flat_grad(flat_grad.clone());
    s.prev_loss(loss);
    s.t(s.n_iter() == 1 ? std::min(1.0, 1 / flat_grad.abs().sum().item<double>()) * o.lr() : o.lr());
    const double slope = product(flat_grad, s.d());
    if (slope > -o.tolerance_change()) break;
    int64_t used = 0;
    if (search) {
      used = strong_wolfe(closure, s, o, slope, loss, flat_grad);
      move(s.t(), s.d());
    } else {
      move(s.t(), s.d());
      // The gradient after the last iteration is found at the start of the next step.
      if (i != o.max_iter()) {
        loss = evaluate(closure);
        flat_grad = flat_gradient();
        used = 1;
      }
    }
    evaluations += used;
    s.func_evals(s.func_evals() + used);
    const bool moved = largest(s.d() * s.t()) > o.tolerance_change();
    const bool changed = std::abs(loss - s.prev_loss()) >= o.tolerance_change();
    if (evaluations >= max_eval || largest(flat_grad) <= o.tolerance_grad() || !moved || !changed) break;
  }
  return orig_loss;
}

}  // namespace taeda::optim
