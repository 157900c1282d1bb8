// The program of every consumer test: includes the public door, calls into the library, prints one line.
// SPDX-License-Identifier: Apache-2.0
#include <taeda/core/scalar_type.h>

#include <iostream>

int main() {
  std::cout << "consumer: " << taeda::to_string(taeda::ScalarType::Float) << "\n";
  return 0;
}
