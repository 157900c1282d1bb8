// SPDX-License-Identifier: Apache-2.0
// Making and running random programs.
#include "tests/support/fuzz_program.h"

#include <set>
#include <sstream>

namespace taeda::fuzz {

namespace {

/// Operators whose results are not a function of their arguments, or that take what a random program does not have.
bool excluded(const OpInfo& op) {
  static const std::set<std::string> names{"empty",     "empty_permuted", "empty_like",  "empty_strided", "new_empty",           "new_empty_strided",
                                           "resize_",   "resize_as_",     "set_",        "gradient",      "multinomial",         "poisson",
                                           "item",      "signbit",        "copysign",    "copysign_",     "_local_scalar_dense"};  // a NaN's sign is not promised
  // Operators for gradients trust their callers; programs reach them through backward().
  const std::string_view name = op.name;
  return names.contains(op.name) || op.custom != nullptr || name.starts_with('_') || name.find("backward") != name.npos ||
         std::string_view(op.family).starts_with("linalg");  // LAPACK may not end on infinite elements
}

const std::vector<const OpInfo*>& operators() {
  static const auto* all = [] {
    auto* ops = new std::vector<const OpInfo*>;
    for (const OpInfo* op : all_ops()) {
      if (!excluded(*op)) ops->push_back(op);
    }
    return ops;
  }();
  return *all;
}
const std::vector<const OpInfo*>& of_kind(OpKind kind) {
  static auto* cache = new std::map<OpKind, std::vector<const OpInfo*>>;
  std::vector<const OpInfo*>& ops = (*cache)[kind];
  if (ops.empty()) {
    for (const OpInfo* op : operators()) {
      if (op->kind == kind) ops.push_back(op);
    }
  }
  return ops;
}

/// Operators that work on rows.
const std::vector<const OpInfo*>& row_operators() {
  static const auto* all = [] {
    auto* ops = new std::vector<const OpInfo*>;
    for (const char* name : {"sum", "mean", "amax", "amin", "max", "softmax", "log_softmax", "native_layer_norm"}) {
      for (const OpInfo* op : find_ops(name)) {
        if (!excluded(*op)) ops->push_back(op);
      }
    }
    return ops;
  }();
  return *all;
}

const std::vector<SchemaArg>& arguments(const OpInfo& op) {
  static auto* cache = new std::map<const OpInfo*, std::vector<SchemaArg>>;
  auto at = cache->find(&op);
  if (at == cache->end()) at = cache->emplace(&op, parse_schema_args(op.schema)).first;
  return at->second;
}

bool is_differentiable(const Tensor& t) { return t.defined() && t.requires_grad(); }

}  // namespace

std::map<std::string, size_t>& Program::counts() {
  static auto* counts = new std::map<std::string, size_t>;
  return *counts;
}

Program::Program(uint64_t seed, int length) : seed_(seed), random_(seed) {
  // Instructions are tried one after the other; what throws is not taken.
  const Inputs start = inputs(0, 0);
  std::vector<Tensor> pool = start.tensors;
  bool no_grad = false;
  manual_seed(seed_);
  for (int tries = 0; static_cast<int>(instructions_.size()) < length && tries < 20 * length; ++tries) {
    Instruction i;
    const int dice = pick(100);
    i.on = pick(static_cast<int>(pool.size()));
    i.number = pick(3) == 0 ? 0.25 * pick(4) : 0;
    if (dice < 80) {
      if (!make_call(i, pool)) continue;
    } else if (dice < 84) {
      if (pool.size() < 4) continue;
      i.kind = Kind::kDrop;
    } else if (dice < 87) {
      i.kind = Kind::kBranch;
    } else if (dice < 89) {
      i.kind = Kind::kReadPointer;
    } else if (dice < 91) {
      i.kind = Kind::kWritePointer;
    } else if (dice < 96) {
      i.kind = Kind::kBackward;
    } else if (dice < 97) {
      i.kind = Kind::kManyUpdates;
    } else if (dice < 98) {
      i.kind = Kind::kSeed;
    } else {
      i.kind = Kind::kNoGrad;
    }
    std::vector<Tensor> after = pool;
    try {
      bool skipped = false;  // the instruction itself is tried in any case
      execute(i, after, start, 0, skipped, no_grad);
    } catch (const std::exception&) {
      continue;
    }
    size_t elements = 0;
    for (const Tensor& t : after) elements += t.defined() ? static_cast<size_t>(t.numel()) : 0;
    if (elements > 20000) continue;
    pool = after;
    instructions_.push_back(std::move(i));
  }
}

bool Program::make_call(Instruction& i, const std::vector<Tensor>& pool) {
  const int dice = pick(12);
  const auto& ops = dice < 4   ? of_kind(OpKind::kPointwise)
                    : dice < 6 ? of_kind(OpKind::kInplace)
                    : dice < 8 ? of_kind(OpKind::kView)
                    : dice < 9 ? row_operators()
                               : operators();
  i.op = ops[static_cast<size_t>(pick(static_cast<int>(ops.size())))];
  if (std::string_view(i.op->name) == "native_layer_norm") {
    make_layer_norm(i, pool);
    return true;
  }
  for (const SchemaArg& arg : arguments(*i.op)) {
    if (arg.has_default && (arg.type == "Generator?" || pick(4) != 0)) {
      i.args.push_back(arg.default_value);
    } else {
      i.args.push_back(random_argument(arg, i, pool));
    }
    const std::string& t = arg.type;
    if (i.args.back().is_string() && !(t == "str" || t == "str?")) return false;
  }
  return true;
}

/// Over the last dimension of some tensor, with a weight and bias of its length where there are such tensors.
void Program::make_layer_norm(Instruction& i, const std::vector<Tensor>& pool) {
  i.tensors.push_back(pick(static_cast<int>(pool.size())));
  const Tensor& t = pool[static_cast<size_t>(i.tensors[0])];
  const int64_t n = t.defined() && t.dim() > 0 ? t.size(-1) : 1;
  i.args = {Value(Tensor()), Value(Value::List{Value(n)})};
  for (int k = 0; k < 2; ++k) {
    i.args.emplace_back();
    const int other = pick(static_cast<int>(pool.size()));
    const Tensor& weight = pool[static_cast<size_t>(other)];
    if (!weight.defined() || weight.sizes() != IntArrayRef{n}) continue;
    i.args.back() = Value(Tensor());
    i.tensors.push_back(other);
  }
  i.args.emplace_back(1e-5);
}

Value Program::random_argument(const SchemaArg& arg, Instruction& i, const std::vector<Tensor>& pool) {
  const std::string& type = arg.type;
  const auto tensor = [&] {
    i.tensors.push_back(pick(static_cast<int>(pool.size())));
    return Value(Tensor());
  };
  if (type == "Tensor") return tensor();
  if (type == "Tensor?") return pick(2) ? tensor() : Value();
  if (type == "Tensor[]") {
    Value::List list;
    for (int n = 1 + pick(3); n > 0; --n) list.push_back(tensor());
    return Value(std::move(list));
  }
  if (type == "Tensor?[]") {
    Value::List list;
    for (int n = 1 + pick(2); n > 0; --n) list.push_back(pick(4) ? tensor() : Value());
    return Value(std::move(list));
  }
  static const double numbers[] = {0.5, 1, 2, -1, 0, 3, 0.1, -0.0};
  if (type == "Scalar" || type == "Scalar?") return pick(2) ? Value(numbers[pick(8)]) : Value(pick(4) - 1);
  if (type == "float" || type == "float?") return Value(numbers[pick(7)]);
  if (type == "bool" || type == "bool?") return Value(pick(2) == 1);
  if (type == "int" || type == "int?") return Value(pick(5) - 2);
  if (type.starts_with("int[")) {
    Value::List list;
    for (int n = 1 + pick(3); n > 0; --n) list.emplace_back(pick(6) - 1);
    return Value(std::move(list));
  }
  if (type == "ScalarType?") {
    static const ScalarType types[] = {kFloat, kDouble, kLong, kHalf, kInt, kBool, kBFloat16};
    return pick(2) ? Value() : Value(types[pick(7)]);
  }
  if (type.ends_with("?")) return Value();
  return Value("no such value");
}

Inputs Program::inputs(int variant, int number) const {
  std::mt19937_64 random(seed_ * 1000 + static_cast<uint64_t>(variant));
  std::mt19937_64 values(seed_ * 7919 + static_cast<uint64_t>(number));
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const auto fill = [&](const Tensor& t) {
    const bool specials = values() % 4 == 0;
    for (int64_t k = 0; k < t.numel(); ++k) {
      double v = (static_cast<double>(values() % 4001) - 2000) / 1000;
      if (specials && values() % 8 == 0) {
        static const double special[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, 1e-40};
        v = special[values() % 5];
      }
      if (!t.is_floating_point()) v = static_cast<double>(values() % 3);
      t.view(-1)[k].fill_(v);
    }
  };
  Inputs in;
  // The same rank of shapes at every variant: other sizes, 0 and 1 among them.
  static const int64_t sizes[] = {3, 4, 1, 2, 5, 0, 7};
  const auto size = [&](int k) { return sizes[(k + 2 * variant + below(2)) % 7]; };
  const int64_t n = size(0), m = size(1);
  const bool shared = below(3) == 0;
  if (shared) {
    in.base = zeros({4 + n * m + n});
    fill(in.base);
    in.tensors.push_back(in.base.slice(0, 0, n * m).view({n, m}));
    in.tensors.push_back(below(2) ? in.base.slice(0, 2, 2 + n * m).view({n, m}) : in.base.slice(0, 0, n * m).view({m, n}).t());
  } else {
    for (int k = 0; k < 2; ++k) {
      Tensor t = zeros(k == 1 && below(3) == 0 ? std::vector<int64_t>{m} : std::vector<int64_t>{n, m}, below(5) == 0 ? kDouble : kFloat);
      fill(t);
      in.tensors.push_back(t);
    }
  }
  Tensor leaf = zeros({n, m});
  fill(leaf);
  in.tensors.push_back(leaf.requires_grad_(true));
  Tensor whole = zeros({m}, below(2) ? kLong : kBool);
  fill(whole);
  in.tensors.push_back(whole);
  for (const Tensor& t : in.tensors) t.mutable_impl().storage->pointer_escaped.store(false);
  return in;
}

void Program::execute(const Instruction& i, std::vector<Tensor>& pool, const Inputs& inputs, int number, bool& skip, bool& no_grad) const {
  if (std::exchange(skip, false)) return;
  const AutoGradMode mode(!std::exchange(no_grad, false));
  const size_t on = static_cast<size_t>(i.on) % pool.size();
  switch (i.kind) {
    case Kind::kCall: {
      std::vector<Value> args;
      size_t next = 0;
      bool moved = false;
      const auto put = [&](const Value& v) -> Value {
        if (v.is_tensor()) return Value(pool[static_cast<size_t>(i.tensors[next++]) % pool.size()]);
        return v;
      };
      for (const Value& form : i.args) {
        if (form.is_list()) {
          Value::List list;
          for (const Value& item : form.list()) list.push_back(put(item));
          args.emplace_back(std::move(list));
        } else if (form.is_double() && i.number != 0 && !moved) {
          args.emplace_back(form.to_double() + i.number * number);
          moved = true;
        } else {
          args.push_back(put(form));
        }
      }
      const Value result = i.op->invoke(args.data());
      const auto keep = [&](const Value& v) {
        if (v.is_tensor() && v.tensor().defined() && v.tensor().numel() < 5000) pool.push_back(v.tensor());
      };
      if (result.is_list()) {
        for (const Value& v : result.list()) keep(v);
      } else {
        keep(result);
      }
      break;
    }
    case Kind::kDrop:
      if (pool.size() > 1) pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(on));
      break;
    case Kind::kBranch:
      skip = !(pool[on].detach().to(kDouble).sum().item<double>() > 0);
      break;
    case Kind::kReadPointer: {
      const Tensor t = pool[on].detach().to(kDouble).contiguous();
      if (t.numel() > 0) pool.push_back(full({2}, t.const_data_ptr<double>()[t.numel() / 2]));
      break;
    }
    case Kind::kWritePointer: {
      const Tensor& t = pool[on];
      if (t.numel() == 0 || t.scalar_type() != kFloat || t.requires_grad()) break;
      t.data_ptr<float>()[0] = 0.5f;
      break;
    }
    case Kind::kBackward: {
      Tensor loss;
      for (const Tensor& t : pool) {
        if (!is_differentiable(t) || !t.is_floating_point()) continue;
        const Tensor part = t.to(kDouble).sum();
        loss = loss.defined() ? loss.add(part) : part;
      }
      if (!loss.defined()) break;
      loss.backward({}, true);
      for (const Tensor& t : inputs.tensors) {
        if (t.grad().defined()) pool.push_back(t.grad());
      }
      break;
    }
    case Kind::kSeed:
      manual_seed(static_cast<uint64_t>(i.on));
      break;
    case Kind::kNoGrad:
      no_grad = true;
      break;
    case Kind::kManyUpdates: {
      const NoGradGuard off;
      const Tensor& step = pool[on];
      for (const Tensor& t : std::vector<Tensor>(pool)) {
        if (!t.defined() || !t.is_floating_point() || t.requires_grad()) continue;
        t.mul_(0.5 + 0.25 * number);
        if (t.sizes() == step.sizes() && t.scalar_type() == step.scalar_type()) t.add_(step, 0.125);
      }
      break;
    }
  }
}

