// SPDX-License-Identifier: Apache-2.0
// Recording of a call whose operators run at once, and the comparison of two such calls.
#include "taeda/compile/static_record.h"

#include <algorithm>
#include <cstring>

#include "taeda/compile/compile.h"
#include "taeda/compile/fuse_group.h"
#include "taeda/compile/log.h"
#include "taeda/core/call_site.h"
#include "taeda/core/node.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

namespace {

thread_local constinit char tls_thread_mark = 0;

struct UsedUp final : autograd::Node {
  std::string name() const override { return "StaticCallBackward0"; }
  void backward(std::span<Tensor>, std::span<Tensor>) override {
    TAEDA_CHECK(false, "[backward] Trying to backward through the graph a second time: the static call that made this result has gone backward "
                       "through it and freed it; take gradients inside of the call");
  }
};

/// Why a call can be no part of a replay, or null.
const char* obstacle(const capture::Call& call) {
  const OpInfo* info = call.target.info;
  const auto is_mask = [](const TensorImpl* t) { return t && (t->dtype == kBool || t->dtype == kByte); };
  if (info && *info->shape_from &&
      (std::strcmp(info->shape_from, "masks") != 0 || std::any_of(call.tensors.begin() + 1, call.tensors.end(), is_mask))) {
    return "the shape of a result depends on values";
  }
  const auto elsewhere = [](const TensorImpl* t) { return t && !t->device_.is_cpu(); };
  return std::any_of(call.tensors.begin(), call.tensors.end(), elsewhere) ? "a tensor is not on the CPU" : nullptr;
}

bool same(const Geometry& a, const Geometry& b) {
  return equal(a, b) && a.untracked == b.untracked && a.wrapped_number == b.wrapped_number;
}
/// By how many bytes the memory of `value` lies further in `b`; only arguments move.
int64_t shift(const Record& a, const Record& b, int32_t value) {
  const RecordedValue& v = a.values[static_cast<size_t>(value)];
  if (v.origin != Origin::kArgument) return 0;
  return b.offsets[static_cast<size_t>(v.argument)] - a.offsets[static_cast<size_t>(v.argument)];
}
bool same(const Geometry& a, Geometry b, int64_t shift) {
  const auto item = static_cast<int64_t>(item_size(b.dtype));
  if (shift % item == 0) b.offset -= shift / item;
  return same(a, b);
}
bool same(const Scalar& a, const Scalar& b) {
  if (a.type() != b.type()) return false;
  return a.isFloatingPoint() ? std::bit_cast<uint64_t>(a.unchecked<double>()) == std::bit_cast<uint64_t>(b.unchecked<double>())
                             : a.unchecked<int64_t>() == b.unchecked<int64_t>();
}
bool same(const Step& a, const Step& b, const Record& in_a, const Record& in_b) {
  const auto operand = [&](const Operand& x, const Operand& y) {
    return x.value == y.value && (x.value < 0 || same(x.geometry, y.geometry, shift(in_a, in_b, x.value)));
  };
  const auto all = [&](const std::vector<Operand>& x, const std::vector<Operand>& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), operand); };
  const auto write = [](const Write& x, const Write& y) {
    return x.operand == y.operand && x.versions == y.versions && x.writes == y.writes && x.own_versions == y.own_versions;
  };
  return a.target.info == b.target.info && a.target.run == b.target.run && a.target.detail == b.target.detail &&
         a.target.variant == b.target.variant && a.default_dtype == b.default_dtype && a.words == b.words && a.random == b.random &&
         a.number_count == b.number_count && all(a.operands, b.operands) && all(a.results, b.results) &&
         std::equal(a.writes.begin(), a.writes.end(), b.writes.begin(), b.writes.end(), write);
}

/// The gradient as it is now, without telling the watch.
Tensor gradient_of(const TensorImpl& t) { return t.autograd ? t.autograd->grad : Tensor(); }

}  // namespace

IntrusivePtr<autograd::Node> used_up_history(const Tensor& result) {
  auto node = IntrusivePtr<autograd::Node>::adopt(new UsedUp);
  node->add_output(result);
  return node;
}

