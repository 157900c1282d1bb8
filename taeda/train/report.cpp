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
#include "taeda/cpu/simd_target.h"
#include "taeda/io/file.h"
#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/progress.h"
#include "taeda/train/summary.h"
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

/// An axis: its range, whether it is logarithmic, and round numbers on it.
class Axis {
 public:
  Axis(double low, double high, bool log) : low_(low), high_(high), log_(log && low > 0 && high / low > 30) {
    if (log_) {
      for (double decade = std::pow(10, std::floor(std::log10(low_))); decade <= high_; decade *= 10) {
        for (const double part : {1.0, 2.0, 5.0}) add(decade * part, high_ / low_ < 1000 || part == 1.0);
      }
      return;
    }
    if (high_ <= low_) {
      const double around = std::max(1e-9, std::abs(low_) * 0.1);
      low_ -= around;
      high_ += around;
    }
    const double rough = (high_ - low_) / 4, decade = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * decade;
    for (const double part : {5.0, 2.0, 1.0}) {
      if (part * decade >= rough) step = part * decade;
    }
    for (double k = std::ceil(low_ / step); k * step <= high_ * (1 + 1e-12); ++k) ticks_.push_back(k * step);
  }
  double at(double value) const {
    return log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  void add(double tick, bool wanted) {
    if (wanted && tick >= low_ && tick <= high_) ticks_.push_back(tick);
  }
  double low_, high_;
  bool log_;
  std::vector<double> ticks_;
};

/// Validation stands out; what is logged at single steps stays in the background.
const char* class_of(const std::string& name) {
  if (name.rfind("val_", 0) == 0) return "val";
  return name.size() > 5 && name.compare(name.size() - 5, 5, "_step") == 0 ? "step" : "train";
}

std::string chart(const std::string& title, const std::vector<const Series*>& lines) {
  constexpr double kWidth = 480, kHeight = 260, kLeft = 58, kBottom = 30, kTop = 10, kRight = 22;
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  std::vector<std::vector<std::pair<double, double>>> drawn;
  for (const Series* line : lines) {
    drawn.push_back(thinned(line->second));
    for (const auto& [x, y] : drawn.back()) x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
  }
  if (!(x0 <= x1)) return {};
  const Axis across(x0, x1, false), up(y0, y1, title.find("loss") != std::string::npos);
  const auto tenth = [](double x) { return std::round(x * 10) / 10; };
  const auto px = [&](double x) { return tenth(kLeft + across.at(x) * (kWidth - kLeft - kRight)); };
  const auto py = [&](double y) { return tenth(kHeight - kBottom - up.at(y) * (kHeight - kBottom - kTop)); };
  std::string out = str("<figure><figcaption>", escaped(title), "</figcaption><svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                        "\" role=\"img\" aria-label=\"", escaped(title), "\">");
  for (const double y : up.ticks()) {
    out += str("<line x1=\"", kLeft, "\" x2=\"", kWidth - kRight, "\" y1=\"", py(y), "\" y2=\"", py(y), "\" class=\"grid\"/><text x=\"", kLeft - 8,
               "\" y=\"", py(y) + 4, "\" text-anchor=\"end\">", text_of(y), "</text>");
  }
  for (const double x : across.ticks()) {
    out += str("<text x=\"", px(x), "\" y=\"", kHeight - 8, "\" text-anchor=\"middle\">", text_of(x), "</text>");
  }
  std::string legend;
  for (const char* kind : {"step", "train", "val"}) {
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (class_of(lines[i]->first) != std::string(kind) || drawn[i].empty()) continue;
      out += str("<polyline class=\"", kind, "\" points=\"");
      for (const auto& [x, y] : drawn[i]) out += str(px(x), ",", py(y), " ");
      out += "\"/>";
      if (drawn[i].size() == 1) out += str("<circle class=\"", kind, "\" cx=\"", px(drawn[i][0].first), "\" cy=\"", py(drawn[i][0].second), "\" r=\"3\"/>");
      legend += str("<span><i class=\"", kind, "\"></i>", escaped(lines[i]->first), " <b>", text_of(lines[i]->second.back().value), "</b></span> ");
    }
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
  for (const auto& [name, value] : rows) {
    if (!value.empty()) out += "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>";
  }
  return out + "</table>\n";
}

constexpr const char* kStyle =
    ":root{--page:#f6f7f9;--card:#fff;--ink:#1c2430;--soft:#667085;--line:#e6e9ee;--train:#2f6fde;--val:#e8590c;--step:#b6cbee}"
    "@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b2129;--ink:#e6e9ee;--soft:#98a2b3;--line:#2c3440;--train:#6ea0f5;--val:#ff9354;--step:#3d5a8a}}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0;background:var(--page);color:var(--ink)}main{max-width:1180px;margin:0 auto;padding:28px 20px}"
    "h1{font-size:26px;margin:0}h2{font-size:16px;margin:0 0 12px}p{margin:4px 0 0}.soft{color:var(--soft)}"
    "section,.tile,figure{background:var(--card);border:1px solid var(--line);border-radius:10px}section{padding:16px 18px;overflow-x:auto}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;margin:20px 0}.tile{padding:10px 14px}"
    ".tile b{display:block;font-size:19px;font-weight:600}.tile span{font-size:13px;color:var(--soft)}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(340px,1fr));gap:14px;margin-bottom:14px}"
    "figure{margin:0;padding:12px 14px}figcaption{font-weight:600;margin-bottom:4px}svg{width:100%;display:block}"
    "svg text{font:11px system-ui,sans-serif;fill:var(--soft)}.grid{stroke:var(--line)}polyline{fill:none;stroke-linejoin:round}"
    "polyline.train{stroke:var(--train);stroke-width:2}polyline.val{stroke:var(--val);stroke-width:2.2}polyline.step{stroke:var(--step);stroke-width:1.4}"
    "circle.train,i.train{fill:var(--train);background:var(--train)}circle.val,i.val{fill:var(--val);background:var(--val)}"
    "circle.step,i.step{fill:var(--step);background:var(--step)}.legend i{display:inline-block;width:14px;height:3px;margin:0 6px 3px 0;vertical-align:middle}"
    ".legend span{margin-right:12px;display:inline-block}.legend{font-size:12.5px;color:var(--soft)}.legend b{color:var(--ink);font-weight:600}"
    ".two{display:flex;flex-wrap:wrap;gap:14px;align-items:flex-start;margin-bottom:14px}.two section{flex:1 1 340px}.two section.wide{flex:2 1 440px}"
    "table{border-collapse:collapse;font-size:13.5px}th,td{padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}"
    "th{font-weight:500;color:var(--soft)}.number{text-align:right}.matrix td,.matrix th{text-align:center;min-width:30px;padding:5px 3px;border:2px solid var(--card)}"
    ".matrix td{border-radius:6px}.none{color:var(--line)}.worst{display:grid;grid-template-columns:repeat(auto-fill,minmax(84px,1fr));gap:12px}"
    ".worst div{font-size:12px;line-height:1.35}.worst img{width:84px;height:84px;object-fit:contain;image-rendering:pixelated;display:block;border-radius:6px;margin-bottom:4px;background:#000}";

}  // namespace

