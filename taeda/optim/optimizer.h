// SPDX-License-Identifier: Apache-2.0
// The base of optimizers: parameter groups with options, state by parameter, saving and loading.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/core/value.h"
#include "taeda/core/arg.h"

namespace taeda {

namespace serialize {
class OutputArchive;
class InputArchive;
}  // namespace serialize

namespace optim {

class StepSource;

namespace detail {
/// Conversions of option and state fields to archive values.
inline Value to_value(double v) { return Value(v); }
inline Value to_value(bool v) { return Value(v); }
inline Value to_value(int64_t v) { return Value(v); }
inline Value to_value(const Tensor& v) { return v.defined() ? Value(v) : Value(); }
inline Value to_value(const std::tuple<double, double>& v) {
  return Value(Value::List{Value(std::get<0>(v)), Value(std::get<1>(v))});
}
TAEDA_API Value to_value(const std::tuple<double, double, double>& v);
TAEDA_API Value to_value(const std::tuple<std::optional<double>, double>& v);
TAEDA_API Value to_value(const std::deque<Tensor>& v);
TAEDA_API Value to_value(const std::optional<std::vector<Tensor>>& v);
TAEDA_API Value to_value(const std::optional<int64_t>& v);
TAEDA_API Value to_value(const std::optional<std::string>& v);
inline void from_value(const Value& value, double& v) { v = value.to_double(); }
inline void from_value(const Value& value, bool& v) { v = value.to_bool(); }
inline void from_value(const Value& value, int64_t& v) { v = value.to_int(); }
inline void from_value(const Value& value, Tensor& v) { v = value.is_none() ? Tensor() : value.tensor(); }
inline void from_value(const Value& value, std::tuple<double, double>& v) {
  v = {value.list().at(0).to_double(), value.list().at(1).to_double()};
}
TAEDA_API void from_value(const Value& value, std::tuple<double, double, double>& v);
TAEDA_API void from_value(const Value& value, std::tuple<std::optional<double>, double>& v);
TAEDA_API void from_value(const Value& value, std::deque<Tensor>& v);
TAEDA_API void from_value(const Value& value, std::optional<std::vector<Tensor>>& v);
TAEDA_API void from_value(const Value& value, std::optional<int64_t>& v);
TAEDA_API void from_value(const Value& value, std::optional<std::string>& v);
/// Named values written by an object with `visit`.
using Fields = std::vector<std::pair<std::string, Value>>;
inline bool same(const Tensor& a, const Tensor& b) { return a.is_same(b); }
TAEDA_API bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b);
TAEDA_API bool same(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b);
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

using FieldGetter = std::function<const Value*(const std::string&)>;

/// What options and states have in common: copies, and named fields in archives. A class with `visit(f)`, as those of this library, gets all
/// of it from the templates below; any other overrides `serialize` when it is to be saved.
template <class Base>
class TAEDA_API Archived {
 public:
  Archived() = default;
  Archived(const Archived&) = default;
  Archived& operator=(const Archived&) = default;
  virtual ~Archived() = default;
  virtual std::unique_ptr<Base> clone() const;
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// The fields that `visit` names; none without it.
  virtual Fields fields() const { return {}; }
  virtual void set_fields(const FieldGetter& /*get*/) {}
};
template <class Derived, class Base>
class Visited : public Base {
 public:
  std::unique_ptr<Base> clone_base() const { return std::make_unique<Derived>(self()); }
  Fields fields() const override {
    Fields out;
    if constexpr (has_visit()) {
      const_cast<Derived&>(self()).visit([&](const char* name, const auto& v) { out.emplace_back(name, to_value(v)); });
    }
    return out;
  }
  void set_fields(const FieldGetter& get) override {
    if constexpr (has_visit()) {
      static_cast<Derived&>(*this).visit([&](const char* name, auto& v) {
        if (const Value* value = get(name)) from_value(*value, v);
      });
    }
  }

 protected:
  const Derived& self() const { return static_cast<const Derived&>(*this); }