namespace {
bool same(const Outcome& a, const Outcome& b, const Record& in_a, const Record& in_b) {
  if (a.kind != b.kind || a.number != b.number || a.flags != b.flags || a.whole != b.whole || a.had_graph != b.had_graph || a.same_as != b.same_as || a.gradient != b.gradient ||
      !a.tensor.is_same(b.tensor)) {
    return false;
  }
  const bool view = a.kind == Outcome::Kind::kArgument && !a.whole;
  return same(a.geometry, b.geometry, view ? shift(in_a, in_b, a.number) : 0);
}
}  // namespace

std::string difference(const Record& a, const Record& b) {
  for (size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    const Step &x = *a.steps[i], &y = *b.steps[i];
    if (static_cast<size_t>(std::max(x.values_before, y.values_before)) > std::min(a.values.size(), b.values.size()) || !same(x, y, a, b)) {
      return difference(y, x);
    }
    for (size_t n = 0; n < x.numbers.size(); ++n) {
      if (!x.source && !same(x.numbers[n], y.numbers[n])) {
        return str("a number given to ", x.target.name, " changes from call to call: ", x.numbers[n], ", then ", y.numbers[n],
                   "; pass it in a tensor");
      }
    }
  }
  if (a.steps.size() != b.steps.size()) return str("another number of operators: ", b.steps.size(), " for ", a.steps.size());
  for (size_t v = 0; v < std::min(a.values.size(), b.values.size()); ++v) {
    const RecordedValue &x = a.values[v], &y = b.values[v];
    if (x.origin == y.origin && x.argument == y.argument && x.storage == y.storage && x.version == y.version && x.writes == y.writes) continue;
    for (const auto& step : b.steps) {
      for (const Operand& o : step->operands) {
        if (o.value == static_cast<int32_t>(v)) {
          return str("a tensor that ", step->target.name, " uses is not the one of the call before: it was assigned anew, or is made without operators; make "
                     "it outside of the function or pass it");
        }
      }
    }
    return "a tensor of the program is not the one of the call before";
  }
  const auto leaf = [&](const RecordedLeaf& x, const RecordedLeaf& y) {
    return x.leaf.is_same(y.leaf) && x.defined_before == y.defined_before && x.value == y.value && same(x.geometry, y.geometry) && x.flags == y.flags && same(x.after, y.after, a, b);
  };
  const auto outcome = [&](const Outcome& x, const Outcome& y) { return same(x, y, a, b); };
  if (!std::equal(a.leaves.begin(), a.leaves.end(), b.leaves.begin(), b.leaves.end(), leaf)) return "gradients are there in one call and not in the other";
  if (a.result_words != b.result_words || !std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(), outcome)) {
    return "the result is made in another way";
  }
  return a.values.size() == b.values.size() ? "" : "another number of tensors";
}

bool begin_apart(const Record& a, const Record& b) {
  for (const RecordedLeaf& x : a.leaves) {
    for (const RecordedLeaf& y : b.leaves) {
      if (x.leaf.is_same(y.leaf) && x.defined_before != y.defined_before) return true;
    }
  }
  for (const CapturedTensor& x : a.captured) {
    for (const CapturedTensor& y : b.captured) {
      if (x.tensor.is_same(y.tensor) && x.flags != y.flags) return true;
    }
  }
  for (const ReadBytes& x : a.reads) {
    for (const ReadBytes& y : b.reads) {
      if (x.place == y.place && x.bytes.size() == y.bytes.size() && x.bytes != y.bytes) return true;
    }
  }
  return false;
}

void Record::count_handles(HandleCounts& counts) const {
  const auto hold = [&](const void* p) {
    if (p) ++counts[p];
  };
  for (const RecordedValue& v : values) hold(v.storage.get());
  for (const CapturedTensor& c : captured) hold(c.tensor.unsafeGetTensorImpl());
  for (const RecordedLeaf& l : leaves) {
    hold(l.leaf.unsafeGetTensorImpl());
    hold(l.before.unsafeGetTensorImpl());
  }
  for (const Outcome& o : results) hold(o.tensor.unsafeGetTensorImpl());
}

StaticRecorder::StaticRecorder() : record_(std::make_unique<Record>()), owner_(&tls_thread_mark) {}
StaticRecorder::~StaticRecorder() {
  stop();
  for (const RecordedValue& v : record_ ? record_->values : std::vector<RecordedValue>()) {
    if (v.storage && v.storage->watcher.load() == this) v.storage->watcher.store(nullptr);
  }
}

