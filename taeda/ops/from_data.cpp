// SPDX-License-Identifier: Apache-2.0
// Tensors from C++ values, foreign memory and files.
#include "taeda/ops/from_data.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "taeda/ops/functions.h"

namespace taeda {

namespace detail {

TensorData::TensorData(std::initializer_list<TensorData> list)
    : kind_(Kind::kList), count_(list.size()) {
  const TensorData* items = std::data(list);
  items_ = items;
  sizes_.push_back(static_cast<int64_t>(count_));
  if (count_ == 0) return;
  const TensorData& first = *items_;
  sizes_.append(first.sizes_.begin(), first.sizes_.end());
  type_ = first.type_;
  for (const TensorData& item : list) {
    TAEDA_CHECK(item.sizes_ == first.sizes_, "[tensor] expected all sub-lists to have sizes: ", IntArrayRef(first.sizes_),
                ", but got sub-list with sizes: ", IntArrayRef(item.sizes_), "; make the lists equally long");
    TAEDA_CHECK(item.type_ == type_, "[tensor] expected all elements of the tensor to have the same scalar type: ", type_,
                ", but got element of scalar type: ", item.type_, "; write all numbers in one type");
  }
}

TensorData::TensorData(const std::vector<bool>& values)
    : kind_(Kind::kArray), type_(kBool), sizes_{static_cast<int64_t>(values.size())}, owned_(values.begin(), values.end()) {
  array_ = owned_.data();
}

void TensorData::fill(Tensor& out, int64_t& at) const {
  switch (kind_) {
    case Kind::kScalar:
      dispatch_all(out.scalar_type(), "tensor", [&]<class T>() {
        TAEDA_CHECK(scalar_.fits<T>(), "[tensor] numbers must fit the dtype: got ", scalar_, " for ", out.scalar_type(), "; use a wider dtype");
        reinterpret_cast<T*>(out.impl().data())[at] = scalar_.unchecked<T>();
      });
      ++at;
      break;
    case Kind::kList:
      for (size_t i = 0; i < count_; ++i) items_[i].fill(out, at);
      break;
    case Kind::kArray: {
      const ScalarType from = owned_.empty() ? type_ : kDouble;
      dispatch_all(out.scalar_type(), "tensor", [&]<class T>() {
        T* to = reinterpret_cast<T*>(out.impl().data()) + at;
        dispatch_all(from, "tensor", [&]<class From>() {
          const From* values = static_cast<const From*>(array_);
          for (int64_t i = 0; i < sizes_[0]; ++i) {
            if constexpr (std::is_same_v<T, From>) {
              to[i] = values[i];
            } else {
              to[i] = Scalar(values[i]).template unchecked<T>();
            }
          }
        });
      });
      at += sizes_[0];
      break;
    }
  }
}

Tensor TensorData::make(const TensorOptions& options) const {
  ScalarType dtype = type_;
  if (dtype == kInt || dtype == kLong) dtype = kLong;
  if (dtype == kFloat || dtype == kDouble || dtype == ScalarType::Undefined) dtype = default_scalar_type();
  dtype = options.dtype_opt().value_or(dtype);
  Tensor result = taeda::empty(sizes_, options.dtype(dtype).requires_grad(false));
  int64_t at = 0;
  fill(result, at);
  if (options.requires_grad()) result.requires_grad_(true);
  return result;
}

}  // namespace detail

Tensor tensor(const detail::TensorData& data, const TensorOptions& options) { return data.make(options); }

namespace {

Tensor wrap_memory(void* data, IntArrayRef sizes, IntArrayRef strides, StorageImpl::Deleter deleter, void* context,
                   const TensorOptions& options) {
  const ScalarType dtype = options.scalar_type();
  TAEDA_CHECK(sizes.size() == strides.size(), "[from_blob] sizes and strides must be of equal length: got ", sizes, " and ", strides,
              "; give one stride for each size");
  for (const int64_t s : strides) {
    TAEDA_CHECK(s >= 0, "[from_blob] strides must not be negative: got ", strides, "; use strides of 0 or more");
  }
  TAEDA_CHECK_NOT_IMPLEMENTED(is_supported(dtype), "[from_blob] the dtype must be supported: got ", dtype, "; use a real dtype");
  detail::checked_numel(sizes, "from_blob");
  const size_t bytes = detail::storage_bytes(sizes, strides, 0, item_size(dtype), "from_blob");
  TAEDA_CHECK(data != nullptr || bytes == 0, "[from_blob] the memory must not be null: got sizes ", sizes, "; pass a valid pointer");
  TensorImpl* t = TensorImpl::make(
      IntrusivePtr<StorageImpl>::adopt(StorageImpl::adopt(data, bytes, options.device(), deleter, context)), dtype, options.device());
  Tensor result(IntrusivePtr<TensorImpl>::adopt(t));
  t->set_sizes_strides(sizes, strides);
  if (options.requires_grad()) result.requires_grad_(true);
  return result;
}

void run_deleter(void* context, void* data, size_t) {
  auto* deleter = static_cast<Deleter*>(context);
  (*deleter)(data);
  delete deleter;
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return wrap_memory(data, sizes, detail::contiguous_strides(sizes), nullptr, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter, const TensorOptions& options) {
  return from_blob(data, sizes, detail::contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return wrap_memory(data, sizes, strides, nullptr, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Deleter& deleter, const TensorOptions& options) {
  if (!deleter) return wrap_memory(data, sizes, strides, nullptr, nullptr, options);
  auto* owned = new Deleter(deleter);
  try {
    return wrap_memory(data, sizes, strides, &run_deleter, owned, options);
  } catch (...) {
    delete owned;
    throw;
  }
}

namespace {

/// Closes a file descriptor at the end of the scope.
struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

Tensor map_file(const std::string& name, int64_t n, const TensorOptions& options) {
  const size_t bytes = static_cast<size_t>(n) * item_size(options.scalar_type());
  const File file{::open(name.c_str(), O_RDWR | O_CREAT, 0600)};
  TAEDA_CHECK_IO(file.descriptor >= 0, "[from_file] cannot open the file: got \"", name, "\"; check the path and its permissions");
  struct stat info {};
  TAEDA_CHECK_IO(::fstat(file.descriptor, &info) == 0, "[from_file] cannot read the file's size: got \"", name, "\"; check the file");
  if (static_cast<size_t>(info.st_size) < bytes) {
    TAEDA_CHECK_IO(::ftruncate(file.descriptor, static_cast<off_t>(bytes)) == 0, "[from_file] cannot lengthen the file to ", bytes,
                   " bytes: got \"", name, "\"; check the free space");
  }
  if (bytes == 0) return taeda::empty({0}, options);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0);
  TAEDA_CHECK_IO(data != MAP_FAILED, "[from_file] cannot map the file: got \"", name, "\"; pass shared = false");
  return from_blob(data, {n}, [bytes](void* p) { ::munmap(p, bytes); }, options);
}

}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size, const TensorOptions& options) {
  const std::string name(filename);
  const int64_t n = size.value_or(0);
  TAEDA_CHECK(n >= 0, "[from_file] the size must not be negative: got ", n, "; pass the number of elements");
  if (shared.value_or(false)) return map_file(name, n, options);
  Tensor result = taeda::empty({n}, options);
  std::ifstream file(name, std::ios::binary);
  TAEDA_CHECK_IO(file.good(), "[from_file] cannot open the file: got \"", name, "\"; check the path");
  file.read(result.impl().data(), static_cast<std::streamsize>(result.nbytes()));
  TAEDA_CHECK_IO(static_cast<size_t>(file.gcount()) == result.nbytes(), "[from_file] the file is too short: got ", file.gcount(),
                 " of ", result.nbytes(), " bytes in \"", name, "\"; pass a smaller size");
  return result;
}

}  // namespace taeda
