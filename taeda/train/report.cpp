// SPDX-License-Identifier: Apache-2.0
// The page of a run. Pictures are inline SVG and PNG.
#include "taeda/train/report.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>

#include "taeda/core/parallel.h"
#include "taeda/core/version.h"
#include "taeda/io/file.h"
#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/progress.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return text;
}

/// The picture of a sample: (channels, height, width), (height, width), or a flattened square; empty for anything else.
std::string picture(const Tensor& sample) {
  Tensor x = sample.detach().to(kFloat32);
  if (x.dim() == 1) {
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(x.size(0)))));
    if (side < 4 || side * side != x.size(0)) return {};
    x = x.view({1, side, side});
  } else if (x.dim() == 2) {
    x = x.unsqueeze(0);
  }
  if (x.dim() != 3 || (x.size(0) != 1 && x.size(0) != 3) || x.numel() == 0) return {};
  const Tensor low = x.min(), high = x.max();
  const double range = std::max(1e-12, high.item<double>() - low.item<double>());
  return io::encode_png(x.sub(low).mul(255 / range).round().to(kUInt8).contiguous());
}

using Series = std::pair<std::string, std::vector<MemoryLogger::Point>>;

/// "train_loss_step" and "val_loss" are shown in the chart "loss".
std::string chart_of(std::string name) {
  for (const char* prefix : {"train_", "val_", "test_"}) {
    if (name.rfind(prefix, 0) == 0) name = name.substr(std::string(prefix).size());
  }
  for (const char* suffix : {"_step", "_epoch"}) {
    const std::string end = suffix;
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) name.resize(name.size() - end.size());
  }
  return name;
}

/// At most 600 points, each the mean of those it stands for.
std::vector<std::pair<double, double>> thinned(const std::vector<MemoryLogger::Point>& points) {
  const size_t every = points.size() / 600 + 1;
  std::vector<std::pair<double, double>> out;
  for (size_t i = 0; i < points.size(); i += every) {
    double x = 0, y = 0, n = 0;
    for (size_t k = i; k < std::min(points.size(), i + every); ++k) {
      if (!std::isfinite(points[k].value)) continue;
      x += static_cast<double>(points[k].step);
      y += points[k].value;
      ++n;
    }
    if (n > 0) out.emplace_back(x / n, y / n);
  }
  return out;
}

std::string chart(const std::string& title, const std::vector<const Series*>& lines) {
  static constexpr const char* kColours[] = {"#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2"};
  constexpr double kWidth = 560, kHeight = 260, kLeft = 64, kBottom = 34, kTop = 12, kRight = 12;
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  std::vector<std::vector<std::pair<double, double>>> drawn;
  for (const Series* line : lines) {
    drawn.push_back(thinned(line->second));
    for (const auto& [x, y] : drawn.back()) x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
  }
  if (!(x0 <= x1)) return {};
  if (x1 == x0) x0 -= 1, x1 += 1;
  if (y1 == y0) y0 -= std::max(1e-9, std::abs(y0) * 0.1), y1 += std::max(1e-9, std::abs(y1) * 0.1);
  const auto px = [&](double x) { return kLeft + (x - x0) / (x1 - x0) * (kWidth - kLeft - kRight); };
  const auto py = [&](double y) { return kHeight - kBottom - (y - y0) / (y1 - y0) * (kHeight - kBottom - kTop); };
  std::string out = str("<figure><figcaption>", escaped(title), "</figcaption><svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                        "\" role=\"img\" aria-label=\"", escaped(title), "\">");
  for (int i = 0; i <= 4; ++i) {
    const double y = y0 + (y1 - y0) * i / 4, x = x0 + (x1 - x0) * i / 4;
    out += str("<line x1=\"", kLeft, "\" x2=\"", kWidth - kRight, "\" y1=\"", py(y), "\" y2=\"", py(y), "\" class=\"grid\"/><text x=\"",
               kLeft - 6, "\" y=\"", py(y) + 4, "\" text-anchor=\"end\">", text_of(y), "</text><text x=\"", px(x), "\" y=\"",
               kHeight - 12, "\" text-anchor=\"middle\">", text_of(std::round(x)), "</text>");
  }
  std::string legend;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const char* colour = kColours[i % 6];
    out += str("<polyline fill=\"none\" stroke=\"", colour, "\" stroke-width=\"1.8\" points=\"");
    for (const auto& [x, y] : drawn[i]) out += str(std::round(px(x) * 10) / 10, ",", std::round(py(y) * 10) / 10, " ");
    out += "\"/>";
    if (drawn[i].size() < 30) {
      for (const auto& [x, y] : drawn[i]) out += str("<circle cx=\"", px(x), "\" cy=\"", py(y), "\" r=\"2.5\" fill=\"", colour, "\"/>");
    }
    legend += str("<span><i style=\"background:", colour, "\"></i>", escaped(lines[i]->first), "</span> ");
  }
  return out + "</svg><div class=\"legend\">" + legend + "</div></figure>\n";
}

