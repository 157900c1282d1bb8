// SPDX-License-Identifier: Apache-2.0
// A kernel cut into steps: pointwise programs over the elements of some rows (or over the rows themselves), reductions and
// row operations between them. What one step leaves for another lies in a slot, a dense array.
#pragma once

#include <memory>

#include "taeda/compile/kernel/kernel.h"

namespace taeda::kernel {

/// A value that a program reads from memory.
struct Source {
  Id value;
  bool slot;    ///< else an operand
  int number;   ///< of the slot or operand
};
/// A value that a program leaves in memory.
struct Sink {
  Id value;
  bool slot;
  int number;
};
/// Pointwise nodes in the order of evaluation.
struct Program {
  bool rows = false;  ///< one evaluation for each row
  std::vector<Id> order;
  std::vector<Source> sources;
  std::vector<Sink> sinks;
  bool empty() const { return sinks.empty(); }
};

struct Slot {
  Id value;
  bool uniform;
  bool shared = false;  ///< one row for all rows
  int input = -1;   ///< the operand that holds the value if it lies densely
  int output = -1;  ///< the operand that the value may be made in if it lies densely
};

struct Step {
  enum class Kind : uint8_t { kProgram, kReduce, kRowOp, kCopy } kind;
  int number = 0;  ///< of the program; of the slot that is copied
  int operand = 0; ///< copied to
  Id node = 0;     ///< the reduction or row operation
};

/// The numbers of a kernel in memory: one cell of 8 bytes for each constant and param, then the attributes of each call side by side.
class NumberTable {
 public:
  explicit NumberTable(const Kernel& kernel);
  size_t size() const { return image_.size(); }
  int cell(Id node) const { return cells_[static_cast<size_t>(node)]; }
  int attributes(Id call) const { return attributes_[static_cast<size_t>(call)]; }
  /// Writes size() bytes.
  void fill(const Scalar* params, char* to) const;
  bool has_params() const { return !patches_.empty(); }

 private:
  struct Patch {
    int param;
    ScalarType dtype;
    int offset;
  };
  void place(const Node& node, int offset);
  std::vector<int> cells_, attributes_;
  std::vector<Patch> patches_;
  std::vector<char> image_;
};

struct Steps {
  explicit Steps(const Kernel& kernel);
  std::vector<Program> programs;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<int> slot_of;  ///< by node, -1 where there is none
};

/// A program in a form that runs. `ptrs` and byte `strides`: sources, then sinks; a stride is the element's size, or 0 for a source that is
/// one element. Sinks may lie exactly where sources lie.
class ProgramCode {
 public:
  virtual ~ProgramCode() = default;
  virtual void run(char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const = 0;
  /// Over `rows` rows, `outer` bytes apart; strides of sources may be 0 along rows and from row to row.
  virtual void run_rows(char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n, const char* numbers) const = 0;
};
std::unique_ptr<ProgramCode> interpret(const Kernel& kernel, const Program& program, const NumberTable& numbers);

}  // namespace taeda::kernel
