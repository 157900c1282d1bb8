// SPDX-License-Identifier: Apache-2.0
// Reading and writing of safetensors files. The header is hostile input until every range in it has been checked.
#include "taeda/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "taeda/io/tensor_bytes.h"

namespace taeda::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files hold little-endian elements");

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's reference implementation
constexpr std::string_view kMetadataKey = "__metadata__";

struct DtypeName {
  ScalarType type;  ///< Undefined: known to the format, not to tensors here
  const char* name;
  size_t itemsize;
};
constexpr DtypeName kDtypes[] = {
    {kBool, "BOOL", 1},   {kByte, "U8", 1},    {kChar, "I8", 1},   {kShort, "I16", 2},   {kInt, "I32", 4},
    {kLong, "I64", 8},    {kHalf, "F16", 2},   {kBFloat16, "BF16", 2}, {kFloat, "F32", 4}, {kDouble, "F64", 8},
    {ScalarType::Undefined, "U16", 2},     {ScalarType::Undefined, "U32", 4},     {ScalarType::Undefined, "U64", 8},
    {ScalarType::Undefined, "F8_E5M2", 1}, {ScalarType::Undefined, "F8_E4M3", 1}, {ScalarType::Undefined, "C64", 8}};

const DtypeName* find_dtype(std::string_view name) {
  const auto* found = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const DtypeName& d) { return name == d.name; });
  return found == std::end(kDtypes) ? nullptr : found;
}

/// Receives the header's JSON piece by piece, so that duplicate keys are seen and nothing is built that is not needed.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderHandler(const std::string& file, std::vector<SafetensorsReader::Entry>& entries, Metadata& metadata)
      : file_(file), entries_(entries), metadata_(metadata) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(int64_t) override { return unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { return unexpected("a fraction"); }
  bool binary(binary_t&) override { return unexpected("binary"); }
  bool number_unsigned(uint64_t value) override;
  bool string(std::string& value) override;
  bool start_object(size_t) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool key(std::string& name) override;
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    fault("the header is not valid JSON near byte " + std::to_string(position));
  }

 private:
  enum class Place { kStart, kTop, kTensor, kMetadata, kSizes, kOffsets, kEnd };

  [[noreturn]] void fault(const std::string& what) const {
    const std::string where = entries_.empty() || place_ == Place::kTop ? "" : " of '" + entries_.back().name + "'";
    TAEDA_CHECK_IO(false, "[safetensors] ", file_, ": ", what, where, "; the file is damaged or of another format");
    __builtin_unreachable();
  }
  bool unexpected(const char* what) const { fault(std::string("unexpected ") + what + " in the header, field '" + key_ + "'"); }
  void finish_tensor();

  const std::string& file_;
  std::vector<SafetensorsReader::Entry>& entries_;
  Metadata& metadata_;
  Place place_ = Place::kStart;
  std::string key_;
  std::vector<uint64_t> offsets_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  std::unordered_map<std::string, bool> metadata_keys_;
  bool has_metadata_ = false;
};

bool HeaderHandler::number_unsigned(uint64_t value) {
  if (place_ == Place::kSizes) {
    if (value > INT64_MAX || entries_.back().sizes.size() >= kMaxDims) fault("a shape out of range");
    entries_.back().sizes.push_back(static_cast<int64_t>(value));
  } else if (place_ == Place::kOffsets) {
    if (offsets_.size() >= 2) fault("data_offsets with more than two numbers");
    offsets_.push_back(value);
  } else {
    unexpected("a number");
  }
  return true;
}

bool HeaderHandler::string(std::string& value) {
  if (place_ == Place::kMetadata) {
    metadata_.emplace_back(key_, value);
  } else if (place_ == Place::kTensor && key_ == "dtype") {
    if (!find_dtype(value)) fault("unknown dtype '" + value.substr(0, 40) + "'");
    if (std::exchange(has_dtype_, true)) fault("a second dtype");
    entries_.back().dtype_name = value;
  } else {
    unexpected("a string");
  }
  return true;
}

