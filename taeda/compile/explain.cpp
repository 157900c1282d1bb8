// SPDX-License-Identifier: Apache-2.0
// explain(): the recorded steps as text, paths that differ in sizes only as one; the log.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "taeda/compile/fuse.h"
#include "taeda/compile/outer.h"
#include "taeda/compile/log.h"
#include "taeda/compile/state.h"
#include "taeda/core/call_site.h"

namespace taeda::lazy {

bool log_wanted() {
  const char* names = std::getenv("TAEDA_LOG");
  for (std::string_view rest = names ? names : ""; !rest.empty();) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == "compile") return true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

void log_line(const std::string& text) { std::fprintf(stderr, "[taeda compile] %s\n", text.c_str()); }

std::string call_text(const Step& step) {
  std::string text = str(step.target.name, '(');
  const char* between = "";
  for (const Operand& o : step.operands) {
    text += o.value < 0 ? str(between, "undefined") : str(between, o.geometry.dtype, o.geometry.sizes());
    between = ", ";
  }
  for (const Scalar& s : step.numbers) text += str(std::exchange(between, ", "), s);
  return text + ')';
}

std::string difference(const Step& step, const Step& other) {
  if (step.target.name != other.target.name && std::strcmp(step.target.name, other.target.name) != 0) {
    return str("another operator: ", step.target.name, " for ", other.target.name);
  }
  if (step.operands.size() != other.operands.size()) return str(step.target.name, ": another number of tensors");
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Operand &a = step.operands[i], &b = other.operands[i];
    const auto at = [&] { return str(step.target.name, ": tensor ", i); };
    if (a.geometry.dtype != b.geometry.dtype) return str(at(), " is ", a.geometry.dtype, ", not ", b.geometry.dtype);
    if (a.geometry.sizes() != b.geometry.sizes()) return str(at(), " has sizes ", a.geometry.sizes(), ", not ", b.geometry.sizes());
    if (a.geometry.strides() != b.geometry.strides()) return str(at(), " has strides ", a.geometry.strides(), ", not ", b.geometry.strides());
    if (a.geometry.offset != b.geometry.offset) return str(at(), " begins at element ", a.geometry.offset, ", not ", b.geometry.offset);
    if (a.value != b.value) return str(at(), " shares memory with other tensors than before");
  }
  return str(step.target.name, ": another attribute, kind of number, default dtype or sharing of memory");
}

