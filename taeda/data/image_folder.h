// SPDX-License-Identifier: Apache-2.0
// Images in folders, one folder a class.
#pragma once

#include <string>
#include <vector>

#include "taeda/data/datasets.h"
#include "taeda/io/image.h"

namespace taeda::data::datasets {

/// `root/<class>/…/<name>.jpg|.jpeg|.png`. Classes are the folders below `root` in alphabetical order; samples come in the order of classes,
/// then of paths. A sample: uint8 (3, height, width) and its class as int64 (). Safe to use from several threads.
class TAEDA_API ImageFolder : public Dataset<ImageFolder> {
 public:
  /// Throws IoError when there are no class folders or no images. `options` say how the images are decoded (smaller, say).
  explicit ImageFolder(const std::string& root, io::DecodeOptions options = {});
  ~ImageFolder() override;

  /// Throws IoError, naming the file, when the image is damaged.
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return files_.size(); }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::string& path(size_t index) const { return files_[index].first; }
  int64_t target(size_t index) const { return files_[index].second; }

 private:
  std::vector<std::string> classes_;
  std::vector<std::pair<std::string, int64_t>> files_;
  io::DecodeOptions options_;
};

}  // namespace taeda::data::datasets
