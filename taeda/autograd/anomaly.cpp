// SPDX-License-Identifier: Apache-2.0
// Anomaly mode: checks of results and gradients, and the report of the first bad one.
#include "taeda/autograd/anomaly.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/extras.h"
#include "taeda/core/call_site.h"
#include "taeda/ops/door.h"
#include "taeda/ops/finite.h"

namespace taeda::autograd {

void set_detect_anomaly(AnomalyLevel level) {
  tls_modes.anomaly_level = static_cast<uint8_t>(level);
  if (level == AnomalyLevel::kOff) {
    tls_modes.active &= ~static_cast<uint32_t>(kModeAnomaly);
  } else {
    tls_modes.active |= kModeAnomaly;
  }
}

void set_detect_anomaly(std::string_view level) {
  if (level == "off") return set_detect_anomaly(AnomalyLevel::kOff);
  if (level == "cheap") return set_detect_anomaly(AnomalyLevel::kCheap);
  TAEDA_CHECK_VALUE(level == "full", "[set_detect_anomaly] the level must be off, cheap or full: got '", level,
                    "'; pass one of them");
  set_detect_anomaly(AnomalyLevel::kFull);
}

namespace anomaly {

namespace {

/// What the elements of a tensor are like.
struct Range {
  double low = INFINITY, high = -INFINITY;
  int64_t nans = 0, infinities = 0;
  int64_t first_bad = -1;
  double first_value = 0;

  explicit Range(const Tensor& t) {
    const ModesGuard modes;
    tls_modes.active = 0;
    tls_modes.mask &= ~kGradMask;
    const Tensor flat = t.to(kDouble).contiguous();
    const auto* data = static_cast<const double*>(flat.const_data_ptr());
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const double v = data[i];
      if (std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
        continue;
      }
      (std::isnan(v) ? nans : infinities)++;
      if (first_bad < 0 || (std::isnan(v) && nans == 1)) {  // the first NaN counts before any infinity
        first_bad = i;
        first_value = v;
      }
    }
  }
  std::string text() const {
    std::string s = low <= high ? str("in [", low, ", ", high, "]") : std::string("without finite elements");
    if (nans) s += str(", ", nans, " NaN");
    if (infinities) s += str(", ", infinities, " infinite");
    return s;
  }
};

std::string element_name(const Tensor& t, int64_t i) {
  DimVector index(static_cast<size_t>(t.dim()));
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = i % t.sizes()[d];
    i /= t.sizes()[d];
  }
  std::string text = "(";
  for (size_t d = 0; d < index.size(); ++d) text += (d ? ", " : "") + std::to_string(index[d]);
  return text + ")";
}

/// Counts over all tensors and numbers of a call, and a text about each.
struct Inputs {
  int64_t nans = 0, infinities = 0;
  std::string text;

  void add(const std::string& name, const Value& value) {
    if (value.is_list()) {
      size_t i = 0;
      for (const Value& item : value.list()) add(str(name, '[', i++, ']'), item);
    } else if (value.is_double()) {
      const double v = value.to_double();
      nans += std::isnan(v);
      infinities += std::isinf(v);
      text += str("; ", name, " = ", v);
    } else if (value.is_tensor() && value.tensor().defined() && is_floating_type(value.tensor().scalar_type())) {
      const Range range(value.tensor());
      nans += range.nans;
      infinities += range.infinities;
      text += str("; ", name, ": ", describe(value.tensor()), ' ', range.text());
    }
  }
};

[[noreturn]] void report(const std::string& op, const std::string& what, const Tensor& result, const Range& range,
                         const Inputs& inputs, const std::string& site) {
  const char* blame = inputs.nans ? ", an input of which was NaN already" : "";
  TAEDA_CHECK(false, "[", op, "] ", what, " must be finite in anomaly mode: got ", range.first_value, " at element ",
              element_name(result, range.first_bad), " of ", describe(result), ", ", range.text(), blame, inputs.text, site,
              "; look at the ranges above for what overflows, is divided by zero or lies outside the domain");
  __builtin_unreachable();
}

std::string site_text(const Node* node) {
  const std::string site = node ? call_site(*node) : std::string();
  return site.empty() ? site : "; the operator was called at\n" + site;
}

}  // namespace

void keep_call_site(Node& node) { extras_of(node).call_site = taeda::detail::call_site_here(); }

std::string call_site(const Node& node) {
  return node.extras == nullptr ? std::string() : taeda::detail::call_site_text(node.extras->call_site);
}

void run_node(Node& node, std::span<Tensor> in, std::span<Tensor> out) {
  if (node.is_accumulator()) return node.backward(in, out);  // its gradient was checked where it was made
  // Handles on what came in, for the report. Nodes with many outputs are reported without.
  constexpr size_t kReported = 4;
  Tensor given[kReported];
  for (size_t i = 0; i < std::min(in.size(), kReported); ++i) given[i] = in[i];
  taeda::detail::tls_finite_blocks.clear();
  try {
    node.backward(in, out);
  } catch (Error& e) {
    e.add_context("in the backward of " + node.name() + site_text(&node));
    throw;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const Tensor& g = out[i];
    if (!g.defined() || taeda::detail::tls_finite_blocks.has(g.impl().data()) || taeda::detail::all_finite(g)) continue;
    Inputs inputs;
    for (size_t k = 0; k < kReported; ++k) {
      if (given[k].defined()) inputs.add(str("incoming gradient ", k), Value(given[k]));
    }
    const Range range(g);
    if (range.nans == 0 && inputs.infinities > 0) continue;  // passed on, not made here
    report(node.name(), str("gradient ", i, " of the backward"), g, range, inputs, site_text(&node));
  }
}

}  // namespace anomaly
}  // namespace taeda::autograd

namespace taeda::detail {

void report_unless_passed_on(const OpInfo& op, const Tensor& result, const std::vector<Value>& args) {
  namespace anomaly = autograd::anomaly;
  anomaly::Inputs inputs;
  const std::vector<SchemaArg> names = parse_schema_args(op.schema);
  for (size_t i = 0; i < args.size(); ++i) inputs.add(i < names.size() ? names[i].name : str("argument ", i), args[i]);
  const anomaly::Range range(result);
  if (range.nans == 0 && inputs.infinities > 0) return;  // an infinity was asked for, or passed on
  const Tensor& made = result;
  const IntrusivePtr<autograd::Node> node = made.grad_fn();
  anomaly::report(op.name, "the result", result, range, inputs, anomaly::site_text(node.get()));
}

}  // namespace taeda::detail
