// SPDX-License-Identifier: Apache-2.0
// A small loader of x86-64 ELF objects: sections side by side in one mapping, relocations among them, then read and execute only.
#include "taeda/compile/kernel/object.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "taeda/core/error.h"

namespace taeda::kernel {

namespace {

/// Bounds-checked views of the file.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    require(bytes.size() >= sizeof header_);
    std::memcpy(&header_, bytes.data(), sizeof header_);
    require(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
            header_.e_type == ET_REL && header_.e_machine == EM_X86_64 && header_.e_shentsize == sizeof(Elf64_Shdr));
    for (size_t k = 0; k < header_.e_shnum; ++k) sections.push_back(read<Elf64_Shdr>(header_.e_shoff, k));
  }

  template <class T>
  T read(uint64_t offset, size_t index) const {
    const uint64_t at = offset + index * sizeof(T);
    require(offset <= bytes_.size() && at + sizeof(T) <= bytes_.size() && at >= offset);
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::string_view text(const Elf64_Shdr& table, uint64_t offset) const {
    require(table.sh_offset + table.sh_size <= bytes_.size() && offset < table.sh_size);
    const std::string_view all = bytes_.substr(table.sh_offset, table.sh_size);
    return all.substr(offset, all.find('\0', offset) - offset);
  }
  std::string_view content(const Elf64_Shdr& s) const {
    require(s.sh_offset <= bytes_.size() && s.sh_size <= bytes_.size() - s.sh_offset);
    return bytes_.substr(s.sh_offset, s.sh_size);
  }
  static void require(bool fine) { TAEDA_CHECK(fine, "[kernel] generated code must be a whole ELF object: got a damaged one; clear the cache folder"); }

  std::vector<Elf64_Shdr> sections;

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_;
};

}  // namespace

LoadedObject::LoadedObject(std::string_view object, size_t functions) : functions_(functions, nullptr) {
  const Elf elf(object);
  const auto loaded = [](const Elf64_Shdr& s) { return (s.sh_flags & SHF_ALLOC) != 0 && s.sh_size > 0 && s.sh_type != SHT_X86_64_UNWIND; };
  std::vector<uint64_t> offsets(elf.sections.size(), 0);
  for (size_t k = 0; k < elf.sections.size(); ++k) {
    const Elf64_Shdr& s = elf.sections[k];
    if (!loaded(s)) continue;
    const uint64_t align = std::max<uint64_t>(s.sh_addralign, 64);
    Elf::require(align <= 4096 && s.sh_size < (uint64_t{1} << 30));
    offsets[k] = (size_ + align - 1) / align * align;
    size_ = offsets[k] + s.sh_size;
  }
  Elf::require(size_ > 0);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_ = (size_ + page - 1) / page * page;
  memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TAEDA_CHECK(memory_ != MAP_FAILED, "[kernel] generated code needs ", size_, " bytes of memory: got none; free some");
  char* const base = static_cast<char*>(memory_);
  try {
    for (size_t k = 0; k < elf.sections.size(); ++k) {
      const Elf64_Shdr& s = elf.sections[k];
      if (loaded(s) && s.sh_type != SHT_NOBITS) std::memcpy(base + offsets[k], elf.content(s).data(), s.sh_size);
    }
    const auto address = [&](const Elf64_Sym& symbol) {
      Elf::require(symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < elf.sections.size() && loaded(elf.sections[symbol.st_shndx]) &&
                   symbol.st_value <= elf.sections[symbol.st_shndx].sh_size);
      return base + offsets[symbol.st_shndx] + symbol.st_value;
    };
    for (const Elf64_Shdr& s : elf.sections) {
      if (s.sh_type == SHT_SYMTAB) {
        Elf::require(s.sh_link < elf.sections.size());
        for (size_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); ++k) {
          const auto symbol = elf.read<Elf64_Sym>(s.sh_offset, k);
          if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL) continue;
          const std::string_view name = elf.text(elf.sections[s.sh_link], symbol.st_name);
          for (size_t f = 0; f < functions; ++f) {
            if (name.ends_with("." + std::to_string(f))) functions_[f] = reinterpret_cast<ProgramFunction>(address(symbol));
          }
        }
      }
      if (s.sh_type != SHT_RELA) continue;
      Elf::require(s.sh_info < elf.sections.size() && s.sh_link < elf.sections.size());
      if (!loaded(elf.sections[s.sh_info])) continue;
      for (size_t k = 0; k < s.sh_size / sizeof(Elf64_Rela); ++k) {
        const auto r = elf.read<Elf64_Rela>(s.sh_offset, k);
        const char* to = address(elf.read<Elf64_Sym>(elf.sections[s.sh_link].sh_offset, ELF64_R_SYM(r.r_info)));
        const auto kind = ELF64_R_TYPE(r.r_info);
        const size_t width = kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
        const uint64_t limit = elf.sections[s.sh_info].sh_size;
        Elf::require(r.r_offset <= limit && width <= limit - r.r_offset);
        char* place = base + offsets[s.sh_info] + r.r_offset;
        const int64_t absolute = reinterpret_cast<int64_t>(to) + r.r_addend, relative = absolute - reinterpret_cast<int64_t>(place);
        if (kind == R_X86_64_64) std::memcpy(place, &absolute, 8);
        else if (kind == R_X86_64_PC64) std::memcpy(place, &relative, 8);
        else {
          Elf::require((kind == R_X86_64_PC32 || kind == R_X86_64_PLT32) && relative == static_cast<int32_t>(relative));
          const auto narrow = static_cast<int32_t>(relative);
          std::memcpy(place, &narrow, 4);
        }
      }
    }
    for (const ProgramFunction f : functions_) Elf::require(f != nullptr);
    TAEDA_CHECK(mprotect(memory_, size_, PROT_READ | PROT_EXEC) == 0,
                "[kernel] generated code must be allowed to run: the system refused; use the interpreter");
  } catch (...) {
    munmap(memory_, size_);
    throw;
  }
}

LoadedObject::~LoadedObject() { munmap(memory_, size_); }

}  // namespace taeda::kernel
