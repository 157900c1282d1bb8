// SPDX-License-Identifier: Apache-2.0
// Runs that are killed and go on: everything must be as in the unbroken run, to the bit.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/train/support.h"

namespace taeda::train {
namespace {

struct Model : train::Module {
  nn::Linear first = nullptr, second = nullptr;
  nn::BatchNorm1d norm = nullptr;
  nn::Dropout dropout = nullptr;
  Model() {
    first = register_module("first", nn::Linear(32, 16));
    norm = register_module("norm", nn::BatchNorm1d(16));
    dropout = register_module("dropout", nn::Dropout(0.3));
    second = register_module("second", nn::Linear(16, 10));
  }
  Tensor forward(const Tensor& x) { return second(dropout(relu(norm(first(x))))); }
  Tensor training_step(const Batch& batch, int64_t) override {
    const Tensor loss = nn::functional::cross_entropy(forward(batch.data), batch.target);
    log("my_loss", loss, {.on_step = true, .on_epoch = true});
    return loss;
  }
  void validation_step(const Batch& batch, int64_t) override {
    const Tensor scores = forward(batch.data);
    log("val_loss", nn::functional::cross_entropy(scores, batch.target));
    log("val_accuracy", scores.argmax(1).eq(batch.target).to(kFloat32).mean());
  }
  Optimizers configure_optimizers() override {
    return Optimizers(optim::AdamW(parameters(), optim::AdamWOptions(0.01)))
        .schedule_by_step<optim::OneCycleLR>(0.02, 80)
        .plateau({.mode = optim::ReduceLROnPlateauScheduler::min, .factor = 0.5, .patience = 0});
  }
};

/// Kills the process in the middle of the work after a step, before anything of that step is saved.
struct Killer : Callback {
  explicit Killer(int64_t s) : step(s) {}
  void on_train_batch_end(Trainer& trainer, Module&, const Batch&, const Tensor&) override {
    if (trainer.global_step() == step) raise(SIGKILL);
  }
  int64_t step;
};

/// 50 steps: two epochs of 20 batches and a half, validated twice an epoch.
void train(const std::string& folder, int64_t kill_at, bool resume) {
  set_num_threads(1);
  const bool goes_on = resume && std::filesystem::exists(folder + "/checkpoints/last.pt");
  manual_seed(goes_on ? 99 : 5);  // what a resumed run draws first must not matter
  auto loader = data::make_data_loader(class_rows(320).map(data::transforms::Stack<>()), 16);
  auto val = data::make_data_loader<data::samplers::SequentialSampler>(class_rows(64, 2).map(data::transforms::Stack<>()), 32);
  Model model;
  TrainerOptions options{.max_steps = 50, .gradient_clip = 1.0, .val_check_interval = 0.5, .log_every_n_steps = 1, .quiet = true};
  options.out_dir = folder;
  options.loggers = {std::make_shared<CSVLogger>(folder + "/log.csv"), std::make_shared<MemoryLogger>()};
  options.callbacks = {std::make_shared<ModelCheckpoint>(CheckpointOptions{.monitor = "val_accuracy", .save_top_k = 2, .every_n_steps = 1}),
                       std::make_shared<EarlyStopping>(EarlyStoppingOptions{.monitor = "val_loss", .patience = 100})};
  if (kill_at > 0) options.callbacks.push_back(std::make_shared<Killer>(kill_at));
  if (goes_on) options.resume_from = folder + "/checkpoints/last.pt";
  Trainer(options).fit(model, loader, val);
}

/// Runs `work` in a process of its own; returns the signal that ended it, 0 for a regular end.
template <class F>
int in_process(F work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      code = 1;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? 0 : -1;
}

bool same(const Value& a, const Value& b) {
  if (a.is_tensor() && b.is_tensor()) {
    const Tensor x = a.tensor().contiguous(), y = b.tensor().contiguous();
    return x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type() &&
           std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.numel()) * x.element_size()) == 0;
  }
  if (a.is_list() && b.is_list()) {
    if (a.list().size() != b.list().size()) return false;
    for (size_t i = 0; i < a.list().size(); ++i) {
      if (!same(a.list()[i], b.list()[i])) return false;
    }
    return true;
  }
  if (a.is_dict() && b.is_dict()) {
    if (a.dict().keys() != b.dict().keys()) return false;
    for (const auto& [key, value] : a.dict()) {
      if (!same(value, b.dict().at(key.string()))) return false;
    }
    return true;
  }
  if (a.is_double() && b.is_double()) return std::memcmp(std::array{a.to_double()}.data(), std::array{b.to_double()}.data(), 8) == 0;
  if (a.is_string() && b.is_string()) return a.string() == b.string();
  if (a.is_number() && b.is_number()) return a.to_double() == b.to_double();
  return a.is_none() && b.is_none();
}

