// SPDX-License-Identifier: Apache-2.0
// Entries of the convolution kernels.
#include "taeda/cpu/conv.h"

namespace taeda {
namespace {

const cpu::ConvLoops& loops(const ConvArgs& x) {
  return x.geometry.dtype == kFloat ? cpu::conv_loops_f32() : cpu::conv_loops_f64();
}
void conv_cpu(const KernelContext&, const ConvArgs& x) { loops(x).forward(x); }
void conv_transposed_cpu(const KernelContext&, const ConvArgs& x) { loops(x).transposed(x); }
void conv_weight_cpu(const KernelContext&, const ConvArgs& x) { loops(x).weight(x); }

}  // namespace

constinit DeviceKernel<void(const ConvArgs&)> conv_kernel{&conv_cpu};
constinit DeviceKernel<void(const ConvArgs&)> conv_transposed_kernel{&conv_transposed_cpu};
constinit DeviceKernel<void(const ConvArgs&)> conv_weight_kernel{&conv_weight_cpu};

}  // namespace taeda
