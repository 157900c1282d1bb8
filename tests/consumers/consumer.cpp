// The program of every consumer test: includes the public door, computes a gradient, prints one line.
// SPDX-License-Identifier: Apache-2.0
#include <taeda/taeda.h>

#include <iostream>

int main() {
  taeda::Tensor x = taeda::ones({2, 3}).requires_grad_();
  (x * x).sum().backward();
  std::cout << "consumer: " << x.grad().sum().item<float>() << "\n";
  return x.grad().sum().item<float>() == 12.0F ? 0 : 1;
}
