// SPDX-License-Identifier: Apache-2.0
// Archives over dictionaries of values.
#include "taeda/io/archive.h"

#include <algorithm>
#include <ostream>
#include <unordered_set>

#include "taeda/core/modes.h"
#include "taeda/io/pt.h"
#include "taeda/io/safetensors.h"
#include "taeda/io/zip.h"

namespace taeda::serialize {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

io::NamedTensors tensors_of(const Value& value, const std::string& filename) {
  io::NamedTensors tensors;
  TAEDA_CHECK_VALUE(value.is_dict(), "[save] a safetensors file holds named tensors: got ", value.describe(), " for ", filename,
                    "; use a name that ends in .pt");
  for (const auto& [key, item] : value.dict()) {
    if (item.is_dict() && item.dict().size() == 0) continue;  // an archive in which nothing was written
    TAEDA_CHECK_VALUE(key.is_string() && item.is_tensor(), "[save] a safetensors file holds named tensors: got ", item.describe(),
                      " under '", key.is_string() ? key.string() : std::to_string(key.to_int()), "' for ", filename,
                      "; use a name that ends in .pt");
    tensors.emplace_back(key.string(), item.tensor());
  }
  return tensors;
}

void assign(Tensor& target, const Tensor& loaded) {
  if (!target.defined() || !loaded.defined()) {
    target = loaded;
    return;
  }
  const ModesGuard guard;
  tls_modes.grad_enabled = false;
  refresh_mask(tls_modes);
  if (target.sizes() == loaded.sizes() && target.scalar_type() == loaded.scalar_type() && target.device() == loaded.device()) {
    target.copy_(loaded);  // in place: views into flat buffers stay views
  } else {
    target.set_data(loaded);
  }
}

}  // namespace

OutputArchive::OutputArchive() : named_(std::make_shared<Dict>()) {}

void OutputArchive::write(const std::string& key, const Value& value) {
  if (value.is_tensor()) return write(key, value.tensor());
  named_->set(key, value);
}

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool /*is_buffer*/) {
  named_->set(key, tensor.defined() ? Value(tensor) : Value());
}

void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  if (nested.root_) return write(key, *nested.root_);
  if (nested.is_empty()) named_->set(key, Value(Dict()));
  for (const auto& [name, value] : *nested.named_) named_->set(key + "." + name.string(), value);
}

bool OutputArchive::is_empty() const { return !root_ && named_->size() == 0; }

void OutputArchive::save_to(const std::string& filename) const {
  if (ends_with(filename, ".safetensors")) {
    io::save_safetensors(filename, tensors_of(value(), filename));
  } else {
    io::save_pt(filename, value());
  }
}

void OutputArchive::save_to(std::ostream& stream) const {
  save_to([&](const void* data, size_t size) {
    return stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(size)) ? size : 0;
  });
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& function) const {
  io::FunctionSink sink(function);
  io::write_pt(sink, value());
}

InputArchive::InputArchive() : root_(Dict()) {}

std::string InputArchive::where() const { return path_.empty() ? source_ : source_ + ", at " + path_; }

const Value* InputArchive::find(const std::string& key) const {
  if (!root_.is_dict()) return nullptr;
  const std::string full = prefix_ + key;
  if (const Value* value = root_.dict().find(full)) return value;
  if (prefix_.empty() && !full.empty() && full.size() < 19 && full.find_first_not_of("0123456789") == std::string::npos) {
    return root_.dict().find(static_cast<int64_t>(std::stoll(full)));  // Python's optimizers number their states
  }
  // A path that leads through dictionaries: {"model": {"weight": …}} holds "model.weight".
  for (size_t dot = full.find('.'); dot != std::string::npos; dot = full.find('.', dot + 1)) {
    const Value* part = root_.dict().find(full.substr(0, dot));
    if (!part || !part->is_dict()) continue;
    InputArchive inner;
    inner.root_ = *part;
    if (const Value* value = inner.find(full.substr(dot + 1))) return value;
  }
  return nullptr;
}

