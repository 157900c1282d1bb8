// SPDX-License-Identifier: Apache-2.0
// Random programs over tensors: calls from the whole registry, views, in-place updates, random numbers, control flow on values,
// raw pointers, gradients. A program is a list of instructions; running it on equal inputs does equal things.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "taeda/taeda.h"

namespace taeda::fuzz {

enum class Kind : uint8_t {
  kCall,        ///< an operator of the registry
  kDrop,        ///< a tensor is forgotten
  kBranch,      ///< the next instruction is skipped unless a sum is positive
  kReadPointer, ///< an element is read and becomes a tensor
  kWritePointer,///< an element is written through a raw pointer
  kBackward,    ///< gradients of a sum; those of the inputs join the tensors
  kSeed,        ///< the default generator starts anew
  kNoGrad,      ///< the next instruction records no gradients
  kManyUpdates, ///< every floating tensor is scaled and moved in place, as optimizers do
};

struct Instruction {
  Kind kind = Kind::kCall;
  const OpInfo* op = nullptr;
  std::vector<Value> args;      ///< tensors are undefined ones
  std::vector<int> tensors;     ///< which tensors take their places, in order
  int on = 0;                   ///< of the other kinds
  double number = 0;            ///< added to the first number of the call at each run: numbers change
};

/// Inputs of one run of a program.
struct Inputs {
  std::vector<Tensor> tensors;
  Tensor base;  ///< what inputs that share memory are views of; may be undefined
};

/// What a run did.
struct Outcome {
  std::vector<Tensor> tensors;  ///< left at the end, then the inputs
  bool failed = false;
  std::string error;
};

class Program {
 public:
  /// A program of some instructions, each of which works when the program is run on inputs of `variant` 0.
  Program(uint64_t seed, int length);

  /// Inputs for run `number`: shapes and sharing vary with `variant`, values with `number`.
  Inputs inputs(int variant, int number) const;
  /// Runs all instructions. `number` moves the numbers that change from call to call.
  Outcome run(const Inputs& inputs, int number) const;

  std::string text() const;
  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// How often each operator and feature was run, over all programs.
  static std::map<std::string, size_t>& counts();

 private:
  void execute(const Instruction& i, std::vector<Tensor>& pool, const Inputs& inputs, int number, bool& skip, bool& no_grad) const;
  void make_layer_norm(Instruction& i, const std::vector<Tensor>& pool);
  bool make_call(Instruction& i, const std::vector<Tensor>& pool);
  Value random_argument(const SchemaArg& arg, Instruction& i, const std::vector<Tensor>& pool);
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<Instruction> instructions_;
};

}  // namespace taeda::fuzz
