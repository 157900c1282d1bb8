// SPDX-License-Identifier: Apache-2.0
// Reading the reference values: the folder, its JSON files case by case, its safetensors files.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace taeda::test {

/// Path of a file of the reference folder: TAEDA_ORACLE_DIR, by default the project's own copy.
std::string oracle_path(const std::string& name);

/// The JSON value of a reference file as a whole.
nlohmann::json read_oracle(const std::string& name);

/// Calls `visit` with each case of a reference file, parsed line by line. Returns the number of cases.
int for_each_oracle_case(const std::string& name, const std::function<void(const nlohmann::json&)>& visit);

/// A tensor of a safetensors file: its dtype by the file's name (F32, F64, I64, I32, U8, BOOL, F16, BF16), row-major.
struct OracleTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t numel() const;
  /// The elements, which must be stored as T (bool and 16-bit types as uint8_t and uint16_t).
  template <class T>
  std::vector<T> values() const {
    if (bytes.size() != static_cast<size_t>(numel()) * sizeof(T)) throw std::runtime_error("element size of " + dtype);
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  /// The elements of any dtype, widened.
  std::vector<double> as_double() const;
};

/// All tensors of a safetensors file by key. Throws std::runtime_error when the file is missing or damaged.
class OracleTensors {
 public:
  explicit OracleTensors(const std::string& name);
  const OracleTensor& at(const std::string& key) const;
  /// The tensor of a reference {"t": key}.
  const OracleTensor& of(const nlohmann::json& reference) const { return at(reference.at("t").get<std::string>()); }
  const std::map<std::string, OracleTensor>& all() const { return tensors_; }

 private:
  std::map<std::string, OracleTensor> tensors_;
};

/// A JSON number or a reference number {"f": "..."} as a double; `inf`, `-inf`, `nan` included.
double oracle_number(const nlohmann::json& value);

}  // namespace taeda::test
