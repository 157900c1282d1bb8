// SPDX-License-Identifier: Apache-2.0
// Affine and bilinear maps of the last dimension.
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

/// All dimensions but the last joined into one.
Tensor as_rows(const Tensor& t) { return t.dim() == 2 ? t : t.reshape({-1, t.size(-1)}); }

/// input weightᵀ + bias over the last dimension. input (…, in), weight (out, in) or (in), bias (out); returns (…, out),
/// or (…) for a vector weight. The bias is added while the product is written.
struct Linear {
  static constexpr auto schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
    TAEDA_CHECK(input.dim() > 0 && (weight.dim() == 2 || weight.dim() == 1), "[linear] input needs a dimension and weight one or two: got ",
                input.sizes(), " and ", weight.sizes(), "; reshape them");
    const int64_t in = weight.size(-1);
    TAEDA_CHECK(input.size(-1) == in, "[linear] the input's last dimension must equal the weight's: got ", input.sizes(), " and ", weight.sizes(),
                "; check in_features");
    detail::check_product_types(input, weight, "linear");
    const bool has_bias = bias && bias->defined();
    TAEDA_CHECK(!has_bias || bias->scalar_type() == input.scalar_type(), "[linear] the bias must have the input's dtype: got ",
                has_bias ? bias->scalar_type() : kFloat, " and ", input.scalar_type(), "; convert it with to()");
    DimVector sizes(input.sizes());
    if (weight.dim() == 2) {
      sizes[sizes.size() - 1] = weight.size(0);
    } else {
      sizes.resize(sizes.size() - 1);
    }
    Tensor result = make_tensor(sizes, input.scalar_type(), input.device());
    const int64_t out = weight.dim() == 2 ? weight.size(0) : 1;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < static_cast<size_t>(input.dim()); ++d) rows *= input.sizes()[d];
    if (rows == 0 || out == 0) return result;
    const bool fused = has_bias && bias->dim() == 1 && bias->size(0) == out && bias->is_contiguous();
    const Tensor x = input.dim() == 2 ? input : input.reshape({rows, in});
    const Tensor w = weight.dim() == 2 ? weight : weight.unsqueeze(0);
    const int64_t flat[2] = {rows, out}, strides[2] = {out, 1};
    const Tensor y = result.dim() == 2 ? result : make_view(result, IntArrayRef(flat, 2), IntArrayRef(strides, 2), result.storage_offset());
    detail::matrix_product(y, x, w, 1, 0, fused ? *bias : Tensor(), /*b_transposed=*/true);
    if (has_bias && !fused) {
      Tensor sum = result.add(*bias);
      TAEDA_CHECK(sum.sizes() == result.sizes(), "[linear] the bias must broadcast to the result: got ", bias->sizes(), " for ", result.sizes(),
                  "; check out_features");
      return sum;
    }
    return result;
  }
  static Tensor grad_input(const Tensor& grad, const Tensor& weight) {
    if (weight.dim() == 2 && grad.dim() == 2) return grad.mm(weight);
    return weight.dim() == 2 ? grad.matmul(weight) : grad.unsqueeze(-1).mul(weight);
  }
  static Tensor grad_weight(const Tensor& grad, const Tensor& input, int64_t weight_dim) {
    if (weight_dim == 1) return as_rows(input).t().mv(grad.reshape({-1}));
    return as_rows(grad).t().mm(as_rows(input));
  }
  static Tensor grad_bias(const Tensor& grad, IntArrayRef bias_sizes) { return sum_to(grad, bias_sizes); }
  static constexpr Onnx onnx{"Gemm", 13};
};

/// Σ_ij weight[o, i, j] input1[…, i] input2[…, j] + bias[o].
struct Bilinear : Composite {
  static constexpr auto schema = "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor";
  static Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& weight, const std::optional<Tensor>& bias) {
    TAEDA_CHECK(input1.dim() == input2.dim() && input1.dim() > 0 && weight.dim() == 3,
                "[bilinear] the inputs must have equal ranks and the weight 3 dimensions: got ", input1.sizes(), ", ", input2.sizes(), " and ",
                weight.sizes(), "; reshape them");
    for (int64_t d = 0; d + 1 < input1.dim(); ++d) {
      TAEDA_CHECK(input1.size(d) == input2.size(d), "[bilinear] the batch dimensions must be equal: got ", input1.sizes(), " and ", input2.sizes(),
                  "; expand one");
    }
    TAEDA_CHECK(input1.size(-1) == weight.size(1) && input2.size(-1) == weight.size(2),
                "[bilinear] the features must be those of the weight: got ", input1.sizes(), ", ", input2.sizes(), " and ", weight.sizes(),
                "; check in1_features and in2_features");
    TAEDA_CHECK(!bias || !bias->defined() || bias->size(0) == weight.size(0), "[bilinear] the bias must have the weight's outputs: got ",
                bias && bias->defined() ? bias->sizes() : IntArrayRef(), " and ", weight.sizes(), "; check out_features");
    const int64_t out = weight.size(0), left = weight.size(1), right = weight.size(2);
    DimVector sizes(input1.sizes());
    sizes[sizes.size() - 1] = out;
    const Tensor a = input1.reshape({-1, left});
    const Tensor b = input2.reshape({-1, right});
    // (rows, left) by (left, out · right), then the rows of each against those of the second input.
    const Tensor half = a.mm(weight.permute({1, 0, 2}).reshape({left, out * right})).view({-1, out, right});
    Tensor result = half.bmm(b.unsqueeze(2)).view(sizes);
    if (bias && bias->defined()) result = result.add(*bias);
    return result;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/linear.inc"
