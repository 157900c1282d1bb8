// SPDX-License-Identifier: Apache-2.0
// The text form, read. Nothing is allocated by the numbers of a text, only by its length: tensors come with their elements or from outside.
#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "taeda/graph/fused.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"
#include "taeda/graph/verify.h"

namespace taeda::graph {

namespace {

constexpr int kMaxDepth = 8;  ///< of lists in lists

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':'; }

ScalarType dtype_of(std::string_view name) {
  for (int i = 0; i < static_cast<int>(sizeof detail::kItemSize); ++i) {
    if (is_supported(static_cast<ScalarType>(i)) && name == to_string(static_cast<ScalarType>(i))) return static_cast<ScalarType>(i);
  }
  return ScalarType::Undefined;
}

/// Words, numbers and signs of a text, and where they stand.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  bool at_line_end() {
    skip_blanks();
    return at_end() || text_[at_] == '\n' || text_[at_] == '#';
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  /// Past the end of this line and lines without content.
  void next_line() {
    if (!at_line_end()) expected("the end of the line");
    while (at_line_end() && !at_end()) at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) expected(str('"', c, '"'));
  }
  bool accept(std::string_view word) {
    skip_blanks();
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (text_.substr(at_, end - at_) != word) return false;
    at_ = end;
    return true;
  }
  std::string_view word(const char* what) {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) expected(what);
    return text_.substr(begin, at_ - begin);
  }
  char peek() {
    skip_blanks();
    return at_end() ? '\n' : text_[at_];
  }
  /// The characters that a floating number may have.
  std::string_view number_text() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (at_ == begin) expected("a number");
    return text_.substr(begin, at_ - begin);
  }
  /// Whether a formula of symbols begins here, and no number.
  bool at_formula() const {
    Reader ahead = *this;
    if (ahead.peek() == '(') return true;
    double number = 0;
    const std::string_view digits = ahead.number_text();
    if (digits == "nan" || digits.starts_with("nan:")) return false;
    return !read(digits, number) || ahead.peek() == '*' || ahead.peek() == '/';
  }
  /// An unsigned or negative number, up to the next sign.
  int64_t digits(const char* what) {
    const size_t begin = at_;
    at_ += at_ < text_.size() && text_[at_] == '-';
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    int64_t number = 0;
    if (!read(text_.substr(begin, at_ - begin), number)) fail(begin, str("expected ", what, " that fits 64 bits"));
    return number;
  }
  bool at_negative_number() const { return at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9'; }
  template <class T>
  T integer(const char* what) {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'))) ++at_;
    T number{};
    if (!read(text_.substr(begin, at_ - begin), number)) {
      fail(begin, str("expected ", what, " from ", +std::numeric_limits<T>::min(), " to ", +std::numeric_limits<T>::max()));
    }
    return number;
  }
  /// A floating number of the very bits that were written.
  template <class T>
  T floating() {
    skip_blanks();
    const size_t begin = at_;
    const std::string_view digits = number_text();
    if (digits == "nan") return std::bit_cast<T>(kUsualNan<T>);
    if (digits.starts_with("nan:")) {
      auto bits = kUsualNan<T>;
      if (!read(digits.substr(4), bits, 16)) fail(begin, str("expected the bits of a NaN in at most ", 2 * sizeof bits, " hexadecimal digits"));
      return std::bit_cast<T>(bits);
    }
    std::conditional_t<sizeof(T) == 2, float, T> number{};
    if ((digits.find_first_of("nN") != digits.npos && digits != "inf" && digits != "-inf") || !read(digits, number)) fail(begin, "expected a number");
    return static_cast<T>(number);
  }
  std::string quoted() {
    skip_blanks();
    const size_t begin = at_;
    expect('"');
    std::string out;
    for (;; ++at_) {
      if (at_end() || text_[at_] == '\n') fail(begin, "expected a text with a quotation mark at its end");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      const size_t escape = at_++;
      if (!at_end() && (text_[at_] == '"' || text_[at_] == '\\')) {
        out += text_[at_];
        continue;
      }
      uint8_t byte = 0;
      if (at_ + 2 >= text_.size() || text_[at_] != 'x' || !read(text_.substr(at_ + 1, 2), byte, 16)) fail(escape, "expected \\\", \\\\ or \\x and two digits");
      at_ += 2;
      out += static_cast<char>(byte);
    }
    ++at_;
    return out;
  }

  /// Throws: the wanted thing does not stand here.
  [[noreturn]] void expected(const std::string& what) { skip_blanks(), fail(at_, "expected " + what); }
  [[noreturn]] void fail(size_t position, const std::string& rule) const {
    std::string_view rest = text_.substr(position);
    rest = rest.substr(0, rest.find('\n'));
    const std::string got = rest.empty() ? position == text_.size() ? "the end of the text" : "the end of the line"
                                         : graph::quoted(rest.substr(0, 40)) + (rest.size() > 40 ? "…" : "");
    throw_at(position, str(rule, "; got ", got, "; correct the text"));
  }
  [[noreturn]] void throw_at(size_t position, const std::string& message) const {
    const std::string_view before = text_.substr(0, position);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = position - (before.rfind('\n') + 1) + 1;
    throw ValueError(TAEDA_HERE, str("[graph] line ", line, ", column ", column, ": ", message));
  }

 private:
  template <class T, class... Base>
  static bool read(std::string_view digits, T& number, Base... base) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base...);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const States& tensors) : in_(text) {
    for (const auto& [name, t] : tensors) tensors_.emplace(name, t);
  }

  Graph parse() {
    if (in_.at_line_end() && !in_.at_end()) in_.next_line();
    if (!in_.accept("graph") || in_.integer<int>("the version of the text form") != 1) in_.fail(0, "expected \"graph 1\", the version of the text form");
    in_.next_line();
    while (!in_.accept("return")) {
      const size_t begin = in_.position();
      if (in_.at_end()) in_.expected("a line that begins with \"return\"");
      if (in_.accept("symbol")) symbol();
      else if (in_.accept("input")) leaf(Origin::kInput, begin);
      else if (in_.accept("state")) leaf(Origin::kState, begin);
      else if (in_.accept("constant")) leaf(Origin::kConstant, begin);
      else if (in_.accept("mutate")) mutation(begin);
      else node(begin);
      in_.next_line();
    }
    outputs();
    check();
    return std::move(graph_);
  }

 private:
  void outputs() {
    while (!in_.at_line_end()) {
      if (!graph_.outputs.empty()) in_.expect(',');
      positions_[Part::kOutput].push_back(in_.position());
      graph_.outputs.push_back(use());
    }
    // Its end shows that the last number is whole.
    if (in_.at_end()) in_.expected("the end of the line");
    in_.next_line();
    if (!in_.at_end()) in_.expected("nothing behind \"return\"");
  }
  void check() {
    Part part;
    try {
      graph::verify(graph_, part);
    } catch (const Error& e) {
      blame(part.kind == Part::kNothing ? 0 : positions_[part.kind].at(part.index), e);
    }
  }
  template <class F>
  auto guarded(size_t position, F&& f) const -> decltype(f()) {
    try {
      return f();
    } catch (const Error& e) {
      blame(position, e);
    }
  }
  [[noreturn]] void blame(size_t position, const Error& e) const {
    const std::string_view prefix = "[graph] ", text = e.what();
    in_.throw_at(position, std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text));
  }

  int64_t number() {
    in_.expect('%');
    return in_.integer<int64_t>("the number of a value");
  }
  Id use() {
    in_.skip_blanks();
    const size_t begin = in_.position();
    const auto at = ids_.find(number());
    if (at == ids_.end()) in_.fail(begin, "a value is made before it is used");
    return at->second;
  }
  /// "symbol batch in [1, 64]"
  void symbol() {
    in_.skip_blanks();
    const size_t begin = in_.position();
    Symbol s;
    s.name = in_.word("a name");
    if (!is_symbol_name(s.name)) in_.fail(begin, "expected a name of letters, digits and _ that means nothing else");
    const auto same = [&](const Symbol& other) { return other.name == s.name; };
    if (std::any_of(graph_.symbols.begin(), graph_.symbols.end(), same)) in_.fail(begin, "a symbol is declared once");
    if (!in_.accept("in")) in_.expected("\"in\" and a range");
    in_.expect('[');
    s.min = in_.integer<int64_t>("a size");
    in_.expect(',');
    s.max = in_.integer<int64_t>("a size");
    in_.expect(']');
    if (s.min < 0 || s.min > s.max) in_.fail(begin, "a range goes from 0 or more to as much or more");
    graph_.symbols.push_back(std::move(s));
  }
  /// "2*time+1": sums of products, from left to right.
  Size size(int depth = 0) {
    if (depth == kMaxDepth) in_.expected("no deeper parentheses");
    const bool negative = in_.peek() == '-' && !in_.at_negative_number();
    if (negative) in_.expect('-');
    Size total = product(depth);
    if (negative) total = Size(0) - total;
    for (;;) {
      in_.skip_blanks();
      const size_t begin = in_.position();
      if (in_.accept('+')) total = guarded(begin, [&] { return total + product(depth); });
      else if (in_.accept('-')) total = guarded(begin, [&] { return total - product(depth); });
      else return total;
    }
  }
  Size product(int depth) {
    Size total = factor(depth);
    for (;;) {
      in_.skip_blanks();
      const size_t begin = in_.position();
      if (in_.accept('*')) {
        const Size next = factor(depth);
        total = guarded(begin, [&] { return total * next; });
      } else if (in_.accept('/')) {
        in_.expect('/');
        in_.skip_blanks();
        const int64_t divisor = in_.digits("a divisor");
        total = guarded(begin, [&] { return floor_divide(total, divisor); });
      } else {
        return total;
      }
    }
  }
  Size factor(int depth) {
    if (in_.accept('(')) {
      const Size inner = size(depth + 1);
      in_.expect(')');
      return inner;
    }
    const char first = in_.peek();
    if (first == '-' || (first >= '0' && first <= '9')) return Size(in_.digits("a number"));
    const size_t begin = in_.position();
    const std::string name(in_.word("a size"));
    const auto same = [&](const Symbol& s) { return s.name == name; };
    if (std::none_of(graph_.symbols.begin(), graph_.symbols.end(), same)) in_.fail(begin, "a symbol is declared before it is used");
    return Size::symbol(name);
  }
  std::vector<Size> sizes() {
    std::vector<Size> list;
    in_.expect('[');
    while (!in_.accept(']')) {
      if (!list.empty()) in_.expect(',');
      list.push_back(graph_.symbols.empty() ? Size(in_.integer<int64_t>("a number")) : size());
    }
    return list;
  }
  /// "%5: Float[2, 3] strides [1, 2]", which makes a value.
  Id define(Origin origin, int64_t& number) {
    in_.skip_blanks();
    const size_t begin = in_.position();
    number = this->number();
    const Id id = static_cast<Id>(graph_.values.size());
    if (number < 0) in_.fail(begin, "expected the number of a value");
    if (!ids_.emplace(number, id).second) in_.fail(begin, "a value is made once");
    in_.expect(':');
    in_.skip_blanks();
    const size_t dtype = in_.position();
    Datum v;
    v.origin = origin;
    const ScalarType named = dtype_of(in_.word("a dtype"));
    if (named == ScalarType::Undefined) in_.fail(dtype, "expected a dtype");
    const std::vector<Size> sizes = this->sizes();
    std::vector<Size> strides;
    if (in_.accept("strides")) strides = this->sizes();
    else strides = guarded(begin, [&] { return contiguous_strides(sizes); });
    v.type = make_type(named, sizes, strides);
    graph_.values.push_back(std::move(v));
    positions_[Part::kValue].push_back(begin);
    return id;
  }

  void leaf(Origin origin, size_t begin) {
    int64_t number = 0;
    const Id id = define(origin, number);
    Datum& v = graph_.values[static_cast<size_t>(id)];
    if (origin == Origin::kInput) graph_.inputs.push_back(id);
    if (in_.peek() == '"') v.name = in_.quoted();
    if (origin == Origin::kInput) return;
    if (is_symbolic(v.type)) in_.fail(begin, "a state or constant has one size");
    if (origin == Origin::kState) {
      const int64_t offset = in_.accept("offset") ? in_.integer<int64_t>("an offset") : 0;
      v.tensor = guarded(begin, [&] { return state(v, offset); });
      return;
    }
    const bool wrapped = in_.accept("number");
    const int64_t length = guarded(begin, [&] { return length_of(v.type); });
    if (in_.accept("stored")) v.tensor = guarded(begin, [&] { return stored(v.type, length, stored_name(number)); });
    else v.tensor = inlined(v.type, length);
    if (wrapped && !v.type.sizes.empty()) in_.fail(begin, "numbers have no dimensions");
    if (wrapped) v.tensor.mutable_impl().flags |= kFlagWrappedNumber;
  }
  const Tensor& given(const std::string& name, ScalarType dtype) const {
    const auto at = tensors_.find(name);
    TAEDA_CHECK(at != tensors_.end() && at->second.defined(), "[graph] every tensor that the text names is given: ", quoted(name), " is not; pass it");
    TAEDA_CHECK(at->second.scalar_type() == dtype, "[graph] given tensors have the text's dtype: got ", at->second.scalar_type(), " for ", dtype, " of ",
                quoted(name), "; pass another");
    return at->second;
  }
  Tensor state(const Datum& v, int64_t offset) const {
    const Tensor& t = given(v.name, v.type.dtype);
    TAEDA_CHECK(t.sizes() == IntArrayRef(v.type.sizes), "[graph] given tensors have the text's sizes: got ", t.sizes(), " for ", IntArrayRef(v.type.sizes),
                " of ", quoted(v.name), "; pass another");
    TAEDA_CHECK(t.storage_offset() == offset, "[graph] given tensors lie where the text says: got offset ", t.storage_offset(), " for ", offset, " of ",
                quoted(v.name), "; clone() the state before the capture");
    if (t.strides() == IntArrayRef(v.type.strides)) return t;
    TAEDA_CHECK(length_of(v.type) <= t.numel(), "[graph] a given tensor of other strides fills its memory: got strides ", t.strides(), " for ",
                IntArrayRef(v.type.strides), " of ", quoted(v.name), "; pass another");
    const Tensor copy = make_tensor_strided(v.type.sizes, v.type.strides, v.type.dtype);
    copy.copy_(t);
    return copy;
  }
  Tensor stored(const Type& type, int64_t length, const std::string& name) const {
    const Tensor& t = given(name, type.dtype);
    TAEDA_CHECK(t.dim() == 1 && t.numel() == length && t.is_contiguous(), "[graph] the memory of a constant has its length: got ", t.sizes(),
                " for ", length, " of ", quoted(name), "; pass another");
    return make_view(t.storage_offset() == 0 ? t : copy_as_laid_out(t), type.sizes, type.strides, 0);
  }
  /// Elements from the first to the last one in memory. Throws where they cannot be counted.
  static int64_t length_of(const Type& type) {
    detail::checked_numel(type.sizes, "graph");
    TAEDA_CHECK(type.sizes.size() == type.strides.size(), "[graph] a type has a stride for each size: got ", type.sizes.size(), " and ",
                type.strides.size(), "; complete it");
    TAEDA_CHECK(type.sizes.size() <= static_cast<size_t>(kMaxDims), "[graph] tensors have at most ", kMaxDims, " dimensions: got ", type.sizes.size(),
                "; flatten some of them");
    for (const int64_t stride : type.strides) TAEDA_CHECK(stride >= 0, "[graph] strides are at least 0: got ", stride, "; correct them");
    return static_cast<int64_t>(detail::storage_bytes(type.sizes, type.strides, 0, item_size(type.dtype), "graph") / item_size(type.dtype));
  }
  /// "= [1.0, 2.0]"
  Tensor inlined(const Type& type, int64_t length) {
    in_.expect('=');
    in_.expect('[');
    const size_t begin = in_.position();
    return dispatch_all(type.dtype, "graph", [&]<class T>() {
      std::vector<char> bytes;  // not of T: vector<bool> has no elements to copy
      int64_t count = 0;
      while (!in_.accept(']')) {
        if (count != 0) in_.expect(',');
        const T number = element<T>();
        const char* from = reinterpret_cast<const char*>(&number);
        bytes.insert(bytes.end(), from, from + sizeof number);
        ++count;
      }
      if (count != length) in_.fail(begin, str("expected ", length, " elements instead of ", count));
      const Tensor t = make_tensor_strided(type.sizes, type.strides, type.dtype);
      if (!bytes.empty()) std::copy(bytes.begin(), bytes.end(), static_cast<char*>(t.impl().storage->data));
      return t;
    });
  }
  template <class T>
  T element() {
    if constexpr (std::is_same_v<T, bool>) {
      if (in_.accept("true")) return true;
      if (!in_.accept("false")) in_.expected("true or false");
      return false;
    } else if constexpr (std::is_integral_v<T>) {
      return in_.integer<T>("a number");
    } else {
      return in_.floating<T>();
    }
  }

  void node(size_t begin) {
    Node node;
    int64_t number = 0;
    for (bool first = true; !in_.accept('='); first = false) {
      if (!first) in_.expect(',');
      if (in_.accept("_")) {
        node.results.push_back(-1);
        continue;
      }
      if (in_.peek() != '%') in_.expected("input, state, constant, mutate, return or %");
      const Id id = define(Origin::kResult, number);
      if (in_.accept("of")) node.updates.push_back({in_.integer<int>("the number of a tensor argument"), id});
      else if (node.updates.empty()) node.results.push_back(id);
      else in_.expected("\"of\": updates come last");
    }
    in_.skip_blanks();
    const size_t name = in_.position();
    node.op = operator_of(in_.word("the name of an operator"));
    if (!node.op) in_.fail(name, "the registry has no such operator");
    const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    in_.expect('(');
    while (!in_.accept(')')) {
      if (!node.args.empty()) in_.expect(',');
      const bool tensors = node.args.size() < schema.size() && schema[node.args.size()].type.starts_with("Tensor");
      node.args.push_back(argument(tensors, 0));
    }
    node.random = in_.accept("random");
    if (in_.accept("in")) node.path = in_.quoted();
    graph_.nodes.push_back(std::move(node));
    positions_[Part::kNode].push_back(begin);
  }
  static const OpInfo* operator_of(std::string_view full) {
    if (const OpInfo* op = fused_operator(full)) return op;
    const size_t dot = full.rfind('.');
    for (const bool split : {false, true}) {
      if (split && dot == full.npos) break;
      for (const OpInfo* op : find_ops(split ? full.substr(0, dot) : full)) {
        if ((split ? full.substr(dot + 1) : std::string_view()) == op->overload) return op;
      }
    }
    return nullptr;
  }
  Arg argument(bool tensors, int depth) {
    Arg arg;
    if (in_.peek() == '%') {
      arg.value = use();
      return arg;
    }
    if (tensors && depth == 0 && in_.accept('[')) {
      arg.is_list = true;
      while (!in_.accept(']')) {
        if (!arg.items.empty()) in_.expect(',');
        arg.items.push_back(argument(true, 1));
      }
      return arg;
    }
    arg.attribute = attribute(depth, arg.symbolic);
    return arg;
  }
  /// What symbols are in for is none, and goes to `symbolic`.
  Value attribute(int depth, std::vector<Size>& symbolic) {
    if (in_.accept('[')) {
      if (depth == kMaxDepth) in_.expected("no deeper list");
      Value::List list;
      while (!in_.accept(']')) {
        if (!list.empty()) in_.expect(',');
        list.push_back(attribute(depth + 1, symbolic));
      }
      return Value(std::move(list));
    }
    if (in_.peek() == '"') return Value(in_.quoted());
    if (in_.accept("none")) return Value();
    if (in_.accept("true")) return Value(true);
    if (in_.accept("false")) return Value(false);
    if (in_.accept("device")) return device();
    if (!graph_.symbols.empty() && in_.at_formula()) {
      const Size size = this->size();
      if (size.is_number()) return Value(size.number());
      symbolic.push_back(size);
      return Value();
    }
    Reader ahead = in_;
    return ahead.number_text().find_first_not_of("-0123456789") == std::string_view::npos ? Value(in_.integer<int64_t>("a number"))
                                                                                          : Value(in_.floating<double>());
  }
  Value device() {
    in_.skip_blanks();
    const size_t begin = in_.position();
    const std::string name = in_.quoted();
    try {
      return Value(Device(name));
    } catch (const Error&) {
      in_.fail(begin, "expected a device");
    }
  }
  void mutation(size_t begin) {
    const Id target = use();
    in_.expect('=');
    graph_.mutations.push_back({target, use()});
    positions_[Part::kMutation].push_back(begin);
  }

  Reader in_;
  Graph graph_;
  std::unordered_map<std::string, Tensor> tensors_;
  std::unordered_map<int64_t, Id> ids_;
  std::vector<size_t> positions_[5];  ///< by Part::Kind and index
};

}  // namespace

Graph parse(std::string_view text, const States& tensors) {
  const BelowDoorGuard below;
  return Parser(text, tensors).parse();
}

}  // namespace taeda::graph
