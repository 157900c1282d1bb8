// SPDX-License-Identifier: Apache-2.0
#include "taeda/compile/kernel/expression.h"

#include <bit>
#include <cstdio>

namespace taeda::kernel {

size_t ExprBuilder::Hash::operator()(const Expr& e) const {
  uint64_t h = static_cast<uint64_t>(e.op) | static_cast<uint64_t>(e.type) << 8 | static_cast<uint64_t>(e.dtype) << 16;
  for (const int64_t part : {int64_t{e.a}, int64_t{e.b}, int64_t{e.c}, e.bits}) {
    h = (h ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

ExprBuilder*& ExprBuilder::current() {
  static thread_local ExprBuilder* builder = nullptr;
  return builder;
}

int32_t ExprBuilder::add(const Expr& e) {
  // x * 1 is x, whatever x is; the formulas of sums have such factors.
  if (e.op == ExprOp::kMul) {
    const int64_t one = e.type == ExprType::kF32   ? std::bit_cast<int32_t>(1.0f)
                        : e.type == ExprType::kF64 ? std::bit_cast<int64_t>(1.0)
                                                   : 1;
    if (at(e.a).op == ExprOp::kConstant && at(e.a).bits == one) return e.b;
    if (at(e.b).op == ExprOp::kConstant && at(e.b).bits == one) return e.a;
  }
  const auto [it, fresh] = known_.emplace(e, static_cast<int32_t>(program_.nodes.size()));
  if (fresh) program_.nodes.push_back(e);
  return it->second;
}

int32_t ExprBuilder::function(LaneFunction f) {
  for (size_t k = 0; k < program_.functions.size(); ++k) {
    if (program_.functions[k] == f) return static_cast<int32_t>(k);
  }
  program_.functions.push_back(f);
  return static_cast<int32_t>(program_.functions.size() - 1);
}

int32_t ExprBuilder::constant(ExprType type, int64_t bits) {
  return add({.op = ExprOp::kConstant, .type = type, .bits = bits});
}

std::string ExprProgram::text() const {
  std::string text;
  char line[160];
  for (const Expr& e : nodes) {
    std::snprintf(line, sizeof line, "%d %d %d %d %d %d %llx\n", static_cast<int>(e.op), static_cast<int>(e.type), static_cast<int>(e.dtype),
                  e.a, e.b, e.c, static_cast<unsigned long long>(e.bits));
    text += line;
  }
  for (const ScalarType s : sources) text += std::string("source ") + to_string(s) + "\n";
  for (const Store& s : stores) text += "store " + std::to_string(s.value) + " " + to_string(s.dtype) + "\n";
  return text;
}

}  // namespace taeda::kernel
