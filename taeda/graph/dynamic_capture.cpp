// SPDX-License-Identifier: Apache-2.0
// Captures at several sizes, and the comparison of what comes out with the function.
#include "taeda/graph/dynamic_capture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "taeda/core/generator.h"
#include "taeda/core/modes.h"
#include "taeda/graph/executable.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"
#include "taeda/ops/capture.h"

namespace taeda::graph {

namespace {

using Point = std::vector<int64_t>;

/// Looks are taken from here on where the range allows it: at small sizes, 0 and 1 above all, different views coincide.
constexpr int64_t kOrdinary = 5;
constexpr size_t kLooks = 5, kLooksPerSymbol = 2, kMoreLooks = 14;
/// Special sizes that a symbol is tried at, of either kind, and how far from its least they are looked for.
constexpr size_t kSpecialSizes = 6;
constexpr int64_t kFarthest = 256;

/// A sequence of numbers that is the same in every run and touches no generator of the program.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t next(uint64_t below) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % below;
  }
  double unit() { return static_cast<double>(next(uint64_t{1} << 20)) / static_cast<double>(uint64_t{1} << 20); }

 private:
  uint64_t state_;
};

/// What the function changes outside of itself, as it was: put back at the end.
class Outside {
 public:
  Outside() : generator_(default_generator_state()) {}
  explicit Outside(const Graph& graph) : Outside() {
    for (const Mutation& m : graph.mutations) {
      const Datum& v = graph.values[static_cast<size_t>(m.target)];
      if (v.origin == Origin::kState) states_.emplace_back(v.tensor.detach(), copy_as_laid_out(v.tensor.detach()));
    }
  }
  void put_back() const {
    for (const auto& [state, before] : states_) state.copy_(before);
    set_default_generator_state(generator_);
  }
  /// The states as they are now.
  std::vector<Tensor> states() const {
    std::vector<Tensor> list;
    for (const auto& [state, before] : states_) list.push_back(copy_as_laid_out(state));
    return list;
  }

 private:
  std::vector<uint8_t> generator_;
  std::vector<std::pair<Tensor, Tensor>> states_;
};

struct PutBack {
  const Outside& outside;
  ~PutBack() { outside.put_back(); }
};

/// A new tensor without gaps, whose dimensions lie in memory in the order of those of `like`.
Tensor empty_as_ordered(const Tensor& like, const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (!like.is_contiguous()) std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return like.strides()[a] > like.strides()[b]; });
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return make_tensor_strided(sizes, strides, like.scalar_type());
}

/// Other elements like those of `t`, so that an element in a wrong place shows: numbers closer to zero, integers among those that are there.
Tensor mixed(const Tensor& t, Numbers& numbers) {
  const Tensor result = t.contiguous().clone();
  dispatch_all(t.scalar_type(), "graph", [&]<class T>() {
    T* const elements = static_cast<T*>(result.data_ptr());
    const Tensor origin = t.contiguous();
    const T* const from = static_cast<const T*>(origin.const_data_ptr());
    const auto n = static_cast<uint64_t>(t.numel());
    for (uint64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        elements[i] = from[numbers.next(n)];
      } else {
        const auto x = static_cast<double>(from[i]);
        elements[i] = static_cast<T>(x == 0 ? numbers.unit() / 8 : x * (1 - numbers.unit() / 8));
      }
    }
  });
  return result;
}

template <class T>
bool same_elements(const Tensor& a, const Tensor& b) {
  const T *x = static_cast<const T*>(a.const_data_ptr()), *y = static_cast<const T*>(b.const_data_ptr());
  for (int64_t i = 0; i < a.numel(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      if (x[i] != y[i]) return false;
    } else {
      const auto u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
      if (!(u == v && std::signbit(u) == std::signbit(v)) && !(std::isnan(u) && std::isnan(v))) return false;
    }
  }
  return true;
}

/// Equal bits; a NaN equals every NaN.
bool same(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return dispatch_all(x.scalar_type(), "graph", [&]<class T>() { return same_elements<T>(x, y); });
}

class DynamicCapture {
 public:
  DynamicCapture(const Function& function, const std::vector<Tensor>& examples, const States& states, const std::vector<Dynamic>& dynamic)
      : function_(function), states_(states) {
    for (const Tensor& t : examples) {
      TAEDA_CHECK_VALUE(t.defined(), "[graph] example inputs are tensors: got an undefined one; leave it out");
      examples_.push_back(t.detach());
    }
    for (const Dynamic& d : dynamic) add(d);
  }

