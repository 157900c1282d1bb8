// SPDX-License-Identifier: Apache-2.0
// Python names of dtypes, storages and constructors.
#include "taeda/io/pickle_globals.h"

#include <algorithm>

namespace taeda::io {
namespace {

struct Names {
  ScalarType type;
  std::string_view dtype;
  const char* storage;
};
constexpr Names kNames[] = {
    {kFloat, "float32", "FloatStorage"}, {kDouble, "float64", "DoubleStorage"}, {kHalf, "float16", "HalfStorage"},
    {kBFloat16, "bfloat16", "BFloat16Storage"}, {kLong, "int64", "LongStorage"}, {kInt, "int32", "IntStorage"},
    {kShort, "int16", "ShortStorage"}, {kChar, "int8", "CharStorage"}, {kByte, "uint8", "ByteStorage"},
    {kBool, "bool", "BoolStorage"}};

constexpr std::string_view kConstructors[] = {
    "collections.OrderedDict", "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state",
    "torch._tensor._rebuild_from_type_v2", "torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer",
    "torch.storage.UntypedStorage", "torch.Size", "torch.device", "builtins.set", "__builtin__.set", "builtins.frozenset",
    "builtins.list", "builtins.tuple", "_codecs.encode"};
// Types that exist there and not here: let through, so that the message can say more than "not allowed".
constexpr std::string_view kUnsupportedStorages[] = {"torch.ComplexFloatStorage", "torch.ComplexDoubleStorage",
                                                     "torch.QInt8Storage", "torch.QUInt8Storage", "torch.QInt32Storage"};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool is_allowed_global(std::string_view name) {
  return contains(kConstructors, name) || contains(kUnsupportedStorages, name) ||
         dtype_of_global(name) != ScalarType::Undefined || dtype_of_storage(name) != ScalarType::Undefined;
}

ScalarType dtype_of_global(std::string_view name) {
  if (name.substr(0, 6) != "torch.") return ScalarType::Undefined;
  for (const Names& n : kNames) {
    if (n.dtype == name.substr(6)) return n.type;
  }
  return ScalarType::Undefined;
}

ScalarType dtype_of_storage(std::string_view name) {
  if (name.substr(0, 6) != "torch.") return ScalarType::Undefined;
  for (const Names& n : kNames) {
    if (n.storage == name.substr(6)) return n.type;
  }
  return ScalarType::Undefined;
}

const char* storage_name(ScalarType type) {
  for (const Names& n : kNames) {
    if (n.type == type) return n.storage;
  }
  TAEDA_CHECK_TYPE(false, "[save] tensors of this dtype cannot be written: got ", type, "; convert it first");
  __builtin_unreachable();
}

std::string latin1_bytes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool two = c >= 0xc2 && c <= 0xc3 && i + 1 < text.size();
    TAEDA_CHECK_IO(c < 0x80 || two, "[pickle] bytes must be written as latin-1 text: got the byte ", static_cast<int>(c),
                   "; the file is damaged");
    out += static_cast<char>(two ? ((c & 0x03) << 6) | (text[++i] & 0x3f) : c);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 9;
    if (more == 9 || i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k) {
      if ((text[i + k] & 0xc0) != 0x80) return false;
    }
    if (more > 1) {  // overlong forms, surrogates, beyond U+10FFFF
      const auto next = static_cast<unsigned char>(text[i + 1]);
      if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next >= 0xa0) || (c == 0xf0 && next < 0x90) || (c == 0xf4 && next >= 0x90)) {
        return false;
      }
    }
    i += more + 1;
  }
  return true;
}

}  // namespace taeda::io
