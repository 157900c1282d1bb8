// SPDX-License-Identifier: Apache-2.0
// Gradient clipping and flattening of parameters.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::nn::utils {

/// Scales all gradients so that their joint norm is at most `max_norm`; returns the norm before. Throws Error on a norm that is not
/// finite when `error_if_nonfinite`.
TAEDA_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);
inline double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
inline double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type, error_if_nonfinite);
}
/// Clamps every gradient element to [-clip_value, clip_value].
TAEDA_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
inline void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
inline void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}
/// All parameters as one vector, and back.
TAEDA_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
TAEDA_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace taeda::nn::utils
