// SPDX-License-Identifier: Apache-2.0
// The forms of pooling for one to three dimensions, by the names and arguments users call.
#include <limits>

#include "taeda/ops/conv.h"
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

using detail::expand_list;

/// A size of an adaptive pool that is to stay as it is (None).
constexpr int64_t kSameSize = std::numeric_limits<int64_t>::min();

std::tuple<Tensor, Tensor> max_pool_of(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                       bool ceil_mode, int64_t dims, const char* op) {
  return taeda::_max_pool_nd(self, expand_list(kernel, dims, "kernel_size", op), stride, padding, dilation, ceil_mode);
}
std::vector<Tensor> max_pool_list(const Tensor& self, IntArrayRef kernel, OptionalIntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                  bool ceil_mode, bool return_indices, int64_t dims, const char* op) {
  auto [values, indices] = max_pool_of(self, kernel, stride.value_or(IntArrayRef()), padding, dilation, ceil_mode, dims, op);
  return return_indices ? std::vector<Tensor>{values, indices} : std::vector<Tensor>{values};
}
DimVector adaptive_sizes(const Tensor& self, IntArrayRef output_size, int64_t dims, const char* op) {
  DimVector sizes = expand_list(output_size, dims, "output_size", op);
  TAEDA_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] expected a ", dims + 1, "D or ", dims + 2, "D input: got ", self.sizes(),
              "; reshape it");
  for (int64_t d = 0; d < dims; ++d) {
    if (sizes[static_cast<size_t>(d)] == kSameSize) sizes[static_cast<size_t>(d)] = self.size(d - dims);
  }
  return sizes;
}
std::vector<Tensor> adaptive_max_list(const Tensor& self, IntArrayRef output_size, bool return_indices, int64_t dims, const char* op) {
  auto [values, indices] = taeda::_adaptive_max_pool_nd(self, adaptive_sizes(self, output_size, dims, op));
  return return_indices ? std::vector<Tensor>{values, indices} : std::vector<Tensor>{values};
}
/// (mean of |x|^p times the window)^(1/p), with the sign of the sum of powers.
Tensor lp_pool_of(const Tensor& self, double norm_type, IntArrayRef kernel, OptionalIntArrayRef stride, bool ceil_mode, int64_t dims, const char* op) {
  const DimVector k = expand_list(kernel, dims, "kernel_size", op);
  double count = 1;
  for (const int64_t n : k) count *= static_cast<double>(n);
  const int64_t zero = 0;
  const Tensor mean = taeda::_avg_pool_nd(self.pow(norm_type), k, stride.value_or(IntArrayRef()), IntArrayRef(zero), ceil_mode, true, std::nullopt);
  return mean.sign().mul(mean.abs().relu()).mul(count).pow(1.0 / norm_type);
}