void StaticRecorder::add_argument(const Tensor& given) {
  StandIn& a = arguments_.emplace_back(StandIn{given, given});
  const TensorImpl& from = given.impl();
  record_->offsets.push_back(from.offset * static_cast<int64_t>(from.itemsize()));
  if (from.requires_grad()) refuse_with("an argument requires grad: pass detach(), or let the function know the tensor otherwise");
  if (!from.device_.is_cpu() || from.extension) refuse_with("an argument is no plain tensor on the CPU");
  if (!record_->refusal.empty()) return;
  StorageImpl* memory = from.storage.get();
  IntrusivePtr<StorageImpl> storage;
  for (const StandIn& earlier : arguments_) {
    if (&earlier != &a && earlier.given.is_alias_of(given)) storage = earlier.stands.impl().storage;
  }
  if (!storage) {
    StorageImpl::retain(memory);
    storage = IntrusivePtr<StorageImpl>::adopt(StorageImpl::adopt(
        memory->bytes(), memory->nbytes, memory->device, [](void* context, void*, size_t) { StorageImpl::release(static_cast<StorageImpl*>(context)); }, memory));
    storage->version.store(memory->version.load());
    storage->writes.store(memory->writes.load());
    const int32_t v = number_of(storage, Origin::kArgument);
    record_->values[static_cast<size_t>(v)].argument = static_cast<int>(arguments_.size()) - 1;
  }
  a.stands = Geometry(from).over(storage);
  a.stands.mutable_impl().flags = from.flags;
  a.stands.mutable_impl().untracked = from.untracked;
}

void StaticRecorder::start() {
  record_->host_changes = detail::host_changes.load();
  outer_active_ = tls_modes.active;
  outer_capture_ = tls_modes.capture;
  grad_enabled_ = tls_modes.grad_enabled;
  inference_ = tls_modes.inference;
  default_dtype_ = default_scalar_type();
  tls_modes.active |= kModeCapture;
  tls_modes.capture = static_cast<capture::Recorder*>(this);
  detail::tls_host_watch = this;
  started_ = true;
}

void StaticRecorder::stop() noexcept {
  if (!started_) return;
  started_ = false;
  detail::tls_host_watch = nullptr;
  if (grad_enabled_ != tls_modes.grad_enabled || inference_ != tls_modes.inference || default_dtype_ != default_scalar_type()) {
    refuse_with("the function leaves gradient mode, inference mode or the default dtype changed");
  }
  tls_modes.active = (tls_modes.active & ~static_cast<uint32_t>(kModeCapture)) | (outer_active_ & kModeCapture);
  tls_modes.capture = outer_capture_;
}

void StaticRecorder::refuse_with(std::string why) {
  const std::lock_guard lock(mutex_);
  if (record_->refusal.empty()) record_->refusal = std::move(why);
}
void StaticRecorder::refuse(const char* what) { refuse_with(what); }

int32_t StaticRecorder::number_of(const IntrusivePtr<StorageImpl>& storage, Origin origin) {
  const auto [at, fresh] = numbers_.try_emplace(storage.get(), static_cast<int32_t>(record_->values.size()));
  if (fresh) {
    record_->values.push_back({origin, -1, storage, storage->nbytes, storage->version.load(), storage->writes.load()});
    StorageWatcher* none = nullptr;
    storage->watcher.compare_exchange_strong(none, this);
  }
  return at->second;
}

capture::Answer StaticRecorder::begin(capture::Call& call) {
  if (owner_ != &tls_thread_mark) {
    refuse_with(str("operators run on other threads: ", call.target.name));
    return capture::Answer::kRun;
  }
  for (const TensorImpl* t : call.tensors) {
    const StorageWatcher* other = t ? t->storage->watcher.load() : nullptr;
    if (other && other != this) t->storage->bytes();  // recorded on another thread
  }
  if (const char* why = obstacle(call)) {
    refuse_with(str(why, ": ", call.target.name));
    return capture::Answer::kRun;
  }
  operands_.clear();
  geometries_.clear();
  before_.clear();
  for (TensorImpl* t : call.tensors) {
    operands_.push_back(t ? number_of(t->storage, Origin::kCaptured) : -1);
    geometries_.push_back(t ? Geometry(*t) : Geometry());
    before_.push_back(t ? counters_of(*t) : Counters{});
    for (TensorImpl* held : {t, t && t->view_base ? t->view_base.get() : nullptr}) {
      if (!held || record_->values[static_cast<size_t>(operands_.back())].origin != Origin::kCaptured || stand_in(held)) continue;
      if (seen_.try_emplace(held, operands_.back()).second) tensors_.emplace_back(IntrusivePtr<TensorImpl>::share(held));
    }
  }
  check_history(call);
  generator_before_ = generator_state();
  kernel_runs_ = true;
  return capture::Answer::kRecord;
}

