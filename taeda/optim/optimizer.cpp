// SPDX-License-Identifier: Apache-2.0
// Parameter groups, state and archives of optimizers.
#include "taeda/optim/optimizer.h"

#include <algorithm>
#include <typeinfo>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/dict.h"
#include "taeda/core/host_watch.h"
#include "taeda/io/archive.h"

namespace taeda::optim {

namespace detail {

namespace {
/// Undefined tensors become none, so that a list keeps its length.
template <class Tensors>
Value list_of(const Tensors& tensors) {
  Value::List list;
  for (const Tensor& t : tensors) list.push_back(to_value(t));
  return Value(std::move(list));
}
template <class Tensors>
void tensors_of(const Value& value, Tensors& tensors) {
  tensors.clear();
  for (const Value& item : value.list()) tensors.push_back(item.is_none() ? Tensor() : item.tensor());
}
template <class Tensors>
bool all_same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) { return same(x, y); });
}
}  // namespace

bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b) { return all_same(a, b); }
bool same(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b) {
  return a.has_value() == b.has_value() && (!a || all_same(*a, *b));
}
Value to_value(const std::tuple<double, double, double>& v) {
  return Value(Value::List{Value(std::get<0>(v)), Value(std::get<1>(v)), Value(std::get<2>(v))});
}
Value to_value(const std::tuple<std::optional<double>, double>& v) {
  return Value(Value::List{std::get<0>(v) ? Value(*std::get<0>(v)) : Value(), Value(std::get<1>(v))});
}
Value to_value(const std::deque<Tensor>& v) { return list_of(v); }
Value to_value(const std::optional<std::vector<Tensor>>& v) { return v ? list_of(*v) : Value(); }
void from_value(const Value& value, std::tuple<double, double, double>& v) {
  v = {value.list().at(0).to_double(), value.list().at(1).to_double(), value.list().at(2).to_double()};
}
void from_value(const Value& value, std::tuple<std::optional<double>, double>& v) {
  const Value& first = value.list().at(0);
  v = {first.is_none() ? std::nullopt : std::optional<double>(first.to_double()), value.list().at(1).to_double()};
}
void from_value(const Value& value, std::deque<Tensor>& v) { tensors_of(value, v); }
void from_value(const Value& value, std::optional<std::vector<Tensor>>& v) {
  v.reset();
  if (!value.is_none()) tensors_of(value, v.emplace());
}
Value to_value(const std::optional<int64_t>& v) { return v ? Value(*v) : Value(); }
Value to_value(const std::optional<std::string>& v) { return v ? Value(*v) : Value(); }
void from_value(const Value& value, std::optional<int64_t>& v) {
  v = value.is_none() ? std::nullopt : std::optional<int64_t>(value.to_int());
}
void from_value(const Value& value, std::optional<std::string>& v) {
  v = value.is_none() ? std::nullopt : std::optional<std::string>(value.string());
}

template <class Base>
std::unique_ptr<Base> Archived<Base>::clone() const {
  TAEDA_CHECK(false, "[optim] clone() has not been implemented for ", typeid(*this).name(),
              "; derive from OptimizerCloneableOptions or OptimizerCloneableParamState");
  return nullptr;
}
template <class Base>
void Archived<Base>::serialize(serialize::OutputArchive& archive) const {
  const Fields all = fields();
  TAEDA_CHECK(!all.empty(), "[optim] serialize() has not been implemented for ", typeid(*this).name(), "; override it");
  for (const auto& [name, value] : all) archive.write(name, value);
}
template <class Base>
void Archived<Base>::serialize(serialize::InputArchive& archive) {
  TAEDA_CHECK(!fields().empty(), "[optim] serialize() has not been implemented for ", typeid(*this).name(), "; override it");
  Value value;
  set_fields([&](const std::string& name) { return archive.try_read(name, value) ? &value : nullptr; });
}
template class Archived<OptimizerOptions>;
template class Archived<OptimizerParamState>;
}  // namespace detail

OptimizerParamState::~OptimizerParamState() = default;
OptimizerOptions::~OptimizerOptions() = default;
double OptimizerOptions::get_lr() const {
  TAEDA_CHECK(false, "[optim] get_lr() has not been implemented for ", typeid(*this).name(), "; override it");
  return 0;
}
void OptimizerOptions::set_lr(double /*lr*/) {
  TAEDA_CHECK(false, "[optim] set_lr() has not been implemented for ", typeid(*this).name(), "; override it");
}
Optimizer::~Optimizer() { taeda::detail::note_host_change("an optimizer ends"); }

