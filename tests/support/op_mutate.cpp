// SPDX-License-Identifier: Apache-2.0
// Random changes to sample calls.
#include "tests/support/op_mutate.h"

#include <limits>

#include "taeda/autograd/grad_mode.h"
#include "taeda/ops/functions.h"

namespace taeda::test {

namespace {

Tensor filled(const Tensor& place, const Tensor& values) {
  const NoGradGuard off;
  place.copy_(values);
  return place;
}

}  // namespace

Tensor transposed_layout(const Tensor& t) {
  DimVector strides(static_cast<size_t>(t.dim()));
  int64_t next = 1;
  for (size_t d = 0; d < strides.size(); ++d) {
    strides[d] = next;
    next *= std::max<int64_t>(t.sizes()[d], 1);
  }
  return filled(make_tensor_strided(t.sizes(), strides, t.scalar_type()), t);
}

Tensor strided_layout(const Tensor& t) {
  DimVector strides = detail::contiguous_strides(t.sizes());
  for (size_t d = 0; d < strides.size(); ++d) strides[d] *= 2;
  const Tensor base = taeda::full({2 * std::max<int64_t>(t.numel(), 1) + 3}, 1, TensorOptions(t.scalar_type()));
  return filled(base.as_strided(t.sizes(), strides, 3), t);
}

Tensor channels_last_layout(const Tensor& t) {
  if (t.dim() != 4 && t.dim() != 5) return fresh(t);
  std::vector<int64_t> order(static_cast<size_t>(t.dim()));
  DimVector strides(order.size());
  int64_t next = 1;
  const auto place = [&](size_t d) {
    strides[d] = next;
    next *= std::max<int64_t>(t.sizes()[d], 1);
  };
  place(1);
  for (size_t d = order.size(); d-- > 2;) place(d);
  place(0);
  return filled(make_tensor_strided(t.sizes(), strides, t.scalar_type()), t);
}

Tensor expanded_layout(const Tensor& t) {
  if (t.dim() == 0 || t.numel() == 0) return fresh(t);
  return fresh(t.slice(0, 0, 1)).expand(t.sizes());
}

Sample Mutator::mutate(const Sample& sample, int count) {
  Sample s = sample;
  s.args = map_tensors(sample.args, fresh);
  const std::vector<SchemaArg> schema = parse_schema_args(s.op->schema);
  if (s.args.empty()) return s;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(s.args.size())));
    if (below(12) == 0 && s.args.size() > 1) {  // one tensor where another belongs
      const auto from = static_cast<size_t>(below(static_cast<int64_t>(s.args.size())));
      if (s.args[at].is_tensor() && s.args[from].is_tensor()) s.args[at] = s.args[from];
    } else {
      change(s.args[at], schema[at].type);
    }
  }
  return s;
}

void Mutator::change_layouts(Sample& sample) {
  sample.args = map_tensors(sample.args, [&](const Tensor& t) { return change_layout(t); });
}

int64_t Mutator::wild_integer(int64_t near) {
  static const int64_t values[]{-1,      0,        1,        2,         3,         -2,       5,       7,     64, 65, -100,
                                1 << 20, 1LL << 31, 1LL << 40, 1LL << 62, -(1LL << 40), INT64_MAX, INT64_MIN, INT32_MAX};
  switch (below(4)) {
    case 0: return near + 1;
    case 1: return near - 1;
    default: return values[below(static_cast<int64_t>(std::size(values)))];
  }
}

