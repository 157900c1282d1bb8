// SPDX-License-Identifier: Apache-2.0
// Any loader as an argument of the trainer.
#pragma once

#include <memory>

#include "taeda/data/any_loader.h"

namespace taeda::train {

/// Takes what `make_data_loader` gives (as a variable, which must outlive the run, or moved), a shared loader, a loader itself, or nothing.
class LoaderRef {
 public:
  LoaderRef() = default;
  LoaderRef(data::AnyLoader loader) : loader_(std::move(loader)) {}  // NOLINT(google-explicit-constructor): all of these
  template <class L>
  LoaderRef(std::unique_ptr<L>& loader) : loader_(borrow(loader.get())) {}  // NOLINT(google-explicit-constructor)
  template <class L>
  LoaderRef(std::unique_ptr<L>&& loader) : loader_(std::move(loader)) {}  // NOLINT(google-explicit-constructor)
  template <class L>
  LoaderRef(std::shared_ptr<L> loader) : loader_(std::move(loader)) {}  // NOLINT(google-explicit-constructor)
  template <class L>
    requires requires(L& loader) { loader.begin() == loader.end(); loader.next_batch(); }
  LoaderRef(L& loader) : loader_(borrow(&loader)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return static_cast<bool>(loader_); }
  data::AnyLoader& operator*() { return loader_; }
  data::AnyLoader* operator->() { return &loader_; }
  const data::AnyLoader* operator->() const { return &loader_; }

 private:
  template <class L>
  static std::shared_ptr<L> borrow(L* loader) {
    return std::shared_ptr<L>(std::shared_ptr<void>(), loader);
  }
  data::AnyLoader loader_;
};

}  // namespace taeda::train
