// SPDX-License-Identifier: Apache-2.0
// Jacobians, Hessians and products with them, from reverse passes.
#include "taeda/autograd/functional.h"

#include "taeda/ops/functions.h"

namespace taeda::autograd::functional {

namespace {

/// Inputs to differentiate by: with create_graph they stay tied to the caller's graph, else they are new leaves.
variable_list prepare(const variable_list& inputs, bool create_graph, const char* op) {
  variable_list list;
  for (const Tensor& t : inputs) {
    TAEDA_CHECK(t.defined() && is_floating_type(t.scalar_type()), "[", op,
                "] inputs must be floating point tensors: got ", t.defined() ? str(t.scalar_type()) : "an empty handle",
                "; convert them first");
    if (create_graph && t.requires_grad()) {
      list.push_back(t.view(t.sizes()));
    } else {
      Tensor leaf = t.detach();
      leaf.requires_grad_();
      list.push_back(std::move(leaf));
    }
  }
  return list;
}

variable_list call(const Fn& fn, const variable_list& inputs, bool strict, const char* op) {
  variable_list outputs = fn(inputs);
  TAEDA_CHECK(!outputs.empty(), "[", op, "] the function must have a result: got none; return a list of tensors");
  for (size_t i = 0; i < outputs.size(); ++i) {
    TAEDA_CHECK(outputs[i].defined() && (!strict || outputs[i].requires_grad()), "[", op, "] result ", i,
                " of the function must depend on an input: got one without history; compute it by differentiable operators");
  }
  return outputs;
}

variable_list check_vectors(const variable_list& v, const variable_list& of, const char* op, const char* what) {
  if (v.empty()) {
    TAEDA_CHECK(of.size() == 1 && of[0].numel() == 1, "[", op, "] v may be left out only for one ", what,
                " of one element: got ", of.size(), " of sizes ", of[0].sizes(), "; pass v");
    return {taeda::ones_like(of[0])};
  }
  TAEDA_CHECK(v.size() == of.size(), "[", op, "] v must have a tensor for each ", what, ": got ", v.size(), " for ",
              of.size(), "; pass that many");
  for (size_t i = 0; i < v.size(); ++i) {
    TAEDA_CHECK(v[i].sizes() == of[i].sizes(), "[", op, "] v must have the shape of each ", what, ": got ", v[i].sizes(),
                " for ", of[i].sizes(), "; reshape it");
  }
  return v;
}

/// Gradients of `outputs`; zeros (strict: an error) where an output does not depend on an input.
variable_list grads_of(const variable_list& outputs, const variable_list& inputs, const variable_list& v, bool create_graph,
                       bool strict, const char* op) {
  variable_list roots, vectors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    vectors.push_back(v[i]);
  }
  variable_list grads(inputs.size());
  if (!roots.empty()) grads = grad(roots, inputs, vectors, true, create_graph, true);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (grads[i].defined()) continue;
    TAEDA_CHECK(!strict, "[", op, "] the result must depend on every input: got independence of input ", i,
                "; pass strict=false for zeros");
    grads[i] = taeda::zeros_like(inputs[i]);
  }
  return grads;
}

variable_list finish(variable_list list, bool create_graph) {
  if (create_graph) return list;
  for (Tensor& t : list) t = t.detach();
  return list;
}

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector sizes(a);
  sizes.append(b.begin(), b.end());
  return sizes;
}

/// Rows d output[k] / d inputs for every element k of `output`, put together for each input.
variable_list rows_of(const Tensor& output, const variable_list& inputs, bool create_graph, bool strict, const char* op) {
  std::vector<variable_list> rows(inputs.size());
  const Tensor flat = output.reshape({-1});
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const variable_list grads = grads_of({flat.select(0, k)}, inputs, {taeda::ones({}, output.options())}, create_graph,
                                         strict, op);
    for (size_t j = 0; j < inputs.size(); ++j) rows[j].push_back(grads[j]);
  }
  variable_list result;
  for (size_t j = 0; j < inputs.size(); ++j) {
    const DimVector sizes = joined(output.sizes(), inputs[j].sizes());
    result.push_back(rows[j].empty() ? taeda::zeros(sizes, inputs[j].options())
                                     : taeda::stack(rows[j], 0).reshape(sizes));
  }
  return result;
}

Fn lift(const Fn1& fn) {
  return [&fn](const variable_list& inputs) -> variable_list { return {fn(inputs[0])}; };
}
variable_list lift(const Tensor& v) { return v.defined() ? variable_list{v} : variable_list(); }
std::pair<Tensor, Tensor> lower(const std::pair<variable_list, variable_list>& lists) {
  return {lists.first[0], lists.second[0]};
}

