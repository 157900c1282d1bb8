// SPDX-License-Identifier: Apache-2.0
// Contractions by index notation.
#include <algorithm>
#include <array>
#include <cctype>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

/// Sums products of two tensors of equal rank over the dimensions of `summed`; sizes of 1 broadcast. Every dimension stays,
/// summed ones with size 1.
Tensor contract(Tensor left, Tensor right, const std::vector<int64_t>& summed) {
  const int64_t rank = left.dim();
  std::vector<bool> is_summed(static_cast<size_t>(rank), false);
  for (const int64_t d : summed) is_summed[static_cast<size_t>(d)] = true;
  DimVector both, only_left, only_right, sums;
  int64_t batch = 1, rows = 1, columns = 1, inner = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const bool in_left = left.size(d) != 1, in_right = right.size(d) != 1;
    if (is_summed[static_cast<size_t>(d)]) {
      if (in_left && in_right) {
        TAEDA_CHECK(left.size(d) == right.size(d), "[einsum] sizes of a summed index must be equal: got ", left.size(d), " and ", right.size(d),
                    "; check the shapes");
        sums.push_back(d);
        inner *= left.size(d);
      } else if (in_left) {
        left = left.sum(IntArrayRef(d), true);
        only_left.push_back(d);
      } else if (in_right) {
        right = right.sum(IntArrayRef(d), true);
        only_left.push_back(d);
      } else {
        only_left.push_back(d);
      }
    } else if (in_left && in_right) {
      TAEDA_CHECK(left.size(d) == right.size(d), "[einsum] sizes of an index must be equal: got ", left.size(d), " and ", right.size(d), "; check the shapes");
      both.push_back(d);
      batch *= left.size(d);
    } else if (in_right) {
      only_right.push_back(d);
      columns *= right.size(d);
    } else {
      only_left.push_back(d);
      rows *= left.size(d);
    }
  }
  const auto joined = [](std::initializer_list<const DimVector*> parts) {
    DimVector all;
    for (const DimVector* part : parts) all.append(part->begin(), part->end());
    return all;
  };
  if (sums.empty() && left.scalar_type() != right.scalar_type()) {  // a product of elements promotes
    const ScalarType type = result_type(left, right);
    left = left.to(type);
    right = right.to(type);
  }
  const Tensor a = left.permute(joined({&both, &only_left, &sums, &only_right})).reshape({batch, rows, inner});
  const Tensor b = right.permute(joined({&both, &sums, &only_right, &only_left})).reshape({batch, inner, columns});
  Tensor product = batch == 1 ? taeda::mm(a.squeeze(0), b.squeeze(0)) : taeda::bmm(a, b);
  const DimVector order = joined({&both, &only_left, &sums, &only_right});
  DimVector sizes, back(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t d = order[i];
    back[static_cast<size_t>(d)] = static_cast<int64_t>(i);
    const bool gone = is_summed[static_cast<size_t>(d)];
    sizes.push_back(gone ? 1 : std::max(left.size(d), right.size(d)));
    if (!gone && (left.size(d) == 0 || right.size(d) == 0)) sizes[i] = 0;
  }
  return product.reshape(sizes).permute(back);
}

/// The labels of one operand: letters, and kEllipsis for "…".
constexpr int kEllipsis = -1;
std::vector<int> read_labels(std::string_view text, std::string_view equation) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      TAEDA_CHECK(text.substr(i, 3) == "...", "[einsum] a '.' must be part of an ellipsis '...': got '", equation, "'; correct the equation");
      TAEDA_CHECK(std::find(labels.begin(), labels.end(), kEllipsis) == labels.end(), "[einsum] an operand has one ellipsis at most: got '", equation,
                  "'; correct the equation");
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    TAEDA_CHECK(std::isalpha(static_cast<unsigned char>(c)), "[einsum] subscripts must be in [a-zA-Z]: got '", c, "' in '", equation, "'; correct the equation");
    labels.push_back(c);
  }
  return labels;
}

