// SPDX-License-Identifier: Apache-2.0
// Kernels of convolution: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// The geometry of a convolution in three spatial dimensions (leading ones are 1 where there are fewer): input
/// (batch, groups · in_channels, in…), weight (groups · out_channels, in_channels, kernel…), output
/// (batch, groups · out_channels, out…). All contiguous, float32 or float64.
struct ConvGeometry {
  ScalarType dtype;
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
  int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
};
/// Tensors of a convolution: a kernel reads two of the three large ones and writes the third. `bias` belongs to the
/// channels of what is written; may be null. The last three are for conv_kernel alone.
struct ConvArgs {
  ConvGeometry geometry;
  char* input;
  char* weight;
  char* output;
  const char* bias;
  const char* packed = nullptr;  ///< the weight as conv_pack_kernel writes it; then `weight` is not read
  const char* add = nullptr;     ///< laid out as the output, added behind the bias
  bool relu = false;             ///< last of all
};
/// output = input * weight + bias + add, negative results being 0 with `relu`.
extern TAEDA_API DeviceKernel<void(const ConvArgs&)> conv_kernel;
/// Writes the geometry's weight into `packed`, unless that is null, as conv_kernel reads it fastest in this process. Returns the elements of
/// `packed`; 0 where packing is no use.
extern TAEDA_API DeviceKernel<int64_t(const ConvGeometry& geometry, const char* weight, char* packed)> conv_pack_kernel;
/// input = the transposed map applied to output (+ bias): the gradient of a convolution for its input.
extern TAEDA_API DeviceKernel<void(const ConvArgs&)> conv_transposed_kernel;
/// weight = the gradient of a convolution for its weight, `output` being the cotangent.
extern TAEDA_API DeviceKernel<void(const ConvArgs&)> conv_weight_kernel;

}  // namespace taeda