Report::Report(ReportOptions options) : options_(std::move(options)) {}
Report::~Report() = default;

void Report::on_fit_start(Trainer& trainer, Module& model) {
  const Tensor example = model.example_input();
  model_ = example.defined() ? inspect(model, example) : inspect(static_cast<const nn::Module&>(model));
  model_.output = Tensor();
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
  std::string out = "<table class=\"matrix\"><tr><th>is \\ read as</th>";
  for (int64_t c = 0; c < n; ++c) out += "<th>" + escaped(class_name(c)) + "</th>";
  out += "</tr>\n";
  for (int64_t t = 0; t < n; ++t) {
    double row = 0;
    for (int64_t p = 0; p < n; ++p) row += confusion_->at(t, p);
    out += "<tr><th>" + escaped(class_name(t)) + "</th>";
    for (int64_t p = 0; p < n; ++p) {
      const double count = confusion_->at(t, p);
      const double part = row > 0 ? count / row : 0;
      const char* colour = t == p ? "47,111,222" : "224,49,49";
      if (count == 0) out += "<td class=\"none\">·</td>";
      else out += str("<td style=\"background:rgba(", colour, ",", std::round((0.1 + 0.8 * part) * 100) / 100, ")", part > 0.5 ? ";color:#fff" : "", "\">",
                      static_cast<int64_t>(count), "</td>");
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
    out += str("is <b>", escaped(class_name(s.target)), "</b>, read as <b>", escaped(class_name(s.predicted)), "</b> (", static_cast<int>(std::lround(100 * s.probability)),
               "&nbsp;%)</div>");
  }
  return out + "</div>\n";
}

std::string Report::tiles_html(const Trainer& trainer) const {
  std::string out = "<div class=\"tiles\">";
  const auto tile = [&](const std::string& value, const std::string& what) {
    out += "<div class=\"tile\"><b>" + escaped(value) + "</b><span>" + escaped(what) + "</span></div>";
  };
  const auto* const checkpoint = trainer.find<ModelCheckpoint>();
  if (checkpoint && !checkpoint->best_path().empty()) tile(text_of(checkpoint->best_value()), "best " + checkpoint->monitor());
  for (const auto& [name, value] : trainer.metrics()) {
    const bool part = name.ends_with("_epoch") || name.ends_with("_step");
    if (!part && std::isfinite(value)) tile(text_of(value), name);
  }
  tile(std::to_string(trainer.epoch()), "epochs");
  tile(grouped(trainer.global_step()), "steps");
  tile(format_seconds(trainer.seconds()), "time");
  tile(grouped(model_.parameters), "parameters");
  return out + "</div>\n";
}

std::string Report::model_html() const {
  std::string out = "<section class=\"wide\"><h2>Model</h2><table><tr><th>layer</th><th>type</th><th>output</th><th class=\"number\">parameters</th></tr>\n";
  for (const LayerInfo& layer : model_.layers) {
    out += str("<tr><td>", escaped(layer.name), "</td><td>", escaped(layer.type), "</td><td>", escaped(layer.output), "</td><td class=\"number\">",
               layer.parameters > 0 ? grouped(layer.parameters) : std::string(), "</td></tr>\n");
  }
  return out + str("</table><p class=\"soft\">", grouped(model_.parameters), " parameters, ", human_bytes(model_.parameter_bytes + model_.buffer_bytes),
                   model_.activation_bytes > 0 ? "; activations of one example " + human_bytes(model_.activation_bytes) : std::string(), "</p></section>\n");
}

std::string Report::html(const Trainer& trainer) const {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                    "<title>" + escaped(options_.title) + "</title><style>" + kStyle + "</style></head><body><main>\n<h1>" + escaped(options_.title) + "</h1>\n";
  char when[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (gmtime_r(&now, &utc)) std::strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &utc);
  out += str("<p class=\"soft\">", trainer.is_stopping() ? "Ended by " + escaped(trainer.stop_reason()) : std::string("Under way"), ", ", when, "</p>\n");
  out += tiles_html(trainer) + "<div class=\"charts\">\n" + charts(memory_->series()) + "</div>\n<div class=\"two\">\n";
  if (confusion_) out += "<section><h2>Confusion matrix</h2>" + confusion_html() + "</section>\n";
  if (!worst_.empty()) out += "<section><h2>Worst samples</h2>" + worst_html() + "</section>\n";
  out += "</div>\n<div class=\"two\">\n" + model_html();
  out += "<section>";
  if (!options_.config.empty()) out += "<h2>Configuration</h2>" + table(options_.config) + "<p>&nbsp;</p>";
  out += "<h2>Environment</h2>" +
         table({{"taeda", str(TAEDA_VERSION_MAJOR, ".", TAEDA_VERSION_MINOR, ".", TAEDA_VERSION_PATCH)},
                {"threads", std::to_string(get_num_threads())},
                {"processor", cpu::simd_target_name(cpu::simd_target())},
#if defined(__clang__)
                {"compiler", std::string("clang ") + __clang_version__},
#elif defined(__GNUC__)
                {"compiler", std::string("gcc ") + __VERSION__},
#endif
         }) +
         "</section>\n</div>\n";
  return out + "</main></body></html>\n";
}

void Report::write(Trainer& trainer) { io::write_file(options_.path, html(trainer)); }
void Report::on_train_epoch_end(Trainer& trainer, Module&) { write(trainer); }
void Report::on_fit_end(Trainer& trainer, Module&) { write(trainer); }

}  // namespace taeda::train
