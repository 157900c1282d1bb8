// What the first calls of compiled functions cost: a perceptron's and a character GPT's training step, ResNet-50's inference. Each
// figure comes from a process of its own, in which nothing was compiled before. EMPTY is the time of the first calls less that of as
// many steady ones but one; DISK the same with generated code in a folder that an earlier process filled; EAGER the same without compile():
// memory that is touched for the first time. LibTorch has no compile() in C++:
// no peer
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <regex>
#include <string_view>

#include "benchmarks/networks.h"

namespace {

using namespace bench;  // NOLINT(google-build-using-namespace)
using Call = std::function<Tensor()>;

Call mlp() {
  nn::Sequential model(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  const Tensor x = torch::randn({1, 64}), y = torch::full({1}, 3, torch::kLong);
  return training<torch::optim::Adam>(model->parameters(), 1e-3, [=]() mutable { return torch::cross_entropy_loss(model->forward(x), y); });
}
Call gpt() {
  const auto model = std::make_shared<Gpt>();
  const auto text = [] { return torch::randint(0, kVocabulary, {kBatch, kBlock}, torch::kLong); };
  return training<torch::optim::AdamW>(model->parameters(), 1e-3, [model, x = text(), y = text()] {
    return torch::cross_entropy_loss(model->forward(x).view({-1, kVocabulary}), y.view({-1}));
  });
}
Call resnet() {
  return [model = resnet50(), x = torch::rand({1, 3, 224, 224})]() mutable {
    const torch::NoGradGuard off;
    return model->forward(x);
  };
}

struct Times {
  double real = 0, processor = 0;  ///< nanoseconds
};
Times now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {static_cast<double>(std::chrono::nanoseconds(wall).count()), static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec)};
}

struct Result {
  Times first, steady;
};
Result measure(Call (*make)(), const std::string& folder, taeda::CompileBackend backend) {
  constexpr int kFirst = 5, kSteady = 7;  // an optimizer's states are made in the first step: the second is another version
  torch::set_num_threads(1);
  torch::manual_seed(1);
  const auto call = taeda::compile(make(), {.backend = backend, .step_aside = false, .cache_dir = folder});
  const auto timed = [&](int calls) {
    const Times start = now();
    for (int i = 0; i < calls; ++i) call();
    const Times end = now();
    return Times{end.real - start.real, end.processor - start.processor};
  };
  Result r;
  r.first = timed(kFirst);
  r.steady = timed(1);
  for (int i = 1; i < kSteady; ++i) {
    const Times t = timed(1);
    if (t.processor < r.steady.processor) r.steady = t;
  }
  r.first.real -= (kFirst - 1) * r.steady.real;
  r.first.processor -= (kFirst - 1) * r.steady.processor;
  return r;
}

/// `measure` in a process of its own.
Result measured_apart(Call (*make)(), const std::string& folder, taeda::CompileBackend backend = taeda::CompileBackend::kJit) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Result r = measure(make, folder, backend);
    _exit(write(ends[1], &r, sizeof r) == sizeof r ? 0 : 1);
  }
  Result r;
  if (child < 0 || read(ends[0], &r, sizeof r) != sizeof r) std::abort();
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  return r;
}

void print(const std::string& name, const Times& t, const std::string& label, bool json) {
  static bool first = true;
  if (json) {
    std::printf(R"(%s{"name": "%s", "cpu_time": %.0f, "real_time": %.0f, "time_unit": "ns", "label": "%s"})", first ? "" : ",\n", name.c_str(),
                t.processor, t.real, label.c_str());
  } else {
    std::printf("%-24s %10.2f ms\n", name.c_str(), t.processor / 1e6);
  }
  first = false;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  std::regex filter(".");
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    json |= option == "--benchmark_format=json";
    if (option.starts_with("--benchmark_filter=")) filter = std::string(option.substr(19));
  }
  struct Case {
    const char* name;
    Call (*make)();
    const char* bar;
  };
  if (json) std::printf("{\"benchmarks\": [\n");
  for (const Case& c : {Case{"mlp", mlp, "ns<=1.5e8"}, Case{"gpt", gpt, "ns<=5e8"}, Case{"resnet50", resnet, "ns<=6e8"}}) {
    const std::string name = c.name;
    if (!std::regex_search(name, filter)) continue;
    const std::string folder = std::filesystem::temp_directory_path() / ("compile_first." + std::to_string(getpid()) + "." + name);
    const Result eager = measured_apart(c.make, "", taeda::CompileBackend::kEager);
    const Result empty = measured_apart(c.make, "");
    measured_apart(c.make, folder);
    const Result disk = measured_apart(c.make, folder);
    std::filesystem::remove_all(folder);
    print(name + "_steady", empty.steady, "", json);
    print(name + "_first_eager", eager.first, "", json);
    print(name + "_first_empty", empty.first, c.bar, json);
    print(name + "_first_disk", disk.first, "more_than_" + name + "_steady<=5e7", json);
  }
  if (json) std::printf("\n]}\n");
}
