// SPDX-License-Identifier: Apache-2.0
// NumPy's files, both ways: `.npy` (versions 1 to 3, both memory orders, both byte orders) and `.npz`, a zip archive of them.
#pragma once

#include <string>
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/io/file.h"
#include "taeda/io/safetensors.h"

namespace taeda::io {

/// What the header of a `.npy` file says.
struct NpyHeader {
  std::string descr;  ///< NumPy's dtype text, for example "<f4"
  ScalarType dtype = ScalarType::Undefined;  ///< Undefined: a dtype tensors cannot have here
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> sizes;
  uint64_t data_offset = 0;
};

/// Throws IoError naming the file and the fault.
TAEDA_API NpyHeader read_npy_header(const Source& source);
/// The array as a contiguous tensor. Throws IoError for damaged files, NotImplementedError for dtypes that tensors lack.
TAEDA_API Tensor load_npy(const std::string& path);
TAEDA_API Tensor load_npy(const Source& source);
/// Writes atomically, row-major and little-endian. Throws TypeError for bfloat16, which NumPy lacks.
TAEDA_API void save_npy(const std::string& path, const Tensor& tensor);
TAEDA_API void write_npy(Sink& sink, const Tensor& tensor);
/// The arrays of an archive by name, without the suffix `.npy`.
TAEDA_API NamedTensors load_npz(const std::string& path);
TAEDA_API NamedTensors load_npz(SourcePtr source);
TAEDA_API void save_npz(const std::string& path, const NamedTensors& tensors, bool compress = false);

}  // namespace taeda::io
