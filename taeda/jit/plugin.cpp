// SPDX-License-Identifier: Apache-2.0
// The plug-in's two functions: programs in, an object file out.
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "taeda/jit/codegen.h"

namespace taeda::jit {

namespace {

/// Processor and features by instruction set: what the eager kernels of that set may use.
struct TargetNames {
  const char *cpu, *features;
};
TargetNames names_of(cpu::SimdTarget target) {
  switch (target) {
    case cpu::SimdTarget::Avx512: return {"x86-64-v4", "+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd,+fma,+f16c"};
    case cpu::SimdTarget::Avx2: return {"x86-64-v3", "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt"};
    default: return {"x86-64-v2", "+sse4.2"};
  }
}

std::unique_ptr<llvm::TargetMachine> make_machine(cpu::SimdTarget target, std::string& error) {
  static const bool ready = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)ready;
  const std::string triple = "x86_64-unknown-linux-gnu";
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (found == nullptr) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const TargetNames names = names_of(target);
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(triple, names.cpu, names.features, options, llvm::Reloc::PIC_,
                                                                         llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

bool compile(const kernel::JitRequest& request, std::string& object, std::string& error) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(request.target, error);
  if (!machine) return false;
  llvm::LLVMContext context;
  llvm::Module module(request.name, context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  CodeGenerator generator(module, request.target);
  for (size_t k = 0; k < request.count; ++k) {
    generator.generate(request.programs[k], std::string(request.name) + "." + std::to_string(k));
  }
#ifndef NDEBUG
  llvm::raw_string_ostream problems(error);
  if (llvm::verifyModule(module, &problems)) return false;
#endif
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    error = "the target cannot write object files";
    return false;
  }
  passes.run(module);
  object.assign(bytes.begin(), bytes.end());
  return true;
}

}  // namespace

}  // namespace taeda::jit

extern "C" {
TAEDA_API int taeda_jit_abi() { return taeda::kernel::kJitAbi; }
TAEDA_API bool taeda_jit_compile(const taeda::kernel::JitRequest& request, std::string& object, std::string& error) {
  return taeda::jit::compile(request, object, error);
}
}
