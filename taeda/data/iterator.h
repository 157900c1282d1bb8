// SPDX-License-Identifier: Apache-2.0
// The iterator of a loader's batches.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>

#include "taeda/core/error.h"

namespace taeda::data {

namespace detail {
/// Where an iterator gets its batches. `generation` counts the epochs begun: an iterator of an earlier one is over.
template <class Batch>
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::optional<Batch> next_batch() = 0;
  size_t generation = 0;
};
}  // namespace detail

/// Visits the batches of one epoch once. A batch is made (or waited for) when it is first looked at.
template <class Batch>
class Iterator final {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;  ///< the end
  explicit Iterator(detail::BatchSource<Batch>* source) : source_(source), generation_(source->generation) {}

  Iterator& operator++() {
    fetch();
    TAEDA_CHECK(source_, "[Iterator] the iterator must not be past the end: got the end; compare with end() first");
    batch_.reset();
    fetch();
    return *this;
  }
  Batch& operator*() {
    fetch();
    TAEDA_CHECK(source_, "[Iterator] the iterator must not be past the end: got the end; compare with end() first");
    return *batch_;
  }
  Batch* operator->() { return &**this; }
  friend bool operator==(const Iterator& a, const Iterator& b) {
    a.fetch();
    b.fetch();
    return a.source_ == b.source_;
  }
  friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

 private:
  void fetch() const {
    if (batch_ || !source_) return;
    TAEDA_CHECK(generation_ == source_->generation, "[Iterator] only the loader's newest iterator gives batches: begin() was called after this one was made; "
                "finish one loop before the next");
    batch_ = source_->next_batch();
    if (!batch_) source_ = nullptr;
  }

  mutable detail::BatchSource<Batch>* source_ = nullptr;
  mutable std::optional<Batch> batch_;
  size_t generation_ = 0;
};

}  // namespace taeda::data
