// SPDX-License-Identifier: Apache-2.0
// taeda graph: what a model computes, before and after the passes.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>

#include "taeda/cli/commands.h"
#include "taeda/cli/graph_html.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/generator.h"
#include "taeda/graph/capture.h"
#include "taeda/graph/file.h"
#include "taeda/graph/gradient.h"
#include "taeda/graph/memory_plan.h"
#include "taeda/io/file.h"
#include "taeda/ops/functions.h"
#include "taeda/train/summary.h"

namespace taeda::cli {

namespace {

struct GraphArguments {
  std::string file;
  SettingOptions settings;
  std::vector<int64_t> input;
  int64_t batch = 1;
  bool train = false, frozen = false, gradient = false;
  std::vector<std::string> dynamic;
  std::vector<std::string> show{"before", "log", "after", "memory", "joint", "forward", "backward"};
  std::string dot, html, save;
};

/// "0:batch" or "1:time:1:256": a dimension of the input, its name and range.
graph::Dynamic dynamic_of(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ':') parts.emplace_back();
    else parts.back() += c;
  }
  const auto number = [&](const std::string& digits) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    TAEDA_CHECK_VALUE(error == std::errc() && end == digits.data() + digits.size(), "[--dynamic] takes dimension:name or dimension:name:least:greatest: got \"",
                      text, "\"; write for example 0:batch:1:64");
    return n;
  };
  if (parts.size() != 4) number(parts.size() == 2 ? parts[0] : "");
  graph::Dynamic d{0, number(parts[0]), {parts[1]}};
  if (parts.size() == 4) d.symbol.min = number(parts[2]), d.symbol.max = number(parts[3]);
  return d;
}

/// With `.gradient`: joined with the gradients of its parameters.
graph::JointGraph capture_learner(Learner& model, const GraphArguments& a) {
  model.train(a.train);
  const Tensor one = example_of(model.data());
  const Tensor input = taeda::cat(std::vector<Tensor>(static_cast<size_t>(a.batch), one), 0);
  graph::CaptureOptions options;
  for (const std::string& text : a.dynamic) options.dynamic.push_back(dynamic_of(text));
  const graph::Function forward = [&](const std::vector<Tensor>& in) { return std::vector{model.forward(in[0])}; };
  if (a.gradient) return graph::gradient(forward, {input}, graph::states_of(model), {.inputs = std::vector<size_t>()});
  return {graph::capture(forward, {input}, graph::states_of(model), options)};
}

/// The graph of a new model.
graph::JointGraph capture_model(const GraphArguments& a) {
  RunConfig config = a.settings.merge({});
  resolve_config(config);
  manual_seed(static_cast<uint64_t>(config.seed));
  DataInfo data = open_data(config);
  if (!a.input.empty()) {
    TAEDA_CHECK_VALUE(data.task != Task::kLanguage, "[--input] sets the sizes of images and tables: got ", config.data, "; set --block for text");
    TAEDA_CHECK_VALUE(a.input.size() == data.input_shape.size(), "[--input] takes the sizes of one sample: got ", a.input.size(), " for the ",
                      data.input_shape.size(), " dimensions of ", config.data, "; for images give channels, height and width");
    data.input_shape = DimVector(IntArrayRef(a.input));
  }
  Learner model(config, data);
  return capture_learner(model, a);
}

graph::JointGraph graph_of(const GraphArguments& a) {
  if (a.file.empty()) return capture_model(a);
  const std::string extension = std::filesystem::path(a.file).extension().string();
  if (std::filesystem::is_directory(a.file) || extension == ".pt") return capture_learner(*load_learner(find_checkpoint(a.file)), a);
  TAEDA_CHECK_VALUE(a.dynamic.empty(), "[--dynamic] takes part in a capture: got ", a.file, ", a graph that is captured already; give a run or a model");
  const graph::Graph g = graph::load(a.file);
  return a.gradient ? graph::gradient(g) : graph::JointGraph{g};
}

bool shows(const GraphArguments& a, const char* part) { return std::find(a.show.begin(), a.show.end(), part) != a.show.end(); }

void print_log(const std::vector<graph::PassRun>& runs) {
  std::cout << "== passes\n";
  for (const graph::PassRun& run : runs) {
    std::cout << run.pass << ": " << run.changes << (run.changes == 1 ? " change, " : " changes, ") << run.nodes << " nodes\n";
    for (const std::string& line : run.notes) std::cout << "  " << line << '\n';
  }
  if (runs.empty()) std::cout << "no pass finds anything\n";
}

