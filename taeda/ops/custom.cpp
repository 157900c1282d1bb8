// SPDX-License-Identifier: Apache-2.0
// Operators registered at run time: their table and the choice between their implementations.
#include "taeda/ops/custom.h"

#include <map>
#include <memory>
#include <mutex>

#include "taeda/core/node.h"

namespace taeda {
namespace detail {

/// One registered operator. Never destroyed: its OpInfo may be held anywhere.
struct CustomOp {
  std::string name, overload, schema, doc;
  OpInfo info{};
  size_t arity = 0;
  bool defined = false;
  // Set under the lock, read without it: implementations are only ever added.
  std::atomic<const BoxedFunction*> compute{nullptr};
  std::atomic<const BoxedFunction*> autograd{nullptr};
  size_t implementation_arity[2] = {0, 0};
};

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<CustomOp>> by_name;  // "ns::name.overload"
  std::vector<const OpInfo*> listed;                         // in order of definition
};
/// Never destroyed: threads may still call operators at exit.
Table& table() {
  static auto* t = new Table;
  return *t;
}

CustomOp& entry(Table& t, const std::string& name) {
  std::unique_ptr<CustomOp>& op = t.by_name[name];
  if (!op) op = std::make_unique<CustomOp>();
  return *op;
}

bool wants_grad(const Value& v) {
  if (v.is_tensor()) return v.tensor().defined() && v.tensor().requires_grad();
  if (!v.is_list()) return false;
  for (const Value& item : v.list()) {
    if (wants_grad(item)) return true;
  }
  return false;
}

void check_arity(const CustomOp& op, size_t arity) {
  TAEDA_CHECK_TYPE(arity == op.arity, "[register_op] the function must take as many arguments as the schema has: got ", arity,
                   " for ", op.schema, "; correct one of them");
}

}  // namespace

std::string schema_name(std::string_view schema) { return std::string(schema.substr(0, schema.find('('))); }

const OpInfo& define_op(std::string schema, std::string doc) {
  const std::string full = schema_name(schema);
  const std::vector<SchemaArg> args = parse_schema_args(schema);  // throws when malformed
  Table& t = table();
  const std::lock_guard<std::mutex> lock(t.mutex);
  CustomOp& op = entry(t, full);
  TAEDA_CHECK(!op.defined, "[register_op] an operator can be declared only once: got ", full, " again; choose another name");
  op.schema = std::move(schema);
  op.doc = std::move(doc);
  op.arity = args.size();
  const size_t dot = full.find('.', full.rfind(':') == std::string::npos ? 0 : full.rfind(':'));
  op.name = full.substr(0, dot);
  op.overload = dot == std::string::npos ? "" : full.substr(dot + 1);
  for (const size_t given : op.implementation_arity) {
    if (given) check_arity(op, given - 1);
  }
  op.info.name = op.name.c_str();
  op.info.overload = op.overload.c_str();
  op.info.schema = op.schema.c_str();
  op.info.kind = OpKind::kComposite;
  op.info.gradient = "composite";
  op.info.doc = op.doc.c_str();
  op.info.autocast = "";
  op.info.family = "custom";
  op.info.custom = &op;
  op.defined = true;
  t.listed.push_back(&op.info);
  return op.info;
}

void implement_op(const std::string& name, DispatchKey key, BoxedFunction function, size_t arity) {
  if (key == DispatchKey::CUDA || key == DispatchKey::Meta || key == DispatchKey::AutogradCUDA) return;
  const bool autograd = key == DispatchKey::Autograd || key == DispatchKey::AutogradCPU;
  Table& t = table();
  const std::lock_guard<std::mutex> lock(t.mutex);
  CustomOp& op = entry(t, name);
  if (op.defined) check_arity(op, arity);
  op.implementation_arity[autograd] = arity + 1;
  // An older implementation may be running: it is kept.
  (autograd ? op.autograd : op.compute).store(new BoxedFunction(std::move(function)), std::memory_order_release);
}

Value call_custom(const CustomOp& op, const Value* args) {
  const BoxedFunction* autograd = op.autograd.load(std::memory_order_acquire);
  const BoxedFunction* compute = op.compute.load(std::memory_order_acquire);
  bool wanted = false;
  if (autograd && autograd::recording()) {
    for (size_t i = 0; i < op.arity && !wanted; ++i) wanted = wants_grad(args[i]);
  }
  const BoxedFunction* chosen = autograd && (wanted || !compute) ? autograd : compute;
  TAEDA_CHECK_NOT_IMPLEMENTED(chosen != nullptr, "[", op.name, "] the operator is declared but has no implementation: got ", op.schema,
                              "; register a function for it");
  return (*chosen)(args);
}

std::vector<const OpInfo*> custom_ops() {
  Table& t = table();
  const std::lock_guard<std::mutex> lock(t.mutex);
  return t.listed;
}

}  // namespace detail
}  // namespace taeda
