// SPDX-License-Identifier: Apache-2.0
// Saving and loading of tensors and plain values.
#include "taeda/io/serialize.h"

#include "taeda/io/pt.h"

namespace taeda {
namespace serialize {

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.set_root(tensor);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  archive.set_root(Value::List(tensors.begin(), tensors.end()));
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const Value& value) {
  archive.set_root(value);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  if (archive.value().is_dict()) {
    archive.read("0", tensor);
    return archive;
  }
  archive.read_root(tensor);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  const Value& value = archive.value();
  TAEDA_CHECK_IO(value.is_list() || value.is_dict() || value.is_tensor(), "[load] ", archive.where(),
                 " must hold a list of tensors: it holds ", value.describe(), "; load it as a Value");
  if (value.is_tensor()) {
    tensors.push_back(value.tensor());
  } else if (value.is_list()) {
    const std::vector<Tensor> loaded = value.tensor_list();
    tensors.insert(tensors.end(), loaded.begin(), loaded.end());
  } else {
    for (size_t i = 0;; ++i) {
      Tensor tensor;
      if (!archive.try_read(std::to_string(i), tensor)) break;
      tensors.push_back(std::move(tensor));
    }
  }
  return archive;
}

InputArchive& operator>>(InputArchive& archive, Value& value) {
  value = archive.value();
  return archive;
}

}  // namespace serialize

std::vector<char> pickle_save(const Value& value) {
  std::vector<char> bytes;
  io::FunctionSink sink([&](const void* data, size_t size) {
    const auto* begin = static_cast<const char*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
    return size;
  });
  io::write_pt(sink, value);
  return bytes;
}

Value pickle_load(const std::vector<char>& data) { return io::load_pt(io::borrow_source(data.data(), data.size())); }

}  // namespace taeda
