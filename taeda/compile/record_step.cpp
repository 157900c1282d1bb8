// SPDX-License-Identifier: Apache-2.0
#include "taeda/compile/record_step.h"

#include <algorithm>
#include <string_view>

#include "taeda/core/generator.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

TensorImpl& counted(TensorImpl& t) { return t.view_base && t.view_base->untracked ? *t.view_base : t; }

Counters counters_of(const TensorImpl& t) {
  return {t.storage->version.load(), t.storage->writes.load(), counted(const_cast<TensorImpl&>(t)).own_version.load()};
}

std::vector<uint8_t> generator_state() {
  const BelowDoorGuard below;
  return default_generator_state();
}

std::unique_ptr<Step> make_step(const capture::Call& call, std::vector<Operand> operands, size_t values_before, const std::vector<uint8_t>& generator_before) {
  auto step = std::make_unique<Step>();
  step->target = call.target;
  step->default_dtype = default_scalar_type();
  step->words.assign(call.words.begin(), call.words.end());
  step->number_count = call.numbers.size();
  step->numbers.assign(call.numbers.begin(), call.numbers.end());
  step->operands = std::move(operands);
  step->values_before = static_cast<int32_t>(values_before);
  step->source = call.source;
  step->generators.assign(call.generators.begin(), call.generators.end());
  step->random = std::string_view(call.target.info ? call.target.info->schema : "").find("Generator?") != std::string_view::npos ||
                 generator_state() != generator_before;
  return step;
}

std::optional<Write> write_of(const capture::Call& call, uint32_t i, const Counters& before) {
  if (!call.tensors[i]) return std::nullopt;
  const Counters now = counters_of(*call.tensors[i]);
  const Write w{i, now.version - before.version, now.writes - before.writes, now.own_version - before.own_version};
  const bool said = std::find(call.written.begin(), call.written.end(), i) != call.written.end();
  if (!said && w.versions == 0 && w.writes == 0) return std::nullopt;
  return w;
}

}  // namespace taeda::lazy
