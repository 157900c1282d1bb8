// SPDX-License-Identifier: Apache-2.0
// A kernel whose programs run as interpreted or generated code.
#pragma once

#include "taeda/compile/kernel/program.h"

namespace taeda::kernel {

class RunnableKernel final : public CompiledKernel {
 public:
  static constexpr size_t kMaxOperands = 48;

  explicit RunnableKernel(const Kernel& kernel);
  using CompiledKernel::run;
  void run(std::span<const Launch> launches) const override;
  Backend backend() const override { return backend_; }
  const Kernel& kernel() const override { return kernel_; }
  bool from_disk() const override { return from_disk_; }

  const Steps& steps() const { return steps_; }
  const NumberTable& numbers() const { return numbers_; }
  void use_interpreter();
  void use_code(std::vector<std::unique_ptr<ProgramCode>> code, bool from_disk) {
    code_ = std::move(code);
    backend_ = Backend::kJit;
    from_disk_ = from_disk;
  }

 private:
  /// A batch of adjoining rows on its way through the steps.
  struct Batch {
    const Launch& launch;
    const char* numbers;
    int64_t rows, n;     ///< of the batch; length of a row
    int64_t total_rows;  ///< of the launch
    char* at[kMaxOperands];                            ///< operands at the first row
    int64_t inner[kMaxOperands], outer[kMaxOperands];  ///< strides along the row, and from row to row
    std::vector<char*> slots;
  };
  void run_one(const Launch& launch) const;
  void run_many(std::span<const Launch> launches) const;
  void run_elements(const Launch& launch, const char* numbers) const;
  void run_rows(const Launch& launch, const char* numbers) const;
  void run_program(size_t index, char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const;
  void run_program_rows(size_t index, char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n,
                        const char* numbers) const;
  void run_gathered(size_t index, char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const;
  void program_places(const Program& p, const Launch& launch, const Place** places) const;

  int64_t slot_bytes(const Slot& slot, int64_t rows, int64_t n) const;
  bool is_dense(const Batch& batch, int operand, const Slot& slot) const;
  void place_slots(Batch& batch, char* room, int64_t per_batch) const;
  char* gather(const Batch& batch, const Slot& slot, char* to) const;
  void run_step(Batch& batch, const Step& step) const;
  void run_row_program(Batch& batch, size_t index) const;
  void run_reduce(Batch& batch, Id id) const;
  void run_row_op(Batch& batch, Id id) const;

  // One long row that is only summed goes through in blocks, over the thread pool (stream.cpp).
  bool can_stream() const;
  void run_stream(const Launch& launch, const char* numbers) const;
  void stream_block(const Batch& batch, size_t first, size_t last, int64_t start, int64_t length, char* room, double* totals) const;

  Kernel kernel_;
  Steps steps_;
  NumberTable numbers_;
  std::vector<std::unique_ptr<ProgramCode>> code_;
  Backend backend_ = Backend::kInterpreter;
  bool from_disk_ = false;
  int64_t grain_ = 0;
  bool streams_ = false;
};

}  // namespace taeda::kernel
