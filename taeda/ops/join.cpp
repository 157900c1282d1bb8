// SPDX-License-Identifier: Apache-2.0
// Operators that put tensors together: cat, stack and the forms built on them.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

/// An empty vector takes part in cat with anything (an old habit that programs rely on).
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

/// Joins tensors along a dimension; the other sizes must be equal. The dtype is the promoted one.
struct Cat {
  static constexpr auto schema = "cat(Tensor[] tensors, int dim=0) -> Tensor";
  static constexpr auto out_apart = "tensors";
  static Tensor forward(TensorList tensors, int64_t dim) {
    TAEDA_CHECK_VALUE(!tensors.empty(), "[cat] expected a non-empty list of tensors: got none; pass at least one");
    const Tensor* model = nullptr;
    for (const Tensor& t : tensors) {
      TAEDA_CHECK(t.dim() > 0, "[cat] zero-dimensional tensor cannot be concatenated: got sizes ", t.sizes(), "; use stack");
      if (!model && !is_skipped(t)) model = &t;
    }
    const ScalarType dtype = result_type(tensors);
    if (!model) return make_tensor(tensors[0].sizes(), dtype, tensors[0].device());
    const auto d = static_cast<size_t>(maybe_wrap_dim(dim, model->dim(), "cat"));
    DimVector sizes(model->sizes());
    sizes[d] = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& t = tensors[i];
      if (is_skipped(t)) continue;
      TAEDA_CHECK(t.dim() == model->dim(), "[cat] tensors must have same number of dimensions: got ", model->dim(), " and ", t.dim(),
                  "; unsqueeze or reshape");
      for (size_t k = 0; k < sizes.size(); ++k) {
        TAEDA_CHECK(k == d || t.sizes()[k] == sizes[k], "[cat] sizes of tensors must match except in dimension ", d, ": expected ",
                    model->sizes(), " but got ", t.sizes(), " for tensor number ", i, " in the list; make them fit");
      }
      sizes[d] += t.sizes()[d];
    }
    Tensor result = empty_for(*model, tensors, sizes, dtype);
    fill(result, tensors, d);
    return result;
  }
  /// Keeps channels_last when all inputs are.
  static Tensor empty_for(const Tensor& model, TensorList tensors, IntArrayRef sizes, ScalarType dtype) {
    const MemoryFormat format = model.suggest_memory_format();
    bool all = format != MemoryFormat::Contiguous;
    for (const Tensor& t : tensors) all = all && t.suggest_memory_format() == format;
    return all ? detail::empty_with(sizes, model.options().dtype(dtype), format) : make_tensor(sizes, dtype, model.device());
  }
  static void fill(const Tensor& result, TensorList tensors, size_t d) {
    const TensorImpl& to = result.impl();
    bool plain = to.contiguous;
    for (const Tensor& t : tensors) plain = plain && t.is_contiguous() && t.scalar_type() == to.dtype;
    if (!plain) {
      int64_t at = 0;
      for (const Tensor& t : tensors) {
        if (is_skipped(t) || t.numel() == 0) continue;
        const int64_t n = t.sizes()[d];
        pointwise::copy_elements(result.slice(static_cast<int64_t>(d), at, at + n).impl(), t.impl());
        at += n;
      }
      return;
    }
    int64_t outer = 1;
    for (size_t k = 0; k < d; ++k) outer *= to.sizes()[k];
    const auto row = static_cast<int64_t>(to.numel * static_cast<int64_t>(to.itemsize()) / std::max<int64_t>(outer, 1));
    parallel_for(0, outer, std::max<int64_t>(1, 65536 / std::max<int64_t>(row, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        char* at = to.data() + o * row;
        for (const Tensor& t : tensors) {
          if (is_skipped(t) || t.numel() == 0) continue;
          const size_t bytes = t.nbytes() / static_cast<size_t>(outer);
          std::memcpy(at, t.impl().data() + static_cast<size_t>(o) * bytes, bytes);
          at += bytes;
        }
      }
    });
  }
  // Gradients are converted to the inputs' dtypes by the engine.
  static std::vector<Tensor> grad_tensors(const Tensor& grad, const std::vector<DimVector>& tensors_sizes, int64_t dim) {
    std::vector<Tensor> grads;
    int64_t at = 0;
    const int64_t d = maybe_wrap_dim(dim, grad.dim(), "cat");
    for (const DimVector& sizes : tensors_sizes) {
      if (sizes.size() == 1 && sizes[0] == 0) {
        grads.push_back(taeda::zeros({0}, grad.options()));
        continue;
      }
      const int64_t n = sizes[static_cast<size_t>(d)];
      grads.push_back(grad.narrow(d, at, n));
      at += n;
    }
    return grads;
  }
  static constexpr Onnx onnx{"Concat", 13};
};
/// cat.
struct Concat : Composite {
  static constexpr auto schema = "concat(Tensor[] tensors, int dim=0) -> Tensor";
  static Tensor forward(TensorList tensors, int64_t dim) { return taeda::cat(tensors, dim); }
};
/// cat.
struct Concatenate : Composite {
  static constexpr auto schema = "concatenate(Tensor[] tensors, int dim=0) -> Tensor";
  static Tensor forward(TensorList tensors, int64_t dim) { return taeda::cat(tensors, dim); }
};

