// SPDX-License-Identifier: Apache-2.0
// Cuts a kernel into steps.
#include "taeda/compile/kernel/program.h"

#include <algorithm>
#include <cstring>

namespace taeda::kernel {

namespace {

void store_number(const Scalar& s, ScalarType dtype, char* to) {
  const auto put = [to](auto v) { std::memcpy(to, &v, sizeof v); };
  if (dtype == kFloat) put(s.unchecked<float>());
  else if (dtype == kDouble) put(s.unchecked<double>());
  else if (dtype == kBool) put(s.unchecked<bool>());
  else put(s.unchecked<int64_t>());
}

bool is_number(const Node& n) { return n.kind == NodeKind::kParam || n.kind == NodeKind::kConstant; }
bool is_pointwise(const Node& n) { return n.kind == NodeKind::kCall || n.kind == NodeKind::kConvert; }
/// The inputs of a row operation that are one row for all rows.
bool is_shared_input(const Node& n, size_t k) {
  if (n.kind != NodeKind::kRowOp) return false;
  const auto op = static_cast<RowOp>(n.number);
  return (op == RowOp::kLayerNorm && k > 0) || (op == RowOp::kLayerNormBackward && k == 4);
}
bool is_row_step(const Node& n) { return n.kind == NodeKind::kReduce || n.kind == NodeKind::kRowOp; }

/// Builds the steps depth by depth: the depth of a value is the number of row steps below it.
class Cutter {
 public:
  Cutter(const Kernel& kernel, Steps& steps) : kernel_(kernel), steps_(steps) {
    const size_t n = kernel.nodes().size();
    has_rows_ = kernel.has_rows();
    depth_.assign(n, 0);
    needed_.assign(n, false);
    for (const Output& out : kernel.outputs()) needed_[static_cast<size_t>(out.value)] = true;
    for (size_t k = n; k-- > 0;) {
      if (!needed_[k]) continue;
      for (const Id in : kernel.nodes()[k].inputs) {
        if (in >= 0) needed_[static_cast<size_t>(in)] = true;
      }
    }
    for (size_t k = 0; k < n; ++k) {
      const Node& node = kernel.nodes()[k];
      for (const Id in : node.inputs) {
        if (in >= 0) depth_[k] = std::max(depth_[k], depth_[static_cast<size_t>(in)] + (is_row_step(node) ? 1 : 0));
      }
      if (needed_[k]) last_depth_ = std::max(last_depth_, depth_[k]);
    }
  }

  void cut() {
    steps_.slot_of.assign(kernel_.nodes().size(), -1);
    choose_slots();
    for (int depth = 0; depth <= last_depth_; ++depth) {
      for (size_t k = 0; k < kernel_.nodes().size(); ++k) {
        const Node& node = kernel_.nodes()[k];
        if (!needed_[k] || depth_[k] != depth || !is_row_step(node)) continue;
        const auto kind = node.kind == NodeKind::kReduce ? Step::Kind::kReduce : Step::Kind::kRowOp;
        steps_.steps.push_back({.kind = kind, .node = static_cast<Id>(k)});
      }
      add_program(true, depth);
      add_program(false, depth);
    }
    add_row_outputs();
    for (size_t s = 0; s < steps_.slots.size(); ++s) {
      for (const int operand : copies_of(steps_.slots[s].value)) {
        steps_.steps.push_back({.kind = Step::Kind::kCopy, .number = static_cast<int>(s), .operand = operand});
      }
    }
  }

 private:
  const Node& node(Id id) const { return kernel_.nodes()[static_cast<size_t>(id)]; }
  int depth(Id id) const { return depth_[static_cast<size_t>(id)]; }
  /// One value for each row, in a kernel that knows rows.
  bool uniform(Id id) const { return has_rows_ && node(id).uniform; }
  /// When a node is evaluated: row steps of a depth come before its programs.
  int time(Id id) const { return 2 * depth(id) + (is_row_step(node(id)) ? 0 : 1); }

