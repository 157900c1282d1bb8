// SPDX-License-Identifier: Apache-2.0
// Operators with a hand-written gradient: `struct MyFunction : Function<MyFunction> { static forward, backward }`.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/node.h"
#include "taeda/core/value.h"

namespace taeda::autograd {

struct CustomNode;
using tensor_list = std::vector<Tensor>;
using optional_variable_list = std::vector<std::optional<Variable>>;
using IndexRange = std::pair<size_t, size_t>;

/// What `forward` hands to `backward`.
class TAEDA_API AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Values of any type, by name. Tensors that are inputs or results belong into `save_for_backward`.
  std::unordered_map<std::string, Value> saved_data;

  /// Keeps inputs, results or intermediate tensors for `backward`. To be called at most once, in `forward`.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  /// The tensors given to `save_for_backward`, in order. Throws Error when they were changed in place or freed.
  variable_list get_saved_variables() const;
  /// Inputs that `forward` changes in place. All of them must be returned.
  void mark_dirty(const variable_list& inputs);
  /// Results without a gradient.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether `backward` gets zeros (default) or undefined tensors for results that no gradient reached.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// In `backward`: whether the gradient of tensor input number `index` is wanted.
  bool needs_input_grad(size_t index) const;
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

  /// The inputs changed in place; counts the change.
  std::unordered_set<TensorImpl*> get_and_bump_dirty() const;
  const std::unordered_set<TensorImpl*>& get_non_differentiable() const { return non_differentiable_; }

 private:
  friend struct CustomNode;
  friend struct CustomCall;
  variable_list to_save_;
  std::vector<SavedTensor> saved_;
  std::unordered_set<TensorImpl*> dirty_;
  std::unordered_set<TensorImpl*> non_differentiable_;
  const CustomNode* node_ = nullptr;
  bool materialize_grads_ = true;
  bool freed_ = false;
};

/// The node of a custom function.
struct TAEDA_API CustomNode : Node {
  using Backward = variable_list (*)(AutogradContext*, variable_list);

  CustomNode(Backward function, const std::type_info& type);
  std::string name() const override;
  /// The function's type, for messages.
  std::string function_name() const;
  void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) override;
  void release_variables() override;

  AutogradContext ctx_;
  std::vector<bool> is_tensor_input;  ///< for each argument of forward
  Backward function;
  const std::type_info* type;
};

/// One call of a custom function, outside of what depends on its type.
struct TAEDA_API CustomCall {
  IntrusivePtr<CustomNode> node;
  variable_list inputs;
  bool recorded = false;

  CustomCall(CustomNode::Backward function, const std::type_info& type)
      : node(IntrusivePtr<CustomNode>::adopt(new CustomNode(function, type))) {}
  AutogradContext* context() { return &node->ctx_; }
  void add(const Tensor& tensor) {
    node->is_tensor_input.push_back(true);
    inputs.push_back(tensor);
  }
  void add(const std::optional<Tensor>& tensor) {
    if (tensor && tensor->defined()) {
      add(*tensor);
    } else {
      node->is_tensor_input.push_back(false);
    }
  }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t);
  }
  void add(const std::vector<Tensor>& list) { add(TensorList(list)); }
  template <class T>
  void add(const T&) {
    node->is_tensor_input.push_back(false);
  }
  /// Makes the edges to the inputs.
  void begin();
  /// Gives the results their history.
  void finish(variable_list& outputs);
};

template <class X, class... Args>
using forward_t = decltype(X::forward(nullptr, std::declval<Args>()...));

/// Base of a custom function:
///
///     struct Square : Function<Square> {
///       static Tensor forward(AutogradContext* ctx, const Tensor& x) { ctx->save_for_backward({x}); return x * x; }
///       static variable_list backward(AutogradContext* ctx, variable_list grads) {
///         return {2 * ctx->get_saved_variables()[0] * grads[0]};
///       }
///     };
///     y = Square::apply(x);
///
/// `forward` returns a Tensor, a variable_list, or a tuple or optional of tensors; nothing in it is recorded.
/// `backward` gets a gradient for each result and returns one for each argument of `forward` (undefined for those that are
/// no tensors). Written with differentiable operators it can be differentiated again.
template <class T>
struct Function {
  template <class X = T, class... Args>
  static auto apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, forward_t<X, Args...>>;
  static constexpr bool is_traceable = false;
};

namespace detail {
inline variable_list to_list(Tensor& result) { return {result}; }
inline variable_list to_list(variable_list& results) { return results; }
inline variable_list to_list(std::optional<Tensor>& result) { return {result.value_or(Tensor())}; }
template <class... T>
variable_list to_list(std::tuple<T...>& results) {
  return std::apply([](auto&... t) { return variable_list{t...}; }, results);
}
inline void from_list(variable_list& list, Tensor& result) { result = std::move(list[0]); }
inline void from_list(variable_list& list, variable_list& results) { results = std::move(list); }
inline void from_list(variable_list& list, std::optional<Tensor>& result) {
  if (result) result = std::move(list[0]);
}
template <class... T>
void from_list(variable_list& list, std::tuple<T...>& results) {
  size_t i = 0;
  std::apply([&](auto&... t) { ((t = std::move(list[i++])), ...); }, results);
}
}  // namespace detail

template <class T>
template <class X, class... Args>
auto Function<T>::apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, forward_t<X, Args...>> {
  CustomCall call([](AutogradContext* ctx, variable_list grads) -> variable_list { return T::backward(ctx, std::move(grads)); },
                  typeid(T));
  (call.add(args), ...);
  call.begin();
  auto result = [&] {
    const AutoGradMode off(false);
    return T::forward(call.context(), std::forward<Args>(args)...);
  }();
  variable_list list = detail::to_list(result);
  call.finish(list);
  detail::from_list(list, result);
  return result;
}

}  // namespace taeda::autograd
