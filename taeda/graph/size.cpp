// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/size.h"

#include <algorithm>
#include <numeric>

#include "taeda/core/error.h"

namespace taeda::graph {

namespace {

constexpr size_t kMostTerms = 64, kMostAtoms = 12;
constexpr int kMostDepth = 16;

int64_t sum(int64_t a, int64_t b) {
  int64_t result = 0;
  TAEDA_CHECK_VALUE(!__builtin_add_overflow(a, b, &result), "[graph] sizes fit 64 bits: got ", a, " + ", b, "; correct them");
  return result;
}
int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  TAEDA_CHECK_VALUE(!__builtin_mul_overflow(a, b, &result), "[graph] sizes fit 64 bits: got ", a, " * ", b, "; correct them");
  return result;
}
int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0); }

std::string text_of(const std::vector<Size::Term>& terms);

std::string text_of(const Size::Atom& atom) {
  if (!atom.symbol.empty()) return atom.symbol;
  const bool alone = atom.dividend.size() == 1 && atom.dividend[0].factor == 1 && atom.dividend[0].atoms.size() == 1;
  const std::string dividend = text_of(atom.dividend);
  return (alone ? dividend : '(' + dividend + ')') + "//" + std::to_string(atom.divisor);
}

std::string text_of(const Size::Term& term) {
  std::string text;
  if (term.atoms.empty() || (term.factor != 1 && term.factor != -1)) text = std::to_string(term.factor);
  else if (term.factor == -1) text = "-";
  for (const Size::Atom& atom : term.atoms) {
    if (!text.empty() && text != "-") text += '*';
    // a//2 as a factor: left to right, b*a//2 would be (b*a)//2.
    text += atom.symbol.empty() && (term.atoms.size() > 1 || term.factor != 1) ? '(' + text_of(atom) + ')' : text_of(atom);
  }
  return text;
}

std::string text_of(const std::vector<Size::Term>& terms) {
  std::string text;
  for (const Size::Term& term : terms) {
    const std::string one = text_of(term);
    if (!text.empty() && one[0] != '-') text += '+';
    text += one;
  }
  return text.empty() ? "0" : text;
}

std::string text_of_atoms(const Size::Term& term) {
  std::string text;
  for (const Size::Atom& atom : term.atoms) (text += text_of(atom)) += '*';
  return text;
}

int depth_of(const std::vector<Size::Term>& terms) {
  int depth = 0;
  for (const Size::Term& term : terms) {
    for (const Size::Atom& atom : term.atoms) depth = std::max(depth, atom.symbol.empty() ? 1 + depth_of(atom.dividend) : 0);
  }
  return depth;
}

void collect(const std::vector<Size::Term>& terms, std::vector<std::string>& names) {
  for (const Size::Term& term : terms) {
    for (const Size::Atom& atom : term.atoms) {
      if (atom.symbol.empty()) collect(atom.dividend, names);
      else if (std::find(names.begin(), names.end(), atom.symbol) == names.end()) names.push_back(atom.symbol);
    }
  }
}

Size with_terms(const std::vector<Size::Term>& terms, const SymbolValues& values) {
  Size result;
  for (const Size::Term& term : terms) {
    Size one(term.factor);
    for (const Size::Atom& atom : term.atoms) {
      if (atom.symbol.empty()) {
        one = one * floor_divide(with_terms(atom.dividend, values), atom.divisor);
        continue;
      }
      const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == atom.symbol; });
      one = one * (at == values.end() ? Size::symbol(atom.symbol) : Size(at->second));
    }
    result = result + one;
  }
  return result;
}

int64_t number_of(const std::vector<Size::Term>& terms, const SymbolValues& values) {
  int64_t total = 0;
  for (const Size::Term& term : terms) {
    int64_t one = term.factor;
    for (const Size::Atom& atom : term.atoms) {
      if (atom.symbol.empty()) {
        one = product(one, floor_of(number_of(atom.dividend, values), atom.divisor));
        continue;
      }
      const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == atom.symbol; });
      TAEDA_CHECK_VALUE(at != values.end(), "[graph] every symbol is given a size: ", atom.symbol, " has none; give it one");
      one = product(one, at->second);
    }
    total = sum(total, one);
  }
  return total;
}

}  // namespace

bool Size::Atom::operator==(const Atom& o) const { return symbol == o.symbol && divisor == o.divisor && dividend == o.dividend; }
bool Size::Term::operator==(const Term& o) const { return factor == o.factor && atoms == o.atoms; }
bool Size::operator==(const Size& o) const { return terms_ == o.terms_; }

Size::Size(int64_t number) {
  if (number != 0) terms_.push_back({{}, number});
}

Size Size::symbol(std::string name) {
  Size result;
  result.terms_.push_back({{{std::move(name), {}, 1}}, 1});
  return result;
}