/// A view that is an argument has its base outside of the call, which would get a history too.
void StaticRecorder::check_history(const capture::Call& call) const {
  const auto has_history = [](const TensorImpl* t) { return t && t->requires_grad(); };
  if (!tls_modes.grad_enabled || tls_modes.inference || std::none_of(call.tensors.begin(), call.tensors.end(), has_history)) return;
  for (const uint32_t w : call.written) {
    for (const StandIn& a : arguments_) {
      if (!call.tensors[w] || !a.given.is_view() || a.stands.impl().storage != call.tensors[w]->storage) continue;
      throw CompileError(TAEDA_HERE, str("[compile] a static function gives no history to an argument that is a view: got ", call.target.name,
                                         " in place with a tensor that requires grad; write into detach(), call inside NoGradGuard, or use mode = "
                                         "CompileMode::kDynamic"));
    }
  }
}

void StaticRecorder::record(capture::Call& call) {
  kernel_runs_ = false;
  std::vector<Operand> operands;
  for (size_t i = 0; i < operands_.size(); ++i) operands.push_back({operands_[i], geometries_[i]});
  std::unique_ptr<Step> step = make_step(call, std::move(operands), record_->values.size(), generator_before_);
  for (uint32_t i = 0; i < call.tensors.size(); ++i) {
    if (const std::optional<Write> w = write_of(call, i, before_[i])) step->writes.push_back(*w);
  }
  if (!note_results(*step, call)) refuse_with(str(call.target.name, " returns or reshapes one of its arguments"));
  record_->steps.push_back(std::move(step));
  if (due_.after(*record_->steps.back())) forget_dead();
}

/// False when a result shares memory with an argument, or an argument changed its geometry.
bool StaticRecorder::note_results(Step& step, const capture::Call& call) {
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    if (call.tensors[i] && !geometries_[i].matches(*call.tensors[i])) return false;
  }
  for (const Tensor& r : call.results) {
    if (!r.defined()) continue;
    const StorageImpl& s = *r.impl().storage;
    if (numbers_.contains(&s) || s.deleter != nullptr || !s.resizable) return false;
  }
  const size_t first = record_->values.size();
  step.first_result_value = static_cast<int32_t>(first);
  for (const Tensor& r : call.results) {
    Operand& result = step.results.emplace_back();
    if (!r.defined()) continue;
    result.geometry = Geometry(r.impl());
    result.value = number_of(r.impl().storage, Origin::kMade);
    if (record_->values.size() - first > step.result_storages.size()) {
      step.result_storages.push_back({r.impl().storage->nbytes, r.impl().storage->version.load()});
    }
  }
  return true;
}

/// Results that nobody holds any more are freed.
void StaticRecorder::forget_dead() {
  for (RecordedValue& v : record_->values) {
    if (v.origin != Origin::kMade || !v.storage || v.storage->watcher.load() != this || v.storage->owners() > 0) continue;
    numbers_.erase(v.storage.get());
    v.storage->watcher.store(nullptr);
    v.storage.reset();
  }
}

void StaticRecorder::drop(capture::Call& call) noexcept {
  kernel_runs_ = false;
  refuse_with(str("an operator throws inside of the function: ", call.target.name));
}

void StaticRecorder::finish() {
  if (kernel_runs_) return;
  refuse_with("memory is written through a pointer or an out= form, or a generator is seeded or looked at:\n" + detail::call_site_text(detail::call_site_here()));
}
void StaticRecorder::touch(StorageImpl&) {
  if (kernel_runs_ || !started_ || owner_ != &tls_thread_mark) return;
  refuse_with("a value is looked at or set outside of the operators:\n" + detail::call_site_text(detail::call_site_here()));
}
void StaticRecorder::read(TensorImpl&) {
  if (kernel_runs_) return;
  refuse_with("a value is looked at or set outside of the operators:\n" + detail::call_site_text(detail::call_site_here()));
}

