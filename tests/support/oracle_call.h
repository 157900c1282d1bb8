// SPDX-License-Identifier: Apache-2.0
// The operator cases of the reference values as calls: arguments, names, lists of cases.
#pragma once

#include <map>

#include "taeda/core/value.h"
#include "taeda/ops/registry.h"
#include "tests/support/oracle.h"

namespace taeda::test {

using Json = nlohmann::json;

/// The tensors of ops.safetensors.
const OracleTensors& stored();
/// A dtype by PyTorch's or by safetensors' name.
ScalarType dtype_of(const std::string& name);
Tensor make(const OracleTensor& t);
/// All elements in row-major order, widened.
std::vector<double> elements(const Tensor& tensor);

/// The arguments of a call, and where its tensors are.
struct Call {
  std::vector<Value> args;
  Kwargs kwargs;
  std::vector<std::pair<Json, Tensor>> tensors;

  Value value(const Json& j, const Json& path);
  Value tensor(const Json& j, const Json& path);
  Tensor at(const Json& path) const;
};

/// Names under which an operator may be defined, the first that exists is taken; empty when there is none.
std::string registry_name(std::string op);
/// Operators that are members of the library but not of the registry.
bool is_special(const std::string& op);
/// Turns forms of a call that only Python's wrappers take into those of the schema.
void adapt_python(const std::string& op, std::vector<Value>& args, Kwargs& kwargs);
/// The members of nested lists, depth first.
void flatten(const Value& v, std::vector<Value>& out);

/// The cases of ops.json by operator.
const std::map<std::string, std::vector<Json>>& operator_cases();
std::vector<std::string> operator_names();

}  // namespace taeda::test
