// SPDX-License-Identifier: Apache-2.0
// Checks and defaults of a run's settings, and their TOML form.
#include "taeda/cli/config.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <sstream>

#include <toml++/toml.h>

#include "taeda/core/error.h"

namespace taeda::cli {

namespace {

bool parse_number(const std::string& text, double* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

void check_word(const char* option, const std::string& value, std::initializer_list<const char*> words) {
  std::string known;
  for (const char* word : words) {
    if (value == word) return;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  TAEDA_CHECK_VALUE(false, "[--", option, "] unknown value: got \"", value, "\"; use one of ", known);
}

template <class T>
void check_range(const char* option, T value, T low, T high) {
  TAEDA_CHECK_VALUE(value >= low && value <= high, "[--", option, "] the value must be ",
                    high == std::numeric_limits<T>::max() ? str("at least ", low) : str("from ", low, " to ", high), ": got ", value, "; correct it");
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out << code;
    } else {
      out << c;
    }
  }
  out << '"';
  return out.str();
}

std::string toml_text(const std::string& value) { return quoted(value); }
std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(int64_t value) { return std::to_string(value); }
std::string toml_text(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  const std::string number(text, end);
  return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

bool take(const toml::node& node, std::string& to) {
  if (const auto text = node.value_exact<std::string>()) return to = *text, true;
  return false;
}
bool take(const toml::node& node, bool& to) {
  if (const auto value = node.value_exact<bool>()) return to = *value, true;
  return false;
}
bool take(const toml::node& node, int64_t& to) {
  if (const auto value = node.value_exact<int64_t>()) return to = *value, true;
  return false;
}
bool take(const toml::node& node, double& to) {
  if (!node.is_number()) return false;
  to = *node.value<double>();
  return true;
}

const char* type_name(const std::string*) { return "text in quotes"; }
const char* type_name(const bool*) { return "true or false"; }
const char* type_name(const int64_t*) { return "a whole number"; }
const char* type_name(const double*) { return "a number"; }

void set_from(const toml::node& node, const std::string& key, const std::string& place, RunConfig& config) {
  bool known = false;
  std::string names;
  for_each_setting([&](const char* name, auto member, const char*, const char*) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (key != name) return;
    known = true;
    auto& to = config.*member;
    bool taken = take(node, to);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(to)>, std::string>) {
      // The rate is a word or a number.
      if (!taken && key == "lr" && node.is_number()) to = toml_text(*node.value<double>()), taken = true;
    }
    TAEDA_CHECK_VALUE(taken, place, ": ", key, " must be ", type_name(&to), "; correct it");
  });
  TAEDA_CHECK_VALUE(known, place, ": unknown setting: got \"", key, "\"; there are ", names);
}

}  // namespace

std::string data_kind(const RunConfig& config) { return config.data.substr(0, config.data.find(':')); }