/// Names of what differs between two checkpoints, the time taken and the folder aside.
std::string differences(const std::string& one, const std::string& two) {
  serialize::InputArchive a, b;
  a.load_from(one);
  b.load_from(two);
  std::string out;
  if (a.all_keys() != b.all_keys()) out += "names; ";
  for (const std::string& key : a.all_keys()) {
    if (key == "seconds" || key == "callbacks.ModelCheckpoint_val_accuracy.paths") continue;
    Value x, y;
    a.read(key, x);
    if (!b.try_read(key, y) || !same(x, y)) out += key + "; ";
  }
  return out;
}

TEST(Resume, AfterKillAtEveryStepIsBitwiseEqual) {
  TemporaryFolder whole;
  ASSERT_EQ(in_process([&] { train(whole.path(), 0, false); }), 0);
  const std::string log = io::read_file(whole.file("log.csv"));
  ASSERT_GT(std::count(log.begin(), log.end(), '\n'), 100);
  for (int64_t step = 1; step <= 50; ++step) {
    TemporaryFolder broken;
    ASSERT_EQ(in_process([&] { train(broken.path(), step, false); }), SIGKILL) << "step " << step;
    ASSERT_EQ(in_process([&] { train(broken.path(), 0, true); }), 0) << "step " << step;
    ASSERT_EQ(differences(whole.file("checkpoints/last.pt"), broken.file("checkpoints/last.pt")), "") << "killed at step " << step;
    ASSERT_EQ(io::read_file(broken.file("log.csv")), log) << "killed at step " << step;
  }
}

TEST(Resume, KilledTwiceAndEveryFewSteps) {
  TemporaryFolder whole, broken;
  ASSERT_EQ(in_process([&] { train(whole.path(), 0, false); }), 0);
  ASSERT_EQ(in_process([&] { train(broken.path(), 10, false); }), SIGKILL);
  for (const int64_t step : {11, 20, 21, 40, 41, 49}) ASSERT_EQ(in_process([&] { train(broken.path(), step, true); }), SIGKILL);
  ASSERT_EQ(in_process([&] { train(broken.path(), 0, true); }), 0);
  EXPECT_EQ(differences(whole.file("checkpoints/last.pt"), broken.file("checkpoints/last.pt")), "");
}

/// Stops after a number of batches, wherever it is in a window of accumulation.
struct Stopper : Callback {
  explicit Stopper(int64_t b) : batches(b) {}
  void on_train_batch_end(Trainer& trainer, Module&, const Batch&, const Tensor&) override {
    if (trainer.progress().total_batches == batches) trainer.stop("test");
  }
  int64_t batches;
};

TEST(Resume, InsideAWindowOfAccumulation) {
  const auto run = [](const std::string& folder, int64_t stop_at, bool resume) {
    manual_seed(5);
    auto loader = data::make_data_loader(class_rows(110).map(data::transforms::Stack<>()), 10);
    Model model;
    TrainerOptions options{.max_epochs = 3, .accumulate_grad_batches = 4, .limit_train_batches = 10, .quiet = true};
    options.out_dir = folder;
    if (stop_at > 0) options.callbacks.push_back(std::make_shared<Stopper>(stop_at));
    if (resume) options.resume_from = folder + "/checkpoints/last.pt";
    struct Plain : Model {
      Optimizers configure_optimizers() override { return optim::SGD(parameters(), optim::SGDOptions(0.05).momentum(0.9)); }
    } plain;
    Trainer(options).fit(plain, loader);
    return plain.first->weight.detach().clone();
  };
  TemporaryFolder whole;
  const Tensor expected = run(whole.path(), 0, false);
  for (const int64_t at : {1, 3, 4, 6, 9, 10, 11, 17, 20, 29, 30}) {
    TemporaryFolder broken;
    run(broken.path(), at, false);
    EXPECT_TRUE(equal(run(broken.path(), 0, true), expected)) << "stopped after batch " << at;
    EXPECT_EQ(differences(whole.file("checkpoints/last.pt"), broken.file("checkpoints/last.pt")), "") << "stopped after batch " << at;
  }
}

