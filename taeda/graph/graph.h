// SPDX-License-Identifier: Apache-2.0
// A graph of operators over typed values. Every node is pure: an operator that writes an argument gives the argument's new
// value as a result, and what a run changes outside is listed as mutations. Random nodes keep their order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/graph/size.h"
#include "taeda/ops/registry.h"

namespace taeda::graph {

/// The number of a value.
using Id = int32_t;
/// Tensors by name.
using States = std::vector<std::pair<std::string, Tensor>>;

/// A size that runs may differ in: the inputs of a run give it.
struct Symbol {
  std::string name;
  int64_t min = 1, max = 64;  ///< that runs may have
  bool operator==(const Symbol&) const = default;
};

struct Type {
  ScalarType dtype = kFloat;
  std::vector<int64_t> sizes, strides;  ///< -1 where they follow from symbols
  std::vector<Size> symbolic = {};      ///< what those are: of sizes, then of strides
  bool operator==(const Type&) const = default;
};

enum class Origin : uint8_t { kInput, kState, kConstant, kResult };

struct Datum {
  Type type;
  Origin origin = Origin::kResult;
  std::string name;  ///< of inputs and states
  Tensor tensor;     ///< of states (shared with the program) and constants (a copy)
};

/// An argument: a value of the graph, a list, or an attribute.
struct Arg {
  Id value = -1;
  bool is_list = false;
  std::vector<Arg> items;  ///< of a list that holds values
  Value attribute;             ///< none in place of integers that follow from symbols
  std::vector<Size> symbolic = {};  ///< what those are, in order

  static Arg of_value(Id id) {
    Arg arg;
    arg.value = id;
    return arg;
  }
  static Arg of_attribute(Value attribute) {
    Arg arg;
    arg.attribute = std::move(attribute);
    return arg;
  }
};

/// A further result: the tensor argument number `tensor` (from 0, among the tensors) as the operator left it.
struct Update {
  int tensor;
  Id value;
};

struct Node {
  const OpInfo* op = nullptr;
  std::vector<Arg> args;     ///< every argument of the schema, in order
  std::vector<Id> results;   ///< -1 where the operator gave no tensor; none for operators in place
  std::vector<Update> updates;
  bool random = false;       ///< draws from the generator: never removed, merged or moved
  std::string path;          ///< of the module whose state it reads, where known
};

/// After a run, `target` (an input or a state) holds what `value` is.
struct Mutation {
  Id target, value;
};

struct TAEDA_API Graph {
  std::vector<Datum> values;
  std::vector<Node> nodes;  ///< in an order in which they can run
  std::vector<Id> inputs, outputs;
  std::vector<Mutation> mutations;
  std::vector<Symbol> symbols;  ///< each is the whole size of a dimension of an input

  /// One node a line; parse() reads it. Constants of more than 64 elements and states are named only.
  std::string text() const;
  /// What text() only names, for parse(): memory of constants as "%3", states by name.
  States stored() const;
  /// For Graphviz.
  std::string dot() const;
  /// Throws Error where the graph breaks a rule: values are made once and before they are used, arguments fit the schemas.
  void verify() const;
};

/// The graph of a text, values numbered in the text's order. `tensors` are what the text only names; states share them, constants may.
/// Throws ValueError, naming line and column, where the text is wrong, breaks a rule of graphs, or a tensor is missing or does not fit.
TAEDA_API Graph parse(std::string_view text, const States& tensors = {});

/// "add.Tensor"
TAEDA_API std::string name_of(const OpInfo& op);
/// The values a node reads, in order.
TAEDA_API std::vector<Id> operands(const Node& node);

/// Numbers the values anew as text() shows them, and forgets states, constants and results that nothing makes or reads.
TAEDA_API void renumber(Graph& graph);

/// The graph for one size of each symbol in `values`, each in its range; the values keep their numbers.
TAEDA_API Graph specialize(const Graph& graph, const SymbolValues& values);

/// Runs the operators one by one; bitwise what the captured function gives. Inputs must have the captured dtypes and sizes, or sizes in the
/// ranges of symbols. For many runs: Executable.
TAEDA_API std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace taeda::graph
