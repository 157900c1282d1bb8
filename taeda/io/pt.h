// SPDX-License-Identifier: Apache-2.0
// PyTorch's `.pt` files, both ways: a zip archive of one pickle and the storages it names.
#pragma once

#include <string>
#include <vector>

#include "taeda/core/dict.h"
#include "taeda/io/file.h"

namespace taeda::io {

/// What a `.pt` file holds: tensors, numbers, strings, lists and dicts of them. State dictionaries, checkpoints and whatever
/// else was saved by `torch.save` from such values, in Python or here. Nothing in the file is executed. Tensors that shared a
/// storage share it again; all come to the CPU. Throws IoError, naming the file and the fault, for anything else.
TAEDA_API Value load_pt(const std::string& path);
TAEDA_API Value load_pt(SourcePtr source);

/// Writes a file that `torch.load(path, weights_only=True)` opens. Tensors that share a storage share it in the file; a view
/// that is the only one to use a larger storage is written alone. The file is replaced atomically.
TAEDA_API void save_pt(const std::string& path, const Value& value);
TAEDA_API void write_pt(Sink& sink, const Value& value);

}  // namespace taeda::io