Tensor scalar_result(const variable_list& outputs, const char* op) {
  TAEDA_CHECK(outputs.size() == 1 && outputs[0].numel() == 1, "[", op,
              "] the function must have one result of one element: got ", outputs.size(), " of sizes ", outputs[0].sizes(),
              "; reduce it with sum()");
  return outputs[0];
}

}  // namespace

std::pair<variable_list, variable_list> vjp(const Fn& fn, const variable_list& inputs, const variable_list& v,
                                            bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "vjp");
  const variable_list outputs = call(fn, x, strict, "vjp");
  variable_list grads = grads_of(outputs, x, check_vectors(v, outputs, "vjp", "result"), create_graph, strict, "vjp");
  return {finish(outputs, create_graph), finish(std::move(grads), create_graph)};
}

std::pair<variable_list, variable_list> jvp(const Fn& fn, const variable_list& inputs, const variable_list& v,
                                            bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "jvp");
  const variable_list vectors = check_vectors(v, x, "jvp", "input");
  const variable_list outputs = call(fn, x, strict, "jvp");
  // uᵀJ is linear in u: its derivative by u, applied to v, is Jv.
  variable_list u;
  for (const Tensor& out : outputs) u.push_back(taeda::zeros_like(out).requires_grad_());
  const variable_list back = grads_of(outputs, x, u, true, strict, "jvp");
  variable_list products = grads_of(back, u, vectors, create_graph, strict, "jvp");
  return {finish(outputs, create_graph), finish(std::move(products), create_graph)};
}

std::vector<variable_list> jacobian(const Fn& fn, const variable_list& inputs, bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "jacobian");
  const variable_list outputs = call(fn, x, strict, "jacobian");
  std::vector<variable_list> result;
  for (const Tensor& out : outputs) {
    result.push_back(finish(rows_of(out, x, create_graph, strict, "jacobian"), create_graph));
  }
  return result;
}

std::vector<variable_list> hessian(const Fn& fn, const variable_list& inputs, bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "hessian");
  const Tensor out = scalar_result(call(fn, x, strict, "hessian"), "hessian");
  const variable_list first = grads_of({out}, x, {taeda::ones_like(out)}, true, strict, "hessian");
  std::vector<variable_list> result;
  for (const Tensor& g : first) result.push_back(finish(rows_of(g, x, create_graph, strict, "hessian"), create_graph));
  return result;
}

std::pair<variable_list, variable_list> vhp(const Fn& fn, const variable_list& inputs, const variable_list& v,
                                            bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "vhp");
  const variable_list vectors = check_vectors(v, x, "vhp", "input");
  const Tensor out = scalar_result(call(fn, x, strict, "vhp"), "vhp");
  const variable_list first = grads_of({out}, x, {taeda::ones_like(out)}, true, strict, "vhp");
  variable_list products = grads_of(first, x, vectors, create_graph, strict, "vhp");
  return {finish({out}, create_graph), finish(std::move(products), create_graph)};
}

std::pair<variable_list, variable_list> hvp(const Fn& fn, const variable_list& inputs, const variable_list& v,
                                            bool create_graph, bool strict) {
  const AutoGradMode mode(true);
  const variable_list x = prepare(inputs, create_graph, "hvp");
  const variable_list vectors = check_vectors(v, x, "hvp", "input");
  const Tensor out = scalar_result(call(fn, x, strict, "hvp"), "hvp");
  const variable_list first = grads_of({out}, x, {taeda::ones_like(out)}, true, strict, "hvp");
  variable_list u;
  for (const Tensor& g : first) u.push_back(taeda::zeros_like(g).requires_grad_());
  const variable_list back = grads_of(first, x, u, true, strict, "hvp");
  variable_list products = grads_of(back, u, vectors, create_graph, strict, "hvp");
  return {finish({out}, create_graph), finish(std::move(products), create_graph)};
}

std::pair<Tensor, Tensor> vjp(const Fn1& fn, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  return lower(vjp(lift(fn), variable_list{input}, lift(v), create_graph, strict));
}
std::pair<Tensor, Tensor> jvp(const Fn1& fn, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  return lower(jvp(lift(fn), variable_list{input}, lift(v), create_graph, strict));
}
Tensor jacobian(const Fn1& fn, const Tensor& input, bool create_graph, bool strict) {
  return jacobian(lift(fn), variable_list{input}, create_graph, strict)[0][0];
}
Tensor hessian(const Fn1& fn, const Tensor& input, bool create_graph, bool strict) {
  return hessian(lift(fn), variable_list{input}, create_graph, strict)[0][0];
}
std::pair<Tensor, Tensor> hvp(const Fn1& fn, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  return lower(hvp(lift(fn), variable_list{input}, lift(v), create_graph, strict));
}
std::pair<Tensor, Tensor> vhp(const Fn1& fn, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  return lower(vhp(lift(fn), variable_list{input}, lift(v), create_graph, strict));
}

}  // namespace taeda::autograd::functional
