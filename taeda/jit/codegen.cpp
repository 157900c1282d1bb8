// SPDX-License-Identifier: Apache-2.0
// One loop over full vectors for each program. No fast-math flag is ever set and nothing is contracted: every operation of the vocabulary is
// one of LLVM with the same rounding.
#include "taeda/jit/codegen.h"

#include <algorithm>

#include <llvm/IR/Intrinsics.h>

namespace taeda::jit {

using kernel::Expr;
using kernel::ExprOp;
using kernel::ExprType;
using llvm::Type;
using Value = llvm::Value;

CodeGenerator::CodeGenerator(llvm::Module& module, cpu::SimdTarget target)
    : module_(module), b_(module.getContext()), target_(target), lanes_(static_cast<unsigned>(kernel::jit_lanes(target))) {}

Type* CodeGenerator::vector(Type* element) const { return llvm::FixedVectorType::get(element, lanes_); }

Type* CodeGenerator::type_of(ExprType type) {
  switch (type) {
    case ExprType::kF32: return vector(b_.getFloatTy());
    case ExprType::kF64: return vector(b_.getDoubleTy());
    case ExprType::kI32: return vector(b_.getInt32Ty());
    case ExprType::kI64: return vector(b_.getInt64Ty());
    default: return vector(b_.getInt1Ty());
  }
}

Value* CodeGenerator::splat(Value* scalar) { return b_.CreateVectorSplat(lanes_, scalar); }
Value* CodeGenerator::ints(Type* like, int64_t value) { return llvm::ConstantInt::getSigned(like, value); }

Value* CodeGenerator::number(ExprType type, int64_t bits) {
  if (type == ExprType::kMask) return splat(b_.getInt1(bits != 0));
  if (type == ExprType::kF32) {
    return splat(llvm::ConstantFP::get(module_.getContext(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, static_cast<uint32_t>(bits)))));
  }
  if (type == ExprType::kF64) {
    return splat(llvm::ConstantFP::get(module_.getContext(), llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, static_cast<uint64_t>(bits)))));
  }
  return ints(type_of(type), bits);
}

Value* CodeGenerator::param(const Expr& e) {
  Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), numbers_, static_cast<uint64_t>(e.bits));
  if (e.type == ExprType::kMask) return splat(b_.CreateICmpNE(b_.CreateAlignedLoad(b_.getInt8Ty(), at, llvm::Align(1)), b_.getInt8(0)));
  return splat(b_.CreateAlignedLoad(type_of(e.type)->getScalarType(), at, llvm::Align(4)));
}

Value* CodeGenerator::load(const Expr& e) {
  Value* at = pointers_[static_cast<size_t>(e.bits)];
  const auto read = [&](Type* element) { return b_.CreateAlignedLoad(vector(element), at, llvm::Align(1)); };
  switch (e.dtype) {
    case kFloat: return read(b_.getFloatTy());
    case kDouble: return read(b_.getDoubleTy());
    case kLong: return read(b_.getInt64Ty());
    case kInt: return b_.CreateSExt(read(b_.getInt32Ty()), type_of(ExprType::kI64));
    case kShort: return b_.CreateSExt(read(b_.getInt16Ty()), type_of(ExprType::kI64));
    case kChar: return b_.CreateSExt(read(b_.getInt8Ty()), type_of(ExprType::kI64));
    case kByte: return b_.CreateZExt(read(b_.getInt8Ty()), type_of(ExprType::kI64));
    case kHalf: return b_.CreateFPExt(read(b_.getHalfTy()), type_of(ExprType::kF32));
    case kBFloat16: {
      Value* wide = b_.CreateShl(b_.CreateZExt(read(b_.getInt16Ty()), type_of(ExprType::kI32)), 16);
      return b_.CreateBitCast(wide, type_of(ExprType::kF32));
    }
    default: return b_.CreateICmpNE(read(b_.getInt8Ty()), ints(vector(b_.getInt8Ty()), 0));
  }
}