/// Sums of products named by index letters (Einstein's convention), as "ij,jk->ik"; '...' stands for broadcast dimensions.
struct Einsum : Composite {
  static constexpr auto schema = "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(std::string_view equation, TensorList tensors, OptionalIntArrayRef /*path*/) {
    TAEDA_CHECK(!tensors.empty(), "[einsum] must provide at least one operand: got none; pass tensors");
    const size_t arrow = equation.find("->");
    const std::string_view left = equation.substr(0, arrow);
    std::vector<std::vector<int>> operands;
    for (size_t at = 0;;) {
      const size_t comma = left.find(',', at);
      operands.push_back(read_labels(left.substr(at, comma == std::string_view::npos ? comma : comma - at), equation));
      if (comma == std::string_view::npos) break;
      at = comma + 1;
    }
    TAEDA_CHECK(operands.size() == tensors.size(), "[einsum] the number of operands must be that of the equation: got ", tensors.size(), " for '", equation,
                "'; correct one");
    // How many dimensions the ellipsis stands for, and how often each letter occurs.
    int64_t extra = 0;
    std::array<int, 128> uses{};
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool has = std::find(operands[i].begin(), operands[i].end(), kEllipsis) != operands[i].end();
      const int64_t named = static_cast<int64_t>(operands[i].size()) - has;
      TAEDA_CHECK(has ? tensors[i].dim() >= named : tensors[i].dim() == named, "[einsum] the number of subscripts must match the dimensions of operand ", i, ": got ",
                  named, " for ", tensors[i].sizes(), "; correct the equation");
      if (has) extra = std::max(extra, tensors[i].dim() - named);
      for (const int label : operands[i]) {
        if (label >= 0) ++uses[static_cast<size_t>(label)];
      }
    }
    std::vector<int> result;
    if (arrow != std::string_view::npos) {
      result = read_labels(equation.substr(arrow + 2), equation);
    } else {
      if (extra > 0) result.push_back(kEllipsis);
      for (int c = 0; c < 128; ++c) {
        if (uses[static_cast<size_t>(c)] == 1) result.push_back(c);
      }
    }
    return evaluate(operands, result, tensors, extra, equation);
  }
  /// All operands get one order of dimensions: first those of the result, then the summed ones.
  static Tensor evaluate(const std::vector<std::vector<int>>& operands, const std::vector<int>& result, TensorList tensors, int64_t extra,
                         std::string_view equation) {
    std::array<int64_t, 128> place;
    place.fill(-1);
    int64_t ellipsis_at = -1, rank = 0;
    for (const int label : result) {
      if (label == kEllipsis) {
        ellipsis_at = rank;
        rank += extra;
        continue;
      }
      TAEDA_CHECK(place[static_cast<size_t>(label)] < 0, "[einsum] an output subscript appears more than once: got '", equation, "'; correct the equation");
      place[static_cast<size_t>(label)] = rank++;
    }
    const int64_t kept = rank;
    if (ellipsis_at < 0 && extra > 0) {  // broadcast dimensions that the result lacks are summed
      ellipsis_at = rank;
      rank += extra;
    }
    std::vector<bool> known(128, false);
    for (const auto& labels : operands) {
      for (const int label : labels) {
        if (label == kEllipsis) continue;
        known[static_cast<size_t>(label)] = true;
        if (place[static_cast<size_t>(label)] < 0) place[static_cast<size_t>(label)] = rank++;
      }
    }
    for (const int label : result) {
      TAEDA_CHECK(label == kEllipsis || known[static_cast<size_t>(label)], "[einsum] an output subscript does not appear in the inputs: got '", equation,
                  "'; correct the equation");
    }
    std::vector<Tensor> aligned;
    for (size_t i = 0; i < operands.size(); ++i) aligned.push_back(align(tensors[i], operands[i], place, ellipsis_at, extra, rank));
    Tensor total = aligned[0];
    for (size_t i = 1; i < aligned.size(); ++i) {
      std::vector<int64_t> summed;  // dimensions that no later operand has
      for (int64_t d = kept; d < rank; ++d) {
        bool later = false;
        for (size_t j = i + 1; j < aligned.size(); ++j) later |= aligned[j].size(d) != 1;
        if (!later) summed.push_back(d);
      }
      total = contract(total, aligned[i], summed);
    }
    DimVector rest;
    for (int64_t d = kept; d < rank; ++d) rest.push_back(d);
    if (rest.empty()) return total;
    return aligned.size() == 1 ? total.sum(rest) : total.squeeze(rest);
  }
  static Tensor align(const Tensor& tensor, const std::vector<int>& labels, const std::array<int64_t, 128>& place, int64_t ellipsis_at, int64_t extra,
                      int64_t rank) {
    Tensor t = tensor;
    std::vector<int64_t> at;  // place of each dimension of t
    int64_t dim = 0;
    for (const int label : labels) {
      if (label == kEllipsis) {
        const int64_t here = tensor.dim() - (static_cast<int64_t>(labels.size()) - 1);
        for (int64_t d = 0; d < here; ++d) at.push_back(ellipsis_at + extra - here + d);
        dim += here;
        continue;
      }
      const int64_t target = place[static_cast<size_t>(label)];
      const auto seen = std::find(at.begin(), at.end(), target);
      if (seen == at.end()) {
        at.push_back(target);
        ++dim;
        continue;
      }
      // A repeated letter: the diagonal, which diagonal() puts last.
      const int64_t first = seen - at.begin();
      TAEDA_CHECK(t.size(first) == t.size(dim), "[einsum] a repeated subscript must have equal sizes: got ", tensor.sizes(), "; check the shapes");
      t = t.diagonal(0, first, dim).movedim(-1, first);
    }
    DimVector order(static_cast<size_t>(rank), -1);
    for (size_t d = 0; d < at.size(); ++d) order[static_cast<size_t>(at[d])] = static_cast<int64_t>(d);
    DimVector permutation;
    for (const int64_t d : order) {
      if (d >= 0) permutation.push_back(d);
    }
    t = t.permute(permutation);
    for (int64_t d = 0; d < rank; ++d) {
      if (order[static_cast<size_t>(d)] < 0) t = t.unsqueeze(d);
    }
    return t;
  }
};

