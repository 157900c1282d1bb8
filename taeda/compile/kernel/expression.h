// SPDX-License-Identifier: Apache-2.0
// The closed vocabulary that pointwise formulas are made of, as data: what a code generator of any target reads.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "taeda/core/scalar_type.h"

namespace taeda::kernel {

enum class ExprType : uint8_t { kF32, kF64, kI32, kI64, kMask };

/// Operations; a, b, c are the operands. Floating operations round once and are never contracted or reordered.
enum class ExprOp : uint8_t {
  kLoad,      ///< source `bits`, an element of `dtype` widened (integers to i64, 16-bit floats to f32)
  kNumber,    ///< the number at byte offset `bits` of the table of numbers
  kConstant,  ///< the bits of a number
  kAdd, kSub, kMul, kDiv, kNeg,    ///< integers wrap; a / 0 of integers is 0
  kFma,                            ///< a * b + c, rounded once where the instruction set can
  kMin, kMax,                      ///< a < b ? a : b, a > b ? a : b
  kAbs, kSqrt, kFloor, kCeil, kTrunc, kRound, kCopysign,  ///< kRound: ties to even
  kLt, kLe, kGt, kGe, kEq, kNe,    ///< false where unordered, but kNe true
  kAnd, kOr, kXor, kNot,           ///< of masks or integers
  kSelect,                         ///< a ? b : c
  kBranch,                         ///< the same; what b alone needs is computed only where some lane of a is set
  kToBits, kFromBits,
  kShiftLeft, kShiftRight, kShiftRightLogical,  ///< by `bits`
  kWiden, kNarrow,                 ///< f32 to f64 and back
  kLanes1, kLanes2,                ///< function `bits` of the list, lane by lane: double(double…) or int64(int64…)
  kLanesWhere,                     ///< function `bits` of b where the mask a is set, c elsewhere
  kMaskToInt, kMaskToFloat, kIntToMask, kFloatToMask,  ///< nonzero is true
  kIntToFloat,                     ///< i64 to f32 or f64
  kFloatToInt,                     ///< truncates; the least i64 where it does not fit
  kWrapInt,                        ///< to the range of `dtype`, widened again
  kRoundFloat,                     ///< f32 to the precision of `dtype` (16-bit floats) and back
};

struct Expr {
  ExprOp op;
  ExprType type;
  ScalarType dtype = ScalarType::Undefined;
  int32_t a = -1, b = -1, c = -1;
  int64_t bits = 0;
  bool operator==(const Expr&) const = default;
};

/// A plain function that formulas call lane by lane.
using LaneFunction = void (*)();

/// What one program computes, over one element.
struct ExprProgram {
  std::vector<Expr> nodes;
  std::vector<LaneFunction> functions;
  struct Store {
    int32_t value;
    ScalarType dtype;
  };
  std::vector<ScalarType> sources;
  std::vector<Store> stores;
  std::string text() const;
};

/// Collects nodes; equal ones are shared.
class ExprBuilder {
 public:
  explicit ExprBuilder(ExprProgram& program) : program_(program) {}
  int32_t add(const Expr& e);
  int32_t function(LaneFunction f);
  int32_t constant(ExprType type, int64_t bits);
  const Expr& at(int32_t id) const { return program_.nodes[static_cast<size_t>(id)]; }
  /// Selects by this mask are branches from here on.
  void branch_on(int32_t mask) { branches_.insert(mask); }
  bool branches_on(int32_t mask) const { return branches_.contains(mask); }

  /// The builder that formulas traced by this thread add to.
  static ExprBuilder*& current();

 private:
  struct Hash {
    size_t operator()(const Expr& e) const;
  };
  ExprProgram& program_;
  std::unordered_map<Expr, int32_t, Hash> known_;
  std::unordered_set<int32_t> branches_;
};

/// The formula of one pointwise kernel: gives the result's node; null where the compute type does not have it.
using Formula = int32_t (*)(const int32_t* inputs, const int32_t* attributes);
struct FormulaRow {
  Formula f32, f64, i64;
};
/// By PointwiseKernelId.
const FormulaRow& formula(int id);

}  // namespace taeda::kernel