void CodeGenerator::store(Value* v, ScalarType dtype, Value* to) {
  switch (dtype) {
    case kInt: v = b_.CreateTrunc(v, vector(b_.getInt32Ty())); break;
    case kShort: v = b_.CreateTrunc(v, vector(b_.getInt16Ty())); break;
    case kChar:
    case kByte: v = b_.CreateTrunc(v, vector(b_.getInt8Ty())); break;
    case kBool: v = b_.CreateZExt(v, vector(b_.getInt8Ty())); break;
    case kHalf: v = b_.CreateFPTrunc(v, vector(b_.getHalfTy())); break;
    case kBFloat16: v = b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(v, type_of(ExprType::kI32)), 16), vector(b_.getInt16Ty())); break;
    default: break;
  }
  b_.CreateAlignedStore(v, to, llvm::Align(1));
}

Value* CodeGenerator::intrinsic(unsigned id, Value* a, Value* b) {
  if (b == nullptr) return b_.CreateUnaryIntrinsic(id, a);
  return b_.CreateBinaryIntrinsic(id, a, b);
}

Value* CodeGenerator::divide_ints(Value* a, Value* b) {
  Value* zero = b_.CreateICmpEQ(b, ints(b->getType(), 0));
  Value* minus = b_.CreateICmpEQ(b, ints(b->getType(), -1));
  Value* safe = b_.CreateSelect(b_.CreateOr(zero, minus), ints(b->getType(), 1), b);
  Value* quotient = b_.CreateSelect(minus, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
  return b_.CreateSelect(zero, ints(b->getType(), 0), quotient);
}

Value* CodeGenerator::arithmetic(const Expr& e, Value* a, Value* b) {
  const bool floating = e.type == ExprType::kF32 || e.type == ExprType::kF64;
  switch (e.op) {
    case ExprOp::kAdd: return floating ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
    case ExprOp::kSub: return floating ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
    case ExprOp::kMul: return floating ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
    case ExprOp::kDiv: return floating ? b_.CreateFDiv(a, b) : divide_ints(a, b);
    case ExprOp::kNeg: return floating ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case ExprOp::kMin: return b_.CreateSelect(floating ? b_.CreateFCmpOLT(a, b) : b_.CreateICmpSLT(a, b), a, b);
    default: return b_.CreateSelect(floating ? b_.CreateFCmpOGT(a, b) : b_.CreateICmpSGT(a, b), a, b);
  }
}

Value* CodeGenerator::compare(const Expr& e) {
  Value *a = at(e.a), *b = at(e.b);
  using P = llvm::CmpInst::Predicate;
  const bool floating = a->getType()->getScalarType()->isFloatingPointTy();
  switch (e.op) {
    case ExprOp::kLt: return b_.CreateCmp(floating ? P::FCMP_OLT : P::ICMP_SLT, a, b);
    case ExprOp::kLe: return b_.CreateCmp(floating ? P::FCMP_OLE : P::ICMP_SLE, a, b);
    case ExprOp::kGt: return b_.CreateCmp(floating ? P::FCMP_OGT : P::ICMP_SGT, a, b);
    case ExprOp::kGe: return b_.CreateCmp(floating ? P::FCMP_OGE : P::ICMP_SGE, a, b);
    case ExprOp::kEq: return b_.CreateCmp(floating ? P::FCMP_OEQ : P::ICMP_EQ, a, b);
    default: return b_.CreateCmp(floating ? P::FCMP_UNE : P::ICMP_NE, a, b);
  }
}

/// void loop(double* out, const double* x[, const double* y], function): calls a plain function for each lane.
llvm::Function* CodeGenerator::lane_loop(Type* element, bool two) {
  const std::string name = std::string("lanes") + (two ? "2" : "1") + (element->isDoubleTy() ? "f" : "i");
  if (llvm::Function* known = module_.getFunction(name)) return known;
  Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), std::vector<Type*>(two ? 4 : 3, pointer), false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
  f->addFnAttr(llvm::Attribute::NoInline);
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  auto* entry = llvm::BasicBlock::Create(module_.getContext(), "", f);
  auto* body = llvm::BasicBlock::Create(module_.getContext(), "", f);
  auto* end = llvm::BasicBlock::Create(module_.getContext(), "", f);
  b_.SetInsertPoint(entry);
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  std::vector<Value*> args;
  for (unsigned k = 1; k + 1 < f->arg_size(); ++k) {
    args.push_back(b_.CreateAlignedLoad(element, b_.CreateGEP(element, f->getArg(k), i), llvm::Align(8)));
  }
  auto* called = llvm::FunctionType::get(element, std::vector<Type*>(args.size(), element), false);
  Value* result = b_.CreateCall(called, f->getArg(static_cast<unsigned>(f->arg_size()) - 1), args);
  b_.CreateAlignedStore(result, b_.CreateGEP(element, f->getArg(0), i), llvm::Align(8));
  Value* next = b_.CreateAdd(i, b_.getInt64(1));
  i->addIncoming(b_.getInt64(0), entry);
  i->addIncoming(next, body);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(lanes_)), body, end);
  b_.SetInsertPoint(end);
  b_.CreateRetVoid();
  return f;
}