  Graph run() {
    const ModesGuard modes;
    tls_modes.grad_enabled = false;
    refresh_mask(tls_modes);
    look_at(first_points()[0]);
    const Outside after(looks_[0]);  // the function has run once
    const PutBack put_back{after};
    for (const Point& point : first_points()) look_at(point);
    leave_most_alike();
    std::string failure;
    std::optional<Graph> graph = unify(looks_, symbols_, points_, failure);
    if (!graph) {
      for (const Point& point : more_points()) look_at(point);
      leave_most_alike();
      graph = unify(looks_, symbols_, points_, failure);
    }
    TAEDA_CHECK_VALUE(graph, "[graph] sizes follow from symbols by sums, products and divisions by small numbers: ", failure,
                      "; leave the dimension static, or give it a range of more sizes");
    restore_reshapes(*graph, looks_at_one());
    looks_.clear();
    verify(*graph);
    const Executable executable(*graph);
    for (const Point& point : test_points(*graph)) compare_at(point, *graph, executable);
    for (const Point& point : others_) compare_at(point, *graph, executable);
    return std::move(*graph);
  }

 private:
  void add(const Dynamic& d) {
    TAEDA_CHECK_VALUE(d.input < examples_.size(), "[graph] a dynamic dimension is one of an input: got input ", d.input, " of ", examples_.size(),
                      "; correct it");
    const Tensor& t = examples_[d.input];
    const int64_t dim = d.dim < 0 ? d.dim + t.dim() : d.dim;
    TAEDA_CHECK_VALUE(dim >= 0 && dim < t.dim(), "[graph] a dynamic dimension is one of its input: got ", d.dim, " of the ", t.dim(), " of input ", d.input,
                      "; correct it");
    const Symbol& s = d.symbol;
    TAEDA_CHECK_VALUE(is_symbol_name(s.name), "[graph] the name of a symbol is one of letters, digits and _ that means nothing else in a graph's text: got \"",
                      s.name, "\"; choose another");
    TAEDA_CHECK_VALUE(s.min >= 0 && s.min < s.max, "[graph] a dynamic dimension has a range of sizes: got ", s.min, " to ", s.max, " for ", s.name,
                      "; widen it, or leave the dimension static");
    TAEDA_CHECK_VALUE(t.size(dim) >= s.min && t.size(dim) <= s.max, "[graph] examples lie in the ranges of their symbols: got ", t.size(dim), " for ", s.name,
                      " in ", s.min, " to ", s.max, "; widen the range");
    TAEDA_CHECK_VALUE(t.numel() > 0, "[graph] examples with dynamic dimensions have elements: got ", t.sizes(), " for input ", d.input, "; pass some");
    const auto at = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& other) { return other.name == s.name; });
    TAEDA_CHECK_VALUE(at == symbols_.end() || *at == s, "[graph] a symbol has one range: got two for ", s.name, "; give both dimensions the same");
    for (const Place& p : places_) {
      TAEDA_CHECK_VALUE(p.input != d.input || p.dim != dim, "[graph] a dimension is dynamic once: got ", dim, " of input ", d.input, " again; leave one out");
    }
    places_.push_back({d.input, dim, static_cast<size_t>(at - symbols_.begin())});
    if (at == symbols_.end()) symbols_.push_back(s);
  }

  /// Ordinary sizes of a symbol, small ones first; all where there are few.
  std::vector<int64_t> sizes_of(const Symbol& s, int64_t most) const {
    const int64_t first = std::max(s.min, std::min(kOrdinary, s.max - 3));
    std::vector<int64_t> sizes(static_cast<size_t>(std::min(most, s.max - first + 1)));
    std::iota(sizes.begin(), sizes.end(), first);
    return sizes;
  }
  /// Every symbol goes through its sizes, in an order of its own.
  std::vector<Point> points(size_t count, int64_t most, uint64_t seed) const {
    std::vector<Point> list(count, Point(symbols_.size()));
    Numbers numbers(seed);
    for (size_t i = 0; i < symbols_.size(); ++i) {
      std::vector<int64_t> sizes = sizes_of(symbols_[i], most);
      for (size_t k = sizes.size(); k > 1; --k) std::swap(sizes[k - 1], sizes[numbers.next(k)]);
      for (size_t p = 0; p < count; ++p) list[p][i] = sizes[p % sizes.size()];
    }
    return list;
  }
  std::vector<Point> first_points() const {
    std::vector<Point> list = points(kLooks - 1 + kLooksPerSymbol * (symbols_.size() - 1), 9, 1);
    list.push_back(end(&Symbol::max));
    return list;
  }
  std::vector<Point> more_points() const { return points(kMoreLooks, kMoreLooks, 2); }
  Point end(int64_t Symbol::* which) const {
    Point point;
    for (const Symbol& s : symbols_) point.push_back(s.*which);
    return point;
  }
  /// Sizes of a symbol at which others are 0 or 1, which views may leave out, or at which it equals another: a function may ask.
  std::vector<int64_t> special_sizes(const Graph& graph, size_t symbol) const {
    const Symbol& s = symbols_[symbol];
    SymbolValues at = values_of(points_[0]);
    std::vector<Size> formulas;
    std::set<int64_t> equal, special;
    for (const Datum& v : graph.values) {
      equal.insert(v.type.sizes.begin(), v.type.sizes.end());
      for (const Size& size : graph::sizes_of(v.type)) {
        if (!size.is_number() && std::find(formulas.begin(), formulas.end(), size) == formulas.end()) formulas.push_back(size);
      }
    }
    for (const Size& formula : formulas) {
      for (const int64_t small : {0, 1}) {
        for (int64_t n = s.min; n <= std::min(s.max, s.min + kFarthest) && special.size() < kSpecialSizes; ++n) {
          at[symbol].second = n;
          if (formula.at(at) != small) continue;
          special.insert(n);
          break;
        }
      }
    }
    size_t count = 0;
    for (auto n = equal.lower_bound(std::max<int64_t>(s.min, 2)); n != equal.end() && *n < s.max && count < kSpecialSizes; ++n, ++count) special.insert(*n);
    return {special.begin(), special.end()};
  }
  SymbolValues values_of(const Point& point) const {
    SymbolValues values;
    for (size_t i = 0; i < symbols_.size(); ++i) values.emplace_back(symbols_[i].name, point[i]);
    return values;
  }
  /// The ends of all ranges, each symbol at its least size among others, sizes in between, and special ones.
  std::vector<Point> test_points(const Graph& graph) const {
    std::vector<Point> list{end(&Symbol::min), end(&Symbol::max)};
    Numbers numbers(3);
    for (size_t i = 0; i <= 2 * symbols_.size(); ++i) {
      Point point;
      for (const Symbol& s : symbols_) point.push_back(s.min + static_cast<int64_t>(numbers.next(static_cast<uint64_t>(std::min<int64_t>(s.max - s.min, 40) + 1))));
      if (i > 0 && symbols_.size() > 1) point[(i - 1) / 2] = symbols_[(i - 1) / 2].min;
      list.push_back(point);
    }
    for (size_t i = 0; i < symbols_.size(); ++i) {
      for (const int64_t size : special_sizes(graph, i)) {
        list.push_back(points_[0]);
        list.back()[i] = size;
      }
    }
    return list;
  }

  /// The examples at other sizes.
  std::vector<Tensor> inputs_at(const Point& point, bool mix) const {
    std::vector<Tensor> inputs;
    Numbers numbers(7);
    for (size_t i = 0; i < examples_.size(); ++i) {
      Tensor t = examples_[i];
      std::vector<int64_t> sizes = t.sizes().vec();
      bool dynamic = false;
      for (const Place& p : places_) {
        if (p.input != i) continue;
        dynamic = true;
        sizes[static_cast<size_t>(p.dim)] = point[p.symbol];
        t = t.index_select(p.dim, arange(point[p.symbol], kLong).remainder(examples_[i].size(p.dim)));
      }
      if (mix) t = mixed(t, numbers);
      const Tensor placed = dynamic || overlaps_itself(examples_[i]) ? empty_as_ordered(examples_[i], sizes) : copy_as_laid_out(examples_[i]);
      placed.copy_(t);
      inputs.push_back(placed);
    }
    return inputs;
  }
  template <class F>
  auto in_context(const char* what, const Point& point, const F& f) const {
    try {
      return f();
    } catch (Error& e) {
      e.add_context(str(what, " at ", text_of(symbols_, point)));
      throw;
    }
  }
  static void verify(const Graph& graph) {
    try {
      graph.verify();
    } catch (const Error& e) {
      const std::string_view prefix = "[graph] ", text = e.msg();
      TAEDA_CHECK_VALUE(false, "[graph] formulas hold in the whole range: ", text.substr(text.starts_with(prefix) ? prefix.size() : 0),
                        "; give the dimension a range in which the function does the same");
    }
  }
  Graph capture_at(const Point& point) const {
    const std::vector<Tensor> inputs = inputs_at(point, false);
    return in_context("while capturing", point, [&] { return capture_once(function_, inputs, states_, true); });
  }
  void look_at(const Point& point) {
    for (const std::vector<Point>& list : {points_, others_}) {
      if (std::find(list.begin(), list.end(), point) != list.end()) return;
    }
    looks_.push_back(capture_at(point));
    points_.push_back(point);
    if (looks_.size() == 1) return;
    // One copy of each constant is enough.
    Graph& g = looks_.back();
    for (size_t id = 0; id < std::min(g.values.size(), looks_[0].values.size()); ++id) {
      const Datum& first = looks_[0].values[id];
      Datum& v = g.values[id];
      if (v.origin == Origin::kConstant && first.origin == v.origin && first.type == v.type && same_bytes(v.tensor, first.tensor)) v.tensor = first.tensor;
    }
  }

  /// Captures in which one symbol is 1 and the others have ordinary sizes.
  std::vector<std::pair<SymbolValues, Graph>> looks_at_one() const {
    std::vector<std::pair<SymbolValues, Graph>> list;
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].min > 1) continue;
      Point point = points_[0];
      point[i] = 1;
      list.emplace_back(values_of(point), capture_at(point));
    }
    return list;
  }
  /// Views that happen to coincide, and such, make a graph of another form at a few sizes. These are not looked at, but compared with what
  /// the others give.
  void leave_most_alike() {
    std::string first;
    for (size_t base = 0; base < looks_.size(); ++base) {
      std::vector<size_t> unlike;
      for (size_t i = 0; i < looks_.size(); ++i) {
        const std::string how = difference(looks_[base], text_of(symbols_, points_[base]), looks_[i], text_of(symbols_, points_[i]));
        if (how.empty()) continue;
        unlike.push_back(i);
        if (first.empty()) first = how;
      }
      if (unlike.size() * 3 > looks_.size()) continue;
      for (size_t k = unlike.size(); k-- > 0;) {
        const auto at = static_cast<std::ptrdiff_t>(unlike[k]);
        others_.push_back(points_[unlike[k]]);
        looks_.erase(looks_.begin() + at);
        points_.erase(points_.begin() + at);
      }
      return;
    }
    TAEDA_CHECK_VALUE(false, "[graph] ", first);
  }

  void compare_at(const Point& point, const Graph& graph, const Executable& executable) const {
    const Outside before(graph);
    const PutBack put_back{before};
    std::vector<Tensor> a = inputs_at(point, true), b = inputs_at(point, true), want;
    try {
      want = function_(a);
    } catch (const Error&) {
      // Elements that do not suit the function.
      a = inputs_at(point, false), b = inputs_at(point, false);
      before.put_back();
      want = in_context("while the function runs", point, [&] { return function_(a); });
    }
    for (Tensor& t : want) t = t.detach().clone();
    const std::vector<Tensor> states = before.states();
    before.put_back();
    const std::vector<Tensor> got = in_context("while the graph runs", point, [&] { return executable.run(b); });
    const auto check = [&](bool equal, const char* what, size_t i) {
      TAEDA_CHECK_VALUE(equal, "[graph] a graph with dynamic sizes gives the function's bits at every size: ", what, ' ', i, " differs at ",
                        text_of(symbols_, point), "; leave the dimension static, or give it a range in which the function does the same");
    };
    check(got.size() == want.size(), "the number of results, not result", got.size());
    for (size_t i = 0; i < got.size(); ++i) check(same(got[i], want[i]), "result", i);
    for (size_t i = 0; i < a.size(); ++i) check(same(a[i], b[i]), "what becomes of input", i);
    const std::vector<Tensor> after = before.states();
    for (size_t i = 0; i < after.size(); ++i) check(same(after[i], states[i]), "changed state", i);
  }

  /// A dynamic dimension.
  struct Place {
    size_t input;
    int64_t dim;
    size_t symbol;
  };
  const Function& function_;
  const States& states_;
  std::vector<Tensor> examples_;
  std::vector<Symbol> symbols_;
  std::vector<Place> places_;
  std::vector<Graph> looks_;
  std::vector<Point> points_, others_;  ///< of the looks; of those that were left out
};

}  // namespace

Graph capture_dynamic(const Function& function, const std::vector<Tensor>& examples, const States& states, const std::vector<Dynamic>& dynamic) {
  TAEDA_CHECK(!::taeda::capture::active(), "[graph] captures do not nest: got one inside another or inside a compiled function; capture outside");
  return DynamicCapture(function, examples, states, dynamic).run();
}

}  // namespace taeda::graph
