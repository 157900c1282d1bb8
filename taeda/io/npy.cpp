// SPDX-License-Identifier: Apache-2.0
// Reading and writing of NumPy's .npy and .npz files (NumPy Enhancement Proposal 1).
#include "taeda/io/npy.h"

#include <algorithm>
#include <cctype>

#include "taeda/io/tensor_bytes.h"
#include "taeda/io/zip.h"

namespace taeda::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;

struct DtypeCode {
  ScalarType type;
  std::string_view code;  ///< kind and width, without the byte order
};
constexpr DtypeCode kDtypes[] = {{kBool, "b1"}, {kByte, "u1"}, {kChar, "i1"}, {kShort, "i2"}, {kInt, "i4"},
                                 {kLong, "i8"}, {kHalf, "f2"}, {kFloat, "f4"}, {kDouble, "f8"}};

/// Reads the header's text: a Python dictionary literal with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void parse(NpyHeader& header) {
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(descr, true)) {
        header.descr = text();
      } else if (key == "fortran_order" && !std::exchange(order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(shape, true)) {
        header.sizes = tuple();
      } else {
        fault("unexpected key '" + key.substr(0, 40) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (place_ != text_.size()) fault("text after the dictionary");
    if (!descr || !order || !shape) fault("descr, fortran_order or shape missing");
  }

 private:
  [[noreturn]] void fault(const std::string& what) const {
    TAEDA_CHECK_IO(false, "[npy] ", file_, ": ", what, " in the header at character ", place_, "; the file is damaged");
    __builtin_unreachable();
  }
  void skip_space() {
    while (place_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[place_]))) ++place_;
  }
  bool accept(char wanted) {
    skip_space();
    if (place_ >= text_.size() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fault(std::string("no '") + wanted + "'");
  }
  std::string quoted() {
    skip_space();
    const char quote = place_ < text_.size() ? text_[place_] : '\0';
    if (quote != '\'' && quote != '"') fault("no text in quotes");
    const size_t end = text_.find(quote, place_ + 1);
    if (end == std::string_view::npos) fault("text without an end");
    const std::string found(text_.substr(place_ + 1, end - place_ - 1));
    place_ = end + 1;
    return found;
  }
  std::string text() {
    skip_space();
    TAEDA_CHECK_NOT_IMPLEMENTED(place_ >= text_.size() || text_[place_] != '[', "[npy] ", file_,
                                ": structured dtypes are not read; save its fields as arrays of their own");
    return quoted();
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(place_, word.size()) == word) {
        place_ += word.size();
        return value;
      }
    }
    fault("neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      skip_space();
      const size_t begin = place_;
      uint64_t value = 0;
      while (place_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place_]))) {
        value = value * 10 + static_cast<uint64_t>(text_[place_++] - '0');
        if (place_ - begin > 18) fault("a size out of range");
      }
      if (place_ == begin || numbers.size() >= static_cast<size_t>(kMaxDims)) fault("a shape that is no tuple of sizes");
      if (place_ < text_.size() && text_[place_] == 'L') ++place_;
      numbers.push_back(static_cast<int64_t>(value));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  std::string_view text_;
  const std::string& file_;
  size_t place_ = 0;
};

void parse_descr(NpyHeader& header, const std::string& file) {
  const std::string& descr = header.descr;
  const bool ordered = !descr.empty() && (descr[0] == '<' || descr[0] == '>' || descr[0] == '|' || descr[0] == '=');
  const std::string_view code = std::string_view(descr).substr(ordered ? 1 : 0);
  header.big_endian = ordered && descr[0] == '>';
  for (const DtypeCode& dtype : kDtypes) {
    if (dtype.code == code) header.dtype = dtype.type;
  }
  TAEDA_CHECK_NOT_IMPLEMENTED(code.empty() || code[0] != 'O', "[npy] ", file,
                              ": arrays of Python objects are not read, they run code; save them as numbers");
}

uint64_t data_bytes(const NpyHeader& header, const std::string& file) {
  TAEDA_CHECK_NOT_IMPLEMENTED(header.dtype != ScalarType::Undefined, "[npy] ", file, ": the dtype '", header.descr,
                              "' is one that tensors cannot have here; convert it with astype");
  uint64_t bytes = 0;
  TAEDA_CHECK_IO(byte_count(header.sizes, item_size(header.dtype), &bytes), "[npy] ", file, ": the shape ",
                 IntArrayRef(header.sizes), " is too large; the file is damaged");
  return bytes;
}

