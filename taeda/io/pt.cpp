// SPDX-License-Identifier: Apache-2.0
// Reading and writing of PyTorch's zip files.
#include "taeda/io/pt.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "taeda/io/pickle.h"
#include "taeda/io/tensor_bytes.h"
#include "taeda/io/zip.h"

namespace taeda::io {
namespace {

constexpr uint64_t kMaxPickle = uint64_t{1} << 30;
constexpr uint64_t kMaxCompressedStorage = uint64_t{1} << 30;
constexpr uint64_t kAlignment = 64;
constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);

/// The folder inside the archive that holds everything: "archive/" or the name of the file it was first saved to.
std::string find_prefix(const ZipReader& zip) {
  std::string prefix;
  bool found = false, script = false;
  for (const ZipReader::Entry& entry : zip.entries()) {
    const size_t slash = entry.name.find('/');
    const std::string rest = slash == std::string::npos ? entry.name : entry.name.substr(slash + 1);
    script |= rest == "constants.pkl";
    if (rest == "data.pkl" && !found) {
      prefix = slash == std::string::npos ? "" : entry.name.substr(0, slash + 1);
      found = true;
    }
  }
  TAEDA_CHECK_IO(!script, "[load] ", zip.name(), " is a TorchScript archive, which contains code; save a state dictionary instead ",
                 "(torch.save(module.state_dict(), file))");
  TAEDA_CHECK_IO(found, "[load] ", zip.name(), " is a zip archive without data.pkl: not a file that torch.save writes");
  return prefix;
}

class Loader {
 public:
  explicit Loader(SourcePtr source) : zip_(std::move(source)), prefix_(find_prefix(zip_)) {
    if (const auto* order = zip_.find(prefix_ + "byteorder")) {
      const std::string text = zip_.read(*order, 16);
      TAEDA_CHECK_IO(text == "little" || text == "big", "[load] ", zip_.name(), ": the byte order must be little or big: got '",
                     text, "'; the file is damaged");
      swapped_ = text == "big";
    }
  }

  Value load() {
    const std::string pickle = zip_.read(zip_.at(prefix_ + "data.pkl"), kMaxPickle);
    return unpickle(pickle, zip_.name(), [this](const PickledStorage& storage) { return load_storage(storage); });
  }

 private:
  Storage load_storage(const PickledStorage& wanted) {
    const size_t itemsize = wanted.dtype == ScalarType::Undefined ? 1 : item_size(wanted.dtype);
    auto found = storages_.find(wanted.key);
    if (found == storages_.end()) {
      const ZipReader::Entry& entry = zip_.at(prefix_ + "data/" + wanted.key);
      TAEDA_CHECK_IO(entry.method == 0 || entry.size <= kMaxCompressedStorage, "[load] ", zip_.name(), ": the storage '", wanted.key,
                     "' is compressed and larger than 1 GiB; save it again uncompressed");
      auto memory = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(entry.size, Device()));
      zip_.read_into(entry, memory->data);
      TAEDA_CHECK_IO(!swapped_ || wanted.dtype != ScalarType::Undefined, "[load] ", zip_.name(),
                     ": untyped storages in big-endian order are not read; save it again on a little-endian machine");
      if (swapped_) swap_bytes(memory->data, entry.size / itemsize, itemsize);
      if (wanted.dtype == kBool) {
        auto* bytes = static_cast<unsigned char*>(memory->data);
        for (uint64_t i = 0; i < entry.size; ++i) bytes[i] = bytes[i] != 0;
      }
      found = storages_.emplace(wanted.key, Entry{Storage(std::move(memory)), wanted.dtype}).first;
    }
    const uint64_t held = found->second.storage.nbytes();
    TAEDA_CHECK_IO(static_cast<uint64_t>(wanted.numel) <= held / itemsize && found->second.dtype == wanted.dtype, "[load] ", zip_.name(),
                   ": the storage '", wanted.key, "' should have ", wanted.numel, " elements of ", itemsize, " bytes, it has ", held,
                   " bytes; the file is damaged");
    return found->second.storage;
  }

