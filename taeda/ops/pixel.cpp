// SPDX-License-Identifier: Apache-2.0
// Rearrangements between channels and space, and functional forms that check their arguments.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

/// (*, C·r², H, W) to (*, C, H·r, W·r) (Shi et al. 2016).
struct PixelShuffle : Composite {
  static constexpr auto schema = "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t upscale_factor) {
    const int64_t r = upscale_factor;
    TAEDA_CHECK(self.dim() >= 3, "[pixel_shuffle] expects input to have at least 3 dimensions, but got input with ", self.dim(),
                " dimension(s); unsqueeze it");
    TAEDA_CHECK(r > 0 && r <= (1 << 30), "[pixel_shuffle] expects a positive upscale_factor below 2^30, but got ", r, "; pass 1 or more");
    const int64_t c = self.size(-3);
    TAEDA_CHECK(c % (r * r) == 0, "[pixel_shuffle] expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
                "but input.size(-3)=", c, " is not divisible by ", r * r, "; change the channels");
    const int64_t h = self.size(-2);
    const int64_t w = self.size(-1);
    DimVector lead(self.sizes().begin(), self.sizes().end() - 3);
    const auto n = static_cast<int64_t>(lead.size());
    DimVector split(lead);
    for (const int64_t s : {c / (r * r), r, r, h, w}) split.push_back(s);
    DimVector order;
    for (int64_t d = 0; d < n; ++d) order.push_back(d);
    for (const int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
    DimVector shape(lead);
    for (const int64_t s : {c / (r * r), h * r, w * r}) shape.push_back(s);
    return self.reshape(split).permute(order).reshape(shape);
  }
};

/// (*, C, H·r, W·r) to (*, C·r², H, W): undoes pixel_shuffle.
struct PixelUnshuffle : Composite {
  static constexpr auto schema = "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t downscale_factor) {
    const int64_t r = downscale_factor;
    TAEDA_CHECK(self.dim() >= 3, "[pixel_unshuffle] expects input to have at least 3 dimensions, but got input with ", self.dim(),
                " dimension(s); unsqueeze it");
    TAEDA_CHECK(r > 0, "[pixel_unshuffle] expects a positive downscale_factor, but got ", r, "; pass 1 or more");
    const int64_t c = self.size(-3);
    const int64_t h = self.size(-2);
    const int64_t w = self.size(-1);
    TAEDA_CHECK(h % r == 0 && w % r == 0, "[pixel_unshuffle] expects height and width to be divisible by downscale_factor, but got ", h,
                " and ", w, " for ", r, "; crop or pad first");
    DimVector lead(self.sizes().begin(), self.sizes().end() - 3);
    const auto n = static_cast<int64_t>(lead.size());
    DimVector split(lead);
    for (const int64_t s : {c, h / r, r, w / r, r}) split.push_back(s);
    DimVector order;
    for (int64_t d = 0; d < n; ++d) order.push_back(d);
    for (const int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
    DimVector shape(lead);
    for (const int64_t s : {c * r * r, h / r, w / r}) shape.push_back(s);
    return self.reshape(split).permute(order).reshape(shape);
  }
};

/// Channels regrouped: (N, g·k, …) read as (N, g, k, …) with g and k swapped.
struct ChannelShuffle : Composite {
  static constexpr auto schema = "channel_shuffle(Tensor self, int groups) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t groups) {
    TAEDA_CHECK(self.dim() > 2, "[channel_shuffle] expects input with > 2 dims, but got input with sizes ", self.sizes(), "; unsqueeze it");
    TAEDA_CHECK(groups > 0, "[channel_shuffle] number of groups to divide channels in must be positive: got ", groups, "; pass 1 or more");
    const int64_t c = self.size(1);
    TAEDA_CHECK(c % groups == 0, "[channel_shuffle] number of channels must be divisible by groups: got ", c, " channels and ", groups,
                " groups; change one of them");
    DimVector split(self.sizes());
    split[1] = groups;
    split.insert(2, c / groups);
    return self.reshape(split).transpose(1, 2).reshape(self.sizes());
  }
};
/// channel_shuffle.
struct NativeChannelShuffle : Composite {
  static constexpr auto schema = "native_channel_shuffle(Tensor self, int groups) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t groups) { return taeda::channel_shuffle(self, groups); }
};
/// hardtanh with the bounds checked: the lower one must not exceed the upper one.
struct FunctionalHardtanh : Composite {
  static constexpr auto schema =
      "nn_functional_hardtanh(Tensor input, float min_val=-1., float max_val=1., bool inplace=False) -> Tensor";
  static Tensor forward(const Tensor& input, double min_val, double max_val, bool inplace) {
    TAEDA_CHECK_VALUE(min_val <= max_val, "[hardtanh] min_val cannot be greater than max_val: got ", min_val, " and ", max_val,
                      "; swap them");
    const bool whole = is_integral_type(input.scalar_type(), false);
    const Scalar low = whole ? Scalar(static_cast<int64_t>(min_val)) : Scalar(min_val);
    const Scalar high = whole ? Scalar(static_cast<int64_t>(max_val)) : Scalar(max_val);
    const Tensor result = taeda::hardtanh(input, low, high);
    return inplace ? input.copy_(result) : result;
  }
};
/// softshrink with the threshold checked.
struct FunctionalSoftshrink : Composite {
  static constexpr auto schema = "nn_functional_softshrink(Tensor input, float lambd=0.5) -> Tensor";
  static Tensor forward(const Tensor& input, double lambd) {
    TAEDA_CHECK_VALUE(lambd >= 0, "[softshrink] lambda must be greater or equal to 0, but found to be ", lambd, "; pass 0 or more");
    return taeda::softshrink(input, lambd);
  }
};
/// log(sigmoid(x)).
struct FunctionalLogSigmoid : Composite {
  static constexpr auto schema = "nn_functional_logsigmoid(Tensor input) -> Tensor";
  static Tensor forward(const Tensor& input) { return taeda::log_sigmoid(input); }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/pixel.inc"
