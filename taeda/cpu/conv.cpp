// SPDX-License-Identifier: Apache-2.0
// Entries of the convolution kernels.
#include "taeda/cpu/conv.h"

namespace taeda {
namespace {

const cpu::ConvLoops& loops(const ConvGeometry& g) { return g.dtype == kFloat ? cpu::conv_loops_f32() : cpu::conv_loops_f64(); }
const cpu::ConvLoops& loops(const ConvArgs& x) { return loops(x.geometry); }
void conv_cpu(const KernelContext&, const ConvArgs& x) { loops(x).forward(x); }
void conv_transposed_cpu(const KernelContext&, const ConvArgs& x) { loops(x).transposed(x); }
void conv_weight_cpu(const KernelContext&, const ConvArgs& x) { loops(x).weight(x); }
int64_t conv_pack_cpu(const KernelContext&, const ConvGeometry& g, const char* weight, char* packed) { return loops(g).pack(g, weight, packed); }

}  // namespace

constinit DeviceKernel<int64_t(const ConvGeometry&, const char*, char*)> conv_pack_kernel{&conv_pack_cpu};
constinit DeviceKernel<void(const ConvArgs&)> conv_kernel{&conv_cpu};
constinit DeviceKernel<void(const ConvArgs&)> conv_transposed_kernel{&conv_transposed_cpu};
constinit DeviceKernel<void(const ConvArgs&)> conv_weight_kernel{&conv_weight_cpu};

}  // namespace taeda
