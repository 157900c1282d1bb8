// SPDX-License-Identifier: Apache-2.0
// Walking through a model and the graph of its result.
#include "taeda/train/summary.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/autograd.h"
#include "taeda/core/allocator.h"
#include "taeda/core/generator.h"
#include "taeda/nn/sequential.h"

namespace taeda::train {

namespace {

using Shapes = std::unordered_map<const nn::Module*, std::string>;

std::string shape_text(IntArrayRef sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + std::to_string(sizes[i]);
  return out + ")";
}

/// Stands in a Sequential for one of its modules and notes the shape of what comes out.
struct ProbeImpl : nn::Module {
  ProbeImpl(nn::AnyModule inner, Shapes* shapes) : inner_(std::move(inner)), shapes_(shapes) {}
  Tensor forward(Tensor input) {
    Tensor output = inner_.forward(std::move(input));
    (*shapes_)[inner_.ptr().get()] = shape_text(output.sizes());
    return output;
  }
  nn::AnyModule inner_;
  Shapes* shapes_;
};

/// Puts probes into every Sequential of a model for as long as it lives.
class Probes {
 public:
  Probes(const nn::Module& model, Shapes* shapes) {
    for (const auto& module : model.modules(false)) {
      auto* const sequential = module->as<nn::SequentialImpl>();
      if (!sequential) continue;
      for (auto& entry : *sequential) {
        kept_.emplace_back(&entry, entry);
        entry = nn::AnyModule(std::make_shared<ProbeImpl>(kept_.back().second, shapes));
      }
    }
  }
  ~Probes() {
    for (auto& [place, module] : kept_) *place = std::move(module);
  }
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

 private:
  std::vector<std::pair<nn::AnyModule*, nn::AnyModule>> kept_;
};

/// A node that only looks at a parameter in another way before it is used.
bool is_view_of_parameter(const autograd::Node& node) {
  static constexpr const char* kNames[] = {"T", "Transpose", "Permute", "View", "Reshape", "Unsqueeze", "Expand", "Clone", "ToCopy"};
  const std::string name = node.name();
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* known) {
    const size_t length = std::strlen(known);
    return name.compare(0, length, known) == 0 && name.compare(length, 8, "Backward") == 0;
  });
}

/// The results of the operators that use each parameter: the last one found going back from the output is the first; layers that run several
/// times show their last result.
std::unordered_map<const TensorImpl*, std::string> results_of_parameters(const Tensor& output) {
  std::unordered_map<const TensorImpl*, std::string> found;
  const autograd::Edge root = autograd::gradient_edge(output);
  if (!root.is_valid()) return found;
  struct Visit {
    autograd::Node* node;
    std::string result;  ///< of the operator that the node is part of
  };
  std::unordered_set<autograd::Node*> seen;
  std::vector<Visit> waiting{{root.function.get(), ""}};
  for (size_t at = 0; at < waiting.size(); ++at) {
    const Visit now = waiting[at];
    if (now.node->is_accumulator()) {
      found.emplace(&static_cast<autograd::AccumulateGrad*>(now.node)->variable.impl(), now.result);
      continue;
    }
    if (!seen.insert(now.node).second) continue;
    const bool view = is_view_of_parameter(*now.node) && !now.result.empty();
    const std::string result = view ? now.result : shape_text(now.node->output_meta(0).sizes);
    for (size_t i = 0; i < now.node->num_outputs(); ++i) {
      if (const autograd::Edge& edge = now.node->next_edge(i); edge.is_valid()) waiting.push_back({edge.function.get(), result});
    }
  }
  return found;
}

std::string type_of(const nn::Module& module) {
  std::string type = module.name();
  const size_t colon = type.rfind("::");
  if (colon != std::string::npos) type = type.substr(colon + 2);
  if (type.size() > 4 && type.compare(type.size() - 4, 4, "Impl") == 0) type.resize(type.size() - 4);
  return type;
}

LayerInfo describe(const std::string& name, const nn::Module& module) {
  LayerInfo info;
  info.name = name.empty() ? "(model)" : name;
  info.type = type_of(module);
  for (const auto& item : module.named_parameters(false)) {
    if (!item.value().defined()) continue;
    info.parameters += item.value().numel();
    if (item.value().requires_grad()) info.trainable += item.value().numel();
    info.shapes += str(info.shapes.empty() ? "" : " ", item.key(), " ", item.value().sizes());
  }
  return info;
}