bool HeaderHandler::start_object(size_t) {
  if (place_ == Place::kStart) {
    place_ = Place::kTop;
  } else if (place_ == Place::kTop) {
    if (key_ == kMetadataKey) {
      if (std::exchange(has_metadata_, true)) fault("a second __metadata__");
      place_ = Place::kMetadata;
    } else {
      entries_.emplace_back().name = key_;
      has_dtype_ = has_shape_ = has_offsets_ = false;
      offsets_.clear();
      place_ = Place::kTensor;
    }
  } else {
    unexpected("an object");
  }
  return true;
}

bool HeaderHandler::end_object() {
  if (place_ == Place::kTensor) finish_tensor();
  place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
  return true;
}

bool HeaderHandler::start_array(size_t) {
  if (place_ == Place::kTensor && key_ == "shape") {
    if (std::exchange(has_shape_, true)) fault("a second shape");
    place_ = Place::kSizes;
  } else if (place_ == Place::kTensor && key_ == "data_offsets") {
    if (std::exchange(has_offsets_, true)) fault("a second data_offsets");
    place_ = Place::kOffsets;
  } else {
    unexpected("a list");
  }
  return true;
}

bool HeaderHandler::end_array() {
  place_ = Place::kTensor;
  return true;
}

bool HeaderHandler::key(std::string& name) {
  key_ = name;
  if (place_ == Place::kTensor && name != "dtype" && name != "shape" && name != "data_offsets") {
    fault("unknown field '" + name.substr(0, 40) + "'");
  }
  if (place_ == Place::kMetadata && !metadata_keys_.emplace(name, true).second) {
    fault("the metadata key '" + name.substr(0, 200) + "' twice");
  }
  return true;
}

void HeaderHandler::finish_tensor() {
  if (!has_dtype_ || !has_shape_ || offsets_.size() != 2) fault("dtype, shape or data_offsets missing");
  SafetensorsReader::Entry& entry = entries_.back();
  const DtypeName& dtype = *find_dtype(entry.dtype_name);
  entry.dtype = dtype.type;
  entry.begin = offsets_[0];
  entry.end = offsets_[1];
  uint64_t bytes = 0;
  if (entry.end < entry.begin) fault("data_offsets that run backwards");
  if (!byte_count(entry.sizes, dtype.itemsize, &bytes)) fault("a shape whose size overflows");
  if (bytes != entry.end - entry.begin) {
    fault("a shape that needs " + std::to_string(bytes) + " bytes over a range of " +
          std::to_string(entry.end - entry.begin));
  }
}

/// The ranges must cover the data area exactly: no overlap, no gap, no rest.
void check_coverage(const std::string& file, const std::vector<SafetensorsReader::Entry>& entries, uint64_t bytes) {
  std::vector<const SafetensorsReader::Entry*> order;
  for (const auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  uint64_t place = 0;
  for (const auto* entry : order) {
    TAEDA_CHECK_IO(entry->begin == place, "[safetensors] ", file, ": the data of '", entry->name, "' begins at ",
                   entry->begin, " where ", place, " was expected (", entry->begin < place ? "overlap" : "gap",
                   "); the file is damaged");
    place = entry->end;
  }
  TAEDA_CHECK_IO(place == bytes, "[safetensors] ", file, ": the tensors need ", place, " bytes, the file holds ", bytes,
                 place > bytes ? "; the file is truncated" : "; the file is damaged");
}

std::string make_header(const NamedTensors& tensors, const std::vector<size_t>& order, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    for (const auto& [key, value] : metadata) header[std::string(kMetadataKey)][key] = value;
  }
  std::unordered_map<std::string_view, bool> seen;
  uint64_t place = 0;
  std::string text;
  for (size_t i : order) {
    const auto& [name, tensor] = tensors[i];
    TAEDA_CHECK_VALUE(tensor.defined(), "[safetensors] every tensor must be defined: got an undefined one for '", name,
                      "'; leave it out");
    TAEDA_CHECK_VALUE(name != kMetadataKey && seen.emplace(name, true).second,
                      "[safetensors] names must differ, and differ from __metadata__: got '", name, "'; rename it");
    const auto* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                     [&](const DtypeName& d) { return d.type == tensor.scalar_type(); });
    const uint64_t end = place + tensor.nbytes();
    text += (text.empty() ? "" : ",") + nlohmann::json(name).dump() + ":{\"dtype\":\"" + dtype->name + "\",\"shape\":[";
    for (int64_t d = 0; d < tensor.dim(); ++d) text += (d ? "," : "") + std::to_string(tensor.size(d));
    text += "],\"data_offsets\":[" + std::to_string(place) + "," + std::to_string(end) + "]}";
    place = end;
  }
  std::string out = header.dump();
  out.pop_back();
  if (!metadata.empty() && !text.empty()) out += ",";
  out += text + "}";
  out.append((8 - out.size() % 8) % 8, ' ');
  return out;
}

}  // namespace