std::string charts(const std::vector<Series>& series) {
  std::vector<std::pair<std::string, std::vector<const Series*>>> groups;
  for (const Series& line : series) {
    // NAME_epoch repeats NAME.
    const std::string& name = line.first;
    if (name.size() > 6 && name.compare(name.size() - 6, 6, "_epoch") == 0) continue;
    const std::string title = chart_of(name);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == title; });
    if (found == groups.end()) found = groups.insert(found, {title, {}});
    found->second.push_back(&line);
  }
  std::string out;
  for (const auto& [title, lines] : groups) out += chart(title, lines);
  return out;
}

std::string table(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string out = "<table>";
  for (const auto& [name, value] : rows) out += "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>";
  return out + "</table>\n";
}

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1240px;padding:0 1rem;color:#1f2937}"
    "h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #e5e7eb}"
    "figure{display:inline-block;margin:0 1rem 1rem 0;width:560px;max-width:100%}figcaption{font-weight:600}"
    "svg text{font:11px system-ui,sans-serif;fill:#6b7280}.grid{stroke:#e5e7eb}"
    ".legend i{display:inline-block;width:14px;height:3px;margin-right:5px;vertical-align:middle}.legend{font-size:13px}"
    "table{border-collapse:collapse;font-size:14px}th,td{padding:3px 10px;text-align:left;border-bottom:1px solid #f3f4f6}th{font-weight:500}"
    ".matrix td,.matrix th{text-align:center;min-width:2rem;border:1px solid #fff}"
    ".worst{display:flex;flex-wrap:wrap;gap:12px}.worst div{font-size:12px;text-align:center}"
    ".worst img{width:88px;height:88px;image-rendering:pixelated;display:block;background:#f3f4f6}.number{text-align:right}"
    "@media(prefers-color-scheme:dark){body{background:#111827;color:#e5e7eb}h2,.grid{border-color:#374151;stroke:#374151}"
    "th,td{border-color:#1f2937}.matrix td,.matrix th{border-color:#111827}}";

}  // namespace

Report::Report(ReportOptions options) : options_(std::move(options)) {}
Report::~Report() = default;

void Report::on_fit_start(Trainer& trainer, Module&) {
  if (!options_.path.empty()) return;
  TAEDA_CHECK_VALUE(!trainer.options().out_dir.empty(),
                    "[Report] the report needs a file: got none; set ReportOptions::path or TrainerOptions::out_dir");
  options_.path = (std::filesystem::path(trainer.options().out_dir) / "report.html").string();
}

void Report::on_validation_start(Trainer&, Module&) {
  confusion_.reset();
  worst_.clear();
}

void Report::on_predictions(Trainer&, Module&, const Tensor& scores, const Batch& batch) {
  if (scores.dim() != 2 || scores.size(1) < 2 || !batch.target.defined() || batch.target.dim() != 1) return;
  if (!confusion_) confusion_ = std::make_unique<ConfusionMatrix>(scores.size(1));
  confusion_->update(scores, batch.target);
  const Tensor logs = scores.detach().to(kFloat64).log_softmax(1).contiguous();
  const Tensor best = logs.argmax(1).contiguous();
  const Tensor targets = batch.target.to(kInt64).contiguous();
  const auto limit = static_cast<size_t>(options_.worst_samples);
  for (int64_t i = 0; i < logs.size(0); ++i) {
    const int64_t target = targets.data_ptr<int64_t>()[i], predicted = best.data_ptr<int64_t>()[i];
    if (target == predicted) continue;
    const double* row = logs.data_ptr<double>() + i * logs.size(1);
    const double loss = -row[target];
    if (worst_.size() >= limit && (limit == 0 || loss <= worst_.back().loss)) continue;
    Sample sample{loss, std::exp(row[predicted]), target, predicted, picture(batch.data.select(0, i))};
    const auto place = std::find_if(worst_.begin(), worst_.end(), [&](const Sample& s) { return s.loss < loss; });
    worst_.insert(place, std::move(sample));
    if (worst_.size() > limit) worst_.pop_back();
  }
}