Value* CodeGenerator::lanes(const Expr& e, Value* a, Value* b) {
  Type* type = a->getType();
  llvm::Function* loop = lane_loop(type->getScalarType(), b != nullptr);
  const auto room = [&] {  // in the entry block, so that it is taken once
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    llvm::AllocaInst* memory = at_entry.CreateAlloca(type);
    memory->setAlignment(llvm::Align(64));
    return memory;
  };
  std::vector<Value*> args = {room()};
  for (Value* v : {a, b}) {
    if (v == nullptr) continue;
    args.push_back(room());
    b_.CreateAlignedStore(v, args.back(), llvm::Align(64));
  }
  args.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), functions_, static_cast<uint64_t>(e.bits))));
  b_.CreateCall(loop, args);
  return b_.CreateAlignedLoad(type, args[0], llvm::Align(64));
}

/// `make()` in the lanes of `mask`, not computed where no lane is set.
template <class Make>
Value* CodeGenerator::where(Value* mask, const Make& make, Value* otherwise) {
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  auto* rare = llvm::BasicBlock::Create(module_.getContext(), "", f);
  auto* join = llvm::BasicBlock::Create(module_.getContext(), "", f);
  llvm::BasicBlock* common = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateOrReduce(mask), rare, join);
  b_.SetInsertPoint(rare);
  Value* chosen = b_.CreateSelect(mask, make(), otherwise);
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* result = b_.CreatePHI(otherwise->getType(), 2);
  result->addIncoming(otherwise, common);
  result->addIncoming(chosen, from);
  return result;
}

Value* CodeGenerator::lanes_where(const Expr& e) {
  return where(at(e.a), [&] { return lanes(e, at(e.b), nullptr); }, at(e.c));
}

Value* CodeGenerator::wrap(Value* v, ScalarType dtype) {
  Type* narrow = vector(dtype == kInt ? b_.getInt32Ty() : dtype == kShort ? static_cast<Type*>(b_.getInt16Ty()) : b_.getInt8Ty());
  Value* cut = b_.CreateTrunc(v, narrow);
  return dtype == kByte ? b_.CreateZExt(cut, v->getType()) : b_.CreateSExt(cut, v->getType());
}

Value* CodeGenerator::float_to_int(Value* v) {
  Value* low = splat(llvm::ConstantFP::get(b_.getDoubleTy(), -9223372036854775808.0));
  Value* high = splat(llvm::ConstantFP::get(b_.getDoubleTy(), 9223372036854775808.0));
  Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(v, low), b_.CreateFCmpOLT(v, high));
  Value* safe = b_.CreateSelect(fits, v, splat(llvm::ConstantFP::get(b_.getDoubleTy(), 0.0)));
  Value* whole = b_.CreateFPToSI(safe, type_of(ExprType::kI64));
  return b_.CreateSelect(fits, whole, ints(whole->getType(), std::numeric_limits<int64_t>::min()));
}

