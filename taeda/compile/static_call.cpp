// SPDX-License-Identifier: Apache-2.0
// Which calls are recorded, which replayed, and which refused.
#include "taeda/compile/static_call.h"

#include <algorithm>

#include "taeda/compile/state.h"
#include "taeda/compile/static_function.h"
#include "taeda/ops/host_side.h"

namespace taeda::lazy {

namespace {

/// Recorded calls in a row of which no two are equal before the function is refused: two kinds of calls may take turns, and an
/// optimizer's first step differs from the others.
constexpr int kFruitless = 6;

std::vector<double> settings_of(const Step& step) { return static_cast<const capture::HostSide&>(*step.source).settings(); }

}  // namespace

ArgumentKind::ArgumentKind(const ArgumentList& all, size_t number) {
  const TensorImpl& t = all[number]->impl();
  dtype = t.dtype;
  flags = t.flags;
  untracked = t.untracked;
  dims.append(t.sizes().begin(), t.sizes().end());
  dims.append(t.strides().begin(), t.strides().end());
  for (size_t k = 0; k < number && shares < 0; ++k) {
    const TensorImpl& other = all[k]->impl();
    if (other.storage != t.storage) continue;
    shares = static_cast<int>(k);
    distance = t.offset * static_cast<int64_t>(t.itemsize()) - other.offset * static_cast<int64_t>(other.itemsize());
  }
}

bool ArgumentKind::matches(const ArgumentList& all, size_t number) const {
  const TensorImpl& t = all[number]->impl();
  if (t.dtype != dtype || t.flags != flags || t.untracked != untracked || 2u * t.ndim != dims.size() || !t.device_.is_cpu()) return false;
  if (!std::equal(t.sizes().begin(), t.sizes().end(), dims.begin()) || !std::equal(t.strides().begin(), t.strides().end(), dims.begin() + t.ndim)) return false;
  for (size_t k = 0; k < number; ++k) {
    const TensorImpl& other = all[k]->impl();
    if (other.storage != t.storage) continue;
    return shares == static_cast<int>(k) &&
           distance == t.offset * static_cast<int64_t>(t.itemsize()) - other.offset * static_cast<int64_t>(other.itemsize());
  }
  return shares < 0;
}

bool StaticGroup::matches(const void* call_types, ArrayRef<uint64_t> call_words, const ArgumentList& tensors) const {
  if (types != call_types || tensors.size() != kinds.size() || ArrayRef<uint64_t>(words) != call_words) return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!kinds[i].matches(tensors, i)) return false;
  }
  return true;
}

StaticCall::StaticCall(State& state, const void* types) : state_(&state), types_(types) {
  const Modes& modes = tls_modes;
  words_.push_back(static_cast<uint64_t>(modes.grad_enabled) | static_cast<uint64_t>(modes.inference) << 1 | static_cast<uint64_t>(modes.forward_ad) << 2 |
                   static_cast<uint64_t>(default_scalar_type()) << 8);
}

StaticCall::~StaticCall() {
  if (!recorder_) return;
  recorder_.reset();
  state_->fixed.settle(renewed_);
}

void StaticFunction::settle(StaticPlan* renewed) {
  HandleCounts own;
  for (const auto& g : groups) {
    for (const auto& record : g->kept) record->count_handles(own);
    for (const auto& plan : g->plans) plan->add_handles(own);
  }
  if (renewed) renewed->count_handles(own);
  for (const auto& g : groups) {
    for (const auto& plan : g->plans) plan->expect_handles(own);
  }
}

void StaticCall::add_tensor(const Tensor& t) {
  words_.push_back(t.defined());
  if (t.defined()) tensors_.push_back(&t);
}

const void* StaticCall::prototype() const { return plan_->prototype.get(); }
void StaticCall::keep_prototype(std::shared_ptr<const void> prototype) { plan_->prototype = std::move(prototype); }
Tensor StaticCall::result(size_t i) { return plan_->result(i); }

void StaticCall::replay() {
  plan_->run(tensors_);
  group_->fruitless = 0;
  ++plan_->replays;
  ++state_->fixed.replayed;
}