int64_t bytes_of(const std::vector<Tensor>& tensors) {
  int64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.defined() ? t.numel() * static_cast<int64_t>(t.element_size()) : 0;
  return bytes;
}

/// Runs the example with gradients, everything else kept as it was.
Tensor run_example(Module& model, const Tensor& example, int64_t* bytes) {
  const bool training = model.is_training();
  const Tensor generator = default_generator().get_state();
  model.eval();
  const size_t before = memory_stats().current;
  const AutoGradMode recording(true);
  Tensor output;
  try {
    Tensor input = example.detach();
    if (input.is_floating_point()) input.set_requires_grad(true);
    output = model.predict_step(Batch(input, Tensor()), 0);
  } catch (...) {
    model.train(training);
    default_generator().set_state(generator);
    throw;
  }
  const size_t after = memory_stats().current;
  *bytes = after > before ? static_cast<int64_t>(after - before) : 0;
  model.train(training);
  default_generator().set_state(generator);
  return output;
}

}  // namespace

ModelInfo inspect(const nn::Module& model) {
  ModelInfo info;
  const auto add = [&](const std::string& name, const nn::Module& module) {
    LayerInfo layer = describe(name, module);
    info.parameters += layer.parameters;
    info.trainable += layer.trainable;
    if (layer.parameters > 0 || (!name.empty() && module.children().empty())) info.layers.push_back(std::move(layer));
  };
  add("", model);
  for (const auto& item : model.named_modules(std::string(), false)) add(item.key(), *item.value());
  info.parameter_bytes = bytes_of(model.parameters());
  info.buffer_bytes = bytes_of(model.buffers());
  return info;
}

ModelInfo inspect(Module& model, const Tensor& example) {
  ModelInfo info = inspect(model);
  Shapes shapes;
  try {
    const Probes probes(model, &shapes);
    info.output = run_example(model, example, &info.activation_bytes);
  } catch (const Error&) {
    // Modules that pass on other things than one tensor cannot be looked at this way.
    shapes.clear();
    info.output = run_example(model, example, &info.activation_bytes);
  }
  const auto results = results_of_parameters(info.output);
  const auto modules = model.named_modules(std::string(), false);
  for (LayerInfo& layer : info.layers) {
    const auto* const found = modules.find(layer.name);
    const nn::Module* const module = found ? found->get() : &model;
    if (const auto probed = shapes.find(module); probed != shapes.end()) {
      layer.output = probed->second;
      continue;
    }
    for (const Tensor& p : module->parameters(false)) {
      if (!p.defined()) continue;
      if (const auto result = results.find(&p.impl()); result != results.end()) layer.output = result->second;
    }
  }
  return info;
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3 + (number < 0 ? 1u : 0u); i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string human_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[40];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string summary_table(const ModelInfo& info) {
  std::vector<std::vector<std::string>> rows = {{"layer", "type", "output", "parameters"}};
  for (const LayerInfo& layer : info.layers) {
    rows.push_back({layer.name, layer.type, layer.output, layer.parameters > 0 ? grouped(layer.parameters) : std::string("-")});
  }
  std::vector<size_t> widths(4, 0);
  for (const auto& row : rows) {
    for (size_t c = 0; c < 4; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t c = 0; c < 4; ++c) {
      if (widths[c] == 0) continue;
      const std::string space(widths[c] - row[c].size(), ' ');
      out += c == 3 ? space + row[c] + "\n" : row[c] + space + "  ";
    }
  }
  out += grouped(info.parameters) + " parameters" + (info.trainable < info.parameters ? ", " + grouped(info.trainable) + " trainable" : "") + ", " +
         human_bytes(info.parameter_bytes + info.buffer_bytes);
  if (info.activation_bytes > 0) out += "; activations of one example " + human_bytes(info.activation_bytes);
  return out + "\n";
}

void ModelSummary::on_fit_start(Trainer&, Module& model) {
  const Tensor example = model.example_input();
  const ModelInfo info = example.defined() ? inspect(model, example) : inspect(static_cast<const nn::Module&>(model));
  std::fputs(summary_table(info).c_str(), stream_);
}

}  // namespace taeda::train