std::string npy_header(const Tensor& tensor) {
  std::string_view code;
  for (const DtypeCode& dtype : kDtypes) {
    if (dtype.type == tensor.scalar_type()) code = dtype.code;
  }
  TAEDA_CHECK_TYPE(!code.empty(), "[npy] NumPy has no such dtype: got ", tensor.scalar_type(), "; convert to float32 first");
  std::string text = std::string("{'descr': '") + (tensor.itemsize() == 1 ? '|' : '<') + std::string(code) +
                     "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.sizes()) text += std::to_string(size) + ", ";
  if (tensor.dim() > 1) text.resize(text.size() - 2);
  if (tensor.dim() == 1) text.pop_back();
  text += "), }";
  const size_t version = text.size() + 64 < 65536 ? 1 : 2;  // as many dimensions as need version 2 cannot occur
  const size_t fixed = kMagic.size() + 2 + (version == 1 ? 2 : 4);
  text.append((64 - (fixed + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += static_cast<char>(version);
  out += '\0';
  const size_t length = text.size();
  out.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return out + text;
}

}  // namespace

NpyHeader read_npy_header(const Source& source) {
  const std::string& file = source.name();
  const std::string start = source.read(0, std::min<uint64_t>(source.size(), 12));
  TAEDA_CHECK_IO(start.size() >= 10 && start.compare(0, kMagic.size(), kMagic) == 0, "[npy] ", file,
                 " does not begin as a .npy file does; the file is truncated or of another format");
  const int version = static_cast<unsigned char>(start[6]);
  TAEDA_CHECK_IO(version >= 1 && version <= 3, "[npy] ", file, ": versions 1 to 3 are known: got ", version,
                 "; save it again with another version");
  const size_t width = version == 1 ? 2 : 4;
  TAEDA_CHECK_IO(start.size() >= 8 + width, "[npy] ", file, ": the header is missing; the file is truncated");
  uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, width);
  TAEDA_CHECK_IO(length <= kMaxHeader, "[npy] ", file, ": the header is said to have ", length,
                 " bytes, more than any real one; the file is damaged");
  const std::string text = source.read(8 + width, length);
  NpyHeader header;
  HeaderParser(text, file).parse(header);
  parse_descr(header, file);
  header.data_offset = 8 + width + length;
  return header;
}

Tensor load_npy(const Source& source) {
  NpyHeader header = read_npy_header(source);
  const uint64_t bytes = data_bytes(header, source.name());
  TAEDA_CHECK_IO(source.size() - header.data_offset == bytes, "[npy] ", source.name(), ": the shape ",
                 IntArrayRef(header.sizes), " of ", header.descr, " needs ", bytes, " bytes, the file holds ",
                 source.size() - header.data_offset, "; the file is truncated or damaged");
  std::vector<int64_t> stored = header.sizes;
  if (header.fortran_order) std::reverse(stored.begin(), stored.end());
  Tensor tensor = read_tensor(source, header.data_offset, stored, header.dtype);
  if (header.big_endian) swap_bytes(raw_data(tensor), static_cast<size_t>(tensor.numel()), tensor.itemsize());
  normalize_bools(tensor);
  if (!header.fortran_order || tensor.dim() < 2) return tensor;
  const DimVector strides(std::make_reverse_iterator(tensor.strides().end()), std::make_reverse_iterator(tensor.strides().begin()));
  return make_view(tensor, header.sizes, strides, 0).contiguous();
}

Tensor load_npy(const std::string& path) { return load_npy(*open_file(path)); }

void write_npy(Sink& sink, const Tensor& tensor) {
  const Tensor plain = contiguous_on_cpu(tensor, "array");
  sink.write(npy_header(plain));
  sink.write(plain.const_data_ptr(), plain.nbytes());
}

void save_npy(const std::string& path, const Tensor& tensor) {
  AtomicFile file(path);
  write_npy(file, tensor);
  file.commit();
}

NamedTensors load_npz(const std::string& path) { return load_npz(open_file(path)); }

NamedTensors load_npz(SourcePtr source) {
  const ZipReader zip(std::move(source));
  NamedTensors tensors;
  for (const ZipReader::Entry& entry : zip.entries()) {
    const bool suffixed = entry.name.size() > 4 && entry.name.compare(entry.name.size() - 4, 4, ".npy") == 0;
    TAEDA_CHECK_IO(suffixed, "[npz] ", zip.name(), ": an entry '", entry.name,
                   "' is no .npy array; the file is of another kind");
    const SourcePtr array = make_source(zip.read(entry), zip.name() + ":" + entry.name);
    tensors.emplace_back(entry.name.substr(0, entry.name.size() - 4), load_npy(*array));
  }
  return tensors;
}

void save_npz(const std::string& path, const NamedTensors& tensors, bool compress) {
  AtomicFile file(path);
  ZipWriter zip(file);
  for (const auto& [name, tensor] : tensors) {
    StringSink array;
    write_npy(array, tensor);
    zip.add(name + ".npy", array.bytes, 1, compress);
  }
  zip.finish();
  file.commit();
}

}  // namespace taeda::io
