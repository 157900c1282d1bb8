// SPDX-License-Identifier: Apache-2.0
// Traces programs: calls become the expressions of their formulas, conversions those of the copy between dtypes.
#include "taeda/compile/kernel/lower.h"

#include <bit>

namespace taeda::kernel {

namespace {

bool is_int(ScalarType t) { return is_integral_type(t, false); }
ExprType type_of(ScalarType t) {
  return t == kBool ? ExprType::kMask : t == kDouble ? ExprType::kF64 : is_floating_type(t) ? ExprType::kF32 : ExprType::kI64;
}

/// Whether every value of `from` is one of `to`.
bool holds(ScalarType to, ScalarType from) {
  if (to == kLong || to == from) return true;
  return item_size(to) > item_size(from) && (to != kByte);
}

int64_t bits_of(const Scalar& s, ScalarType dtype) {
  if (dtype == kFloat) return std::bit_cast<int32_t>(s.unchecked<float>());
  if (dtype == kDouble) return std::bit_cast<int64_t>(s.unchecked<double>());
  return dtype == kBool ? s.unchecked<bool>() : s.unchecked<int64_t>();
}

class Lowering {
 public:
  Lowering(const Kernel& kernel, const Program& program, const NumberTable& numbers, ExprProgram& to)
      : kernel_(kernel), program_(program), numbers_(numbers), to_(to), builder_(to), id_(kernel.nodes().size(), -1) {}

  void run() {
    ExprBuilder*& current = ExprBuilder::current();
    ExprBuilder* const outer = current;
    current = &builder_;
    for (size_t k = 0; k < program_.sources.size(); ++k) {
      const Id value = program_.sources[k].value;
      const ScalarType dtype = node(value).dtype;
      to_.sources.push_back(dtype);
      at(value) = builder_.add({.op = ExprOp::kLoad, .type = type_of(dtype), .dtype = dtype, .bits = static_cast<int64_t>(k)});
    }
    for (const Id id : program_.order) at(id) = node(id).kind == NodeKind::kCall ? call(id) : convert(id);
    for (const Sink& s : program_.sinks) to_.stores.push_back({value(s.value), node(s.value).dtype});
    current = outer;
  }

 private:
  const Node& node(Id id) const { return kernel_.nodes()[static_cast<size_t>(id)]; }
  int32_t& at(Id id) { return id_[static_cast<size_t>(id)]; }

  int32_t value(Id id) {
    int32_t& known = at(id);
    if (known >= 0) return known;
    const Node& n = node(id);
    const ExprType type = type_of(n.dtype);
    if (n.kind == NodeKind::kConstant) known = builder_.constant(type, bits_of(n.constant, n.dtype));
    else known = builder_.add({.op = ExprOp::kNumber, .type = type, .bits = numbers_.cell(id)});
    return known;
  }

  int32_t call(Id id) {
    const Node& n = node(id);
    std::vector<int32_t> inputs, attributes;
    for (const Id in : n.inputs) inputs.push_back(value(in));
    for (const Id a : n.attributes) attributes.push_back(value(a));
    const FormulaRow& row = formula(n.number);
    const Formula f = n.compute == kFloat ? row.f32 : n.compute == kDouble ? row.f64 : row.i64;
    return f(inputs.data(), attributes.data());
  }

  int32_t unary(ExprOp op, ExprType type, int32_t a, ScalarType dtype = ScalarType::Undefined) {
    return builder_.add({.op = op, .type = type, .dtype = dtype, .a = a});
  }

  int32_t convert(Id id) {
    const ScalarType to = node(id).dtype, from = node(node(id).inputs[0]).dtype;
    const int32_t v = value(node(id).inputs[0]);
    if (to == kBool) return unary(is_int(from) ? ExprOp::kIntToMask : ExprOp::kFloatToMask, ExprType::kMask, v);
    if (is_int(to)) {
      if (from == kBool) return unary(ExprOp::kMaskToInt, ExprType::kI64, v);
      if (is_int(from)) return holds(to, from) ? v : unary(ExprOp::kWrapInt, ExprType::kI64, v, to);
      const int32_t wide = from == kDouble ? v : unary(ExprOp::kWiden, ExprType::kF64, v);
      const int32_t whole = unary(ExprOp::kFloatToInt, ExprType::kI64, wide);
      return to == kLong ? whole : unary(ExprOp::kWrapInt, ExprType::kI64, whole, to);
    }
    const ExprType type = type_of(to);
    int32_t number = v;
    if (from == kBool) number = unary(ExprOp::kMaskToFloat, type, v);
    else if (is_int(from)) number = unary(ExprOp::kIntToFloat, type, v);
    else if (from == kDouble) number = unary(ExprOp::kNarrow, type, v);
    else if (to == kDouble) number = unary(ExprOp::kWiden, type, v);
    return to == kHalf || to == kBFloat16 ? unary(ExprOp::kRoundFloat, type, number, to) : number;
  }

  const Kernel& kernel_;
  const Program& program_;
  const NumberTable& numbers_;
  ExprProgram& to_;
  ExprBuilder builder_;
  std::vector<int32_t> id_;
};

}  // namespace

ExprProgram lower(const Kernel& kernel, const Program& program, const NumberTable& numbers) {
  ExprProgram result;
  Lowering(kernel, program, numbers, result).run();
  return result;
}

}  // namespace taeda::kernel
