// SPDX-License-Identifier: Apache-2.0
// The table of all operators, made from their definitions, and the call by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/core/value.h"
#include "taeda/ops/pointwise_families.h"

namespace taeda {

namespace detail {
struct CustomOp;
TAEDA_API Value call_custom(const CustomOp& op, const Value* args);
}  // namespace detail

enum class OpKind : uint8_t { kPlain, kComposite, kPointwise, kView, kInplace };

/// One overload of one operator.
struct OpInfo {
  const char* name;      ///< "add"
  const char* overload;  ///< "Scalar", or empty
  const char* schema;    ///< "add.Scalar(Tensor self, Scalar other, *, Scalar alpha=1) -> Tensor"
  Value (*call)(const Value* args);  ///< takes every schema argument in order; null for operators registered at run time
  OpKind kind;
  const char* gradient;  ///< "yes", "composite", or "none: reason"
  const char* doc;
  Onnx onnx;
  const char* autocast;  ///< "", "lower", "fp32" or "promote"
  const char* family;    ///< the source file of the definition
  const detail::CustomOp* custom = nullptr;  ///< set for operators registered at run time
  const char* shape_from = "";  ///< what results' shapes depend on beside the inputs' shapes: "", "values", "masks" (bool indices)

  /// Calls the operator with every schema argument in order.
  Value invoke(const Value* args) const { return custom ? detail::call_custom(*custom, args) : call(args); }
};

/// A parsed schema argument.
struct SchemaArg {
  std::string type;
  std::string name;
  bool kwarg_only = false;
  bool has_default = false;
  Value default_value;
};
/// The arguments of a schema. Throws ValueError when the text is not a schema.
TAEDA_API std::vector<SchemaArg> parse_schema_args(std::string_view schema);

using Kwargs = std::vector<std::pair<std::string, Value>>;

/// All operators, built-in ones first, then those registered at run time.
TAEDA_API std::vector<const OpInfo*> all_ops();
/// The overloads of one name, empty when there is none.
TAEDA_API std::vector<const OpInfo*> find_ops(std::string_view name);
/// Calls the overload of `name` that fits the arguments; numbers are accepted where a tensor is expected when no
/// overload takes a number. Throws NotImplementedError for an unknown name, TypeError when no overload fits.
TAEDA_API Value call_op(std::string_view name, std::vector<Value> args, Kwargs kwargs = {});

namespace detail {
struct OpTable {
  const OpInfo* infos;
  size_t count;
};
std::vector<const OpInfo*> custom_ops();
extern const OpTable op_tables[];
extern const size_t op_table_count;
}  // namespace detail

/// Sees calls before gradients are recorded while kModeIntercept is set (autocast).
struct Interceptor {
  virtual ~Interceptor() = default;
  virtual Value call(const OpInfo& op, std::vector<Value> args) = 0;
};

}  // namespace taeda