/// Joins tensors of one shape along a new dimension.
struct Stack : Composite {
  static constexpr auto schema = "stack(Tensor[] tensors, int dim=0) -> Tensor";
  static constexpr auto out_apart = "tensors";
  static Tensor forward(TensorList tensors, int64_t dim) {
    TAEDA_CHECK(!tensors.empty(), "[stack] expects a non-empty TensorList: got none; pass at least one");
    const int64_t d = maybe_wrap_dim(dim, tensors[0].dim() + 1, "stack");
    std::vector<Tensor> parts;
    parts.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      TAEDA_CHECK(tensors[i].sizes() == tensors[0].sizes(), "[stack] expects each tensor to be equal size, but got ",
                  tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i, "; make them equal");
      parts.push_back(tensors[i].unsqueeze(d));
    }
    return taeda::cat(parts, d);
  }
};

std::vector<Tensor> map(TensorList tensors, Tensor (*f)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

/// At least one dimension.
struct Atleast1d : Composite {
  static constexpr auto schema = "atleast_1d(Tensor self) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
};
/// At least two dimensions.
struct Atleast2d : Composite {
  static constexpr auto schema = "atleast_2d(Tensor self) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self) {
    return self.dim() == 0 ? self.reshape({1, 1}) : self.dim() == 1 ? self.unsqueeze(0) : self;
  }
};
/// At least three dimensions.
struct Atleast3d : Composite {
  static constexpr auto schema = "atleast_3d(Tensor self) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self) {
    switch (self.dim()) {
      case 0: return self.reshape({1, 1, 1});
      case 1: return self.unsqueeze(0).unsqueeze(-1);
      case 2: return self.unsqueeze(-1);
      default: return self;
    }
  }
};
/// atleast_1d of each.
struct Atleast1dAll : Composite {
  static constexpr auto schema = "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors) { return map(tensors, &Atleast1d::forward); }
};
/// atleast_2d of each.
struct Atleast2dAll : Composite {
  static constexpr auto schema = "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors) { return map(tensors, &Atleast2d::forward); }
};
/// atleast_3d of each.
struct Atleast3dAll : Composite {
  static constexpr auto schema = "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors) { return map(tensors, &Atleast3d::forward); }
};

/// Joins along columns (vectors: end to end).
struct Hstack : Composite {
  static constexpr auto schema = "hstack(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    TAEDA_CHECK(!tensors.empty(), "[hstack] expects a non-empty TensorList: got none; pass at least one");
    const std::vector<Tensor> parts = map(tensors, &Atleast1d::forward);
    return taeda::cat(parts, parts[0].dim() == 1 ? 0 : 1);
  }
};
/// Joins along rows.
struct Vstack : Composite {
  static constexpr auto schema = "vstack(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    TAEDA_CHECK(!tensors.empty(), "[vstack] expects a non-empty TensorList: got none; pass at least one");
    return taeda::cat(map(tensors, &Atleast2d::forward), 0);
  }
};
/// vstack.
struct RowStack : Composite {
  static constexpr auto schema = "row_stack(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) { return taeda::vstack(tensors); }
};
/// Joins along the third dimension.
struct Dstack : Composite {
  static constexpr auto schema = "dstack(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    TAEDA_CHECK(!tensors.empty(), "[dstack] expects a non-empty TensorList: got none; pass at least one");
    return taeda::cat(map(tensors, &Atleast3d::forward), 2);
  }
};
/// Vectors become columns, which are joined.
struct ColumnStack : Composite {
  static constexpr auto schema = "column_stack(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    TAEDA_CHECK(!tensors.empty(), "[column_stack] expects a non-empty TensorList: got none; pass at least one");
    return taeda::hstack(map(tensors, [](const Tensor& t) { return t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t; }));
  }
};

/// Matrices along the diagonal of one larger matrix, zeros elsewhere. Vectors count as rows.
struct BlockDiag : Composite {
  static constexpr auto schema = "block_diag(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    if (tensors.empty()) return taeda::empty({1, 0});
    std::vector<Tensor> blocks;
    int64_t columns = 0;
    for (const Tensor& t : tensors) {
      TAEDA_CHECK(t.dim() <= 2, "[block_diag] input tensors must have 2 or fewer dimensions: got ", t.sizes(), "; reshape it");
      blocks.push_back(taeda::atleast_2d(t));
      columns += blocks.back().size(1);
    }
    const TensorOptions options = tensors[0].options().dtype(result_type(tensors));
    std::vector<Tensor> rows;
    int64_t before = 0;
    for (const Tensor& block : blocks) {
      const int64_t height = block.size(0);
      const int64_t after = columns - before - block.size(1);
      const std::vector<Tensor> parts{taeda::zeros({height, before}, options), block, taeda::zeros({height, after}, options)};
      rows.push_back(taeda::cat(parts, 1));
      before += block.size(1);
    }
    return taeda::cat(rows, 0);
  }
};