Outcome Program::run(const Inputs& inputs, int number) const {
  std::vector<Tensor> pool = inputs.tensors;
  bool skip = false, no_grad = false;
  for (const Instruction& i : instructions_) execute(i, pool, inputs, number, skip, no_grad);
  return {pool, false, {}};
}

namespace {
const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kCall: return "call";
    case Kind::kDrop: return "drop";
    case Kind::kBranch: return "branch";
    case Kind::kReadPointer: return "read_pointer";
    case Kind::kWritePointer: return "write_pointer";
    case Kind::kBackward: return "backward";
    case Kind::kSeed: return "seed";
    case Kind::kNoGrad: return "no_grad";
    case Kind::kManyUpdates: return "many_updates";
  }
  return "";
}
}  // namespace

std::string Program::text() const {
  std::ostringstream out;
  out << "program " << seed_ << '\n';
  for (const Instruction& i : instructions_) {
    out << "  " << name_of(i.kind) << ' ';
    if (i.op) {
      out << i.op->name << (*i.op->overload ? "." : "") << i.op->overload << '(';
      size_t next = 0;
      const auto show = [&](const Value& v) {
        if (v.is_tensor()) {
          out << 't' << i.tensors[next++];
        } else {
          out << v.describe();
        }
      };
      for (size_t a = 0; a < i.args.size(); ++a) {
        if (a) out << ", ";
        if (i.args[a].is_list()) {
          out << '[';
          for (const Value& v : i.args[a].list()) show(v), out << ' ';
          out << ']';
        } else {
          show(i.args[a]);
        }
      }
      out << ") moved " << i.number;
    } else {
      out << i.on;
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace taeda::fuzz
