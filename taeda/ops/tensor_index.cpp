// SPDX-License-Identifier: Apache-2.0
// Indexing as in Python: integers, slices, None and "..." become views, tensors go to the index operators.
#include "taeda/ops/tensor_index.h"

#include "taeda/ops/functions.h"

namespace taeda {
namespace indexing {

std::ostream& operator<<(std::ostream& stream, const Slice& slice) {
  // An open end prints as the greatest symbolic size does in LibTorch.
  constexpr int64_t open_end = int64_t{1} << 62;
  return stream << slice.start() << ':' << (slice.stop_opt() ? slice.stop() : open_end - 1) << ':' << slice.step();
}
std::ostream& operator<<(std::ostream& stream, const TensorIndex& index) {
  switch (index.type()) {
    case TensorIndexType::None: return stream << "None";
    case TensorIndexType::Ellipsis: return stream << "...";
    case TensorIndexType::Integer: return stream << index.integer();
    case TensorIndexType::Boolean: return stream << (index.boolean() ? "true" : "false");
    case TensorIndexType::Slice: return stream << index.slice();
    case TensorIndexType::Tensor: return stream << index.tensor();
  }
  return stream;
}
std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices) {
  stream << '(';
  for (size_t i = 0; i < indices.size(); ++i) stream << (i ? ", " : "") << indices[i];
  return stream << ')';
}

namespace {

/// The views of an index, and the tensors that are left for the index operator.
struct Resolved {
  Tensor view;
  std::vector<std::optional<Tensor>> tensors;
  bool any_tensor = false;
};

int64_t dims_taken(const TensorIndex& index) {
  if (index.is_integer() || index.is_slice()) return 1;
  if (!index.is_tensor()) return 0;
  const Tensor& t = index.tensor();
  const bool mask = t.scalar_type() == kBool || t.scalar_type() == kByte;
  return mask ? t.dim() : 1;
}

void place(Resolved& r, int64_t dim, const Tensor& index) {
  r.tensors.resize(static_cast<size_t>(dim));
  r.tensors.emplace_back(index);
  r.any_tensor = true;
}

void select(Resolved& r, int64_t dim, int64_t index) {
  const int64_t size = r.view.size(dim);
  TAEDA_CHECK_INDEX(index >= -size && index < size, "[index] index ", index, " is out of bounds for dimension ", dim, " with size ", size,
                    "; use an index from ", -size, " to ", size - 1);
  r.view = r.view.select(dim, index);
}

Resolved resolve(const Tensor& self, ArrayRef<TensorIndex> indices) {
  int64_t taken = 0;
  for (const TensorIndex& index : indices) taken += dims_taken(index);
  TAEDA_CHECK_INDEX(taken <= self.dim(), "[index] too many indices for tensor of dimension ", self.dim(), ": got ", taken, "; use fewer");
  Resolved r;
  r.view = self;
  int64_t dim = 0;
  for (const TensorIndex& index : indices) {
    switch (index.type()) {
      case TensorIndexType::None: r.view = r.view.unsqueeze(dim++); break;
      case TensorIndexType::Ellipsis: dim += self.dim() - taken; break;
      case TensorIndexType::Integer: select(r, dim, index.integer()); break;
      case TensorIndexType::Boolean: {
        r.view = r.view.unsqueeze(dim);
        place(r, dim++, taeda::full({1}, index.boolean(), TensorOptions(kBool)));
        break;
      }
      case TensorIndexType::Slice: {
        const Slice& s = index.slice();
        TAEDA_CHECK_VALUE(s.step() > 0, "[index] slice step must be positive: got ", s.step(), "; use flip for the reverse order");
        const bool whole = !s.start_opt() && !s.stop_opt() && s.step() == 1;
        if (!whole) r.view = r.view.slice(dim, s.start_opt(), s.stop_opt(), s.step());
        ++dim;
        break;
      }
      case TensorIndexType::Tensor: {
        const Tensor& t = index.tensor();
        const bool mask = t.scalar_type() == kBool || t.scalar_type() == kByte;
        if (t.dim() == 0 && !mask && is_integral_type(t.scalar_type(), false)) {  // the number itself: a view
          select(r, dim, t.item<int64_t>());
        } else if (mask && t.dim() == 0) {  // a 0-dim mask adds a dimension
          r.view = r.view.unsqueeze(dim);
          place(r, dim++, t.to(kBool).reshape({1}));
        } else {
          place(r, dim, t);
          // A mask of several dimensions stands for as many positions.
          dim += mask ? t.dim() : 1;
        }
        break;
      }
    }
  }
  return r;
}

/// The list that the index operator takes: one entry for each dimension, a mask of n dimensions counted once.
std::vector<std::optional<Tensor>> operator_list(const Resolved& r) {
  std::vector<std::optional<Tensor>> list;
  int64_t dim = 0;
  for (size_t i = 0; i < r.tensors.size(); ++i) {
    if (static_cast<int64_t>(i) < dim) continue;
    list.push_back(r.tensors[i]);
    const bool mask = r.tensors[i] && (r.tensors[i]->scalar_type() == kBool || r.tensors[i]->scalar_type() == kByte);
    dim = static_cast<int64_t>(i) + (mask ? r.tensors[i]->dim() : 1);
  }
  return list;
}

/// Leading dimensions of size 1 beyond the target's are dropped, as Python's assignment does.
Tensor fit(const Tensor& value, const Tensor& target) {
  Tensor v = value;
  while (v.dim() > target.dim() && v.size(0) == 1) v = v.squeeze(0);
  return v;
}

}  // namespace

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const Resolved r = resolve(self, indices);
  if (r.any_tensor) return r.view.index(operator_list(r));
  return r.view.is_same(self) ? self.alias() : r.view;
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  const Resolved r = resolve(self, indices);
  if (!r.any_tensor) {
    r.view.copy_(fit(value, r.view));
    return;
  }
  r.view.index_put_(operator_list(r), value, false);
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  const Resolved r = resolve(self, indices);
  if (!r.any_tensor) {
    r.view.fill_(value);
    return;
  }
  r.view.index_put_(operator_list(r), taeda::scalar_tensor(value, self.options()), false);
}

}  // namespace indexing

using indexing::TensorIndex;

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const { return indexing::get_item(*this, indices); }
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return indexing::get_item(*this, ArrayRef<TensorIndex>(indices));
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& value) {
  indexing::set_item(*this, indices, value);
  return *this;
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) {
  indexing::set_item(*this, indices, value);
  return *this;
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

}  // namespace taeda