/// The largest element of each window over one dimension.
struct MaxPool1d : Composite {
  static constexpr auto schema =
      "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
    return std::get<0>(max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 1, "max_pool1d"));
  }
};
/// The largest elements and their positions in the plane.
struct MaxPool1dWithIndices : Composite {
  static constexpr auto schema =
      "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> "
      "(Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode) {
    return max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 1, "max_pool1d");
  }
};
/// As `max_pool1d`, with the positions where return_indices is set.
struct NnMaxPool1d : Composite {
  static constexpr auto schema =
      "nn_functional_max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, bool ceil_mode=False, "
      "bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                     bool ceil_mode, bool return_indices) {
    return max_pool_list(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1, "max_pool1d");
  }
};
/// The mean of each window over one dimension.
struct AvgPool1d : Composite {
  static constexpr auto schema =
      "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
    return taeda::_avg_pool_nd(self, expand_list(kernel_size, 1, "kernel_size", "avg_pool1d"), stride, padding, ceil_mode, count_include_pad,
                               std::nullopt);
  }
};
/// The mean of each of output_size windows.
struct AdaptiveAvgPool1d : Composite {
  static constexpr auto schema = "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_avg_pool_nd(self, adaptive_sizes(self, output_size, 1, "adaptive_avg_pool1d"));
  }
};
/// The largest element of each of output_size windows, and its position.
struct AdaptiveMaxPool1d : Composite {
  static constexpr auto schema = "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_max_pool_nd(self, adaptive_sizes(self, output_size, 1, "adaptive_max_pool1d"));
  }
};
/// As `adaptive_max_pool1d`, with the positions where return_indices is set.
struct NnAdaptiveMaxPool1d : Composite {
  static constexpr auto schema = "nn_functional_adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef output_size, bool return_indices) {
    return adaptive_max_list(input, output_size, return_indices, 1, "adaptive_max_pool1d");
  }
};
/// The p-norm of each window.
struct LpPool1d : Composite {
  static constexpr auto schema =
      "lp_pool1d(Tensor self, float norm_type, int[1] kernel_size, int[1]? stride=None, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double norm_type, IntArrayRef kernel_size, OptionalIntArrayRef stride, bool ceil_mode) {
    return lp_pool_of(self, norm_type, kernel_size, stride, ceil_mode, 1, "lp_pool1d");
  }
};
/// The largest element of each window over two dimensions.
struct MaxPool2d : Composite {
  static constexpr auto schema =
      "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
    return std::get<0>(max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 2, "max_pool2d"));
  }
};
/// The largest elements and their positions in the plane.
struct MaxPool2dWithIndices : Composite {
  static constexpr auto schema =
      "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> "
      "(Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode) {
    return max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 2, "max_pool2d");
  }
};
/// As `max_pool2d`, with the positions where return_indices is set.
struct NnMaxPool2d : Composite {
  static constexpr auto schema =
      "nn_functional_max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, "
      "bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                     bool ceil_mode, bool return_indices) {
    return max_pool_list(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2, "max_pool2d");
  }
};
/// The mean of each window over two dimensions.
struct AvgPool2d : Composite {
  static constexpr auto schema =
      "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
    return taeda::_avg_pool_nd(self, expand_list(kernel_size, 2, "kernel_size", "avg_pool2d"), stride, padding, ceil_mode, count_include_pad,
                               divisor_override);
  }
};
/// The mean of each of output_size windows.
struct AdaptiveAvgPool2d : Composite {
  static constexpr auto schema = "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_avg_pool_nd(self, adaptive_sizes(self, output_size, 2, "adaptive_avg_pool2d"));
  }
};
/// The largest element of each of output_size windows, and its position.
struct AdaptiveMaxPool2d : Composite {
  static constexpr auto schema = "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_max_pool_nd(self, adaptive_sizes(self, output_size, 2, "adaptive_max_pool2d"));
  }
};
/// As `adaptive_max_pool2d`, with the positions where return_indices is set.
struct NnAdaptiveMaxPool2d : Composite {
  static constexpr auto schema = "nn_functional_adaptive_max_pool2d(Tensor input, int[2] output_size, bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef output_size, bool return_indices) {
    return adaptive_max_list(input, output_size, return_indices, 2, "adaptive_max_pool2d");
  }
};
/// The p-norm of each window.
struct LpPool2d : Composite {
  static constexpr auto schema =
      "lp_pool2d(Tensor self, float norm_type, int[2] kernel_size, int[2]? stride=None, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double norm_type, IntArrayRef kernel_size, OptionalIntArrayRef stride, bool ceil_mode) {
    return lp_pool_of(self, norm_type, kernel_size, stride, ceil_mode, 2, "lp_pool2d");
  }
};
/// The largest element of each window over three dimensions.
struct MaxPool3d : Composite {
  static constexpr auto schema =
      "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
    return std::get<0>(max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 3, "max_pool3d"));
  }
};
/// The largest elements and their positions in the plane.
struct MaxPool3dWithIndices : Composite {
  static constexpr auto schema =
      "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> "
      "(Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode) {
    return max_pool_of(self, kernel_size, stride, padding, dilation, ceil_mode, 3, "max_pool3d");
  }
};
/// As `max_pool3d`, with the positions where return_indices is set.
struct NnMaxPool3d : Composite {
  static constexpr auto schema =
      "nn_functional_max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False, "
      "bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                     bool ceil_mode, bool return_indices) {
    return max_pool_list(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 3, "max_pool3d");
  }
};
/// The mean of each window over three dimensions.
struct AvgPool3d : Composite {
  static constexpr auto schema =
      "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
    return taeda::_avg_pool_nd(self, expand_list(kernel_size, 3, "kernel_size", "avg_pool3d"), stride, padding, ceil_mode, count_include_pad,
                               divisor_override);
  }
};
/// The mean of each of output_size windows.
struct AdaptiveAvgPool3d : Composite {
  static constexpr auto schema = "adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_avg_pool_nd(self, adaptive_sizes(self, output_size, 3, "adaptive_avg_pool3d"));
  }
};
/// The largest element of each of output_size windows, and its position.
struct AdaptiveMaxPool3d : Composite {
  static constexpr auto schema = "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef output_size) {
    return taeda::_adaptive_max_pool_nd(self, adaptive_sizes(self, output_size, 3, "adaptive_max_pool3d"));
  }
};
/// As `adaptive_max_pool3d`, with the positions where return_indices is set.
struct NnAdaptiveMaxPool3d : Composite {
  static constexpr auto schema = "nn_functional_adaptive_max_pool3d(Tensor input, int[3] output_size, bool return_indices=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& input, IntArrayRef output_size, bool return_indices) {
    return adaptive_max_list(input, output_size, return_indices, 3, "adaptive_max_pool3d");
  }
};
/// The p-norm of each window.
struct LpPool3d : Composite {
  static constexpr auto schema =
      "lp_pool3d(Tensor self, float norm_type, int[3] kernel_size, int[3]? stride=None, bool ceil_mode=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double norm_type, IntArrayRef kernel_size, OptionalIntArrayRef stride, bool ceil_mode) {
    return lp_pool_of(self, norm_type, kernel_size, stride, ceil_mode, 3, "lp_pool3d");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/pool_forms.inc"