void check_config(const RunConfig& c) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr double kLargest = std::numeric_limits<double>::max();
  const std::string kind = data_kind(c);
  TAEDA_CHECK_VALUE(kind == "digits" || kind == "mnist" || kind == "cifar" || kind == "folder" || kind == "csv" || kind == "text",
                    "[--data] unknown kind of data: got \"", c.data, "\"; use digits, mnist:DIR, cifar:DIR, folder:DIR, csv:FILE or text:FILE");
  TAEDA_CHECK_VALUE((kind == "digits") == (c.data == "digits") && (kind == "digits" || c.data.size() > kind.size() + 1),
                    "[--data] the data must be named with its place: got \"", c.data, "\"; write for example mnist:DIR, csv:FILE or text:FILE");
  TAEDA_CHECK_VALUE(kind != "csv" || !c.target.empty(), "[--target] csv needs the column to predict: got none; add --target COLUMN");
  check_word("task", c.task, {"auto", "classification", "regression"});
  check_range<int64_t>("image-size", c.image_size, 0, 4096);
  check_range<int64_t>("batch-size", c.batch_size, 0, kMost);
  check_word("model", c.model, {"auto", "linear", "mlp", "cnn", "resnet8", "resnet18", "resnet50", "mobilenet_v2", "lstm", "gpt"});
  check_range<int64_t>("width", c.width, 0, 1 << 20);
  check_range<int64_t>("depth", c.depth, 0, 10000);
  check_range<int64_t>("heads", c.heads, 1, 1 << 20);
  check_range<int64_t>("block", c.block, 1, 1 << 20);
  TAEDA_CHECK_VALUE(c.dropout == -1 || (c.dropout >= 0 && c.dropout < 1), "[--dropout] the value must be from 0 to below 1, or -1 for the model's default: got ",
                    c.dropout, "; correct it");
  check_word("precision", c.precision, {"float32"});
  check_range<int64_t>("epochs", c.epochs, 0, kMost);
  check_range<int64_t>("max-steps", c.max_steps, 0, kMost);
  double lr = 0;
  TAEDA_CHECK_VALUE(c.lr == "auto" || c.lr == "find" || (parse_number(c.lr, &lr) && lr > 0 && lr < kLargest),
                    "[--lr] the rate must be a positive number, auto or find: got \"", c.lr, "\"; 0.001 is a usual one");
  check_word("schedule", c.schedule, {"onecycle", "cosine", "none"});
  check_range("weight-decay", c.weight_decay, 0.0, kLargest);
  check_range("label-smoothing", c.label_smoothing, 0.0, 1.0);
  TAEDA_CHECK_VALUE(c.ema >= 0 && c.ema < 1, "[--ema] the decay must be from 0 to below 1: got ", c.ema, "; 0.999 is a usual one");
  check_range("clip", c.clip, 0.0, kLargest);
  check_range<int64_t>("val-every", c.val_every, 0, kMost);
  check_range<int64_t>("limit-batches", c.limit_batches, 0, kMost);
  check_range<int64_t>("overfit", c.overfit, 0, kMost);
  TAEDA_CHECK_VALUE(!c.out.empty(), "[--out] the folder must have a name: got none; name one");
  check_range<int64_t>("seed", c.seed, 0, kMost);
  check_range<int64_t>("threads", c.threads, 0, 1024);
}

void resolve_config(RunConfig& c) {
  struct Usual {
    const char *kind, *model;
    int64_t batch, epochs;
  };
  static constexpr Usual kUsual[] = {{"digits", "cnn", 32, 30}, {"mnist", "cnn", 64, 5}, {"cifar", "resnet8", 128, 15},
                                     {"folder", "resnet8", 32, 20}, {"csv", "mlp", 32, 100}, {"text", "gpt", 12, 2}};
  const std::string kind = data_kind(c);
  for (const Usual& usual : kUsual) {
    if (kind != usual.kind) continue;
    if (c.model == "auto") c.model = usual.model;
    if (c.batch_size == 0) c.batch_size = usual.batch;
    if (c.epochs == 0 && c.max_steps == 0) c.epochs = usual.epochs;
  }
  if (kind == "folder" && c.image_size == 0) c.image_size = 64;
  const std::string& m = c.model;
  const auto sized = [&](int64_t width, int64_t depth, double dropout) {
    if (c.width == 0) c.width = width;
    if (c.depth == 0) c.depth = depth;
    if (c.dropout < 0) c.dropout = dropout;
  };
  if (m == "mlp") sized(128, 2, 0);
  else if (m == "cnn" || m == "resnet8") sized(32, 0, m == "cnn" ? 0.25 : 0);
  else if (m == "resnet18" || m == "resnet50") sized(64, 0, 0);
  else if (m == "lstm") sized(128, 2, 0);
  else if (m == "gpt") sized(128, 4, 0);
  else sized(0, 0, m == "mobilenet_v2" ? 0.2 : 0);
  if (c.lr == "auto") c.lr = m == "gpt" ? "0.002" : m == "lstm" ? "0.002" : m == "linear" ? "0.01" : "0.003";
}

std::string write_toml(const RunConfig& config) {
  std::string out;
  std::string last;
  for_each_setting([&](const char* name, auto member, const char* group, const char* help) {
    if (last != group) out += str(out.empty() ? "" : "\n", "# ", group, "\n");
    last = group;
    const std::string setting = str(name, " = ", toml_text(config.*member));
    out += setting + std::string(setting.size() < 32 ? 32 - setting.size() : 1, ' ') + "# " + help + "\n";
  });
  return out;
}

void read_toml(std::string_view text, const std::string& source, RunConfig& config) {
  toml::table document;
  try {
    document = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    TAEDA_CHECK_VALUE(false, "[--config] ", source, " line ", error.source().begin.line, ": ", error.description(), "; correct the TOML file");
  }
  for (const auto& [key, node] : document) {
    std::string name(key.str());
    std::replace(name.begin(), name.end(), '_', '-');
    set_from(node, name, str("[--config] ", source, " line ", node.source().begin.line), config);
  }
}

}  // namespace taeda::cli
