// SPDX-License-Identifier: Apache-2.0
// Vector code of programs, as LLVM's intermediate form.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "taeda/compile/kernel/jit_abi.h"

namespace taeda::jit {

/// Adds one function to a module.
class CodeGenerator {
 public:
  CodeGenerator(llvm::Module& module, cpu::SimdTarget target);
  void generate(const kernel::ExprProgram& program, const std::string& name);

 private:
  using Value = llvm::Value;
  llvm::Type* vector(llvm::Type* element) const;
  llvm::Type* type_of(kernel::ExprType type);
  Value* splat(Value* scalar);
  Value* ints(llvm::Type* like, int64_t value);
  Value* number(kernel::ExprType type, int64_t bits);
  Value* param(const kernel::Expr& e);
  Value* load(const kernel::Expr& e);
  void store(Value* value, ScalarType dtype, Value* to);
  Value* emit(const kernel::Expr& e);
  Value* arithmetic(const kernel::Expr& e, Value* a, Value* b);
  Value* compare(const kernel::Expr& e);
  Value* divide_ints(Value* a, Value* b);
  Value* intrinsic(unsigned id, Value* a, Value* b = nullptr);
  Value* lanes(const kernel::Expr& e, Value* a, Value* b);
  Value* lanes_where(const kernel::Expr& e);
  template <class Make>
  Value* where(Value* mask, const Make& make, Value* otherwise);
  void emit_block(const kernel::ExprProgram& program, size_t block);
  llvm::Function* lane_loop(llvm::Type* element, bool two);
  Value* wrap(Value* v, ScalarType dtype);
  Value* float_to_int(Value* v);
  Value* round(Value* v, ScalarType dtype);
  Value* at(int32_t id) { return values_[static_cast<size_t>(id)]; }

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  cpu::SimdTarget target_;
  unsigned lanes_;
  std::vector<Value*> values_, pointers_;
  std::vector<std::vector<int32_t>> blocks_;  ///< nodes by the branch that computes them; the last: those of every vector
  Value *numbers_ = nullptr, *functions_ = nullptr;
};

}  // namespace taeda::jit