OptimizerOptions& OptimizerParamGroup::options() {
  TAEDA_CHECK(has_options(), "[optim] the parameter group has no options; set them or add the group to an optimizer");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const { return const_cast<OptimizerParamGroup&>(*this).options(); }

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
}
Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  for (const Tensor& p : group.params()) {
    TAEDA_CHECK(p.defined() && p.is_leaf(), "[optim] can't optimize a non-leaf Tensor; pass the model's parameters()");
    for (const OptimizerParamGroup& other : param_groups_) {
      for (const Tensor& q : other.params()) {
        TAEDA_CHECK(!p.is_same(q), "[optim] some parameters appear in more than one parameter group: got a tensor of sizes ",
                    p.sizes(), " twice; list each once");
      }
    }
  }
  OptimizerParamGroup copy(group);
  if (!copy.has_options()) copy.set_options(defaults_->clone());
  taeda::detail::note_host_change("an optimizer gets a group of parameters");
  param_groups_.push_back(std::move(copy));
}

void Optimizer::add_parameters(const std::vector<Tensor>& added) {
  TAEDA_CHECK(!param_groups_.empty(), "[optim] there is no parameter group to add to; use add_param_group");
  taeda::detail::note_host_change("an optimizer gets parameters");
  auto& params = param_groups_[0].params();
  params.insert(params.end(), added.begin(), added.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (Tensor& p : group.params()) {
      Tensor& grad = p.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad.reset();
      } else {
        grad = grad.detach();
        grad.zero_();
      }
    }
  }
}

const std::vector<Tensor>& Optimizer::parameters() const noexcept { return const_cast<Optimizer&>(*this).parameters(); }
std::vector<Tensor>& Optimizer::parameters() noexcept { return param_groups_.at(0).params(); }
size_t Optimizer::size() const noexcept {
  size_t n = 0;
  for (const OptimizerParamGroup& group : param_groups_) n += group.params().size();
  return n;
}

std::string Optimizer::type_name() const { return typeid(*this).name(); }

void Optimizer::save(serialize::OutputArchive& archive) const {
  archive.write("type", Value(type_name()));
  int64_t index = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    serialize::OutputArchive options;
    param_groups_[g].options().serialize(options);
    options.write("size", Value(param_groups_[g].params().size()));
    archive.write(str("param_groups.", g), options);
    for (const Tensor& p : param_groups_[g].params()) {
      const auto it = state_.find(p.unsafeGetTensorImpl());
      if (it != state_.end()) {
        serialize::OutputArchive state;
        it->second->serialize(state);
        archive.write(str("state.", index), state);
      }
      ++index;
    }
  }
}

void Optimizer::load(serialize::InputArchive& archive) {
  load_with(archive, [this] { return new_state(); });
}

void Optimizer::load_with(serialize::InputArchive& archive, const StateMaker& make_state) {
  Value type;
  archive.read("type", type);
  TAEDA_CHECK(type.string() == type_name(), "[optim] the archive must be of the same kind of optimizer: got ", type.string(),
              " for ", type_name(), "; build that optimizer");
  // Everything is read before anything is changed.
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  State states;
  int64_t index = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    serialize::InputArchive group;
    archive.read(str("param_groups.", g), group);
    Value size;
    group.read("size", size);
    TAEDA_CHECK(size.to_int() == static_cast<int64_t>(param_groups_[g].params().size()),
                "[optim] parameter groups must have equal sizes: got ", size.to_int(), " for ", param_groups_[g].params().size(),
                " in group ", g, "; build the same groups");
    options.push_back(param_groups_[g].options().clone());
    options.back()->serialize(group);
    for (const Tensor& p : param_groups_[g].params()) {
      serialize::InputArchive kept;
      if (!archive.try_read(str("state.", index++), kept)) continue;
      std::unique_ptr<OptimizerParamState> state = make_state();
      TAEDA_CHECK(state, "[optim] the archive has states of ", type_name(), ", which does not say how they are made; override new_state()");
      state->serialize(kept);
      states[p.unsafeGetTensorImpl()] = std::move(state);
    }
  }
  Value extra;
  TAEDA_CHECK(!archive.try_read(str("param_groups.", param_groups_.size(), ".size"), extra),
              "[optim] the archive has more parameter groups than the optimizer: got over ", param_groups_.size(),
              "; build the same groups");
  taeda::detail::note_host_change("an optimizer's state is loaded");
  for (size_t g = 0; g < param_groups_.size(); ++g) param_groups_[g].set_options(std::move(options[g]));
  state_ = std::move(states);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace taeda::optim