void InputArchive::throw_missing(const std::string& key) const {
  std::string known;
  const std::vector<std::string> all = all_keys();
  for (size_t i = 0; i < all.size() && i < 12; ++i) known += (i ? ", " : "") + all[i];
  TAEDA_CHECK_IO(false, "[load] ", where(), " has nothing named '", key, "'; it has ", all.empty() ? "nothing" : known,
                 all.size() > 12 ? str(", … (", all.size(), " names)") : "", ". Check that the file belongs to this object");
  __builtin_unreachable();
}

bool InputArchive::try_read(const std::string& key, Value& value) const {
  const Value* found = find(key);
  if (!found) return false;
  value = *found;
  return true;
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool /*is_buffer*/) const {
  const Value* found = find(key);
  if (!found || !(found->is_tensor() || found->is_none())) return false;
  if (found->is_none()) {
    assign(tensor, Tensor());
    return true;
  }
  const Tensor& stored = found->tensor();
  assign(tensor, device_ && *device_ != stored.device() && !device_->is_cpu() ? stored.to(*device_) : stored);
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) const {
  InputArchive nested = *this;
  nested.path_ = path_.empty() ? key : path_ + "." + key;
  const Value* found = find(key);
  if (found && found->is_dict()) {
    nested.root_ = *found;
    nested.prefix_.clear();
    archive = std::move(nested);
    return true;
  }
  nested.prefix_ = prefix_ + key + ".";
  const bool any = !nested.keys().empty();
  archive = std::move(nested);
  return any;
}

void InputArchive::read(const std::string& key, Value& value) const {
  if (!try_read(key, value)) throw_missing(key);
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) const {
  if (try_read(key, tensor, is_buffer)) return;
  const Value* found = find(key);
  TAEDA_CHECK_IO(!found, "[load] ", where(), ": '", key, "' must be a tensor: got ", found->describe(),
                 "; read it as a Value");
  throw_missing(key);
}

void InputArchive::read(const std::string& key, InputArchive& archive) const {
  if (!try_read(key, archive)) throw_missing(key);
}

void InputArchive::read_root(Tensor& tensor) const {
  TAEDA_CHECK_IO(root_.is_tensor(), "[load] ", where(), " must hold a tensor: it holds ", root_.describe(), "; load it as a Value");
  assign(tensor, root_.tensor());
}

void InputArchive::load_from(io::SourcePtr source, std::optional<Device> device) {
  source_ = source->name();
  root_ = io::load_value(std::move(source));
  prefix_.clear();
  path_.clear();
  device_ = device;
}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  load_from(io::open_file(filename), device);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) { load_from(io::read_stream(stream), device); }

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  load_from(io::borrow_source(data, size), device);
}

void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_func, const std::function<size_t()>& size_func,
                             std::optional<Device> device) {
  load_from(io::make_source(read_func, size_func()), device);
}

std::vector<std::string> InputArchive::all_keys() const {
  std::vector<std::string> names;
  if (!root_.is_dict()) return names;
  for (const std::string& name : root_.dict().keys()) {
    if (name.compare(0, prefix_.size(), prefix_) == 0) names.push_back(name.substr(prefix_.size()));
  }
  return names;
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const std::string& name : all_keys()) {
    std::string first = name.substr(0, name.find('.'));
    if (seen.insert(first).second) names.push_back(std::move(first));
  }
  return names;
}

}  // namespace taeda::serialize

namespace taeda::io {

Value load_value(SourcePtr source) {
  char start[9] = {};
  source->read(0, start, std::min<uint64_t>(source->size(), 9));
  if (start[8] != '{' || ZipReader::is_zip(*source)) return load_pt(std::move(source));
  Dict dict;
  for (auto& [name, tensor] : load_safetensors(std::move(source))) dict.set(name, std::move(tensor));
  return dict;
}

}  // namespace taeda::io
