// SPDX-License-Identifier: Apache-2.0
// The writing half of the pickle subset, protocol 2.
#include "taeda/io/pickle.h"

#include <cstring>

#include "taeda/core/dict.h"
#include "taeda/io/pickle_globals.h"

namespace taeda::io {
namespace {

class Writer {
 public:
  explicit Writer(const StorageSaver& save_storage) : save_storage_(save_storage) {}

  std::string run(const Value& value) {
    out_ = "\x80\x02";
    write(value, 0);
    out_ += '.';
    return std::move(out_);
  }

 private:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void integer(int64_t value) {
    if (value >= 0 && value < 0x100) {
      out_ += 'K';
      number(static_cast<uint8_t>(value));
    } else if (value >= 0 && value < 0x10000) {
      out_ += 'M';
      number(static_cast<uint16_t>(value));
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'J';
      number(static_cast<int32_t>(value));
    } else {
      out_ += '\x8a';
      out_ += '\x08';
      number(value);
    }
  }
  void real(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    out_ += 'G';
    number(__builtin_bswap64(bits));
  }
  void text(std::string_view value) {
    TAEDA_CHECK_VALUE(is_utf8(value), "[save] strings must be UTF-8: got ", value.size(),
                      " bytes that are not; keep bytes in a tensor of uint8");
    TAEDA_CHECK_VALUE(value.size() <= UINT32_MAX, "[save] a string must be shorter than 4 GiB: got ", value.size(),
                      " bytes; divide it");
    out_ += 'X';
    number(static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void global(const char* module, const char* name) { out_ += std::string("c") + module + "\n" + name + "\n"; }
  void integers(IntArrayRef values) {
    out_ += '(';
    for (int64_t v : values) integer(v);
    out_ += 't';
  }
  void tensor(const Tensor& value);
  void list(const Value::List& items, int depth);
  void dict(const Dict& items, int depth);
  void write(const Value& value, int depth);

  const StorageSaver& save_storage_;
  std::string out_;
};

void Writer::tensor(const Tensor& value) {
  const auto [storage, described] = save_storage_(value);
  global("torch._utils", "_rebuild_tensor_v2");
  out_ += "((";
  text("storage");
  global("torch", storage_name(storage.dtype));
  text(storage.key);
  text("cpu");
  integer(storage.numel);
  out_ += "tQ";
  integer(described.storage_offset());
  integers(described.sizes());
  integers(described.strides());
  out_ += value.requires_grad() ? '\x88' : '\x89';
  global("collections", "OrderedDict");
  out_ += ")RtR";
}

void Writer::list(const Value::List& items, int depth) {
  out_ += "](";
  for (const Value& item : items) write(item, depth + 1);
  out_ += 'e';
}

void Writer::dict(const Dict& items, int depth) {
  out_ += "}(";
  for (const auto& [key, value] : items) {
    write(key, depth + 1);
    write(value, depth + 1);
  }
  out_ += 'u';
}

void Writer::write(const Value& value, int depth) {
  TAEDA_CHECK_VALUE(depth <= kMaxPickleDepth, "[save] lists and dicts must not be nested deeper than ", kMaxPickleDepth,
                    " (or contain themselves); flatten the value");
  if (value.is_none() || (value.is_tensor() && !value.tensor().defined())) {
    out_ += 'N';
  } else if (value.is_tensor()) {
    tensor(value.tensor());
  } else if (value.is_bool()) {
    out_ += value.to_bool() ? '\x88' : '\x89';
  } else if (value.is_int()) {
    integer(value.to_int());
  } else if (value.is_double()) {
    real(value.to_double());
  } else if (value.is_string()) {
    text(value.string());
  } else if (value.is_list()) {
    list(value.list(), depth);
  } else if (value.is_dict()) {
    dict(value.dict(), depth);
  } else if (value.is_device()) {
    text(value.device().str());
  } else {
    TAEDA_CHECK_TYPE(false, "[save] values of this kind cannot be written: got ", value.describe(),
                     "; write its state as a tensor");
  }
}

}  // namespace

std::string pickle(const Value& value, const StorageSaver& save_storage) { return Writer(save_storage).run(value); }

}  // namespace taeda::io
