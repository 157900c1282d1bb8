// SPDX-License-Identifier: Apache-2.0
// taeda predict: images, tables and text.
#include <algorithm>
#include <iostream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/generator.h"
#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::cli {

namespace {

struct PredictArguments {
  std::string dir;
  std::vector<std::string> files;
  std::string prompt = "\n";
  int64_t length = 500, top_k = 0;
  double temperature = 0.8;
  uint64_t seed = 0;
};

void print_class(const std::string& source, const Tensor& scores, const DataSet& data) {
  const Tensor p = scores.softmax(-1);
  const auto best = p.argmax(-1).item<int64_t>();
  const nlohmann::json line = {{"source", source}, {"class", data.classes.at(static_cast<size_t>(best))},
                               {"probability", p[best].item<double>()}};
  std::cout << line.dump() << "\n";
}

void predict_images(const PredictArguments& a, Learner& model, const DataSet& data) {
  for (const std::string& file : a.files) {
    Tensor image = io::load_image(file).to(kFloat);
    const int64_t channels = data.input_shape[0];
    if (image.size(0) != channels) image = channels == 1 ? image.slice(0, 0, 3).mean(0).unsqueeze(0) : image.expand({channels, -1, -1});
    image = io::resize_image(image, data.input_shape[1], data.input_shape[2]);
    print_class(file, model.network().forward(normalise_images(image, 255).unsqueeze(0))[0], data);
  }
}

void predict_tables(const PredictArguments& a, Learner& model, const DataSet& data) {
  for (const std::string& file : a.files) {
    const data::CsvTable table = data::read_csv(file);
    const Tensor scores = model.network().forward(data.encoder.features(table));
    for (int64_t row = 0; row < scores.size(0); ++row) {
      const std::string source = str(file, ":", row + 1);
      if (data.task == Task::kClassification) {
        print_class(source, scores[row], data);
      } else {
        const nlohmann::json line = {{"source", source}, {data.encoder.target_name(), data.encoder.unscale(scores[row][0].item<double>())}};
        std::cout << line.dump() << "\n";
      }
    }
  }
}

void generate_text(const PredictArguments& a, Learner& model, const DataSet& data, int64_t block) {
  TAEDA_CHECK_VALUE(a.temperature > 0, "[predict] the temperature must be positive: got ", a.temperature, "; use for example 0.8");
  manual_seed(a.seed);
  Tensor tokens = data.vocabulary.encode(a.prompt);
  std::cout << a.prompt;
  for (int64_t i = 0; i < a.length; ++i) {
    const int64_t start = std::max<int64_t>(0, tokens.size(0) - block);
    Tensor scores = model.network().forward(tokens.slice(0, start).unsqueeze(0))[0][-1] / a.temperature;
    if (a.top_k > 0 && a.top_k < scores.size(0)) {
      const Tensor least = std::get<0>(scores.topk(a.top_k))[-1];
      scores = scores.masked_fill(scores.lt(least), -std::numeric_limits<double>::infinity());
    }
    const Tensor next = scores.softmax(-1).multinomial(1);
    std::cout << data.vocabulary.character(next.item<int64_t>()) << std::flush;
    tokens = taeda::cat({tokens, next}, 0);
  }
  std::cout << "\n";
}

}  // namespace

void add_predict(CLI::App& app) {
  auto a = std::make_shared<PredictArguments>();
  CLI::App* c = app.add_subcommand("predict", "Use a trained model: JSON lines for images and tables, text for language models");
  c->add_option("dir", a->dir, "Folder of the run")->required();
  c->add_option("files", a->files, "Images or CSV files");
  c->add_option("--prompt", a->prompt, "Text to go on from");
  c->add_option("--length", a->length, "Characters to write")->capture_default_str();
  c->add_option("--temperature", a->temperature, "Below 1: safer, above 1: wilder")->capture_default_str();
  c->add_option("--top-k", a->top_k, "Choose among the k likeliest characters; 0: all");
  c->add_option("--seed", a->seed, "Seed of the choices");
  c->footer("Examples:\n  taeda predict taeda-run picture.png\n  taeda predict taeda-run --prompt \"ROMEO:\" --length 200");
  c->callback([a] {
    const NoGradGuard no_grad;
    const RunConfig config = read_config(a->dir);
    const DataSet data = open_data(config);
    auto model = load_learner(config, data, find_checkpoint(a->dir));
    model->eval();
    if (data.task == Task::kLanguage) return generate_text(*a, *model, data, config.block);
    TAEDA_CHECK_VALUE(!a->files.empty(), "[predict] there is nothing to predict: got no files; name images or CSV files");
    if (data.input_shape.size() == 3) return predict_images(*a, *model, data);
    predict_tables(*a, *model, data);
  });
}

}  // namespace taeda::cli
