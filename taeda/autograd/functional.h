// SPDX-License-Identifier: Apache-2.0
// Derivatives of functions: Jacobians, Hessians and their products with vectors.
#pragma once

#include <functional>
#include <utility>

#include "taeda/autograd/autograd.h"

namespace taeda::autograd::functional {

/// A function of several tensors with several results. Its results must be computed by differentiable operators.
using Fn = std::function<variable_list(const variable_list&)>;
/// A function of one tensor with one result.
using Fn1 = std::function<Tensor(const Tensor&)>;

// `create_graph`: the derivatives can be differentiated themselves. `strict`: an output that does not depend on an input is
// an Error instead of a derivative of zeros.

/// (fn(inputs), vᵀJ). `v`: for each result a tensor of its shape; may be left out when there is one result of one element.
TAEDA_API std::pair<variable_list, variable_list> vjp(const Fn& fn, const variable_list& inputs, const variable_list& v = {},
                                                      bool create_graph = false, bool strict = false);
/// (fn(inputs), Jv), by two reverse passes. `v`: for each input a tensor of its shape.
TAEDA_API std::pair<variable_list, variable_list> jvp(const Fn& fn, const variable_list& inputs, const variable_list& v = {},
                                                      bool create_graph = false, bool strict = false);
/// d result i / d input j, of shape (*result i, *input j), as [i][j].
TAEDA_API std::vector<variable_list> jacobian(const Fn& fn, const variable_list& inputs, bool create_graph = false,
                                              bool strict = false);
/// Second derivatives of a function with one result of one element: d² / d input i d input j, of shape
/// (*input i, *input j), as [i][j].
TAEDA_API std::vector<variable_list> hessian(const Fn& fn, const variable_list& inputs, bool create_graph = false,
                                             bool strict = false);
/// (fn(inputs), Hv) for a function with one result of one element.
TAEDA_API std::pair<variable_list, variable_list> hvp(const Fn& fn, const variable_list& inputs, const variable_list& v = {},
                                                      bool create_graph = false, bool strict = false);
/// (fn(inputs), vᵀH): equal to `hvp` where the second derivatives are continuous, and cheaper.
TAEDA_API std::pair<variable_list, variable_list> vhp(const Fn& fn, const variable_list& inputs, const variable_list& v = {},
                                                      bool create_graph = false, bool strict = false);

// The same for one tensor and one result.
TAEDA_API std::pair<Tensor, Tensor> vjp(const Fn1& fn, const Tensor& input, const Tensor& v = {}, bool create_graph = false,
                                        bool strict = false);
TAEDA_API std::pair<Tensor, Tensor> jvp(const Fn1& fn, const Tensor& input, const Tensor& v = {}, bool create_graph = false,
                                        bool strict = false);
TAEDA_API Tensor jacobian(const Fn1& fn, const Tensor& input, bool create_graph = false, bool strict = false);
TAEDA_API Tensor hessian(const Fn1& fn, const Tensor& input, bool create_graph = false, bool strict = false);
TAEDA_API std::pair<Tensor, Tensor> hvp(const Fn1& fn, const Tensor& input, const Tensor& v = {}, bool create_graph = false,
                                        bool strict = false);
TAEDA_API std::pair<Tensor, Tensor> vhp(const Fn1& fn, const Tensor& input, const Tensor& v = {}, bool create_graph = false,
                                        bool strict = false);

}  // namespace taeda::autograd::functional