int64_t Size::number() const {
  TAEDA_CHECK_VALUE(is_number(), "[graph] a number follows from no symbol: got ", text(), "; give the sizes of the run");
  return terms_.empty() ? 0 : terms_[0].factor;
}

std::string_view Size::as_symbol() const {
  const bool one = terms_.size() == 1 && terms_[0].factor == 1 && terms_[0].atoms.size() == 1;
  return one ? std::string_view(terms_[0].atoms[0].symbol) : std::string_view();
}

std::vector<std::string> Size::symbols() const {
  std::vector<std::string> names;
  collect(terms_, names);
  return names;
}

std::string Size::text() const { return text_of(terms_); }

int64_t Size::at(const SymbolValues& values) const { return number_of(terms_, values); }

Size Size::with(const SymbolValues& values) const { return is_number() ? *this : with_terms(terms_, values); }

void Size::add(Term term) {
  for (Term& t : terms_) {
    if (t.atoms != term.atoms) continue;
    t.factor = sum(t.factor, term.factor);
    return;
  }
  terms_.push_back(std::move(term));
}

void Size::simplify() {
  std::erase_if(terms_, [](const Term& t) { return t.factor == 0; });
  TAEDA_CHECK_VALUE(terms_.size() <= kMostTerms, "[graph] a size has at most ", kMostTerms, " terms: got ", terms_.size(), "; leave a dimension static");
  std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) {
    return a.atoms.size() != b.atoms.size() ? a.atoms.size() > b.atoms.size() : text_of_atoms(a) < text_of_atoms(b);
  });
}

Size operator+(const Size& a, const Size& b) {
  Size result = a;
  for (const Size::Term& t : b.terms_) result.add(t);
  result.simplify();
  return result;
}

Size operator-(const Size& a, const Size& b) { return a + b * Size(-1); }

Size operator*(const Size& a, const Size& b) {
  Size result;
  for (const Size::Term& x : a.terms_) {
    for (const Size::Term& y : b.terms_) {
      Size::Term term{x.atoms, product(x.factor, y.factor)};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      TAEDA_CHECK_VALUE(term.atoms.size() <= kMostAtoms, "[graph] a product of sizes has at most ", kMostAtoms, " factors: got ", term.atoms.size(),
                        "; leave a dimension static");
      std::stable_sort(term.atoms.begin(), term.atoms.end(), [](const Size::Atom& u, const Size::Atom& v) { return text_of(u) < text_of(v); });
      result.add(std::move(term));
    }
  }
  result.simplify();
  return result;
}

Size floor_divide(const Size& a, int64_t divisor) {
  TAEDA_CHECK_VALUE(divisor >= 1, "[graph] a size is divided by a number of at least 1: got ", divisor, "; correct it");
  // Multiples of the divisor come out: 0 <= factor < divisor is left of each term.
  Size whole, rest;
  for (const Size::Term& t : a.terms_) {
    const int64_t out = floor_of(t.factor, divisor);
    const int64_t left = t.factor - out * divisor;
    if (out != 0) whole.terms_.push_back({t.atoms, out});
    if (left != 0) rest.terms_.push_back({t.atoms, left});
  }
  if (rest.is_number()) return whole;  // below the divisor
  int64_t constant = 0, common = divisor;
  for (const Size::Term& t : rest.terms_) {
    if (t.atoms.empty()) constant = t.factor;
    else common = std::gcd(common, t.factor);
  }
  if (common > 1) {
    for (Size::Term& t : rest.terms_) t.factor = floor_of(t.factor, common);
    constant = floor_of(constant, common);
    divisor /= common;
    rest.simplify();
  }
  // (x // c + constant) // divisor
  const Size::Term& first = rest.terms_[0];
  const bool nested = rest.terms_.size() == (constant != 0 ? 2u : 1u) && first.factor == 1 && first.atoms.size() == 1 && first.atoms[0].symbol.empty();
  Size::Term quotient{{Size::Atom{}}, 1};
  if (nested) {
    Size dividend;
    dividend.terms_ = first.atoms[0].dividend;
    const int64_t inner = first.atoms[0].divisor;
    return whole + floor_divide(dividend + Size(product(constant, inner)), product(divisor, inner));
  }
  quotient.atoms[0].dividend = rest.terms_;
  quotient.atoms[0].divisor = divisor;
  TAEDA_CHECK_VALUE(depth_of(rest.terms_) < kMostDepth, "[graph] divisions of sizes lie in one another at most ", kMostDepth,
                    " times; leave a dimension static");
  Size result;
  result.terms_.push_back(std::move(quotient));
  return divisor == 1 ? whole + rest : whole + result;
}

bool is_symbol_name(std::string_view name) {
  for (const std::string_view word : {"none", "true", "false", "device", "nan", "inf", "infinity", "random", "in", "of", "strides", "stored", "number"}) {
    if (name == word) return false;
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name.size() > 64 || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace taeda::graph
