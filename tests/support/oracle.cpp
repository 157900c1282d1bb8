// SPDX-License-Identifier: Apache-2.0
// Reading the reference values.
#include "tests/support/oracle.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "taeda/core/half.h"

namespace taeda::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path + "; set TAEDA_ORACLE_DIR to the folder of reference values");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
std::vector<double> widen(const OracleTensor& tensor) {
  const std::vector<T> values = tensor.values<T>();
  return {values.begin(), values.end()};
}

template <class T>
std::vector<double> widen_16bit(const OracleTensor& tensor) {
  std::vector<double> out;
  for (uint16_t bits : tensor.values<uint16_t>()) out.push_back(static_cast<float>(T(bits, T::from_bits())));
  return out;
}

}  // namespace

std::string oracle_path(const std::string& name) {
  const char* folder = std::getenv("TAEDA_ORACLE_DIR");
#if defined(TAEDA_ORACLE_DEFAULT_DIR)
  if (folder == nullptr || *folder == '\0') folder = TAEDA_ORACLE_DEFAULT_DIR;
#else
  if (folder == nullptr || *folder == '\0') folder = "tests/oracle";
#endif
  return std::string(folder) + "/" + name;
}

nlohmann::json read_oracle(const std::string& name) { return nlohmann::json::parse(read_file(oracle_path(name))); }

int for_each_oracle_case(const std::string& name, const std::function<void(const nlohmann::json&)>& visit) {
  const std::string path = oracle_path(name);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path + "; set TAEDA_ORACLE_DIR to the folder of reference values");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    // A case is one object on one line; the header of a file opens a list and so does not end in a brace.
    while (!line.empty() && (line.back() == ',' || line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.size() < 2 || line.front() != '{' || line.back() != '}') continue;
    visit(nlohmann::json::parse(line));
    ++count;
  }
  return count;
}

int64_t OracleTensor::numel() const {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

std::vector<double> OracleTensor::as_double() const {
  if (dtype == "F64") return widen<double>(*this);
  if (dtype == "F32") return widen<float>(*this);
  if (dtype == "I64") return widen<int64_t>(*this);
  if (dtype == "I32") return widen<int32_t>(*this);
  if (dtype == "I16") return widen<int16_t>(*this);
  if (dtype == "I8") return widen<int8_t>(*this);
  if (dtype == "U8" || dtype == "BOOL") return widen<uint8_t>(*this);
  if (dtype == "F16") return widen_16bit<Half>(*this);
  if (dtype == "BF16") return widen_16bit<BFloat16>(*this);
  throw std::runtime_error("unknown dtype " + dtype);
}

OracleTensors::OracleTensors(const std::string& name) {
  const std::string text = read_file(oracle_path(name));
  uint64_t header_size = 0;
  if (text.size() < 8) throw std::runtime_error(name + ": too short for a safetensors file");
  std::memcpy(&header_size, text.data(), 8);
  if (header_size > text.size() - 8) throw std::runtime_error(name + ": the header passes the end of the file");
  const auto header = nlohmann::json::parse(text.substr(8, header_size));
  const size_t start = 8 + header_size;
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    OracleTensor tensor;
    tensor.dtype = entry.at("dtype").get<std::string>();
    tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > text.size() - start) {
      throw std::runtime_error(name + ": " + key + " passes the end of the file");
    }
    tensor.bytes.assign(text.begin() + static_cast<std::ptrdiff_t>(start + offsets[0]),
                        text.begin() + static_cast<std::ptrdiff_t>(start + offsets[1]));
    tensors_.emplace(key, std::move(tensor));
  }
}

const OracleTensor& OracleTensors::at(const std::string& key) const {
  const auto found = tensors_.find(key);
  if (found == tensors_.end()) throw std::runtime_error("no tensor " + key);
  return found->second;
}

double oracle_number(const nlohmann::json& value) {
  if (value.is_object()) return std::strtod(value.at("f").get_ref<const std::string&>().c_str(), nullptr);
  return value.get<double>();
}

}  // namespace taeda::test
