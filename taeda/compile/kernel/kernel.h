// SPDX-License-Identifier: Apache-2.0
// A fused loop kernel: what it computes, target-neutral, and the object that runs it.
//
// A kernel runs over an iteration space of up to kMaxDims dimensions, given at run time. Its values are nodes of a DAG:
// elements of operands, numbers given at run time, constants, pointwise operators, conversions. The last dimension is
// the row; reductions and row operations need whole rows, and what they give may be used by further nodes over the same rows.
// A value is either one number for each element or, when it depends on no element, one for each row (uniform).
//
// A node that calls a pointwise operator names a kernel of the operator registry (forward or gradient). Backends make of it
// what they can run: the interpreter calls the eager loop on blocks that stay in the first-level cache, the code generator
// traces the operator's formula to expressions (expression.h). Either way results equal eager bitwise on one
// instruction set; reductions and row operations run the loops of the eager operators.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/core/scalar.h"
#include "taeda/ops/kernels/reduce.h"

namespace taeda::kernel {

/// A value: the number of its node.
using Id = int32_t;

enum class NodeKind : uint8_t {
  kInput,     ///< the element of operand `number`
  kParam,     ///< the number `number` among those given at run time
  kConstant,  ///< `constant`
  kCall,      ///< pointwise kernel `number` (a PointwiseKernelId) of `inputs`; `attributes` are params and constants
  kConvert,   ///< `inputs[0]` converted to `dtype`, as a copy between tensors converts
  kReduce,    ///< `inputs[0]` reduced over the row; `number` is a ReduceKind; uniform
  kRowOp,     ///< an operation on whole rows; `number` is a RowOp
  kExtra,     ///< a further result, `number` from 1, of the row operation `inputs[0]`; uniform
};

/// Operations on whole rows, by the loops of the eager operators (float32 and float64).
enum class RowOp : uint8_t {
  kSoftmax,             ///< x
  kLogSoftmax,          ///< x
  kSoftmaxBackward,     ///< grad, result of the forward
  kLogSoftmaxBackward,  ///< grad, result of the forward
  kLayerNorm,           ///< x, weight or -1, bias or -1; attribute: eps. Extras: 1 mean, 2 1 / standard deviation
  kLayerNormBackward,   ///< grad, x, mean, 1 / standard deviation, weight or -1: the gradient of x
};

struct Node {
  NodeKind kind;
  ScalarType dtype;                          ///< of the value
  ScalarType compute = ScalarType::Undefined;  ///< of calls: kFloat, kDouble or kLong
  int32_t number = 0;
  bool uniform = false;                      ///< one value for each row
  bool mean = false;                         ///< of reductions: divided by the length of the row
  std::vector<Id> inputs = {};
  std::vector<Id> attributes = {};
  Scalar constant = {};
};

/// An operand that is written.
struct Output {
  Id value;
  ScalarType dtype;  ///< of the memory; the value is converted
};

/// The description of a kernel. Made with the functions below, which check it and share equal nodes.
class TAEDA_API Kernel {
 public:
  explicit Kernel(std::string name) : name_(std::move(name)) {}

  /// A further operand that is read, an array of `dtype`. `uniform`: one element for each row.
  Id input(ScalarType dtype, bool uniform = false);
  /// A further number given at run time, used as `dtype` (kFloat, kDouble, kLong, kBool).
  Id param(ScalarType dtype);
  Id constant(const Scalar& value, ScalarType dtype);
  /// Pointwise kernel `id` (cpu::find_pointwise_kernel("Add"), Op::kernel, Gradient::kernel) in the compute type that
  /// belongs to `dtype`: kFloat also for 16-bit floats, kLong for integers and bool. Inputs are converted to it.
  /// The value has the compute type, or is bool where the operator's result is.
  Id call(int id, ScalarType dtype, std::span<const Id> inputs, std::span<const Id> attributes = {});
  /// The same by the kernel's name: "Add", "Tanh_grad_self"; attributes given as numbers.
  Id call(std::string_view name, ScalarType dtype, std::initializer_list<Id> inputs, std::initializer_list<Scalar> attributes = {});
  Id convert(Id value, ScalarType dtype);
  /// Over the row; mean: sums of floats divided by its length. 16-bit floats are reduced as float32.
  Id reduce(ReduceKind kind, Id value, bool mean = false);
  Id row_op(RowOp op, std::span<const Id> inputs, double eps = 0);
  /// Result `number` (from 1) of a row operation.
  Id extra(Id row_op, int number);
  /// A further operand that is written. A uniform value is written once for each row.
  void output(Id value, ScalarType dtype);

  const std::string& name() const { return name_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ScalarType>& inputs() const { return inputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  int params() const { return static_cast<int>(params_.size()); }
  ScalarType param_dtype(int number) const { return params_[static_cast<size_t>(number)]; }
  /// Whether the last dimension is a row: some node needs whole rows, or some operand has one element for each.
  bool has_rows() const { return has_rows_; }
  /// Operands in order: inputs, then outputs.
  int operands() const { return static_cast<int>(inputs_.size() + outputs_.size()); }
  /// A readable text, one node a line; equal kernels have equal texts, whatever their names.
  std::string text() const;

 private:
  Id add(Node node);

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<ScalarType> inputs_, params_;
  std::vector<Output> outputs_;
  bool has_rows_ = false;
};

inline constexpr int kMaxDims = 6;

/// The place of an operand: byte strides for each dimension of the iteration space, 0 where it is broadcast.
struct Place {
  char* data = nullptr;
  int64_t strides[kMaxDims] = {};
};

/// One run: the iteration space, outermost dimension first, and its operands (inputs, then outputs). An output may lie exactly where an
/// input lies; any other overlap of an output is excluded by the caller.
struct Launch {
  int dims = 0;
  int64_t sizes[kMaxDims] = {};
  const Place* places = nullptr;   ///< Kernel::operands() of them
  const Scalar* params = nullptr;  ///< Kernel::params() of them
};

/// Merges dimensions that all operands allow to merge and drops those of size 1; `rows`: keeps the last one as it is.
/// Writes the places it changes to `places` (as many as `operands`). For plans: once for each shape.
TAEDA_API void collapse(Launch& launch, Place* places, int operands, bool rows);

enum class Backend : uint8_t { kJit, kInterpreter };

/// A kernel that runs. Any number of threads may call it at once.
class TAEDA_API CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// Runs over the thread pool.
  void run(const Launch& launch) const { run(std::span<const Launch>(&launch, 1)); }
  /// One kernel over many tensors: every launch has its own sizes, places and numbers. Launches are independent.
  virtual void run(std::span<const Launch> launches) const = 0;
  /// What runs it: kInterpreter also when code generation was asked for and is not there.
  virtual Backend backend() const = 0;
  virtual const Kernel& kernel() const = 0;
  /// Whether its code came from the disk cache.
  virtual bool from_disk() const { return false; }
};

/// Compiles, or gives the kernel compiled before (bounded cache in memory; on disk in `cache_dir` unless empty).
TAEDA_API std::shared_ptr<const CompiledKernel> compile_kernel(const Kernel& kernel, Backend backend, const std::string& cache_dir = {});

/// Whether the code generator's library is there (loaded at the first question).
TAEDA_API bool jit_available();
/// Why not, or an empty text.
TAEDA_API std::string jit_problem();

}  // namespace taeda::kernel
