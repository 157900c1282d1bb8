// A program with the include paths and names of LibTorch, linked to taeda::compat.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::nn::Linear layer(3, 2);
  at::Tensor y = layer->forward(torch::ones({4, 3}, torch::kFloat32));
  TORCH_CHECK(y.size(0) == 4 && y.size(1) == 2, "shape");
  try {
    torch::ones({2, 3}).matmul(torch::ones({2, 3}));
  } catch (const c10::Error& error) {
    std::cout << "consumer: " << y.dim() << "\n";
    return 0;
  }
  return 1;
}