  struct Entry {
    Storage storage;
    ScalarType dtype;
  };
  ZipReader zip_;
  std::string prefix_;
  bool swapped_ = false;
  std::unordered_map<std::string, Entry> storages_;
};

/// The elements in a storage of their own.
Tensor compact_copy(const Tensor& tensor) {
  const Tensor plain = contiguous_on_cpu(tensor, "tensor");
  Tensor copy = make_tensor(plain.sizes(), plain.scalar_type());
  if (copy.nbytes() > 0) std::memcpy(raw_data(copy), plain.const_data_ptr(), copy.nbytes());
  return copy;
}

/// Gives each storage a number in the order of first use, and decides which are written whole.
class StorageTable {
 public:
  explicit StorageTable(const Value& value) { count(value, 0); }

  std::pair<PickledStorage, Tensor> save(const Tensor& tensor) {
    const Tensor here = tensor.is_cpu() ? tensor : tensor.cpu();
    const std::pair<const StorageImpl*, ScalarType> key(tensor.storage().unsafeGetStorageImpl(), tensor.scalar_type());
    const auto known = numbers_.find(key);
    const bool alone = uses_[key.first] <= 1 || !tensor.is_cpu();
    const bool whole = here.is_non_overlapping_and_dense() && here.nbytes() == here.storage().nbytes();
    const Tensor described = alone && !whole ? compact_copy(here) : here;
    size_t number = 0;
    if (known != numbers_.end() && !alone) {
      number = known->second;
    } else {
      number = data_.size();
      data_.push_back(described);
      sizes_.push_back(described.storage().nbytes());
      if (!alone) numbers_.emplace(key, number);
    }
    PickledStorage storage;
    storage.key = std::to_string(number);
    storage.dtype = described.scalar_type();
    storage.numel = static_cast<int64_t>(sizes_[number] / described.itemsize());
    return {std::move(storage), described};
  }

  size_t size() const { return data_.size(); }
  std::string_view bytes(size_t number) const {
    return {static_cast<const char*>(data_[number].storage().data()), sizes_[number]};
  }

 private:
  void count(const Value& value, int depth) {
    if (depth > kMaxPickleDepth) return;  // the writer refuses it
    if (value.is_tensor() && value.tensor().defined()) {
      ++uses_[value.tensor().storage().unsafeGetStorageImpl()];
    } else if (value.is_list()) {
      for (const Value& v : value.list()) count(v, depth + 1);
    } else if (value.is_dict()) {
      for (const Dict::Entry& entry : value.dict()) count(entry.second, depth + 1);
    }
  }

  std::unordered_map<const StorageImpl*, size_t> uses_;
  std::map<std::pair<const StorageImpl*, ScalarType>, size_t> numbers_;
  std::vector<Tensor> data_;
  std::vector<size_t> sizes_;
};

}  // namespace

Value load_pt(SourcePtr source) {
  const std::string start = source->read(0, std::min<uint64_t>(source->size(), kLegacyMagic.size()));
  TAEDA_CHECK_IO(start != kLegacyMagic, "[load] ", source->name(),
                 " is in the format of PyTorch before 1.6; load and save it again with a newer one");
  TAEDA_CHECK_IO(ZipReader::is_zip(*source), "[load] ", source->name(),
                 " does not begin as a .pt file does; the file is truncated or of another format");
  return Loader(std::move(source)).load();
}

Value load_pt(const std::string& path) { return load_pt(open_file(path)); }

void write_pt(Sink& sink, const Value& value) {
  StorageTable table(value);
  const std::string data = pickle(value, [&](const Tensor& tensor) { return table.save(tensor); });
  ZipWriter zip(sink);
  zip.add("archive/data.pkl", data, kAlignment);
  zip.add("archive/byteorder", "little", kAlignment);
  for (size_t i = 0; i < table.size(); ++i) zip.add("archive/data/" + std::to_string(i), table.bytes(i), kAlignment);
  zip.add("archive/version", "3\n", kAlignment);
  zip.add("archive/.data/serialization_id", "0000000000000000000000000000000000000000", kAlignment);
  zip.finish();
}

void save_pt(const std::string& path, const Value& value) {
  AtomicFile file(path);
  write_pt(file, value);
  file.commit();
}

}  // namespace taeda::io