  void need_slot(Id value, bool shared = false) {
    int& slot = steps_.slot_of[static_cast<size_t>(value)];
    if (slot < 0) {
      slot = static_cast<int>(steps_.slots.size());
      const Node& n = node(value);
      steps_.slots.push_back({.value = value, .uniform = n.uniform, .shared = shared, .input = n.kind == NodeKind::kInput ? n.number : -1});
    }
    TAEDA_CHECK(steps_.slots[static_cast<size_t>(slot)].shared == shared,
                "[kernel] ", kernel_.name(), ": the weight of a row operation is also read row by row; give it as an operand of its own");
  }

  /// Whether operands are read after `value` was made, or by another row step of its depth: then it must not be
  /// made where an input may lie.
  bool read_later(Id value) const {
    const int made = time(value);
    for (size_t k = 0; k < kernel_.nodes().size(); ++k) {
      const auto reader = static_cast<Id>(k);
      const Node& n = node(reader);
      if (!needed_[k] || reader == value || n.kind == NodeKind::kExtra) continue;
      if (time(reader) < made || (time(reader) == made && !is_row_step(node(value)))) continue;
      for (const Id in : n.inputs) {
        if (in >= 0 && node(in).kind == NodeKind::kInput) return true;
      }
    }
    for (const Output& out : kernel_.outputs()) {
      if (node(out.value).kind == NodeKind::kInput && (uniform(out.value) || 2 * last_depth_ + 1 > made)) return true;
    }
    return false;
  }

  /// Row steps take and give slots; so does a value that a program of another depth or extent uses.
  void choose_slots() {
    for (size_t k = 0; k < kernel_.nodes().size(); ++k) {
      if (!needed_[k]) continue;
      const Node& n = node(static_cast<Id>(k));
      if (is_row_step(n) || n.kind == NodeKind::kExtra) need_slot(static_cast<Id>(k));
      if (n.kind == NodeKind::kExtra) continue;
      for (size_t a = 0; a < n.inputs.size(); ++a) {
        const Id in = n.inputs[a];
        if (in < 0) continue;
        if (is_row_step(n)) need_slot(in, is_shared_input(n, a));
        else if (is_pointwise(node(in)) && (depth(in) != depth(static_cast<Id>(k)) || uniform(in) != uniform(static_cast<Id>(k)))) need_slot(in);
      }
    }
    for (size_t k = 0; k < kernel_.outputs().size(); ++k) {
      const Id value = kernel_.outputs()[k].value;
      if (node(value).kind == NodeKind::kInput || is_number(node(value))) continue;
      if (uniform(value)) {
        need_slot(value);
        continue;
      }
      const bool late = read_later(value);
      if (late) need_slot(value);
      const int slot = steps_.slot_of[static_cast<size_t>(value)];
      if (slot < 0 || late) continue;
      Slot& s = steps_.slots[static_cast<size_t>(slot)];
      if (s.output < 0) s.output = static_cast<int>(kernel_.inputs().size() + k);
    }
  }

  /// The outputs that a slot's value is copied to at the end.
  std::vector<int> copies_of(Id value) const {
    std::vector<int> operands;
    if (node(value).kind == NodeKind::kInput || uniform(value)) return operands;
    for (size_t k = 0; k < kernel_.outputs().size(); ++k) {
      if (kernel_.outputs()[k].value == value) operands.push_back(static_cast<int>(kernel_.inputs().size() + k));
    }
    return operands;
  }

