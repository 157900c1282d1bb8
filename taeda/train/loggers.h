// SPDX-License-Identifier: Apache-2.0
// The loggers that come with the trainer: CSV, JSON lines, console, TensorBoard.
#pragma once

#include <cstdio>
#include <string>

#include "taeda/train/logger.h"

namespace taeda::nn {
class Module;
}

namespace taeda::train {

namespace detail {
/// A file that only grows, and is cut back to a checkpoint's length when a run goes on.
class TAEDA_API GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  /// Opened at the first write: emptied, or cut to `keep` bytes. Returns whether it is new.
  bool open();
  void write(const std::string& bytes);
  void flush();
  int64_t length();
  void keep(int64_t bytes) { keep_ = bytes; }
  const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  int64_t keep_ = 0;
};
}  // namespace detail

/// Rows "step,epoch,name,value", one for each value.
class TAEDA_API CSVLogger : public Logger {
 public:
  explicit CSVLogger(const std::string& path) : file_(path) {}
  void log_metrics(const MetricList& values, int64_t step, int64_t epoch) override;
  void flush() override { file_.flush(); }
  std::string state_name() const override { return "CSVLogger"; }
  void save(serialize::OutputArchive& archive) override;
  void load(serialize::InputArchive& archive) override;

 private:
  detail::GrowingFile file_;
};

/// An object a line: {"step": 50, "epoch": 0, "train_loss": 0.25}.
class TAEDA_API JSONLinesLogger : public Logger {
 public:
  explicit JSONLinesLogger(const std::string& path) : file_(path) {}
  void log_hyperparameters(const std::vector<std::pair<std::string, std::string>>& values) override;
  void log_metrics(const MetricList& values, int64_t step, int64_t epoch) override;
  void flush() override { file_.flush(); }
  std::string state_name() const override { return "JSONLinesLogger"; }
  void save(serialize::OutputArchive& archive) override;
  void load(serialize::InputArchive& archive) override;

 private:
  detail::GrowingFile file_;
};

/// A line of text for each row.
class TAEDA_API ConsoleLogger : public Logger {
 public:
  explicit ConsoleLogger(std::FILE* stream = stdout) : stream_(stream) {}
  void log_metrics(const MetricList& values, int64_t step, int64_t epoch) override;
  void flush() override { std::fflush(stream_); }

 private:
  std::FILE* stream_;
};

/// Keeps all rows, for programs and the report.
class TAEDA_API MemoryLogger : public Logger {
 public:
  struct Point {
    int64_t step, epoch;
    double value;
  };
  void log_metrics(const MetricList& values, int64_t step, int64_t epoch) override;
  const std::vector<std::pair<std::string, std::vector<Point>>>& series() const { return series_; }
  std::string state_name() const override { return "MemoryLogger"; }
  void save(serialize::OutputArchive& archive) override;
  void load(serialize::InputArchive& archive) override;

 private:
  std::vector<std::pair<std::string, std::vector<Point>>> series_;
};

/// Event files that TensorBoard shows: scalars, histograms, images, text, the model's graph, hyperparameters.
class TAEDA_API TensorBoardLogger : public Logger {
 public:
  /// The file is made in `folder`, under a name of its own.
  explicit TensorBoardLogger(const std::string& folder);
  void log_metrics(const MetricList& values, int64_t step, int64_t epoch) override;
  void log_hyperparameters(const std::vector<std::pair<std::string, std::string>>& values) override;
  void add_scalar(const std::string& tag, double value, int64_t step);
  void add_histogram(const std::string& tag, const Tensor& values, int64_t step, int64_t bins = 64);
  /// image: uint8 (channels, height, width) with 1, 3 or 4 channels.
  void add_image(const std::string& tag, const Tensor& image, int64_t step);
  void add_text(const std::string& tag, const std::string& text, int64_t step);
  /// The graph of the operators that made `output` from an example. Throws ValueError when it was made without gradients.
  void add_graph(const nn::Module& model, const Tensor& output);
  void flush() override { file_.flush(); }
  std::string state_name() const override { return "TensorBoardLogger"; }
  void save(serialize::OutputArchive& archive) override;
  void load(serialize::InputArchive& archive) override;
  const std::string& path() const { return file_.path(); }

 private:
  void add_summary(const std::string& value, int64_t step);
  void add_event(const std::string& event);
  static double wall_time();
  std::string folder_;
  detail::GrowingFile file_;
};

}  // namespace taeda::train