/// All tensors expanded to their common shape.
struct BroadcastTensors : Composite {
  static constexpr auto schema = "broadcast_tensors(Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors) {
    DimVector shape;
    for (const Tensor& t : tensors) shape = broadcast_sizes(shape, t.sizes(), "broadcast_tensors");
    std::vector<Tensor> out;
    for (const Tensor& t : tensors) out.push_back(t.expand(shape));
    return out;
  }
};

/// Coordinate grids of vectors. indexing "ij": dimension k belongs to tensor k; "xy": the first two
/// dimensions belong to the second and the first tensor.
struct MeshgridIndexing : Composite {
  static constexpr auto schema = "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors, std::string_view indexing) {
    TAEDA_CHECK(!tensors.empty(), "[meshgrid] expects a non-empty TensorList: got none; pass at least one");
    TAEDA_CHECK(indexing == "ij" || indexing == "xy", "[meshgrid] indexing must be one of \"xy\" or \"ij\": got \"", indexing,
                "\"; use one of these");
    std::vector<Tensor> list(tensors.begin(), tensors.end());
    const bool swapped = indexing == "xy" && list.size() >= 2;
    if (swapped) std::swap(list[0], list[1]);
    DimVector shape;
    for (const Tensor& t : list) {
      TAEDA_CHECK(t.dim() <= 1, "[meshgrid] expected scalar or 1D tensors: got ", t.sizes(), "; reshape them");
      TAEDA_CHECK(t.scalar_type() == list[0].scalar_type(), "[meshgrid] expects all tensors to have the same dtype: got ",
                  list[0].scalar_type(), " and ", t.scalar_type(), "; convert them");
      shape.push_back(t.numel());
    }
    std::vector<Tensor> grids;
    for (size_t i = 0; i < list.size(); ++i) {
      DimVector view(list.size(), 1);
      view[i] = list[i].numel();
      grids.push_back(list[i].reshape(view).expand(shape));
    }
    if (swapped) std::swap(grids[0], grids[1]);
    return grids;
  }
};
/// Coordinate grids with "ij" indexing.
struct Meshgrid : Composite {
  static constexpr auto schema = "meshgrid(Tensor[] tensors) -> Tensor[]";
  static std::vector<Tensor> forward(TensorList tensors) { return taeda::meshgrid(tensors, "ij"); }
};

/// All combinations of one element from each vector, as rows.
struct CartesianProd : Composite {
  static constexpr auto schema = "cartesian_prod(Tensor[] tensors) -> Tensor";
  static Tensor forward(TensorList tensors) {
    TAEDA_CHECK(!tensors.empty(), "[cartesian_prod] expects a non-empty TensorList: got none; pass at least one");
    for (const Tensor& t : tensors) {
      TAEDA_CHECK(t.dim() == 1, "[cartesian_prod] expect a 1D vector: got ", t.sizes(), "; flatten it");
    }
    if (tensors.size() == 1) return tensors[0];
    std::vector<Tensor> grids = taeda::meshgrid(tensors, "ij");
    for (Tensor& g : grids) g = g.flatten();
    return taeda::stack(grids, 1);
  }
};

/// Combinations of r elements of a vector, as rows.
struct Combinations : Composite {
  static constexpr auto schema = "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t r, bool with_replacement) {
    TAEDA_CHECK(self.dim() == 1, "[combinations] expect a 1D vector: got ", self.sizes(), "; flatten it");
    TAEDA_CHECK(r >= 0, "[combinations] expect a non-negative number: got ", r, "; pass 0 or more");
    if (r == 0) return taeda::empty({0}, self.options());
    const int64_t n = self.numel();
    if (n == 0 || (r > n && !with_replacement)) return self.narrow(0, 0, 0).unsqueeze(1).expand({0, r}).clone();
    double count_of_rows = 1;  // n over r, or n + r - 1 over r
    for (int64_t i = 1; i < n + (with_replacement ? 0 : 1) && count_of_rows < 1e12; ++i) {
      if (!with_replacement && i > r) break;
      count_of_rows *= static_cast<double>(with_replacement ? r + i : n - r + i) / static_cast<double>(i);
    }
    TAEDA_CHECK(r <= INT32_MAX && count_of_rows * static_cast<double>(r) < 0x1p40, "[combinations] there are too many to list: got ", r, " out of ", n,
                "; choose fewer");
    std::vector<int64_t> rows;
    std::vector<int64_t> pick(static_cast<size_t>(r));
    const auto extend = [&](auto& again, int64_t level, int64_t from) -> void {
      if (level == r) {
        rows.insert(rows.end(), pick.begin(), pick.end());
        return;
      }
      for (int64_t i = from; i < n; ++i) {
        pick[static_cast<size_t>(level)] = i;
        again(again, level + 1, with_replacement ? i : i + 1);
      }
    };
    extend(extend, 0, 0);
    const auto count = static_cast<int64_t>(rows.size());
    Tensor index = make_tensor(IntArrayRef(count), kLong);
    if (count) std::memcpy(index.impl().data(), rows.data(), rows.size() * sizeof(int64_t));
    return self.index_select(0, index).reshape({count / r, r});
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/join.inc"