Value* CodeGenerator::round(Value* v, ScalarType dtype) {
  if (dtype == kHalf) return b_.CreateFPExt(b_.CreateFPTrunc(v, vector(b_.getHalfTy())), v->getType());
  Type* i32 = type_of(ExprType::kI32);
  Value* bits = b_.CreateBitCast(v, i32);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), ints(i32, 1));
  Value* rounded = b_.CreateAnd(b_.CreateAdd(b_.CreateAdd(bits, ints(i32, 0x7fff)), odd), ints(i32, -65536));
  Value* result = b_.CreateSelect(b_.CreateFCmpUNO(v, v), ints(i32, 0x7fc00000), rounded);
  return b_.CreateBitCast(result, v->getType());
}

Value* CodeGenerator::emit(const Expr& e) {
  Type* type = type_of(e.type);
  Value* a = e.a >= 0 ? at(e.a) : nullptr;
  Value* b = e.b >= 0 ? at(e.b) : nullptr;
  const auto shift = ints(type->isIntOrIntVectorTy() ? type : type_of(ExprType::kI64), e.bits);
  switch (e.op) {
    case ExprOp::kLoad: return load(e);
    case ExprOp::kNumber:
    case ExprOp::kConstant: return nullptr;  // made before the loop
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kDiv:
    case ExprOp::kNeg:
    case ExprOp::kMin:
    case ExprOp::kMax: return arithmetic(e, a, b);
    case ExprOp::kFma:
      if (target_ == cpu::SimdTarget::Sse4) return b_.CreateFAdd(b_.CreateFMul(a, b), at(e.c));
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, at(e.c)});
    case ExprOp::kAbs: return intrinsic(llvm::Intrinsic::fabs, a);
    case ExprOp::kSqrt: return intrinsic(llvm::Intrinsic::sqrt, a);
    case ExprOp::kFloor: return intrinsic(llvm::Intrinsic::floor, a);
    case ExprOp::kCeil: return intrinsic(llvm::Intrinsic::ceil, a);
    case ExprOp::kTrunc: return intrinsic(llvm::Intrinsic::trunc, a);
    case ExprOp::kRound: return intrinsic(llvm::Intrinsic::roundeven, a);
    case ExprOp::kCopysign: return intrinsic(llvm::Intrinsic::copysign, a, b);
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kGt:
    case ExprOp::kGe:
    case ExprOp::kEq:
    case ExprOp::kNe: return compare(e);
    case ExprOp::kAnd: return b_.CreateAnd(a, b);
    case ExprOp::kOr: return b_.CreateOr(a, b);
    case ExprOp::kXor: return b_.CreateXor(a, b);
    case ExprOp::kNot: return b_.CreateNot(a);
    case ExprOp::kSelect:
    case ExprOp::kBranch: return b_.CreateSelect(a, b, at(e.c));
    case ExprOp::kToBits:
    case ExprOp::kFromBits: return b_.CreateBitCast(a, type);
    case ExprOp::kShiftLeft: return b_.CreateShl(a, shift);
    case ExprOp::kShiftRight: return b_.CreateAShr(a, shift);
    case ExprOp::kShiftRightLogical: return b_.CreateLShr(a, shift);
    case ExprOp::kWiden: return b_.CreateFPExt(a, type);
    case ExprOp::kNarrow: return b_.CreateFPTrunc(a, type);
    case ExprOp::kLanes1:
    case ExprOp::kLanes2: return lanes(e, a, b);
    case ExprOp::kLanesWhere: return lanes_where(e);
    case ExprOp::kMaskToInt: return b_.CreateZExt(a, type);
    case ExprOp::kMaskToFloat: return b_.CreateUIToFP(a, type);
    case ExprOp::kIntToMask: return b_.CreateICmpNE(a, ints(a->getType(), 0));
    case ExprOp::kFloatToMask: return b_.CreateFCmpUNE(a, llvm::Constant::getNullValue(a->getType()));
    case ExprOp::kIntToFloat: return b_.CreateSIToFP(a, type);
    case ExprOp::kFloatToInt: return float_to_int(a);
    case ExprOp::kWrapInt: return wrap(a, e.dtype);
    case ExprOp::kRoundFloat: return round(a, e.dtype);
  }
  return nullptr;
}

