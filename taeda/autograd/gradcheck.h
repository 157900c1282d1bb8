// SPDX-License-Identifier: Apache-2.0
// Gradients against finite differences.
#pragma once

#include "taeda/autograd/functional.h"

namespace taeda::autograd {

struct GradcheckOptions {
  double eps = 1e-6;    ///< step of the central difference
  double atol = 1e-5;   ///< allowed: |analytic - numerical| <= atol + rtol · |numerical|
  double rtol = 1e-3;
  double nondet_tol = 0;        ///< allowed difference of two backward passes over the same graph
  bool raise_exception = true;  ///< false: return false instead of throwing
  /// Compares uᵀJv for a few fixed vectors u and v instead of every element of J: a few evaluations, whatever the sizes.
  bool fast_mode = false;
  bool check_undefined_grad = true;  ///< results that get no gradient must count as zero
};

/// Compares the gradients of `fn` at `inputs` with central differences, element by element. Inputs that require grad must
/// be float64, without elements that share memory. They are changed for the time of the call and then restored.
/// Returns true when all agree. Throws Error naming result, input and elements of the worst difference.
TAEDA_API bool gradcheck(const functional::Fn& fn, const variable_list& inputs, const GradcheckOptions& options = {});
TAEDA_API bool gradcheck(const functional::Fn1& fn, const Tensor& input, const GradcheckOptions& options = {});

/// The same for the gradients of `fn` as functions of the inputs and of the gradients fed in (`grad_outputs`, by default
/// fixed pseudo-random numbers).
TAEDA_API bool gradgradcheck(const functional::Fn& fn, const variable_list& inputs, const variable_list& grad_outputs = {},
                             const GradcheckOptions& options = {});
TAEDA_API bool gradgradcheck(const functional::Fn1& fn, const Tensor& input, const Tensor& grad_output = {},
                             const GradcheckOptions& options = {});

}  // namespace taeda::autograd
