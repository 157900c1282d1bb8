// SPDX-License-Identifier: Apache-2.0
// The parts of type-erased values and modules that do not depend on the type.
#include "taeda/nn/any.h"

namespace taeda::nn {

AnyValue::AnyValue(AnyValue&&) noexcept = default;
AnyValue& AnyValue::operator=(AnyValue&&) noexcept = default;
AnyValue::AnyValue(const AnyValue& other) : content_(other.content_->clone()) {}
AnyValue& AnyValue::operator=(const AnyValue& other) {
  content_ = other.content_->clone();
  return *this;
}
AnyValue::~AnyValue() = default;

AnyModule::AnyModule() noexcept = default;
AnyModule::~AnyModule() = default;
AnyModule::AnyModule(AnyModule&&) noexcept = default;
AnyModule& AnyModule::operator=(AnyModule&&) noexcept = default;
AnyModule::AnyModule(const AnyModule& other) : content_(other.content_ ? other.content_->copy() : nullptr) {}
AnyModule& AnyModule::operator=(const AnyModule& other) {
  content_ = other.content_ ? other.content_->copy() : nullptr;
  return *this;
}
AnyModule AnyModule::clone(std::optional<Device> device) const {
  AnyModule copy;
  copy.content_ = content_ ? content_->clone_module(device) : nullptr;
  return copy;
}
std::shared_ptr<Module> AnyModule::ptr() const {
  check();
  return content_->ptr();
}
const std::type_info& AnyModule::type_info() const {
  check();
  return content_->type;
}
void AnyModule::check() const {
  TAEDA_CHECK(!is_empty(), "[AnyModule] cannot use an empty AnyModule; assign a module first");
}

}  // namespace taeda::nn