namespace {
/// The nodes that each branch alone needs, by the branch's node; in the last place those that every vector needs.
std::vector<std::vector<int32_t>> blocks_of(const kernel::ExprProgram& program) {
  const size_t count = program.nodes.size();
  std::vector<size_t> block(count + 1, 0);  // 0: not needed
  const auto use = [&](int32_t node, size_t in) {
    if (node < 0) return;
    size_t& b = block[static_cast<size_t>(node)];
    if (b == 0) b = in;
    while (b != in) (b < in ? b : in) = block[std::min(b, in)];  // the innermost that encloses both; outer ones have higher numbers
  };
  for (const auto& s : program.stores) use(s.value, count);
  std::vector<std::vector<int32_t>> nodes(count + 1);
  for (size_t k = count; k-- > 0;) {
    if (block[k] == 0) continue;
    const Expr& e = program.nodes[k];
    use(e.a, block[k]);
    use(e.b, e.op == ExprOp::kBranch ? k : block[k]);
    use(e.c, block[k]);
    nodes[block[k]].push_back(static_cast<int32_t>(k));
  }
  for (auto& list : nodes) std::reverse(list.begin(), list.end());
  return nodes;
}
}  // namespace

void CodeGenerator::emit_block(const kernel::ExprProgram& program, size_t block) {
  for (const int32_t id : blocks_[block]) {
    const auto k = static_cast<size_t>(id);
    const Expr& e = program.nodes[k];
    if (values_[k] != nullptr) continue;
    if (e.op != ExprOp::kBranch) {
      values_[k] = emit(e);
      continue;
    }
    values_[k] = where(at(e.a), [&] {
      emit_block(program, k);
      return at(e.b);
    }, at(e.c));
  }
}

void CodeGenerator::generate(const kernel::ExprProgram& program, const std::string& name) {
  values_.assign(program.nodes.size(), nullptr);
  const size_t count = program.sources.size() + program.stores.size();
  Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt64Ty(), pointer, pointer}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  if (target_ == cpu::SimdTarget::Avx512) {
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr("min-legal-vector-width", "512");
  }
  auto* entry = llvm::BasicBlock::Create(module_.getContext(), "entry", f);
  auto* loop = llvm::BasicBlock::Create(module_.getContext(), "loop", f);
  auto* end = llvm::BasicBlock::Create(module_.getContext(), "end", f);
  b_.SetInsertPoint(entry);
  numbers_ = f->getArg(3);
  functions_ = f->getArg(4);
  std::vector<Value*> bases, steps;
  for (size_t k = 0; k < count; ++k) {
    bases.push_back(b_.CreateAlignedLoad(pointer, b_.CreateConstGEP1_64(pointer, f->getArg(0), k), llvm::Align(8)));
    steps.push_back(b_.CreateAlignedLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), f->getArg(1), k), llvm::Align(8)));
  }
  for (size_t k = 0; k < program.nodes.size(); ++k) {
    const Expr& e = program.nodes[k];
    if (e.op == ExprOp::kNumber) values_[k] = param(e);
    if (e.op == ExprOp::kConstant) values_[k] = number(e.type, e.bits);
  }
  auto* head = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(b_.getInt64(0), head);
  pointers_.clear();
  for (size_t k = 0; k < count; ++k) {
    llvm::PHINode* p = b_.CreatePHI(pointer, 2);
    p->addIncoming(bases[k], head);
    pointers_.push_back(p);
  }
  blocks_ = blocks_of(program);
  emit_block(program, program.nodes.size());
  for (size_t k = 0; k < program.stores.size(); ++k) {
    const auto& s = program.stores[k];
    store(at(s.value), s.dtype, pointers_[program.sources.size() + k]);
  }
  auto* latch = b_.GetInsertBlock();
  for (size_t k = 0; k < count; ++k) {
    llvm::cast<llvm::PHINode>(pointers_[k])->addIncoming(b_.CreateGEP(b_.getInt8Ty(), pointers_[k], steps[k]), latch);
  }
  Value* next = b_.CreateAdd(i, b_.getInt64(1));
  i->addIncoming(next, latch);
  b_.CreateCondBr(b_.CreateICmpULT(next, f->getArg(2)), loop, end);
  b_.SetInsertPoint(end);
  b_.CreateRetVoid();
}

}  // namespace taeda::jit