/// Sums of products over pairs of dimensions; the rest of self's come before the rest of other's.
struct Tensordot : Composite {
  static constexpr auto schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
    TAEDA_CHECK(dims_self.size() == dims_other.size(), "[tensordot] both dimension lists should have the same length: got ", dims_self, " and ", dims_other,
                "; pair the dimensions");
    DimVector left, right, sum_left, sum_right, sizes;
    int64_t inner = 1;
    Tensor a = self, b = other;
    for (size_t i = 0; i < dims_self.size(); ++i) {
      sum_left.push_back(maybe_wrap_dim(dims_self[i], self.dim(), "tensordot"));
      sum_right.push_back(maybe_wrap_dim(dims_other[i], other.dim(), "tensordot"));
      const int64_t p = a.size(sum_left[i]), q = b.size(sum_right[i]);
      if (q == 1 && p != 1) a = a.sum(IntArrayRef(sum_left[i]), true);
      if (p == 1 && q != 1) b = b.sum(IntArrayRef(sum_right[i]), true);
      TAEDA_CHECK(p == q || p == 1 || q == 1, "[tensordot] contracted dimensions need to match: got ", p, " and ", q, " in pair ", i, "; check the shapes");
      inner *= std::min(p, q);
    }
    const auto rest = [](const Tensor& t, const DimVector& gone) {
      DimVector kept;
      for (int64_t d = 0; d < t.dim(); ++d) {
        if (std::find(gone.begin(), gone.end(), d) == gone.end()) kept.push_back(d);
      }
      return kept;
    };
    left = rest(self, sum_left);
    right = rest(other, sum_right);
    int64_t rows = 1, columns = 1;
    for (const int64_t d : left) {
      sizes.push_back(self.size(d));
      rows *= self.size(d);
    }
    for (const int64_t d : right) {
      sizes.push_back(other.size(d));
      columns *= other.size(d);
    }
    left.append(sum_left.begin(), sum_left.end());
    sum_right.append(right.begin(), right.end());
    return a.permute(left).reshape({rows, inner}).mm(b.permute(sum_right).reshape({inner, columns})).reshape(sizes);
  }
};
/// The last `dims` dimensions of self against the first of other.
struct TensordotCount : Composite {
  static constexpr auto schema = "tensordot.count(Tensor self, Tensor other, int dims=2) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const Tensor& other, int64_t dims) {
    TAEDA_CHECK(dims >= 0 && dims <= self.dim() && dims <= other.dim(), "[tensordot] expects dims >= 0 and no more than the tensors have: got ", dims, " for ",
                self.sizes(), " and ", other.sizes(), "; correct it");
    DimVector left, right;
    for (int64_t d = 0; d < dims; ++d) {
      left.push_back(self.dim() - dims + d);
      right.push_back(d);
    }
    return taeda::tensordot(self, other, left, right);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/einsum.inc"