double Mutator::wild_number() {
  static const double values[]{0, -0.0, 1, -1, 0.5, 2, 1e-8, 1e10, -1e10, 3.5e38, 1e300, 1e-320, 88.5,
                               std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
  return values[below(static_cast<int64_t>(std::size(values)))];
}

void Mutator::change(Value& v, const std::string& type) {
  const bool optional = type.ends_with('?');
  if (optional && below(4) == 0) {
    v = Value();
  } else if (v.is_tensor() && v.tensor().defined()) {
    v = Value(change_tensor(v.tensor()));
  } else if (type.starts_with("ScalarType")) {
    static const ScalarType types[]{kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool};
    v = Value(types[below(10)]);
  } else if (v.is_list()) {
    v = change_list(v, type);
  } else if (type.starts_with("Scalar")) {
    v = below(2) ? Value(wild_number()) : Value(wild_integer(v.is_int() ? v.to_int() : 0));
  } else if (v.is_bool()) {
    v = Value(!v.to_bool());
  } else if (type.starts_with("int") && type.find('[') == std::string::npos) {
    v = Value(wild_integer(v.is_int() ? v.to_int() : 0));
  } else if (type.starts_with("int") && !v.is_none()) {
    v = Value(Value::List{Value(wild_integer(1))});
  } else if (type.starts_with("float") && !v.is_none()) {
    v = Value(wild_number());
  } else if (v.is_string()) {
    static const char* words[]{"", "mean", "sum", "none", "ij->ji", "linear", "floor", "trunc", "max", "\xff"};
    v = Value(words[below(10)]);
  }
}

Value Mutator::change_list(const Value& v, const std::string& type) {
  Value::List list = v.list();
  const int64_t n = static_cast<int64_t>(list.size());
  switch (below(4)) {
    case 0:
      if (n > 0) list.pop_back();
      break;
    case 1:
      if (n > 0) list.push_back(list[static_cast<size_t>(below(n))]);
      break;
    case 2:
      if (below(4) == 0) list.clear();
      [[fallthrough]];
    default:
      if (!list.empty()) {
        Value& item = list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
        change(item, type.substr(0, type.find('[')));
      }
  }
  return Value(std::move(list));
}

Tensor Mutator::change_tensor(const Tensor& t) {
  switch (below(5)) {
    case 0: {
      static const ScalarType types[]{kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool};
      return t.to(types[below(10)]);
    }
    case 1: return change_shape(t);
    case 2: return change_values(t);
    default: return change_layout(t);
  }
}

Tensor Mutator::change_shape(const Tensor& t) {
  const int64_t d = below(t.dim());
  switch (below(7)) {
    case 0: return fresh(t.unsqueeze(below(t.dim() + 1)));
    case 1: return t.dim() > 0 && t.size(d) > 0 ? fresh(t.select(d, 0)) : fresh(t.unsqueeze(0));
    case 2: return t.dim() > 0 ? fresh(t.slice(d, 0, 0)) : make_tensor({0}, t.scalar_type());
    case 3: return t.dim() > 0 && t.size(d) > 1 ? fresh(t.slice(d, 0, t.size(d) - 1)) : fresh(t);
    case 4: return t.dim() > 0 && t.size(d) > 0 ? fresh(taeda::cat({t, t.slice(d, 0, 1)}, d)) : fresh(t);
    case 5: return t.numel() > 0 ? fresh(t.reshape({-1}).select(0, 0)) : make_tensor({}, t.scalar_type()).fill_(0);
    default: return t.dim() > 1 ? fresh(t.transpose(0, d)) : fresh(t);
  }
}

Tensor Mutator::change_values(const Tensor& t) {
  Tensor c = fresh(t);
  if (c.numel() == 0) return c;
  const Tensor flat = c.reshape({-1});
  const int64_t changes = below(3) == 0 ? c.numel() : 1 + below(3);
  const double all = wild_number();
  const NoGradGuard off;
  const bool floating = is_floating_type(c.scalar_type());
  for (int64_t i = 0; i < changes; ++i) {
    const bool whole = changes == c.numel();
    const Tensor place = flat.select(0, whole ? i : below(c.numel()));
    if (floating) {  // copies, unlike fill_, may lose digits and range
      place.copy_(taeda::full({}, whole ? all : wild_number(), TensorOptions(kDouble)));
    } else {
      place.copy_(taeda::full({}, c.scalar_type() == kLong ? wild_integer(0) : below(256) - 128, TensorOptions(kLong)));
    }
  }
  return c;
}

Tensor Mutator::change_layout(const Tensor& t) {
  switch (below(5)) {
    case 0: return transposed_layout(t);
    case 1: return strided_layout(t);
    case 2: return channels_last_layout(t);
    case 3: return expanded_layout(t);
    default: return fresh(t);
  }
}

Sample odd_call(const Sample& sample, int k) {
  uint64_t seed = 14695981039346656037u;
  for (const char c : sample.name() + '/' + sample.id) seed = (seed ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return Mutator(seed + static_cast<uint64_t>(k)).mutate(sample, 1 + k % 2);
}

std::vector<std::vector<uint8_t>> memory_of(const Sample& sample) {
  std::vector<std::vector<uint8_t>> all;
  map_tensors(sample.args, [&](const Tensor& t) {
    const auto& storage = *t.impl().storage;
    const auto* data = static_cast<const uint8_t*>(storage.data);
    all.emplace_back(data, data + (data ? storage.nbytes : 0));
    return t;
  });
  return all;
}

}  // namespace taeda::test