void StaticRecorder::gradient(TensorImpl& leaf) {
  for (const RecordedLeaf& known : record_->leaves) {
    if (known.leaf.unsafeGetTensorImpl() == &leaf) return;
  }
  RecordedLeaf& l = record_->leaves.emplace_back();
  l.leaf = Tensor(IntrusivePtr<TensorImpl>::share(&leaf));
  l.before = gradient_of(leaf);
  l.defined_before = l.before.defined();
  if (!l.defined_before) return;
  const TensorImpl& g = l.before.impl();
  // What others hold could be known to the function by another name, and has to stay the same tensor.
  if (l.before.use_count() > 2 || g.storage->use_count() > 1 || g.requires_grad() || g.extension || !g.device_.is_cpu() || numbers_.contains(g.storage.get())) return;
  l.value = number_of(g.storage, Origin::kGradient);
  l.geometry = Geometry(g);
  l.flags = g.flags;
  record_->values[static_cast<size_t>(l.value)].argument = static_cast<int>(record_->leaves.size()) - 1;
}

void StaticRecorder::reads(const detail::HostBytes& b) {
  for (const ReadBytes& known : record_->reads) {
    if (known.place == b.place && known.bytes.size() == b.size) return;
  }
  const auto* place = static_cast<const char*>(b.place);
  const bool known = std::any_of(record_->reads.begin(), record_->reads.end(), [&](const ReadBytes& r) { return r.owner == b.owner; });
  record_->reads.push_back({b.owner, place, std::string(place, b.size), known ? nullptr : b.handles});
}
void StaticRecorder::ends(const void* owner) {
  std::erase_if(record_->reads, [&](const ReadBytes& r) { return r.owner == owner; });
}

void StaticRecorder::backward(TensorImpl& root, bool keeps_graph) {
  if (!keeps_graph) used_up_.emplace_back(IntrusivePtr<TensorImpl>::share(&root));
}

const StandIn* StaticRecorder::stand_in(const TensorImpl* t) const {
  const auto at = std::find_if(arguments_.begin(), arguments_.end(), [&](const StandIn& a) { return a.stands.unsafeGetTensorImpl() == t; });
  return at == arguments_.end() ? nullptr : &*at;
}

const Step* StaticRecorder::maker_of(int32_t value) const {
  for (const auto& step : record_->steps) {
    if (step->first_result_value <= value && value < step->first_result_value + static_cast<int32_t>(step->result_storages.size())) return step.get();
  }
  return nullptr;
}

bool StaticRecorder::is_used_up(const Tensor& t) const {
  return std::any_of(used_up_.begin(), used_up_.end(), [&](const Tensor& root) { return root.is_same(t); });
}

Outcome StaticRecorder::outcome_of(const Tensor& t, bool result) {
  Outcome o;
  if (!t.defined()) return o;
  const TensorImpl& impl = t.impl();
  o.flags = impl.flags;
  o.view = impl.view_kind;
  if (const StandIn* a = stand_in(&impl)) {
    o.kind = Outcome::Kind::kArgument;
    o.number = static_cast<int32_t>(a - arguments_.data());
    o.whole = true;
    return o;
  }
  o.geometry = Geometry(impl);
  const auto at = numbers_.find(impl.storage.get());
  const RecordedValue* value = at == numbers_.end() ? nullptr : &record_->values[static_cast<size_t>(at->second)];
  if (!value || value->origin == Origin::kCaptured) {
    o.kind = Outcome::Kind::kCaptured;
    o.tensor = t;
    return o;
  }
  o.kind = value->origin == Origin::kMade ? Outcome::Kind::kMade : Outcome::Kind::kArgument;
  o.number = at->second;
  if (!impl.requires_grad()) return o;
  o.had_graph = is_used_up(t);
  if (!o.had_graph || !result) {
    refuse_with(result ? "a result requires grad, and no backward() began at it: return detach(), or call inside NoGradGuard"
                       : "gradients have a history of their own (create_graph)");
  }
  return o;
}

