// SPDX-License-Identifier: Apache-2.0
// Reading of IDX files.
#include "taeda/data/idx.h"

#include <algorithm>
#include <filesystem>

#include "taeda/data/gzip.h"
#include "taeda/io/tensor_bytes.h"

namespace taeda::data {
namespace {

ScalarType idx_dtype(unsigned code) {
  switch (code) {
    case 0x08: return kByte;
    case 0x09: return kChar;
    case 0x0b: return kShort;
    case 0x0c: return kInt;
    case 0x0d: return kFloat;
    case 0x0e: return kDouble;
    default: return ScalarType::Undefined;
  }
}

}  // namespace

Tensor read_idx(const io::Source& source) {
  GzipReader reader(source);  // reads plain files too
  unsigned char magic[4];
  reader.read(magic, 4);
  const ScalarType dtype = idx_dtype(magic[2]);
  TAEDA_CHECK_IO(magic[0] == 0 && magic[1] == 0 && dtype != ScalarType::Undefined && magic[3] >= 1 && magic[3] <= 8, "[idx] ", source.name(),
                 " does not begin as an IDX file does; the file is damaged or of another format");
  std::vector<int64_t> sizes;
  for (unsigned d = 0; d < magic[3]; ++d) {
    unsigned char bytes[4];
    reader.read(bytes, 4);
    sizes.push_back(int64_t{bytes[0]} << 24 | int64_t{bytes[1]} << 16 | int64_t{bytes[2]} << 8 | bytes[3]);
  }
  uint64_t total = 0;
  TAEDA_CHECK_IO(io::byte_count(sizes, item_size(dtype), &total) && total <= reader.most_left(), "[idx] ", source.name(), ": the sizes ",
                 IntArrayRef(sizes), " need more bytes than the file can hold; the file is truncated or damaged");
  Tensor tensor = make_tensor(sizes, dtype);
  reader.read(io::raw_data(tensor), total);
  TAEDA_CHECK_IO(reader.at_end(), "[idx] ", source.name(), ": data go on after the last element; the file is damaged");
  io::swap_bytes(io::raw_data(tensor), static_cast<size_t>(tensor.numel()), tensor.itemsize());
  return tensor;
}

Tensor read_idx(const std::string& path) { return read_idx(*io::open_file(path)); }

namespace datasets {
namespace {

std::string find_idx(const std::string& root, const std::string& name) {
  for (const char* end : {"", ".gz"}) {
    const std::string path = root + "/" + name + end;
    if (std::filesystem::exists(path)) return path;
  }
  TAEDA_CHECK_IO(false, "[MNIST] the folder must hold ", name, " (plain or .gz): got ", root, "; give the folder with the four IDX files");
  __builtin_unreachable();
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  const std::string part = mode == Mode::kTrain ? "train" : "t10k";
  const std::string images_path = find_idx(root, part + "-images-idx3-ubyte"), labels_path = find_idx(root, part + "-labels-idx1-ubyte");
  const Tensor images = read_idx(images_path), labels = read_idx(labels_path);
  TAEDA_CHECK_IO(images.scalar_type() == kByte && images.dim() == 3 && labels.scalar_type() == kByte && labels.dim() == 1 &&
                     images.size(0) == labels.size(0),
                 "[MNIST] images must be uint8 (N, height, width) and labels uint8 (N): got ", images.sizes(), " and ", labels.sizes(), " in ", root,
                 "; check the files");
  images_ = make_tensor({images.size(0), 1, images.size(1), images.size(2)}, kFloat);
  targets_ = make_tensor({labels.size(0)}, kLong);
  const auto* from = images.const_data_ptr<uint8_t>();
  auto* to = reinterpret_cast<float*>(io::raw_data(images_));
  for (int64_t i = 0; i < images.numel(); ++i) to[i] = static_cast<float>(from[i]) / 255.0f;
  std::copy_n(labels.const_data_ptr<uint8_t>(), labels.numel(), reinterpret_cast<int64_t*>(io::raw_data(targets_)));
}
MNIST::~MNIST() = default;

Example<> MNIST::get(size_t index) {
  const auto row = static_cast<int64_t>(index);
  return {images_.select(0, row), targets_.select(0, row)};
}
std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

namespace {

/// Files of CIFAR-10 or CIFAR-100 below `root`; empty when there are none.
std::vector<std::string> cifar_files(const std::string& root, bool train, int64_t* classes) {
  for (const char* inner : {"", "/cifar-10-batches-bin", "/cifar-100-binary"}) {
    const std::string folder = root + inner;
    std::vector<std::string> files;
    for (int i = 1; i <= 5 && train; ++i) files.push_back(folder + "/data_batch_" + std::to_string(i) + ".bin");
    if (!train) files.push_back(folder + "/test_batch.bin");
    *classes = 10;
    if (std::filesystem::exists(files.front())) return files;
    *classes = 100;
    files = {folder + (train ? "/train.bin" : "/test.bin")};
    if (std::filesystem::exists(files.front())) return files;
  }
  return {};
}

}  // namespace

Cifar::Cifar(const std::string& root, bool train) {
  constexpr uint64_t kPixels = 3 * 32 * 32;
  const std::vector<std::string> files = cifar_files(root, train, &classes_);
  TAEDA_CHECK_IO(!files.empty(), "[Cifar] the folder must hold data_batch_1.bin or train.bin (and test_batch.bin or test.bin): got ", root,
                 "; give the folder of the binary version");
  const uint64_t labels = classes_ == 10 ? 1 : 2, row = labels + kPixels;
  std::string bytes;
  for (const std::string& file : files) {
    const std::string part = io::read_file(file, uint64_t{1} << 31);
    TAEDA_CHECK_IO(part.size() % row == 0 && !part.empty(), "[Cifar] ", file, " must consist of rows of ", row, " bytes: got ", part.size(),
                   " bytes; the file is truncated or of another kind");
    bytes += part;
  }
  const auto count = static_cast<int64_t>(bytes.size() / row);
  images_ = make_tensor({count, 3, 32, 32}, kByte);
  targets_ = make_tensor({count}, kLong);
  for (int64_t i = 0; i < count; ++i) {
    const char* from = bytes.data() + static_cast<uint64_t>(i) * row;
    const auto label = static_cast<int64_t>(static_cast<unsigned char>(from[labels - 1]));
    TAEDA_CHECK_IO(label < classes_, "[Cifar] labels must be below ", classes_, ": got ", label, " for sample ", i, " in ", root,
                   "; the file is damaged or of another kind");
    reinterpret_cast<int64_t*>(io::raw_data(targets_))[i] = label;
    std::memcpy(io::raw_data(images_) + static_cast<uint64_t>(i) * kPixels, from + labels, kPixels);
  }
}
Cifar::~Cifar() = default;

Example<> Cifar::get(size_t index) {
  const auto row = static_cast<int64_t>(index);
  return {images_.select(0, row), targets_.select(0, row)};
}
std::optional<size_t> Cifar::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace datasets
}  // namespace taeda::data
