// An epoch over a folder of JPEG images (500 by 375), as for training on ImageNet: random crops resized to 224 by 224, flips, floats,
// batches of 32, two workers. The folder is that of the variable BENCH_IMAGES; it is filled when it isn't there. Bars: see
// benchmarks/peer.h.
// threads: 2
// peer: models_images.py
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <filesystem>

#include "taeda/data/image_folder.h"
#include "taeda/data/image_transforms.h"

namespace {

using torch::Tensor;
namespace data = torch::data;

constexpr int kImages = 320, kClasses = 4;

/// A smooth picture with some noise, which compresses about as photographs do.
Tensor picture() {
  const Tensor coarse = torch::rand({1, 3, 12, 16}) * 255;
  const Tensor smooth = torch::upsample_bilinear2d(coarse, {375, 500}, false)[0];
  return (smooth + torch::randn({3, 375, 500}) * 8).clamp(0, 255).to(torch::kByte);
}

std::string folder() {
  const char* given = std::getenv("BENCH_IMAGES");
  const std::filesystem::path root = given ? given : std::filesystem::temp_directory_path() / "taeda_bench_images";
  if (std::filesystem::exists(root)) return root.string();
  const std::filesystem::path half_made = root.string() + ".part";
  for (int i = 0; i < kImages; ++i) {
    const auto place = half_made / ("class" + std::to_string(i % kClasses));
    std::filesystem::create_directories(place);
    taeda::io::save_image((place / (std::to_string(i) + ".jpg")).string(), picture());
  }
  std::filesystem::rename(half_made, root);
  return root.string();
}

auto epoch() {
  using namespace data::transforms;
  auto images = data::datasets::ImageFolder(folder())
                    .map(RandomResizedCrop<>(224))
                    .map(RandomHorizontalFlip<>())
                    .map(ToFloat<>({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}))
                    .map(Stack<>());
  auto loader = std::shared_ptr(data::make_data_loader(std::move(images), data::DataLoaderOptions(32).workers(2)));
  return [loader] {
    int64_t seen = 0;
    for (auto& batch : *loader) seen += batch.data.size(0);
    return seen;
  };
}

void register_all() { bench::add("image_folder_224_epoch", "ratio>=1.5", epoch)->Iterations(3); }

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