 private:
  static constexpr bool has_visit() {
    return requires(Derived& d) { d.visit([](const char*, const auto&) {}); };
  }
};
}  // namespace detail

/// State that an optimizer keeps for one parameter.
class TAEDA_API OptimizerParamState : public detail::Archived<OptimizerParamState> {
 public:
  ~OptimizerParamState() override;
};
/// Gives a state class its copying.
template <class Derived>
class OptimizerCloneableParamState : public detail::Visited<Derived, OptimizerParamState> {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override { return this->clone_base(); }
};

/// Options of a parameter group.
class TAEDA_API OptimizerOptions : public detail::Archived<OptimizerOptions> {
 public:
  ~OptimizerOptions() override;
  virtual double get_lr() const;
  virtual void set_lr(double lr);
};
/// Gives an options class its copying, and its rate where it has `lr`.
template <class Derived>
class OptimizerCloneableOptions : public detail::Visited<Derived, OptimizerOptions> {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override { return this->clone_base(); }
  double get_lr() const override {
    if constexpr (requires(const Derived& d) { double(d.lr()); }) return this->self().lr();
    else return OptimizerOptions::get_lr();
  }
  void set_lr(double lr) override {
    if constexpr (requires(Derived& d) { d.lr(lr); }) static_cast<Derived&>(*this).lr(lr);
    else OptimizerOptions::set_lr(lr);
  }
};

/// Parameters that share options.
class TAEDA_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr), initial_lr_(other.initial_lr_) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) {
    params_ = other.params_;
    options_ = other.options_ ? other.options_->clone() : nullptr;
    initial_lr_ = other.initial_lr_;
    return *this;
  }
  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// The rate that schedulers start from: set by the first scheduler made for the optimizer.
  std::optional<double>& initial_lr() { return initial_lr_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// Base class. A derived class implements `step`.
class TAEDA_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using State = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer();

  /// Adds parameters; options they lack are the defaults. Throws Error for a non-leaf, or a parameter that is in a group.
  void add_param_group(const OptimizerParamGroup& group);
  /// One update from the parameters' gradients; parameters without a gradient are left alone. `closure`, when given,
  /// computes the loss first (with gradients on) and its value is returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void add_parameters(const std::vector<Tensor>& parameters);
  void zero_grad(bool set_to_none = true);
  const std::vector<Tensor>& parameters() const noexcept;
  std::vector<Tensor>& parameters() noexcept;
  size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }

  /// For mixed precision: gradients are multiplied by `inverse_scale` inside the step, and the whole step is skipped when
  /// `*found_inf` is nonzero.
  void set_grad_scale(double inverse_scale, const float* found_inf = nullptr) {
    inverse_scale_ = inverse_scale;
    found_inf_ = found_inf;
  }

  /// "Adam", …: written to archives. By default the class's name.
  virtual std::string type_name() const;
  /// Writes groups and states, whose classes must be able to `serialize`.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Throws Error when the archive was written by another kind of optimizer or for other groups, or has states of an optimizer that does not
  /// say how they are made: it overrides `new_state`, or calls `optim::serialize` in its own `load`.
  virtual void load(serialize::InputArchive& archive);
  using StateMaker = std::function<std::unique_ptr<OptimizerParamState>()>;
  void load_with(serialize::InputArchive& archive, const StateMaker& make_state);

 protected:
  /// A state as it is before the first step.
  virtual std::unique_ptr<OptimizerParamState> new_state() const { return nullptr; }
  bool skip_step() const { return found_inf_ && *found_inf_ != 0; }
  /// The state of `p`, made by `new_state` at first use; `fresh` tells whether it was.
  template <class S>
  S& state_of(const Tensor& p, bool* fresh = nullptr) {
    auto& slot = state_[p.unsafeGetTensorImpl()];
    if (fresh) *fresh = !slot;
    if (!slot) slot = new_state();
    return static_cast<S&>(*slot);
  }

  friend class StepSource;  // goes on with steps when they are replayed
  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  double inverse_scale_ = 1;
  const float* found_inf_ = nullptr;
};

TAEDA_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
TAEDA_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

/// For `save` and `load` of optimizers outside this library.
template <class Options, class State>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.Optimizer::save(archive);
}
template <class Options, class State>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load_with(archive, [] { return std::make_unique<State>(); });
}

}  // namespace optim
}  // namespace taeda
