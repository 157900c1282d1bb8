// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/file.h"

#include <algorithm>

#include "taeda/io/file.h"
#include "taeda/io/safetensors.h"

namespace taeda::graph {

namespace {
constexpr const char* kKey = "graph";
constexpr uint64_t kMostText = uint64_t{256} << 20;
}  // namespace

void save(const Graph& graph, const std::string& path) {
  io::NamedTensors tensors;
  for (const Datum& v : graph.values) {
    TAEDA_CHECK_VALUE(v.origin != Origin::kState || v.tensor.storage_offset() == 0, "[graph] saved states begin at their memory's start: got \"", v.name,
                      "\", which lies within another tensor; clone() it before the capture");
  }
  for (auto& [name, t] : graph.stored()) tensors.emplace_back(name, t.detach());
  io::save_safetensors(path, tensors, {{kKey, graph.text()}});
}

Graph load(const std::string& path) {
  // The first eight bytes of safetensors are a length, which is no text's.
  const io::SourcePtr source = io::open_file(path);
  std::string head(static_cast<size_t>(std::min<uint64_t>(source->size(), 9)), '\0');
  if (!head.empty()) source->read(0, head.data(), head.size());
  try {
    if (head.size() < 9 || head[8] != '{' || head.find('\0') == head.npos) return parse(io::read_file(path, kMostText));
    const io::SafetensorsReader reader(source);
    for (const auto& [key, text] : reader.metadata()) {
      if (key != kKey) continue;
      States tensors;
      for (const auto& entry : reader.entries()) tensors.emplace_back(entry.name, reader.load(entry));
      return parse(text, tensors);
    }
  } catch (Error& e) {
    e.add_context("while loading " + path);
    throw;
  }
  TAEDA_CHECK_IO(false, "[graph] ", path, " holds tensors but no graph: got a safetensors file without a text under \"", kKey, "\"; write one with "
                 "graph::save or taeda graph --save");
}

}  // namespace taeda::graph
