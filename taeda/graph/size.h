// SPDX-License-Identifier: Apache-2.0
// Sizes that follow from symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/core/export.h"

namespace taeda::graph {

/// What symbols stand for, by name.
using SymbolValues = std::vector<std::pair<std::string, int64_t>>;

/// An integer that follows from symbols: a polynomial of symbols and of polynomials divided by a number, rounded down. It is kept in one form,
/// in which equal polynomials are equal objects. Throws ValueError where a number leaves int64 or the form grows beyond any use.
class TAEDA_API Size {
 public:
  struct Term;
  /// A symbol, or dividend // divisor.
  struct Atom {
    std::string symbol;
    std::vector<Term> dividend;
    int64_t divisor = 1;
    bool operator==(const Atom&) const;
  };
  /// factor times the product of the atoms.
  struct Term {
    std::vector<Atom> atoms;  ///< sorted by their text
    int64_t factor = 0;
    bool operator==(const Term&) const;
  };

  Size(int64_t number = 0);
  static Size symbol(std::string name);

  bool is_number() const { return terms_.empty() || (terms_.size() == 1 && terms_[0].atoms.empty()); }
  /// Throws ValueError where it follows from a symbol.
  int64_t number() const;
  /// The symbol that it is, else empty.
  std::string_view as_symbol() const;
  /// The symbols that it follows from.
  std::vector<std::string> symbols() const;
  /// "2*time+1", "(height+1)//2"
  std::string text() const;
  /// With symbols of `values` replaced; others stay.
  Size with(const SymbolValues& values) const;
  /// The number that it is when symbols are `values`; throws ValueError where one has none.
  int64_t at(const SymbolValues& values) const;

  bool operator==(const Size&) const;
  friend TAEDA_API Size operator+(const Size& a, const Size& b);
  friend TAEDA_API Size operator-(const Size& a, const Size& b);
  friend TAEDA_API Size operator*(const Size& a, const Size& b);
  /// a // divisor, rounded down; the divisor is at least 1.
  friend TAEDA_API Size floor_divide(const Size& a, int64_t divisor);

 private:
  void add(Term term);
  void simplify();
  std::vector<Term> terms_;  ///< none equal but for their factors, which are not 0; by falling number of atoms, then by text
};

/// Whether a symbol may have this name: a word that the text form does not use otherwise.
TAEDA_API bool is_symbol_name(std::string_view name);

}  // namespace taeda::graph
