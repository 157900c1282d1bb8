// SPDX-License-Identifier: Apache-2.0
// Finding and reading images by class.
#include "taeda/data/image_folder.h"

#include <algorithm>
#include <filesystem>

namespace taeda::data::datasets {
namespace {

bool is_image(const std::filesystem::path& path) {
  std::string end = path.extension().string();
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return end == ".jpg" || end == ".jpeg" || end == ".png";
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, io::DecodeOptions options) : options_(options) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_directory()) classes_.push_back(entry->path().filename().string());
  }
  TAEDA_CHECK_IO(!error, "[ImageFolder] the folder cannot be read: got ", root, " (", error.message(), "); check the path");
  std::sort(classes_.begin(), classes_.end());
  TAEDA_CHECK_IO(!classes_.empty(), "[ImageFolder] the folder must hold one folder a class: got ", root, "; arrange the images as ROOT/CLASS/NAME.jpg");
  for (size_t c = 0; c < classes_.size(); ++c) {
    std::vector<std::string> files;
    for (fs::recursive_directory_iterator entry(fs::path(root) / classes_[c], error), end; !error && entry != end; entry.increment(error)) {
      if (entry->is_regular_file() && is_image(entry->path())) files.push_back(entry->path().string());
    }
    TAEDA_CHECK_IO(!error && !files.empty(), "[ImageFolder] every class must have images (.jpg, .jpeg, .png): got none in ", root, "/", classes_[c],
                   "; remove the folder or fill it");
    std::sort(files.begin(), files.end());
    for (std::string& file : files) files_.emplace_back(std::move(file), static_cast<int64_t>(c));
  }
}
ImageFolder::~ImageFolder() = default;

Example<> ImageFolder::get(size_t index) {
  TAEDA_CHECK_INDEX(index < files_.size(), "[ImageFolder] the number of a sample must be below the size: got ", index, " of ", files_.size(),
                    "; check the sampler's size");
  Tensor target = make_tensor({}, kLong);
  *target.mutable_data_ptr<int64_t>() = files_[index].second;
  return {io::load_image(files_[index].first, options_), target};
}

}  // namespace taeda::data::datasets