void StaticRecorder::end_leaves() {
  std::erase_if(record_->leaves, [](const RecordedLeaf& l) { return l.value < 0 && l.leaf.use_count() == 1; });  // made and forgotten in the call
  for (size_t i = 0; i < record_->leaves.size(); ++i) {
    const int32_t v = record_->leaves[i].value;
    if (v >= 0) record_->values[static_cast<size_t>(v)].argument = static_cast<int>(i);
  }
  for (RecordedLeaf& l : record_->leaves) {
    const TensorImpl& leaf = l.leaf.impl();
    if (detail::has_gradient_hooks(leaf)) refuse_with("a gradient has hooks");
    const Tensor now = gradient_of(leaf);
    const auto at = numbers_.find(leaf.storage.get());
    if (at != numbers_.end() && seen_.try_emplace(&leaf, at->second).second) tensors_.push_back(l.leaf);
    if (now.defined() && l.before.defined() && now.is_alias_of(l.before) && same(Geometry(now.impl()), Geometry(l.before.impl())) && !now.requires_grad()) {
      l.after.kind = Outcome::Kind::kKept;
      l.before = l.value < 0 ? now : Tensor();
      continue;
    }
    l.before.reset();
    l.after = outcome_of(now, false);
    if (l.after.kind == Outcome::Kind::kArgument || l.after.kind == Outcome::Kind::kCaptured) refuse_with("a gradient becomes a tensor of the program");
  }
}

/// Every handle to what the call made must be known: what a variable of the program keeps, a replay would not set.
void StaticRecorder::check_kept(const std::vector<Tensor*>& results) {
  std::unordered_map<const TensorImpl*, size_t> handles;
  const auto hold = [&](const Tensor& t) {
    for (const TensorImpl* held = t.unsafeGetTensorImpl(); held; held = held->view_base.get()) {
      if (++handles[held] > 1) break;
    }
  };
  for (const Tensor* t : results) hold(*t);
  for (const RecordedLeaf& l : record_->leaves) hold(gradient_of(l.leaf.impl()));
  std::unordered_map<const StorageImpl*, size_t> owners;
  for (const auto& [impl, count] : handles) ++owners[impl->storage.get()];
  for (size_t v = 0; v < record_->values.size(); ++v) {
    const RecordedValue& value = record_->values[v];
    if (!value.storage || value.origin == Origin::kCaptured) continue;
    const bool gradient = value.origin == Origin::kGradient;
    const bool argument = value.origin == Origin::kArgument;
    size_t expected = owners[value.storage.get()], extra = 0;
    for (const StandIn& a : arguments_) expected += argument && a.stands.impl().storage == value.storage && !handles.contains(a.stands.unsafeGetTensorImpl());
    const size_t found = value.storage->use_count() - 1;
    for (const auto& [impl, count] : handles) {
      if (impl->storage != value.storage) continue;
      const size_t known = count + (stand_in(impl) ? 2 : 0);  // the recorder and the argument object hold a stand-in
      extra += impl->use_count() > known;
    }
    for (const StandIn& a : arguments_) extra += argument && a.stands.impl().storage == value.storage && !handles.contains(a.stands.unsafeGetTensorImpl()) && a.stands.use_count() > 2;
    if (found <= expected && extra == 0) continue;
    const Step* maker = maker_of(static_cast<int32_t>(v));
    refuse_with(argument   ? std::string("the program keeps an argument")
                : gradient ? std::string("the program keeps a gradient that was there before the call")
                         : str("the program keeps a tensor that ", maker ? maker->target.name : "an operator", " made: in a variable, a list or a graph"));
  }
}

void StaticRecorder::end_captured() {
  for (Tensor& t : tensors_) {
    if (t.use_count() == 1) continue;  // a view that was made on the way
    const int32_t v = seen_.at(t.unsafeGetTensorImpl());
    if (t.impl().storage != record_->values[static_cast<size_t>(v)].storage) {
      refuse_with("a tensor of the program gets other memory");
      continue;
    }
    if (t.impl().autograd && t.impl().autograd->grad_fn) refuse_with("a tensor of the program has a history: detach() it");
    record_->captured.push_back({t, v, Geometry(t.impl()), t.impl().flags, 0});
  }
  tensors_.clear();
}

