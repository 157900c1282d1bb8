// SPDX-License-Identifier: Apache-2.0
#include "taeda/compile/row_steps.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace taeda::lazy {

namespace {

constexpr std::string_view kNames[] = {"sum",          "mean",          "amax",
                                       "amin",         "max",           "min",
                                       "_softmax",     "_log_softmax",  "_softmax_backward_data",
                                       "_log_softmax_backward_data",    "native_layer_norm"};

/// The step's arguments, read back from its tensors and words; nothing when some type has another form.
std::optional<std::vector<Value>> arguments_of(const Step& step) {
  const auto nothing = IntrusivePtr<StorageImpl>::adopt(StorageImpl::announce(0, Device()));
  std::vector<Value> values;
  size_t tensor = 0, word = 0;
  const auto next = [&] { return static_cast<int64_t>(step.words[word++]); };
  for (const SchemaArg& arg : parse_schema_args(step.target.info->schema)) {
    std::string_view type = arg.type;
    const bool is_tensor = type == "Tensor" || type == "Tensor?";
    const bool given = !type.ends_with('?') || next() != 0;
    if (type.ends_with('?')) type.remove_suffix(1);
    if (is_tensor) {
      const Operand& o = step.operands[tensor++];
      values.push_back(given && o.value >= 0 ? Value(o.geometry.over(nothing)) : Value());
    } else if (!given) {
      values.emplace_back();
    } else if (type == "bool") {
      values.emplace_back(next() != 0);
    } else if (type == "float") {
      values.emplace_back(std::bit_cast<double>(next()));
    } else if (type == "int" || type == "ScalarType") {
      values.emplace_back(next());
    } else if (type.starts_with("int[")) {
      Value::List list;
      for (int64_t n = next(); n > 0; --n) list.emplace_back(next());
      values.emplace_back(std::move(list));
    } else {
      return std::nullopt;
    }
  }
  if (word != step.words.size() || tensor != step.operands.size()) return std::nullopt;
  return values;
}

}  // namespace

std::optional<RowStep> row_step(const Step& step) {
  if (!step.target.info || std::find(std::begin(kNames), std::end(kNames), step.target.info->name) == std::end(kNames)) return std::nullopt;
  if (step.random || !step.writes.empty() || step.operands.empty() || step.operands[0].value < 0) return std::nullopt;
  auto arguments = arguments_of(step);
  if (!arguments) return std::nullopt;
  kernel::Kernel probe("row");
  std::vector<kernel::Id> inputs;
  for (const Operand& o : step.operands) inputs.push_back(o.value < 0 ? -1 : probe.input(o.geometry.dtype));
  const auto nodes = kernel::add_row_operator(probe, *step.target.info, arguments->data(), inputs);
  if (!nodes || nodes->results.size() != step.results.size()) return std::nullopt;
  RowStep row{std::move(*arguments), nodes->row_dims, {}, false};
  for (size_t k = 0; k < nodes->results.size(); ++k) {
    const kernel::Node& node = probe.nodes()[static_cast<size_t>(nodes->results[k])];
    if (step.results[k].value < 0 || node.dtype != step.results[k].geometry.dtype) return std::nullopt;
    row.uniform_results.push_back(node.uniform);
    row.is_sum = node.kind == kernel::NodeKind::kReduce && static_cast<ReduceKind>(node.number) == ReduceKind::kSum;
  }
  return row;
}

}  // namespace taeda::lazy