StaticCall::How StaticCall::begin() {
  if (capture::active()) return How::kPlain;
  if (tls_modes.active & (kModeIntercept | kModeAnomaly)) {
    throw CompileError(TAEDA_HERE, "[compile] a static call begins outside of autocast and of anomaly mode: got one inside; put the guard into the function");
  }
  StaticFunction& f = state_->fixed;
  turn_ = std::unique_lock(f.turn);
  const ArrayRef<uint64_t> words(words_.data(), words_.size());
  const auto at = std::find_if(f.groups.begin(), f.groups.end(), [&](const auto& g) { return g->matches(types_, words, tensors_); });
  if (at != f.groups.end()) {
    group_ = at->get();
    for (const auto& plan : group_->plans) {
      if (!plan->fits(tensors_)) continue;
      plan_ = plan.get();
      return How::kReplay;
    }
    if (!group_->refusal.empty()) throw CompileError(TAEDA_HERE, group_->refusal);
  } else {
    const auto limit = static_cast<size_t>(state_->options.max_versions);
    if (f.groups.size() >= limit) {
      throw CompileError(TAEDA_HERE, str("[compile] static calls have few kinds of arguments (shapes, dtypes, numbers): got more than ", limit,
                                         "; pass what varies in tensors of one shape, raise max_versions, or use mode = CompileMode::kDynamic"));
    }
    group_ = f.groups.emplace_back(std::make_unique<StaticGroup>()).get();
    group_->types = types_;
    group_->words.assign(words.begin(), words.end());
    for (size_t i = 0; i < tensors_.size(); ++i) group_->kinds.emplace_back(tensors_, i);
  }
  record();
  return How::kRecord;
}

void StaticCall::record() {
  kept_ = state_->shared_from_this();
  ++state_->fixed.recorded;
  recorder_ = std::make_unique<StaticRecorder>();
  for (const Tensor* t : tensors_) recorder_->add_argument(*t);
  if (const Record* last = last_record()) {
    for (const auto& step : last->steps) {
      if (step->source) settings_.push_back(settings_of(*step));
    }
  }
  recorder_->start();
}

/// The one before this call whose optimizers are there still, or null.
const Record* StaticCall::last_record() const {
  const auto& kept = group_->kept;
  return !kept.empty() && kept.back()->host_changes == detail::host_changes.load() ? kept.back().get() : nullptr;
}

const Tensor& StaticCall::stand_in(size_t i) const { return recorder_->arguments()[i].stands; }

void StaticCall::restore(Tensor& t) const {
  if (!recorder_) return;
  for (const StandIn& a : recorder_->arguments()) {
    if (t.is_same(a.stands)) t = a.given;
  }
}

namespace {
/// Calls in between went another way. A replay must be able to see beforehand which way it is: else it is something that nobody sees.
bool repeats_one_of(const std::vector<std::unique_ptr<Record>>& kept, const Record& record) {
  for (size_t i = kept.size(); i-- > 0;) {
    if (difference(*kept[i], record).empty()) return true;
    if (!begin_apart(*kept[i], record)) return false;
  }
  return false;
}
}  // namespace

bool StaticCall::end(const std::vector<Tensor*>& results, const std::vector<uint64_t>& words, bool numbers_stay) {
  recorder_->stop();
  if (!numbers_stay) recorder_->refuse_with("the function changes a number, a text or a length that it is given by reference");
  StaticGroup& g = *group_;
  if (const Record* last = settings_.empty() ? nullptr : last_record()) {
    size_t next = 0;
    for (const auto& step : last->steps) {
      if (step->source && settings_of(*step) != settings_[next++]) recorder_->refuse_with("the function sets options of an optimizer");
    }
  }
  std::unique_ptr<Record> record = recorder_->end(results);
  record->result_words = words;
  if (record->refusal.empty()) {
    for (const auto& plan : g.plans) {
      if (!difference(plan->record(), *record).empty()) continue;
      plan->renew(std::move(*record));
      g.kept.clear();
      g.fruitless = 0;
      renewed_ = plan.get();
      return false;
    }
  }
  if (!record->refusal.empty() || !repeats_one_of(g.kept, *record)) {
    std::string reason = record->refusal;
    if (reason.empty()) reason = g.kept.empty() ? "no other of these calls could be recorded: " + g.obstacle : difference(*g.kept.back(), *record);
    else g.obstacle = reason;
    if (record->refusal.empty()) g.kept.push_back(std::move(record));
    if (++g.fruitless < kFruitless) return false;
    g.refusal = str("[compile] a static function does the same in every call: ", reason, "; use mode = CompileMode::kDynamic for this function");
    g.kept.clear();
    return false;
  }
  if (state_->fixed.plans >= static_cast<size_t>(state_->options.max_versions)) {
    g.refusal = str("[compile] static calls go few ways: got more than ", state_->options.max_versions, "; raise max_versions, or use mode = CompileMode::kDynamic");
    return false;
  }
  g.kept.clear();
  g.obstacle.clear();
  g.fruitless = 0;
  const CompileOptions& o = state_->options;
  const LoopOptions loops{true, o.backend != CompileBackend::kInterpreter, 0, o.cache_dir, true};
  plan_ = g.plans.emplace_back(std::make_unique<StaticPlan>(std::move(record), loops, o.backend == CompileBackend::kDebug)).get();
  ++state_->fixed.plans;
  renewed_ = plan_;
  return true;
}

void refuse_static_types(const char* function) {
  throw CompileError(TAEDA_HERE, str("[compile] a static function takes tensors, numbers, texts and lists, tuples, optionals and maps of them, and returns tensors "
                                     "in the like: got other types in ", function, "; use mode = CompileMode::kDynamic, or let the function know the rest"));
}

}  // namespace taeda::lazy