  /// The pointwise nodes of one depth and extent that somebody needs.
  void add_program(bool rows, int depth_now) {
    Program p;
    p.rows = rows;
    for (size_t k = 0; k < kernel_.nodes().size(); ++k) {
      const Node& n = kernel_.nodes()[k];
      const auto id = static_cast<Id>(k);
      if (!needed_[k] || depth_[k] != depth_now || uniform(id) != rows || !is_pointwise(n)) continue;
      p.order.push_back(id);
      for (const Id in : n.inputs) add_source(p, in);
      if (steps_.slot_of[k] >= 0) p.sinks.push_back({id, true, steps_.slot_of[k]});
    }
    for (size_t k = 0; k < kernel_.outputs().size() && !rows; ++k) {
      const Id value = kernel_.outputs()[k].value;
      if (uniform(value)) continue;  // written by the program of rows
      const Node& n = node(value);
      const bool copied = (n.kind == NodeKind::kInput || is_number(n)) && depth_now == last_depth_;
      const bool made = is_pointwise(n) && depth(value) == depth_now && steps_.slot_of[static_cast<size_t>(value)] < 0;
      if (!copied && !made) continue;
      if (copied) add_source(p, value);
      p.sinks.push_back({value, false, static_cast<int>(kernel_.inputs().size() + k)});
    }
    add(std::move(p));
  }

  /// Values of rows reach their outputs at the end.
  void add_row_outputs() {
    Program p;
    p.rows = true;
    for (size_t k = 0; k < kernel_.outputs().size(); ++k) {
      const Id value = kernel_.outputs()[k].value;
      if (!uniform(value)) continue;
      add_source(p, value);
      p.sinks.push_back({value, false, static_cast<int>(kernel_.inputs().size() + k)});
    }
    add(std::move(p));
  }

  void add(Program p) {
    if (p.empty()) return;
    steps_.steps.push_back({.kind = Step::Kind::kProgram, .number = static_cast<int>(steps_.programs.size())});
    steps_.programs.push_back(std::move(p));
  }

  void add_source(Program& p, Id value) {
    const Node& n = node(value);
    if (is_number(n)) return;
    for (const Id own : p.order) {
      if (own == value) return;
    }
    for (const Source& s : p.sources) {
      if (s.value == value) return;
    }
    // An operand that row steps need as a dense row is still read in place by programs.
    const bool operand = n.kind == NodeKind::kInput;
    p.sources.push_back({value, !operand, operand ? n.number : steps_.slot_of[static_cast<size_t>(value)]});
  }

  const Kernel& kernel_;
  Steps& steps_;
  std::vector<int> depth_;
  std::vector<bool> needed_;
  int last_depth_ = 0;
  bool has_rows_ = false;
};

}  // namespace

NumberTable::NumberTable(const Kernel& kernel) {
  const std::vector<Node>& nodes = kernel.nodes();
  cells_.assign(nodes.size(), -1);
  attributes_.assign(nodes.size(), -1);
  const auto room = [this](size_t bytes) {
    const size_t at = image_.size();
    image_.resize(at + (bytes + 7) / 8 * 8);
    return static_cast<int>(at);
  };
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (!is_number(nodes[k])) continue;
    cells_[k] = room(8);
    place(nodes[k], cells_[k]);
  }
  for (size_t k = 0; k < nodes.size(); ++k) {
    const Node& n = nodes[k];
    if (n.attributes.empty()) continue;
    attributes_[k] = room(n.attributes.size() * item_size(n.compute));
    for (size_t a = 0; a < n.attributes.size(); ++a) {
      place(nodes[static_cast<size_t>(n.attributes[a])], attributes_[k] + static_cast<int>(a * item_size(n.compute)));
    }
  }
}

void NumberTable::place(const Node& node, int offset) {
  if (node.kind == NodeKind::kParam) patches_.push_back({node.number, node.dtype, offset});
  else store_number(node.constant, node.dtype, image_.data() + offset);
}

void NumberTable::fill(const Scalar* params, char* to) const {
  std::copy(image_.begin(), image_.end(), to);
  for (const Patch& p : patches_) store_number(params[p.param], p.dtype, to + p.offset);
}

Steps::Steps(const Kernel& kernel) { Cutter(kernel, *this).cut(); }

}  // namespace taeda::kernel