void print_memory(const graph::Graph& g) {
  graph::SymbolValues most;
  for (const graph::Symbol& s : g.symbols) most.emplace_back(s.name, s.max);
  const graph::MemoryPlan plan = graph::plan_memory(g, most);
  std::cout << "== memory of the values in between";
  for (const auto& [name, size] : most) std::cout << ", " << name << " = " << size;
  std::cout << '\n'
            << plan.buffers.size() << " buffers, side by side " << train::human_bytes(plan.separate) << ", at once at most "
            << train::human_bytes(plan.at_once) << ", one block with reuse " << train::human_bytes(plan.arena) << '\n';
  for (const graph::Buffer& b : plan.buffers) {
    std::cout << '%' << b.value << ": bytes " << b.offset << " to " << b.offset + b.bytes << ", nodes " << b.first << " to " << b.last << '\n';
  }
}

void run_gradient(const GraphArguments& a) {
  const graph::JointGraph joint = graph_of(a);
  const graph::SplitGraph parts = graph::split_gradient(joint);
  const auto print = [&](const char* part, const graph::Graph& g) {
    if (shows(a, part)) std::cout << "== " << part << ": " << g.nodes.size() << " nodes\n" << g.text();
  };
  print("joint", joint.graph);
  print("forward", parts.forward);
  print("backward", parts.backward);
  std::cout << "== kept from forward to backward: " << train::human_bytes(parts.saved_bytes) << " of " << train::human_bytes(parts.needed_bytes)
            << " that the gradients read; " << parts.recomputed << " nodes run again\n";
  if (!a.dot.empty()) io::write_file(a.dot, joint.graph.dot());
}

void run_graph(const GraphArguments& a) {
  graph::Graph g = graph_of(a).graph;
  const graph::Graph before = g;
  graph::PassOptions options;
  options.frozen = a.frozen;
  options.verify = options.notes = true;
  const std::vector<graph::PassRun> runs = graph::optimize(g, options);
  if (shows(a, "before")) std::cout << "== before: " << before.nodes.size() << " nodes\n" << before.text();
  if (shows(a, "log")) print_log(runs);
  if (shows(a, "after")) std::cout << "== after: " << g.nodes.size() << " nodes\n" << g.text();
  if (shows(a, "memory")) print_memory(g);
  if (!a.dot.empty()) io::write_file(a.dot, g.dot());
  if (!a.html.empty()) io::write_file(a.html, graph_html(before, runs, g));
  if (!a.save.empty()) graph::save(g, a.save);
}

}  // namespace

void add_graph(CLI::App& app) {
  auto a = std::make_shared<GraphArguments>();
  CLI::App* c = app.add_subcommand("graph", "Show the operators of a model as a graph, before and after the passes");
  CLI::Option* file = c->add_option("file", a->file, "Folder of a run, a checkpoint, a graph that --save wrote, or a graph's text; none: a new --model");
  a->settings.add(*c, {"Data", "Model"});
  c->add_option("--input", a->input, "Sizes of one sample of a new model, as 3,224,224; without: those of the data")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->excludes(file)
      ->group("Model");
  c->add_option("--batch", a->batch, "Samples of the captured call")->capture_default_str()->check(CLI::Range(1, 1 << 20));
  c->add_option("--dynamic", a->dynamic, "Dimensions whose size may differ between runs, as 0:batch:1:64 (dimension, name, least and greatest size)")
      ->delimiter(',')
      ->type_name("DIM:NAME[:MIN:MAX]");
  c->add_flag("--train", a->train, "Capture the model as it is when it is trained: dropout, statistics");
  CLI::Option* gradient = c->add_flag("--gradient", a->gradient, "Show the graph joined with the gradients of its parameters, and its two parts, instead");
  gradient->excludes("--dynamic");
  c->add_flag("--frozen", a->frozen, "Make constants of the weights and put batch norms into convolutions, for inference")->excludes(gradient);
  c->add_option("--show", a->show, "What to print, of before, log, after, memory; with --gradient of joint, forward, backward; none: nothing")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"before", "log", "after", "memory", "joint", "forward", "backward", "none"}));
  c->add_option("--dot", a->dot, "Write the graph after the passes for Graphviz to this file")->type_name("FILE");
  c->add_option("--html", a->html, "Write a page with both graphs and the log to this file")->type_name("FILE")->excludes(gradient);
  c->add_option("--save", a->save, "Write the graph after the passes, with its tensors, to this file (safetensors)")->type_name("FILE")->excludes(gradient);
  c->footer("Examples:\n"
            "  taeda graph --model cnn --frozen\n"
            "  taeda graph taeda-run --show after\n"
            "  taeda graph --model resnet50 --input 3,224,224 --frozen --html resnet50.html --show log\n"
            "  taeda graph --model gpt --data text:book.txt --dynamic 0:batch,1:time:1:64 --show after\n"
            "  taeda graph --model cnn --train --gradient --show backward\n"
            "  taeda graph taeda-run --frozen --dot model.dot && dot -Tsvg model.dot > model.svg");
  c->callback([a] { a->gradient ? run_gradient(*a) : run_graph(*a); });
}

}  // namespace taeda::cli
