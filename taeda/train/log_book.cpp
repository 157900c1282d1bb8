// SPDX-License-Identifier: Apache-2.0
// Reported values: reduction over an epoch, and saving.
#include "taeda/train/log_book.h"

#include <algorithm>
#include <cmath>

#include "taeda/train/metric.h"

namespace taeda::train {

LogBook::Slot& LogBook::slot(std::string_view name, const LogOptions& options, bool training) {
  for (Slot& slot : slots_) {
    if (slot.name == name) return slot;
  }
  TAEDA_CHECK_VALUE(!name.empty(), "[log] a value must have a name: got an empty one; name it");
  Slot& slot = slots_.emplace_back();
  slot.name = name;
  slot.on_step = options.on_step.value_or(training && !options.on_epoch.value_or(false));
  slot.on_epoch = options.on_epoch.value_or(!training);
  slot.prog_bar = options.prog_bar;
  slot.reduce = options.reduce;
  return slot;
}

void LogBook::record(std::string_view name, double value, const LogOptions& options, double weight, bool training) {
  Slot& s = slot(name, options, training);
  s.last = value;
  switch (s.reduce) {
    case Reduce::kMean: s.sum += value * weight; break;
    case Reduce::kSum: s.sum += value; break;
    case Reduce::kMin: s.sum = s.reported ? std::min(s.sum, value) : value; break;
    case Reduce::kMax: s.sum = s.reported ? std::max(s.sum, value) : value; break;
    case Reduce::kLast: s.sum = value; break;
  }
  s.weight += weight;
  s.reported = true;
}

void LogBook::record(std::string_view name, Metric& metric, const LogOptions& options, bool training) {
  LogOptions by_epoch = options;
  by_epoch.on_step = options.on_step.value_or(false);
  by_epoch.on_epoch = options.on_epoch.value_or(true);
  Slot& s = slot(name, by_epoch, training);
  if (s.waiting_state) {
    // The run goes on after a checkpoint inside an epoch: what was seen before it, and the batch that the step has just added.
    metric.merge_state(*s.waiting_state);
    s.waiting_state.reset();
  }
  s.metric = &metric;
  s.reported = true;
  if (s.on_step) s.last = metric.compute();
}

void LogBook::append_step_values(MetricList& out) const {
  for (const Slot& s : slots_) {
    if (s.on_step && s.reported) out.emplace_back(s.on_epoch ? s.name + "_step" : s.name, s.last);
  }
}

MetricList LogBook::epoch_values() const {
  MetricList out;
  for (const Slot& s : slots_) {
    if (!s.on_epoch || !s.reported) continue;
    const double value = s.metric ? s.metric->compute() : s.reduce == Reduce::kMean ? s.sum / s.weight : s.sum;
    if (s.on_step) out.emplace_back(s.name + "_epoch", value);
    out.emplace_back(s.name, value);
  }
  return out;
}

void LogBook::start_epoch() {
  for (Slot& s : slots_) {
    s.sum = s.weight = 0;
    s.reported = false;
    s.waiting_state.reset();
    if (s.metric) s.metric->reset();
  }
}

void LogBook::save(serialize::OutputArchive& archive) const {
  Value::List names, numbers;
  for (const Slot& s : slots_) {
    names.emplace_back(s.name);
    Value::List row{Value(s.on_step), Value(s.on_epoch), Value(s.prog_bar), Value(static_cast<int64_t>(s.reduce)),
                    Value(s.last),    Value(s.sum),      Value(s.weight),   Value(s.reported)};
    if (s.metric) row.emplace_back(s.metric->state());
    numbers.emplace_back(std::move(row));
  }
  archive.write("names", Value(std::move(names)));
  archive.write("values", Value(std::move(numbers)));
}

void LogBook::load(serialize::InputArchive& archive) {
  Value names, numbers;
  archive.read("names", names);
  archive.read("values", numbers);
  TAEDA_CHECK_IO(names.list().size() == numbers.list().size(), "[load] ", archive.where(), ": names and values must be as many: got ",
                 names.list().size(), " and ", numbers.list().size(), "; the file is damaged");
  slots_.clear();
  for (size_t i = 0; i < names.list().size(); ++i) {
    const Value::List& row = numbers.list()[i].list();
    Slot& s = slots_.emplace_back();
    s.name = names.list()[i].string();
    s.on_step = row.at(0).to_bool();
    s.on_epoch = row.at(1).to_bool();
    s.prog_bar = row.at(2).to_bool();
    s.reduce = static_cast<Reduce>(row.at(3).to_int());
    s.last = row.at(4).to_double();
    s.sum = row.at(5).to_double();
    s.weight = row.at(6).to_double();
    s.reported = row.at(7).to_bool();
    if (row.size() > 8) s.waiting_state = row[8].double_list();
  }
}

}  // namespace taeda::train