namespace {

/// Steps that are one step at different sizes.
struct Merged {
  std::vector<const Step*> steps;
};

std::vector<Merged> followers(const Merged& group, bool dynamic) {
  std::vector<Merged> classes;
  for (const Step* step : group.steps) {
    for (const Step* c = step->first_child.load(std::memory_order_acquire); c; c = c->sibling.load(std::memory_order_acquire)) {
      auto at = classes.begin();
      while (at != classes.end() && !(dynamic && equal_but_for_sizes(*at->steps.front(), *c))) ++at;
      if (at == classes.end()) at = classes.insert(at, Merged());
      at->steps.push_back(c);
    }
  }
  return classes;
}

/// Names sizes that differ among the steps of a group: a symbol, or a multiple of one and a constant.
class Symbols {
 public:
  std::string name(const std::vector<int64_t>& column) {
    bool constant = true;
    for (const int64_t v : column) constant &= v == column[0];
    if (constant) return str(column[0]);
    for (size_t i = 0; i < known_.size(); ++i) {
      const std::vector<int64_t>& known = known_[i];
      if (known.size() != column.size()) continue;
      size_t other = 1;
      while (known[other] == known[0]) ++other;
      const int64_t run = known[other] - known[0], rise = column[other] - column[0];
      if (rise % run != 0) continue;
      const int64_t factor = rise / run, constant_part = column[0] - factor * known[0];
      bool fits = true;
      for (size_t k = 0; k < column.size(); ++k) fits &= column[k] == factor * known[k] + constant_part;
      if (!fits) continue;
      std::string text = factor == 1 ? str('s', i) : str(factor, "*s", i);
      if (constant_part != 0) text += str(constant_part > 0 ? "+" : "", constant_part);
      return text;
    }
    known_.push_back(column);
    return str('s', known_.size() - 1);
  }
  std::string seen() const {
    std::string text;
    for (size_t i = 0; i < known_.size(); ++i) {
      text += str("  s", i, " was");
      for (size_t k = 0; k < known_[i].size() && k < 12; ++k) text += str(' ', known_[i][k]);
      text += known_[i].size() > 12 ? " and more\n" : "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<int64_t>> known_;
};

class Explainer {
 public:
  explicit Explainer(bool dynamic) : dynamic_(dynamic) {}

  void describe(Merged group, size_t depth) {
    // A path without forks is listed at one depth; each fork indents.
    const std::string indent(2 * depth, ' ');
    while (true) {
      describe_steps(group, indent);
      std::vector<Merged> next = followers(group, dynamic_);
      if (next.empty()) return;
      if (next.size() == 1) {
        group = std::move(next[0]);
        continue;
      }
      for (size_t n = 0; n < next.size(); ++n) {
        text += str(indent, "version ", n + 1, ":\n");
        describe(std::move(next[n]), depth + 1);
      }
      return;
    }
  }

  std::string text;

 private:
  void describe_steps(const Merged& group, const std::string& indent) {
    const Step& s = *group.steps.front();
    if (s.kind == StepKind::kCall) {
      text += str(indent, s.target.name, guards(group), '\n');
    } else if (s.kind != StepKind::kRoot) {
      text += str(indent, "-- segment ends: ", s.note, '\n');
      if (!s.site.empty()) text += taeda::detail::call_site_text(s.site);
      for (const Step* end : group.steps) describe_plans(*end, indent);
    }
  }

  /// dtypes and sizes that a call must have to be this step.
  std::string guards(const Merged& group) {
    if (group.steps.size() > 1 && group.steps.size() != symbols_of_) {
      symbols_ = Symbols();
      symbols_of_ = group.steps.size();
    }
    std::string guard = "(";
    const Step& first = *group.steps.front();
    for (size_t i = 0; i < first.operands.size(); ++i) {
      const Operand& o = first.operands[i];
      if (i) guard += ", ";
      if (o.value < 0) {
        guard += "undefined";
        continue;
      }
      guard += str(o.geometry.dtype, '[');
      for (size_t d = 0; d < o.geometry.ndim; ++d) {
        std::vector<int64_t> column;
        for (const Step* s : group.steps) column.push_back(s->operands[i].geometry.sizes()[d]);
        guard += (d ? ", " : "") + symbols_.name(column);
      }
      guard += ']';
    }
    return guard + ')';
  }

  void describe_plans(const Step& end, const std::string& indent) {
    for (const Plan* p = end.plans.load(std::memory_order_acquire); p; p = p->next) {
      // The steps of the segment, from its end back.
      std::vector<const Step*> steps;
      for (const Step* s = end.parent; s && s != p->start; s = s->parent) steps.insert(steps.begin(), s);
      text += str(indent, "   plan of ", p->units.size(), " kernels for ", steps.size(), " operators, estimated to save ", p->gain, " ns\n");
      for (const Unit& unit : p->units) {
        if (unit.outer) text += str(indent, "     sum of ", unit.outer->terms.size(), " outer products (", unit.elements, " elements)\n");
        if (!unit.fused) continue;
        text += str(indent, "     fused (", unit.fused->kernel->backend() == kernel::Backend::kJit ? "code" : "interpreted", ", ",
                    unit.elements, " elements):");
        for (const size_t i : unit.steps) text += i < steps.size() ? str(' ', steps[i]->target.name) : std::string();
        text += '\n';
      }
    }
  }

  bool dynamic_;
  Symbols symbols_;
  size_t symbols_of_ = 0;

 public:
  std::string sizes() const { return symbols_.seen(); }
};

std::string explain_static(StaticFunction& f) {
  const std::lock_guard turn(f.turn);
  std::string text = str("static calls: ", f.recorded, " recorded, ", f.replayed, " replayed, plans ", f.plans, '\n');
  for (const auto& group : f.groups) {
    text += "arguments (";
    for (size_t i = 0; i < group->kinds.size(); ++i) {
      const ArgumentKind& kind = group->kinds[i];
      text += str(i ? ", " : "", kind.dtype, IntArrayRef(kind.dims.data(), kind.dims.size() / 2));
    }
    text += ")\n";
    for (const auto& plan : group->plans) {
      text += str("  plan of ", plan->kernels(), " kernels for ", plan->record().steps.size(), " operators, replayed ", plan->replays, " times\n");
    }
    if (!group->obstacle.empty()) text += str("  a recorded call: ", group->obstacle, '\n');
    if (!group->refusal.empty()) text += str("  refused: ", group->refusal, '\n');
  }
  return text;
}

}  // namespace

size_t count_versions(Trace& trace) {
  size_t versions = 0;
  std::vector<Merged> waiting{{{&trace.root()}}};
  if (!trace.root().first_child.load()) return 0;
  while (!waiting.empty()) {
    const Merged group = std::move(waiting.back());
    waiting.pop_back();
    std::vector<Merged> next = followers(group, trace.options().dynamic);
    versions += next.empty();
    for (Merged& m : next) waiting.push_back(std::move(m));
  }
  return versions;
}

size_t versions(const State& state) {
  if (state.options.mode == CompileMode::kDynamic) return count_versions(const_cast<Trace&>(state.trace));
  auto& fixed = const_cast<StaticFunction&>(state.fixed);
  const std::lock_guard turn(fixed.turn);
  return fixed.plans;
}

std::string explain(const State& state) {
  if (state.options.mode == CompileMode::kStatic) return explain_static(const_cast<StaticFunction&>(state.fixed));
  auto& trace = const_cast<Trace&>(state.trace);
  std::string text = str("calls ", trace.calls.load(), ", segments run ", trace.segments.load(), ", operators matched ", trace.matched.load(),
                         ", recorded ", trace.recorded.load(), ", steps kept ", trace.step_count(), ", versions retired ",
                         trace.retired.load(), '\n');
  text += str("versions ", count_versions(trace), ", recompiles ", trace.recompiles.load(), '\n');
  for (const std::string& reason : trace.reasons()) text += str("  because ", reason, '\n');
  if (trace.aside.load() > 0) {
    text += str("calls that ran without recording, because their plans cost more than they save: ", trace.aside.load(), '\n');
  }
  Explainer explainer(trace.options().dynamic);
  explainer.describe({{&trace.root()}}, 0);
  if (const std::string sizes = explainer.sizes(); !sizes.empty()) text += "sizes that differ between calls:\n" + sizes;
  return text + explainer.text;
}

}  // namespace taeda::lazy