std::string Report::class_name(int64_t index) const {
  const auto i = static_cast<size_t>(index);
  return i < options_.class_names.size() ? options_.class_names[i] : std::to_string(index);
}

std::string Report::confusion_html() const {
  const int64_t n = confusion_->classes();
  if (n > 40) return "<p>" + std::to_string(n) + " classes: too many to show.</p>\n";
  std::string out = "<table class=\"matrix\"><tr><th>target \\ predicted</th>";
  for (int64_t c = 0; c < n; ++c) out += "<th>" + escaped(class_name(c)) + "</th>";
  out += "</tr>\n";
  for (int64_t t = 0; t < n; ++t) {
    double row = 0;
    for (int64_t p = 0; p < n; ++p) row += confusion_->at(t, p);
    out += "<tr><th>" + escaped(class_name(t)) + "</th>";
    for (int64_t p = 0; p < n; ++p) {
      const double count = confusion_->at(t, p);
      const double part = row > 0 ? count / row : 0;
      const char* colour = t == p ? "37,99,235" : "220,38,38";
      out += str("<td style=\"background:rgba(", colour, ",", count > 0 ? 0.08 + 0.8 * part : 0.0, ")", part > 0.6 ? ";color:#fff" : "",
                 "\">", static_cast<int64_t>(count), "</td>");
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string Report::worst_html() const {
  std::string out = "<div class=\"worst\">";
  for (const Sample& s : worst_) {
    out += "<div>";
    if (!s.png.empty()) out += "<img alt=\"sample\" src=\"data:image/png;base64," + base64(s.png) + "\">";
    out += str(escaped(class_name(s.predicted)), " (", static_cast<int>(std::lround(100 * s.probability)), " %)<br>is ",
               escaped(class_name(s.target)), "<br>loss ", text_of(s.loss), "</div>");
  }
  return out + "</div>\n";
}

std::string Report::html(const Trainer& trainer, const Module& model) const {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                    "<title>" + escaped(options_.title) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" +
                    escaped(options_.title) + "</h1>\n";
  out += str("<p>", trainer.epoch(), " epochs, ", trainer.global_step(), " steps, ", format_seconds(trainer.seconds()),
             trainer.is_stopping() ? ", ended by " + escaped(trainer.stop_reason()) : std::string(", under way"), ".</p>\n");
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : trainer.metrics()) rows.emplace_back(name, text_of(value));
  out += "<h2>Results</h2>\n" + table(rows) + "<h2>Curves</h2>\n" + charts(memory_->series());
  if (confusion_) out += "<h2>Confusion matrix</h2>\n" + confusion_html();
  if (!worst_.empty()) out += "<h2>Worst samples</h2>\n" + worst_html();
  out += "<h2>Model</h2>\n<table><tr><th>layer</th><th>type</th><th>parameters</th><th>shapes</th></tr>\n";
  int64_t total = 0;
  for (const LayerInfo& layer : summarize(model)) {
    total += layer.parameters;
    out += str("<tr><td>", escaped(layer.name), "</td><td>", escaped(layer.type), "</td><td class=\"number\">", layer.parameters, "</td><td>",
               escaped(layer.shapes), "</td></tr>\n");
  }
  out += str("<tr><th>all</th><td></td><td class=\"number\">", total, "</td><td></td></tr></table>\n");
  if (!options_.config.empty()) out += "<h2>Configuration</h2>\n" + table(options_.config);
  char when[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (gmtime_r(&now, &utc)) std::strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &utc);
  out += "<h2>Environment</h2>\n" +
         table({{"taeda", str(TAEDA_VERSION_MAJOR, ".", TAEDA_VERSION_MINOR, ".", TAEDA_VERSION_PATCH)},
                {"threads", std::to_string(get_num_threads())},
#if defined(__clang__)
                {"compiler", std::string("clang ") + __clang_version__},
#elif defined(__GNUC__)
                {"compiler", std::string("gcc ") + __VERSION__},
#endif
                {"written", when}});
  return out + "</body></html>\n";
}

void Report::write(Trainer& trainer, Module& model) { io::write_file(options_.path, html(trainer, model)); }
void Report::on_train_epoch_end(Trainer& trainer, Module& model) { write(trainer, model); }
void Report::on_fit_end(Trainer& trainer, Module& model) { write(trainer, model); }

}  // namespace taeda::train