TEST(Resume, WithAveragesOfWeights) {
  const auto run = [](const std::string& folder, int64_t epochs, int64_t stop_at, bool resume, bool ema) {
    manual_seed(resume ? 77 : 5);
    auto loader = data::make_data_loader(class_rows(100).map(data::transforms::Stack<>()), 10);
    auto val = data::make_data_loader<data::samplers::SequentialSampler>(class_rows(40, 2).map(data::transforms::Stack<>()), 10);
    struct Plain : Model {
      Optimizers configure_optimizers() override { return optim::SGD(parameters(), optim::SGDOptions(0.05).momentum(0.9)); }
    } model;
    TrainerOptions options{.max_epochs = epochs, .val_check_interval = 5, .quiet = true};
    options.out_dir = folder;
    if (ema) options.callbacks = {std::make_shared<EMA>(0.9)};
    else options.callbacks = {std::make_shared<SWA>(2)};
    if (stop_at > 0) options.callbacks.push_back(std::make_shared<Stopper>(stop_at));
    if (resume) options.resume_from = folder + "/checkpoints/last.pt";
    Trainer(options).fit(model, loader, val);
  };
  for (const bool ema : {true, false}) {
    TemporaryFolder whole;
    run(whole.path(), 4, 0, false, ema);
    for (const int64_t at : {1, 5, 12, 20, 30, 39}) {
      TemporaryFolder broken;
      run(broken.path(), 4, at, false, ema);
      run(broken.path(), 4, 0, true, ema);
      EXPECT_EQ(differences(whole.file("checkpoints/last.pt"), broken.file("checkpoints/last.pt")), "") << "stopped after batch " << at;
    }
    // A run that ended, and whose model has the averages, goes on for longer from the weights of its last step.
    TemporaryFolder longer;
    run(longer.path(), 3, 0, false, ema);
    run(longer.path(), 4, 0, true, ema);
    EXPECT_EQ(differences(whole.file("checkpoints/last.pt"), longer.file("checkpoints/last.pt")), "");
  }
}

/// Every damage of a checkpoint is an error that names the file, or a run that goes on with changed numbers; never a crash.
TEST(Resume, DamagedCheckpointsAreRefused) {
  TemporaryFolder folder;
  const auto run = [&](const std::string& from) {
    auto loader = data::make_data_loader(class_rows(40).map(data::transforms::Stack<>()), 10);
    Model model;
    TrainerOptions options{.max_epochs = 1, .quiet = true};
    if (from.empty()) options.out_dir = folder.path();
    else options.resume_from = from;
    struct Plain : Model {
      Optimizers configure_optimizers() override { return optim::Adam(parameters(), 0.01); }
    } plain;
    Trainer(options).fit(plain, loader);
  };
  run("");
  const std::string whole = io::read_file(folder.file("checkpoints/last.pt")), damaged = folder.file("damaged.pt");
  for (size_t length = 0; length < whole.size(); length += whole.size() / 60 + 1) {
    io::write_file(damaged, whole.substr(0, length));
    try {
      run(damaged);
      ADD_FAILURE() << "cut to " << length;
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("damaged.pt"), std::string::npos) << error.what();
    }
  }
  for (size_t at = 0; at < whole.size(); at += whole.size() / 300 + 1) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
    io::write_file(damaged, bytes);
    try {
      run(damaged);
    } catch (const Error&) {
      // named by the readers' own tests
    }
  }
}

TEST(Resume, ANewerOrForeignFileIsRefusedByName) {
  TemporaryFolder folder;
  serialize::OutputArchive archive;
  archive.write("weight", ones({2}));
  archive.save_to(folder.file("weights.pt"));
  auto loader = data::make_data_loader(class_rows(20).map(data::transforms::Stack<>()), 10);
  Model model;
  TrainerOptions options{.max_epochs = 1, .quiet = true};
  options.resume_from = folder.file("weights.pt");
  try {
    Trainer(options).fit(model, loader);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("weights.pt"), std::string::npos);
  }
}

}  // namespace
}  // namespace taeda::train