SafetensorsReader::SafetensorsReader(SourcePtr source) : source_(std::move(source)) {
  const std::string& file = source_->name();
  TAEDA_CHECK_IO(source_->size() >= 8, "[safetensors] ", file, ": a file has at least 8 bytes, this one has ",
                 source_->size(), "; the file is truncated or of another format");
  uint64_t length = 0;
  source_->read(0, &length, 8);
  TAEDA_CHECK_IO(length <= kMaxHeader && length <= source_->size() - 8, "[safetensors] ", file, ": the header is said to have ",
                 length, " bytes, at most ", std::min(kMaxHeader, source_->size() - 8),
                 " are possible; the file is truncated or of another format");
  const std::string header = source_->read(8, length);
  TAEDA_CHECK_IO(!header.empty() && header[0] == '{', "[safetensors] ", file,
                 ": the header must begin with '{'; the file is damaged or of another format");
  data_begin_ = 8 + length;
  HeaderHandler handler(file, entries_, metadata_);
  nlohmann::json::sax_parse(header, &handler);
  for (size_t i = 0; i < entries_.size(); ++i) {
    TAEDA_CHECK_IO(places_.emplace(entries_[i].name, i).second, "[safetensors] ", file, ": the name '", entries_[i].name,
                   "' occurs twice; the file is damaged");
  }
  check_coverage(file, entries_, source_->size() - data_begin_);
}

const SafetensorsReader::Entry& SafetensorsReader::entry(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    std::string known;
    for (size_t i = 0; i < entries_.size() && i < 20; ++i) known += (i ? ", " : "") + entries_[i].name;
    TAEDA_CHECK_INDEX(false, "[safetensors] ", source_->name(), " has no tensor of that name: got '", name, "'; it has ",
                      known, entries_.size() > 20 ? ", …" : "");
  }
  return entries_[found->second];
}

Tensor SafetensorsReader::load(const Entry& entry) const {
  TAEDA_CHECK_NOT_IMPLEMENTED(entry.dtype != ScalarType::Undefined, "[safetensors] ", source_->name(), ": '", entry.name,
                              "' has the dtype ", entry.dtype_name,
                              ", which tensors cannot have here; convert it where the file was made");
  Tensor tensor = read_tensor(*source_, data_begin_ + entry.begin, entry.sizes, entry.dtype);
  normalize_bools(tensor);
  return tensor;
}

NamedTensors load_safetensors(const std::string& path, Metadata* metadata) {
  return load_safetensors(open_file(path), metadata);
}

NamedTensors load_safetensors(SourcePtr source, Metadata* metadata) {
  const SafetensorsReader reader(std::move(source));
  if (metadata) *metadata = reader.metadata();
  NamedTensors tensors;
  for (const auto& entry : reader.entries()) tensors.emplace_back(entry.name, reader.load(entry));
  return tensors;
}

void write_safetensors(Sink& sink, const NamedTensors& tensors, const Metadata& metadata) {
  // Wide elements first: every tensor is then aligned to its element, as the reference implementation writes them.
  std::vector<size_t> order(tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto width = [&](size_t i) { return tensors[i].second.defined() ? tensors[i].second.itemsize() : 0; };
    return width(a) > width(b);
  });
  std::string header;
  try {
    header = make_header(tensors, order, metadata);
  } catch (const nlohmann::json::exception& error) {
    TAEDA_CHECK_VALUE(false, "[safetensors] names and metadata must be valid UTF-8: got ", error.what(), "; rename them");
  }
  const uint64_t length = header.size();
  sink.write(&length, 8);
  sink.write(header);
  for (size_t i : order) {
    const Tensor plain = contiguous_on_cpu(tensors[i].second, tensors[i].first);
    sink.write(plain.const_data_ptr(), plain.nbytes());
  }
}

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  AtomicFile file(path);
  write_safetensors(file, tensors, metadata);
  file.commit();
}

}  // namespace taeda::io