/// What the function did to a stand-in besides its elements happens to the argument.
void StaticRecorder::end_arguments() {
  for (const StandIn& a : arguments_) {
    if (a.stands.is_same(a.given)) continue;
    TensorImpl &from = a.stands.mutable_impl(), &to = a.given.mutable_impl();
    if (!same(Geometry(from), Geometry(to))) {
      refuse_with("an argument gets another shape");
      to.offset = from.offset;
      to.set_sizes_strides(from.sizes(), from.strides());
    }
    if (from.requires_grad()) {
      refuse_with("an argument gets a history: write into detach(), or call inside NoGradGuard");
      std::swap(from.autograd, to.autograd);
      to.flags |= kFlagRequiresGrad;
    }
  }
}

std::unique_ptr<Record> StaticRecorder::end(const std::vector<Tensor*>& results) {
  std::erase_if(used_up_, [&](const Tensor& root) { return std::none_of(results.begin(), results.end(), [&](const Tensor* t) { return t->is_same(root); }); });
  for (const Tensor* t : results) {  // as after a replay; the freed graph lets go of leaves that the call has made
    if (!record_->refusal.empty() || !t->requires_grad() || !is_used_up(*t)) continue;
    autograd::meta_of(t->mutable_impl()).grad_fn = used_up_history(*t);
  }
  end_leaves();
  for (size_t i = 0; i < results.size(); ++i) {
    Outcome o = outcome_of(*results[i], true);
    if (o.kind == Outcome::Kind::kArgument && !o.whole && record_->values[static_cast<size_t>(o.number)].origin == Origin::kGradient) {
      o.kind = Outcome::Kind::kGradient;
      o.number = record_->values[static_cast<size_t>(o.number)].argument;
      const Tensor now = gradient_of(record_->leaves[static_cast<size_t>(o.number)].leaf.impl());
      if (!now.is_same(*results[i])) refuse_with("a result shares memory with a gradient that was there before the call");
    }
    for (size_t k = 0; k < i && o.same_as < 0 && o.kind == Outcome::Kind::kMade; ++k) {
      if (results[k]->is_same(*results[i])) o.same_as = static_cast<int>(k);
    }
    for (size_t l = 0; l < record_->leaves.size() && o.kind == Outcome::Kind::kMade; ++l) {
      if (gradient_of(record_->leaves[l].leaf.impl()).is_same(*results[i])) o.gradient = static_cast<int>(l);
    }
    record_->results.push_back(std::move(o));
  }
  used_up_.clear();
  const bool same_owners = record_->host_changes == detail::host_changes.load();  // else another thread may have ended some
  if (same_owners && !std::all_of(record_->reads.begin(), record_->reads.end(), [](const ReadBytes& r) { return r.stay(); })) {
    refuse_with("the function sets options or the mode of a module");
  }
  check_kept(results);
  end_arguments();
  end_captured();
  for (Tensor* t : results) {
    if (!t->defined()) continue;
    if (const StandIn* a = stand_in(t->unsafeGetTensorImpl())) {
      *t = a->given;
      continue;
    }
    for (const StandIn& a : arguments_) {
      TensorImpl& impl = t->mutable_impl();
      if (impl.view_base.get() == a.stands.unsafeGetTensorImpl()) impl.view_base = a.given.getIntrusivePtr();
      if (impl.storage == a.stands.impl().storage) impl.storage = a.given.impl().storage;
    }
  }
  for (RecordedValue& v : record_->values) {
    if (!v.storage) continue;
    if (v.storage->watcher.load() == this) v.storage->watcher.store(nullptr);
    const bool made = v.origin == Origin::kMade;
    v.version = v.storage->version.load() - (made ? 0 : v.version);
    v.writes = made ? 0 : v.storage->writes.load() - v.writes;
    if (v.origin == Origin::kArgument) {
      StorageImpl& given = *arguments_[static_cast<size_t>(v.argument)].given.impl().storage;
      given.version.fetch_add(v.version);
      given.writes.fetch_add(v.writes);
    }
    if (v.origin != Origin::kCaptured) v.storage.reset();
  }
  if (record_->host_changes != detail::host_changes.load() && record_->refusal.empty()) record_->host_changes = ~uint64_t{0};  // by another thread meanwhile
  return std::move(record_);
}

}  // namespace taeda::lazy
