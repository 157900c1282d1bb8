// SPDX-License-Identifier: Apache-2.0
// Copying of rows.
#include "taeda/data/gather.h"

#include <algorithm>
#include <cstring>

#include "taeda/core/parallel.h"
#include "taeda/ops/functions.h"

namespace taeda::data {
namespace {

constexpr size_t kParallelBytes = size_t{1} << 20;

/// Rows of a size known when compiling are moved by a few instructions each.
template <size_t kBytes>
void copy_rows(const char* from, char* to, const size_t* indices, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) std::memcpy(to + i * kBytes, from + indices[i] * kBytes, kBytes);
}

void copy_rows(const char* from, char* to, const size_t* indices, size_t begin, size_t end, size_t bytes) {
  switch (bytes) {
    case 4: return copy_rows<4>(from, to, indices, begin, end);
    case 8: return copy_rows<8>(from, to, indices, begin, end);
    case 16: return copy_rows<16>(from, to, indices, begin, end);
    case 64: return copy_rows<64>(from, to, indices, begin, end);
    case 128: return copy_rows<128>(from, to, indices, begin, end);
    default:
      for (size_t i = begin; i < end; ++i) std::memcpy(to + i * bytes, from + indices[i] * bytes, bytes);
  }
}

}  // namespace

Tensor gather_rows(const Tensor& rows, ArrayRef<size_t> indices) {
  TAEDA_CHECK_VALUE(rows.defined() && rows.dim() >= 1, "[data] a data set's tensor must have at least one dimension, that of the samples: got ",
                    rows.defined() ? str(rows.sizes()) : std::string("an undefined tensor"), "; add one with unsqueeze(0)");
  const auto count = static_cast<size_t>(rows.size(0));
  for (const size_t index : indices) {
    TAEDA_CHECK_INDEX(index < count, "[data] the number of a sample must be below the size of the data set: got ", index, " of ", count,
                      "; check the sampler's size");
  }
  if (!rows.is_cpu() || !rows.is_contiguous() || rows.requires_grad()) {
    Tensor numbers = make_tensor({static_cast<int64_t>(indices.size())}, kLong);
    std::copy(indices.begin(), indices.end(), numbers.mutable_data_ptr<int64_t>());
    return rows.index_select(0, numbers.to(rows.device()));
  }
  DimVector sizes(rows.sizes());
  sizes[0] = static_cast<int64_t>(indices.size());
  Tensor out = make_tensor(sizes, rows.scalar_type());
  const size_t bytes = count ? rows.nbytes() / count : 0;
  const char* from = rows.impl().data();
  char* to = out.impl().data();
  if (bytes == 0 || indices.empty()) return out;
  if (bytes * indices.size() < kParallelBytes) {
    copy_rows(from, to, indices.data(), 0, indices.size(), bytes);
  } else {
    const auto grain = static_cast<int64_t>(std::max<size_t>(1, kParallelBytes / 4 / bytes));
    parallel_for(0, static_cast<int64_t>(indices.size()), grain, [&](int64_t begin, int64_t end) {
      copy_rows(from, to, indices.data(), static_cast<size_t>(begin), static_cast<size_t>(end), bytes);
    });
  }
  return out;
}

}  // namespace taeda::data
