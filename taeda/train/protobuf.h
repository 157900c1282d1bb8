// SPDX-License-Identifier: Apache-2.0
// Writing of protobuf messages, as event files need them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace taeda::train::protobuf {

// The wire format: a field is its number and kind as a varint, then a varint, 8 bytes, 4 bytes, or a length and bytes.
inline void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
template <class T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}
inline void put_int(std::string& out, int field, int64_t value) {
  put_varint(out, static_cast<uint64_t>(field) << 3);
  put_varint(out, static_cast<uint64_t>(value));
}
inline void put_double(std::string& out, int field, double value) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 1);
  put_raw(out, value);
}
inline void put_float(std::string& out, int field, float value) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 5);
  put_raw(out, value);
}
inline void put_bytes(std::string& out, int field, const std::string& bytes) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}
inline std::string packed(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) put_raw(out, value);
  return out;
}

}  // namespace taeda::train::protobuf
