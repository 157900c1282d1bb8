// SPDX-License-Identifier: Apache-2.0
// Operator calls as text.
#include "tests/fuzz/call_text.h"

#include <algorithm>
#include <sstream>

namespace taeda::test {

namespace {

/// Writes values after the storages they need.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  void value(const Value& v) {
    if (v.is_none()) {
      text_ << " N";
    } else if (v.is_tensor()) {
      tensor(v.tensor());
    } else if (v.is_bool()) {
      text_ << " B " << v.to_bool();
    } else if (v.is_int()) {
      text_ << " I " << v.to_int();
    } else if (v.is_double()) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%a", v.to_double());
      text_ << " D " << digits;
    } else if (v.is_string()) {
      text_ << " S " << v.string().size() << ' ' << v.string();
    } else if (v.is_list()) {
      text_ << " L " << v.list().size();
      for (const Value& item : v.list()) value(item);
    } else {
      text_ << (v.is_generator() ? " G" : " V");
    }
  }
  void text(const std::string& words) { text_ << words; }
  void finish() { out_ << text_.str() << '\n'; }

 private:
  void tensor(const Tensor& t) {
    if (!t.defined()) {
      text_ << " U";
      return;
    }
    const auto id = reinterpret_cast<uintptr_t>(t.impl().storage.get());
    if (std::find(written_.begin(), written_.end(), id) == written_.end()) {
      written_.push_back(id);
      const auto* bytes = static_cast<const uint8_t*>(t.impl().storage->data);
      const size_t n = t.impl().storage->nbytes;
      out_ << "storage " << id << ' ' << n << ' ';
      static const char* hex = "0123456789abcdef";
      std::string digits;
      for (size_t i = 0; i < n; ++i) digits += {hex[bytes[i] >> 4], hex[bytes[i] & 15]};
      out_ << digits << '\n';
    }
    text_ << " T " << id << ' ' << static_cast<int>(t.scalar_type()) << ' ' << t.dim();
    for (const int64_t s : t.sizes()) text_ << ' ' << s;
    for (const int64_t s : t.strides()) text_ << ' ' << s;
    text_ << ' ' << t.storage_offset();
  }

  std::ostream& out_;
  std::ostringstream text_;
  std::vector<uintptr_t> written_;
};

}  // namespace

void write_call(std::ostream& out, const Sample& before, const Outcome& outcome) {
  Writer writer(out);
  const std::vector<SchemaArg> schema = parse_schema_args(before.op->schema);
  writer.text("call " + before.id + ' ' + before.op->name + ' ' + (*before.op->overload ? before.op->overload : "-") + ' ' +
              std::to_string(schema.size()));
  for (size_t i = 0; i < schema.size(); ++i) {
    writer.text(' ' + schema[i].name);
    writer.value(before.args[i]);
  }
  writer.text(' ' + outcome.kind);
  writer.value(outcome.kind == "ok" ? outcome.result : Value(outcome.message));
  writer.finish();
}

}  // namespace taeda::test
