// SPDX-License-Identifier: Apache-2.0
// Rows of a table by number: embedding, its gradient, and renormalisation in place.
#include <algorithm>
#include <cmath>
#include <vector>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"

namespace taeda {
namespace ops {
namespace {

/// Rows of `weight` (rows, width) for indices of any shape (int64 or int32): result (*indices.shape, width). Gradients of
/// row padding_idx are dropped; scale_grad_by_freq divides a row's gradient by the number of times it was taken.
struct Embedding {
  static constexpr auto schema =
      "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor";
  static Tensor forward(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/,
                        bool sparse) {
    TAEDA_CHECK(weight.dim() == 2, "[embedding] the weight must be a matrix: got ", weight.sizes(), "; reshape it to (rows, width)");
    TAEDA_CHECK_NOT_IMPLEMENTED(!sparse, "[embedding] sparse gradients are not supported: got sparse = true; use sparse = false");
    const Tensor positions = detail::wrapped_index(detail::long_index(indices, "embedding"), weight.size(0), "embedding", false);
    const Tensor table = weight.contiguous();
    DimVector sizes(indices.sizes());
    sizes.push_back(weight.size(1));
    Tensor result = make_tensor(sizes, weight.scalar_type(), weight.device());
    index_select_kernel(weight.device(), {result.impl().data(), table.impl().data(), positions.const_data_ptr<int64_t>(), 1,
                                          weight.size(0), positions.numel(),
                                          weight.size(1) * static_cast<int64_t>(weight.itemsize())});
    return result;
  }
  static Tensor grad_weight(const Tensor& grad, const Tensor& indices, IntArrayRef weight_sizes, int64_t padding_idx,
                            bool scale_grad_by_freq) {
    return taeda::embedding_dense_backward(grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq);
  }
  static constexpr Onnx onnx{"Gather", 13};
};

/// The gradient of embedding's weight: rows of grad summed by index into (num_weights, width).
struct EmbeddingDenseBackward {
  static constexpr auto schema =
      "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) "
      "-> Tensor";
  static Tensor forward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                        bool scale_grad_by_freq) {
    const Tensor positions =
        detail::wrapped_index(detail::long_index(indices, "embedding_dense_backward"), num_weights, "embedding_dense_backward", false);
    TAEDA_CHECK(grad_output.dim() > 0 && num_weights >= 0, "[embedding_dense_backward] the gradient needs a dimension and num_weights must not be negative: got ",
                grad_output.sizes(), " and ", num_weights, "; pass the forward's shapes");
    const int64_t width = grad_output.size(-1);
    TAEDA_CHECK(grad_output.numel() == positions.numel() * width, "[embedding_dense_backward] the gradient must have a row for each index: got ",
                grad_output.sizes(), " for indices ", indices.sizes(), "; pass the forward's shapes");
    const Tensor grad = grad_output.contiguous();
    Tensor result = taeda::zeros({num_weights, width}, grad_output.options());
    const auto* index = positions.const_data_ptr<int64_t>();
    std::vector<int64_t> counts;
    if (scale_grad_by_freq) {
      counts.resize(static_cast<size_t>(num_weights));
      for (int64_t i = 0; i < positions.numel(); ++i) ++counts[static_cast<size_t>(index[i])];
    }
    embedding_grad_kernel(grad.device(), {grad.scalar_type(), result.impl().data(), grad.impl().data(), index,
                                          scale_grad_by_freq ? counts.data() : nullptr, positions.numel(), num_weights, width,
                                          padding_idx});
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& indices, int64_t padding_idx, int64_t num_weights,
                                 bool scale_grad_by_freq) {
    Tensor table = grad;
    if (padding_idx >= 0) table = table.index_fill(0, taeda::full({1}, padding_idx, TensorOptions(kLong)), 0);
    Tensor rows = taeda::embedding(table, indices);
    if (scale_grad_by_freq) {
      const Tensor flat = indices.reshape(IntArrayRef(int64_t{-1}));
      const Tensor counts = taeda::zeros({num_weights}, grad.options()).index_add(0, flat, taeda::ones_like(flat, grad.options()));
      rows = rows.div(counts.index_select(0, flat).reshape(indices.sizes()).unsqueeze(-1));
    }
    return rows;
  }
};

/// Scales, in place, the rows that the indices name down to a norm of at most max_norm.
struct EmbeddingRenorm_ {
  static constexpr auto schema =
      "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)";
  static constexpr auto variants = "function";
  static constexpr auto function = true;
  static constexpr auto no_grad = "the table is changed outside of the graph";
  static void forward(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
    TAEDA_CHECK(self.dim() == 2, "[embedding_renorm_] the table must be a matrix: got ", self.sizes(), "; reshape it");
    const Tensor positions =
        detail::wrapped_index(detail::long_index(indices, "embedding_renorm_"), self.size(0), "embedding_renorm_", false);
    std::vector<int64_t> rows(positions.const_data_ptr<int64_t>(), positions.const_data_ptr<int64_t>() + positions.numel());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const int64_t width = self.size(1);
    const int64_t row_stride = self.stride(0);
    const int64_t stride = self.stride(1);
    dispatch_floating(self.scalar_type(), "embedding_renorm_", [&]<class T>() {
      T* data = reinterpret_cast<T*>(self.impl().data());
      for (const int64_t row : rows) {
        T* at = data + row * row_stride;
        const double norm = row_norm(at, width, stride, norm_type);
        if (!(norm > max_norm)) continue;
        const double scale = max_norm / (norm + 1e-7);
        for (int64_t k = 0; k < width; ++k) {
          const auto old = static_cast<double>(static_cast<OpMath<T>>(at[k * stride]));
          at[k * stride] = static_cast<T>(static_cast<OpMath<T>>(old * scale));
        }
      }
    });
  }
  template <class T>
  static double row_norm(const T* at, int64_t width, int64_t stride, double p) {
    double sum = 0;
    for (int64_t k = 0; k < width; ++k) {
      const double v = std::abs(static_cast<double>(static_cast<OpMath<T>>(at[k * stride])));
      if (std::isinf(p)) {
        sum = std::max(sum, v);
      } else {
        sum += p == 2 ? v * v : p == 1 ? v : std::pow(v, p);
      }
    }
    return std::isinf(p) ? sum : p == 2 ? std::sqrt(sum) : p == 1 ? sum : std::pow(sum, 1 / p);
  }
};

/// embedding with the indices first; max_norm first scales the rows taken down to that norm, in the weight itself.
struct FunctionalEmbedding : Composite {
  static constexpr auto schema =
      "nn_functional_embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2., "
      "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                        std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq, bool sparse) {
    int64_t padding = -1;
    if (padding_idx) {
      const int64_t rows = weight.size(0);
      TAEDA_CHECK(*padding_idx >= -rows && *padding_idx < rows, "[embedding] padding_idx must be within num_embeddings: got ",
                  *padding_idx, " for ", rows, "; use a row of the weight");
      padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
    }
    if (max_norm) {
      ModesGuard keep;
      tls_modes.grad_enabled = false;
      refresh_mask(tls_modes);
      taeda::embedding_renorm_(weight, input, *max_norm, norm_type);
    }
    return taeda::embedding(weight, input, padding, scale_grad_by_freq, sparse);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/embedding.inc"
