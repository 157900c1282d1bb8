// SPDX-License-Identifier: Apache-2.0
// taeda predict: images, tables and text.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "taeda/autograd/grad_mode.h"
#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/generator.h"
#include "taeda/core/parallel.h"
#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::cli {

namespace {

struct PredictArguments {
  std::string run;
  std::vector<std::string> files;
  std::string format = "auto";
  std::string prompt;
  int64_t length = 500, top_k = 0;
  double temperature = 0.8;
  uint64_t seed = 0;
  int threads = 0;
};

using Row = nlohmann::ordered_json;

/// Rows of results: a JSON object a line, or a table.
class Results {
 public:
  explicit Results(const std::string& format) : table_(format == "table") {}
  void add(Row row) {
    if (!table_) std::cout << row.dump() << "\n";
    else rows_.push_back(std::move(row));
  }
  ~Results() {
    if (rows_.empty()) return;
    std::vector<std::vector<std::string>> cells(1);
    for (const auto& [name, value] : rows_[0].items()) cells[0].push_back(name);
    for (const Row& row : rows_) {
      auto& line = cells.emplace_back();
      for (const auto& [name, value] : row.items()) line.push_back(text_of(value));
    }
    std::vector<size_t> widths(cells[0].size(), 0);
    for (const auto& line : cells) {
      for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    for (const auto& line : cells) {
      for (size_t i = 0; i < line.size(); ++i) std::cout << line[i] << (i + 1 < line.size() ? std::string(widths[i] - line[i].size() + 2, ' ') : "\n");
    }
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

 private:
  static std::string text_of(const Row& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number_float()) return value.dump();
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value.get<double>());
    return text;
  }
  bool table_;
  std::vector<Row> rows_;
};

Row class_row(const std::string& source, const Tensor& scores, const DataInfo& data) {
  const Tensor p = scores.softmax(-1);
  const auto best = p.argmax(-1).item<int64_t>();
  return {{"source", source}, {"class", data.classes.at(static_cast<size_t>(best))}, {"probability", p[best].item<double>()}};
}

void predict_images(const PredictArguments& a, Learner& model) {
  const DataInfo& data = model.data();
  Results results(a.format);
  const io::DecodeOptions decode{.mode = data.input_shape[0] == 1 ? io::ImageMode::kGray : io::ImageMode::kColor};
  for (const std::string& file : a.files) {
    const Tensor image = io::resize_image(io::load_image(file, decode), data.input_shape[1], data.input_shape[2]);
    const double mean[] = {data.mean}, spread[] = {data.spread};
    results.add(class_row(file, model.forward(io::image_to_float(image, mean, spread).unsqueeze(0))[0], data));
  }
}

void predict_tables(const PredictArguments& a, Learner& model) {
  const DataInfo& data = model.data();
  Results results(a.format);
  for (const std::string& file : a.files) {
    const data::CsvTable table = data::read_csv(file);
    if (table.rows == 0) continue;
    const Tensor scores = model.forward(data.encoder.features(table));
    for (int64_t row = 0; row < scores.size(0); ++row) {
      const std::string source = str(file, ":", row + 1);
      if (data.task == Task::kClassification) results.add(class_row(source, scores[row], data));
      else results.add({{"source", source}, {data.encoder.target_name(), data.encoder.unscale(scores[row][0].item<double>())}});
    }
  }
}

/// Calls f(character) for each character that the model adds to the prompt.
template <class F>
void generate(const PredictArguments& a, Learner& model, Tensor tokens, F&& f) {
  for (int64_t i = 0; i < a.length; ++i) {
    const int64_t start = std::max<int64_t>(0, tokens.size(0) - model.config().block);
    Tensor scores = model.forward(tokens.slice(0, start).unsqueeze(0))[0][-1];
    Tensor next;
    if (a.temperature == 0) {
      next = scores.argmax(-1, true);
    } else {
      scores = scores / a.temperature;
      if (a.top_k > 0 && a.top_k < scores.size(0)) {
        const Tensor least = std::get<0>(scores.topk(a.top_k))[-1];
        scores = scores.masked_fill(scores.lt(least), -std::numeric_limits<double>::infinity());
      }
      next = scores.softmax(-1).multinomial(1);
    }
    f(model.data().vocabulary.character(next.item<int64_t>()));
    tokens = taeda::cat({tokens.slice(0, start), next}, 0);
  }
}

void predict_text(const PredictArguments& a, Learner& model) {
  const DataInfo& data = model.data();
  std::vector<std::pair<std::string, std::string>> prompts;  // source, text
  for (const std::string& file : a.files) prompts.emplace_back(file, data::read_text(file));
  // Without any, the first character of the vocabulary that can begin a line.
  const std::string start = a.prompt.empty() ? data.vocabulary.character(0) : a.prompt;
  if (prompts.empty()) prompts.emplace_back("prompt", start);
  for (const auto& [source, prompt] : prompts) {
    TAEDA_CHECK_VALUE(!prompt.empty(), "[predict] a prompt must have a character at least: got none in ", source, "; give a text");
    const Tensor tokens = data.vocabulary.encode(prompt);
    manual_seed(a.seed);
    if (a.format == "jsonl") {
      std::string text;
      generate(a, model, tokens, [&](const std::string& character) { text += character; });
      std::cout << Row{{"source", source}, {"prompt", prompt}, {"text", text}}.dump() << "\n";
      continue;
    }
    std::cout << (prompts.size() > 1 ? "== " + source + "\n" : "") << prompt;
    generate(a, model, tokens, [](const std::string& character) { std::cout << character << std::flush; });
    std::cout << "\n";
  }
}

void run_predict(const PredictArguments& a) {
  if (a.threads > 0) set_num_threads(a.threads);
  const NoGradGuard no_grad;
  const auto model = load_learner(find_checkpoint(a.run));
  if (model->data().task == Task::kLanguage) return predict_text(a, *model);
  const bool image = model->data().is_image();
  TAEDA_CHECK_VALUE(!a.files.empty(), "[predict] there is nothing to predict: got no files; name ", image ? "images" : "CSV files");
  if (image) predict_images(a, *model);
  else predict_tables(a, *model);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto a = std::make_shared<PredictArguments>();
  CLI::App* c = app.add_subcommand("predict", "Use a trained model on images, tables or text");
  c->add_option("run", a->run, "Folder of a run (its best checkpoint is used), or a checkpoint")->required();
  c->add_option("files", a->files, "Images or CSV files; for language models texts to go on from");
  c->add_option("--format", a->format, "jsonl (an object a line), table, or auto: jsonl, and plain text from language models")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "jsonl", "table"}));
  c->add_option("--prompt", a->prompt, "Language models: text to go on from")->group("Text");
  c->add_option("--length", a->length, "Characters to write")->capture_default_str()->check(CLI::NonNegativeNumber)->group("Text");
  c->add_option("--temperature", a->temperature, "Below 1: safer, above 1: wilder, 0: always the likeliest")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1000.0))
      ->group("Text");
  c->add_option("--top-k", a->top_k, "Choose among the k likeliest characters; 0: all")->capture_default_str()->check(CLI::NonNegativeNumber)->group("Text");
  c->add_option("--seed", a->seed, "Seed of the choices")->capture_default_str()->group("Text");
  c->add_option("--threads", a->threads, "Compute threads; 0: one a core")->check(CLI::Range(0, 1024));
  c->footer("Examples:\n"
            "  taeda predict taeda-run a.png b.png --format table\n"
            "  taeda predict taeda-run houses.csv > prices.jsonl\n"
            "  taeda predict taeda-run --prompt \"ROMEO:\" --length 200 --top-k 10");
  c->callback([a] { run_predict(*a); });
}

}  // namespace taeda::cli
