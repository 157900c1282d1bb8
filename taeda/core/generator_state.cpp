// SPDX-License-Identifier: Apache-2.0
// A generator's state as a tensor of bytes.
#include <cstring>
#include <mutex>
#include <vector>

#include "taeda/core/generator.h"
#include "taeda/core/tensor.h"

namespace taeda {

Tensor Generator::get_state() const {
  std::vector<uint8_t> bytes;
  {
    std::lock_guard lock(mutex());
    bytes = state_bytes();
  }
  Tensor state = make_tensor({static_cast<int64_t>(bytes.size())}, kByte);
  std::memcpy(state.mutable_data_ptr(), bytes.data(), bytes.size());
  return state;
}

void Generator::set_state(const Tensor& state) {
  TAEDA_CHECK_VALUE(state.defined() && state.scalar_type() == kByte && state.device().is_cpu() && state.is_contiguous(),
                    "[set_state] a generator's state is a contiguous uint8 tensor on the CPU: got ",
                    state.defined() ? toString(state.scalar_type()) : "an undefined tensor",
                    "; pass what get_state returned");
  const auto* bytes = static_cast<const uint8_t*>(state.const_data_ptr());
  std::lock_guard lock(mutex());
  impl().set_state_bytes(bytes, static_cast<size_t>(state.numel()));
}

}  // namespace taeda
