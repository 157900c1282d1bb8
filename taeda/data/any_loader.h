// SPDX-License-Identifier: Apache-2.0
// Any loader of batches behind one type, for code that trains whatever it is given.
#pragma once

#include <memory>

#include "taeda/data/data_loader.h"

namespace taeda::data {

/// Holds a loader whose batches are `Example<>` (or `TensorExample`: then the target is undefined), made by `make_data_loader` or by the
/// user: anything with `begin()` and `end()`. Copies share it.
class AnyLoader {
 public:
  AnyLoader() = default;
  template <class Loader>
  AnyLoader(std::unique_ptr<Loader> loader) : AnyLoader(std::shared_ptr<Loader>(std::move(loader))) {}  // NOLINT
  template <class Loader>
  AnyLoader(std::shared_ptr<Loader> loader) : model_(std::make_shared<Model<Loader>>(std::move(loader))) {}  // NOLINT

  explicit operator bool() const { return static_cast<bool>(model_); }
  /// Begins an epoch, or goes on with the one that `load` found under way.
  void begin() { model_->begin(); }
  /// The next batch of the epoch; nothing when it is over.
  std::optional<Example<>> next() { return model_->next(); }
  /// Batches in an epoch, where that is known.
  std::optional<size_t> size() const { return model_->size(); }
  /// Batches of the current epoch given so far.
  size_t delivered() const { return model_->delivered(); }
  /// Whether `save` and `load` keep the exact place in an epoch.
  bool can_be_saved() const { return model_->can_be_saved(); }
  void save(serialize::OutputArchive& archive) const { model_->save(archive); }
  void load(serialize::InputArchive& archive) { model_->load(archive); }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void begin() = 0;
    virtual std::optional<Example<>> next() = 0;
    virtual std::optional<size_t> size() const = 0;
    virtual size_t delivered() const = 0;
    virtual bool can_be_saved() const = 0;
    virtual void save(serialize::OutputArchive& archive) const = 0;
    virtual void load(serialize::InputArchive& archive) = 0;
  };

  template <class Loader>
  struct Model final : Concept {
    static constexpr bool kSaves = requires(const Loader& l, Loader& m, serialize::OutputArchive& out, serialize::InputArchive& in) {
      l.save(out);
      m.load(in);
    };
    explicit Model(std::shared_ptr<Loader> l) : loader(std::move(l)) {}
    void begin() override {
      given = 0;
      fresh = true;
      place.emplace(loader->begin());
      if constexpr (requires { loader->batches_delivered(); }) given = loader->batches_delivered();
    }
    std::optional<Example<>> next() override {
      TAEDA_CHECK(place, "[AnyLoader] an epoch must be begun first: got none; call begin()");
      if (!std::exchange(fresh, false)) ++*place;
      if (*place == loader->end()) {
        place.reset();
        fresh = true;
        return std::nullopt;
      }
      ++given;
      auto& batch = **place;
      if constexpr (requires { batch.target; }) return Example<>(std::move(batch.data), std::move(batch.target));
      else return Example<>(std::move(batch.data), Tensor());
    }
    std::optional<size_t> size() const override {
      if constexpr (requires { std::optional<size_t>(loader->size()); }) return loader->size();
      else return std::nullopt;
    }
    size_t delivered() const override { return given; }
    bool can_be_saved() const override { return kSaves; }
    void save(serialize::OutputArchive& archive) const override {
      if constexpr (kSaves) loader->save(archive);
      else TAEDA_CHECK_NOT_IMPLEMENTED(false, "[AnyLoader] this loader's place cannot be saved; use a sampler that can be copied");
      (void)archive;
    }
    void load(serialize::InputArchive& archive) override {
      if constexpr (kSaves) loader->load(archive);
      else TAEDA_CHECK_NOT_IMPLEMENTED(false, "[AnyLoader] this loader's place cannot be restored; use a sampler that can be copied");
      (void)archive;
    }

    std::shared_ptr<Loader> loader;
    std::optional<decltype(std::declval<Loader&>().begin())> place;
    bool fresh = true;
    size_t given = 0;
  };

  std::shared_ptr<Concept> model_;
};

}  // namespace taeda::data
