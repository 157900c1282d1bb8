// SPDX-License-Identifier: Apache-2.0
// Runs a file of operator calls (tests/fuzz/call_text.h) with LibTorch and says where it differs: in kind (a result, or which
// error), in shape, dtype or values. Not part of the build; docs in tests/fuzz/README.md.
//   libtorch_calls CALLS [--kinds]     --kinds: instead of differences, one line "id kind" for each call
#include <ATen/core/dispatch/Dispatcher.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using torch::jit::IValue;
using torch::jit::Stack;

/// A parsed value, before it is known which type the schema wants.
struct Raw {
  char kind = 'N';
  int64_t i = 0;
  double d = 0;
  std::string s;
  std::vector<Raw> list;
  at::Tensor tensor;
};

class Reader {
 public:
  explicit Reader(std::istream& in) : in_(in) {}
  bool word(std::string& w) { return static_cast<bool>(in_ >> w); }
  int64_t integer() {
    int64_t v = 0;
    in_ >> v;
    return v;
  }
  void storage() {
    const int64_t id = integer();
    const int64_t n = integer();
    std::string hex;
    if (n > 0) in_ >> hex;
    at::Tensor bytes = torch::empty({std::max<int64_t>(n, 1)}, torch::kByte);
    for (int64_t k = 0; k < n; ++k) {
      bytes.data_ptr<uint8_t>()[k] = static_cast<uint8_t>(digit(hex[2 * k]) << 4 | digit(hex[2 * k + 1]));
    }
    storages_[id] = bytes;
  }
  Raw value() {
    Raw r;
    std::string tag;
    in_ >> tag;
    r.kind = tag[0];
    switch (r.kind) {
      case 'N': case 'G': case 'V': break;
      case 'B': case 'I': r.i = integer(); break;
      case 'D': {
        std::string text;
        in_ >> text;
        r.d = std::strtod(text.c_str(), nullptr);
        break;
      }
      case 'S': {
        const int64_t n = integer();
        in_.get();
        r.s.resize(n);
        in_.read(r.s.data(), n);
        break;
      }
      case 'L': {
        const int64_t n = integer();
        for (int64_t k = 0; k < n; ++k) r.list.push_back(value());
        break;
      }
      case 'U': break;  // an undefined tensor
      case 'T': r.tensor = tensor(); break;
      default: std::fprintf(stderr, "bad tag %s\n", tag.c_str()); std::exit(2);
    }
    return r;
  }
  void forget() { storages_.clear(); }

 private:
  static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }
  at::Tensor tensor() {
    const int64_t id = integer();
    const auto type = static_cast<at::ScalarType>(integer());
    std::vector<int64_t> sizes(integer()), strides(sizes.size());
    for (auto& v : sizes) v = integer();
    for (auto& v : strides) v = integer();
    const int64_t offset = integer();
    at::Tensor t = torch::empty({0}, type);
    t.set_(storages_.at(id).storage(), offset, sizes, strides);
    return t;
  }
  std::istream& in_;
  std::map<int64_t, at::Tensor> storages_;
};

at::Scalar scalar(const Raw& r) { return r.kind == 'D' ? at::Scalar(r.d) : r.kind == 'B' ? at::Scalar(r.i != 0) : at::Scalar(r.i); }

IValue convert(const Raw& r, const c10::TypePtr& type) {
  using K = c10::TypeKind;
  switch (type->kind()) {
    case K::OptionalType:
      if (r.kind == 'N') return IValue();
      return convert(r, type->castRaw<c10::OptionalType>()->getElementType());
    case K::TensorType:
      return r.kind == 'T' ? IValue(r.tensor) : r.kind == 'N' || r.kind == 'U' ? IValue(at::Tensor()) : IValue(at::scalar_tensor(scalar(r)));
    case K::IntType: case K::SymIntType: return IValue(r.kind == 'D' ? static_cast<int64_t>(r.d) : r.i);
    case K::FloatType: return IValue(r.kind == 'D' ? r.d : static_cast<double>(r.i));
    case K::BoolType: return IValue(r.i != 0);
    case K::NumberType: return IValue(scalar(r));
    case K::StringType: return IValue(r.s);
    case K::DeviceObjType: return IValue(c10::Device("cpu"));
    case K::GeneratorType: return IValue();
    case K::ListType: {
      const auto element = type->castRaw<c10::ListType>()->getElementType();
      std::vector<Raw> items = r.kind == 'L' ? r.list : std::vector<Raw>{r};
      if (element->kind() == K::IntType || element->kind() == K::SymIntType) {
        c10::List<int64_t> l;
        for (const Raw& x : items) l.push_back(x.i);
        return IValue(l);
      }
      if (element->kind() == K::FloatType) {
        c10::List<double> l;
        for (const Raw& x : items) l.push_back(x.kind == 'D' ? x.d : static_cast<double>(x.i));
        return IValue(l);
      }
      if (element->kind() == K::BoolType) {
        c10::List<bool> l;
        for (const Raw& x : items) l.push_back(x.i != 0);
        return IValue(l);
      }
      if (element->kind() == K::TensorType) {
        c10::List<at::Tensor> l;
        for (const Raw& x : items) l.push_back(x.tensor);
        return IValue(l);
      }
      c10::impl::GenericList l(element);
      for (const Raw& x : items) l.push_back(convert(x, element));
      return IValue(l);
    }
    default: break;
  }
  // Dtypes, layouts and memory formats are integers.
  return r.kind == 'N' ? IValue() : IValue(r.i);
}

void flatten(const IValue& v, std::vector<IValue>& out) {
  if (v.isTuple()) {
    for (const auto& x : v.toTupleRef().elements()) flatten(x, out);
  } else if (v.isTensorList()) {
    for (const at::Tensor& x : v.toTensorVector()) out.emplace_back(x);
  } else if (v.isList()) {
    for (const auto& x : v.toListRef()) flatten(x, out);
  } else {
    out.push_back(v);
  }
}
void flatten(const Raw& r, std::vector<Raw>& out) {
  if (r.kind == 'L') {
    for (const Raw& x : r.list) flatten(x, out);
  } else {
    out.push_back(r);
  }
}

std::string compare(const at::Tensor& want, const at::Tensor& got) {
  std::ostringstream text;
  if (!want.defined() || !got.defined()) return want.defined() == got.defined() ? "" : "definedness";
  if (want.scalar_type() != got.scalar_type()) {
    text << "dtype " << got.scalar_type() << ", LibTorch " << want.scalar_type();
    return text.str();
  }
  if (want.sizes() != got.sizes()) {
    text << "shape " << got.sizes() << ", LibTorch " << want.sizes();
    return text.str();
  }
  double rtol = 0, atol = 0;
  switch (want.scalar_type()) {
    case at::kDouble: rtol = 1e-7, atol = 1e-8; break;
    case at::kFloat: rtol = 2e-4, atol = 2e-5; break;
    case at::kHalf: rtol = 4e-3, atol = 4e-3; break;
    case at::kBFloat16: rtol = 3e-2, atol = 3e-2; break;
    default: break;
  }
  const at::Tensor w = want.detach().to(at::kDouble).contiguous().view(-1), g = got.detach().to(at::kDouble).contiguous().view(-1);
  const double scale = rtol > 0 && w.numel() > 0 ? w.nan_to_num(0, 0, 0).abs().max().item<double>() : 0;
  int shown = 0;
  for (int64_t i = 0; i < w.numel(); ++i) {
    const double a = w.data_ptr<double>()[i], b = g.data_ptr<double>()[i];
    const bool same = std::isnan(a) ? std::isnan(b) : std::isinf(a) ? a == b : std::fabs(a - b) <= atol + rtol * std::fabs(a) + 0.02 * rtol * scale;
    if (same) continue;
    text << (shown ? "; " : "") << "[" << i << "] " << b << ", LibTorch " << a;
    if (++shown == 3) break;
  }
  return text.str();
}

struct Outcome {
  std::string kind;
  std::string message;
  std::vector<IValue> values;
};

Outcome call(const std::string& name, const std::string& overload, const std::vector<std::pair<std::string, Raw>>& args) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto handle = dispatcher.findSchema({"aten::" + name, overload});
  if (!handle) return {"absent", "", {}};
  const auto& schema = handle->schema();
  Stack stack;
  size_t used = 0;
  for (const auto& a : schema.arguments()) {
    const Raw* given = nullptr;
    for (const auto& [key, value] : args) {
      if (key == a.name()) given = &value;
    }
    if (given) {
      ++used;
      stack.push_back(convert(*given, a.type()));
    } else if (a.default_value()) {
      stack.push_back(*a.default_value());
    } else if (a.type()->kind() == c10::TypeKind::OptionalType) {
      stack.push_back(IValue());
    } else {
      return {"absent", "", {}};
    }
  }
  if (used != args.size()) return {"absent", "", {}};
  Outcome o;
  torch::manual_seed(1);
  try {
    torch::NoGradGuard off;
    handle->callBoxed(stack);
    for (const IValue& v : stack) flatten(v, o.values);
    o.kind = "ok";
  } catch (const c10::OutOfMemoryError& e) { o = {"OutOfMemoryError", e.what_without_backtrace(), {}};
  } catch (const c10::IndexError& e) { o = {"IndexError", e.what_without_backtrace(), {}};
  } catch (const c10::TypeError& e) { o = {"TypeError", e.what_without_backtrace(), {}};
  } catch (const c10::ValueError& e) { o = {"ValueError", e.what_without_backtrace(), {}};
  } catch (const c10::NotImplementedError& e) { o = {"NotImplementedError", e.what_without_backtrace(), {}};
  } catch (const c10::LinAlgError& e) { o = {"LinAlgError", e.what_without_backtrace(), {}};
  } catch (const c10::Error& e) { o = {"Error", e.what_without_backtrace(), {}};
  } catch (const std::exception& e) { o = {"std", e.what(), {}};
  }
  return o;
}

std::string first_line(std::string s) { return s.substr(0, std::min<size_t>(s.find('\n'), 200)); }

/// Handles calls from number `skip` on, reporting each number before it runs so that a crash can be skipped.
void work(const char* path, bool kinds, int64_t skip, int progress) {
  std::ifstream in(path);
  Reader reader(in);
  std::string word;
  int64_t number = 0;
  while (reader.word(word)) {
    if (word == "storage") {
      reader.storage();
      continue;
    }
    std::string id, name, overload;
    reader.word(id), reader.word(name), reader.word(overload);
    if (overload == "-") overload.clear();
    const int64_t n = reader.integer();
    std::vector<std::pair<std::string, Raw>> args;
    for (int64_t k = 0; k < n; ++k) {
      std::string key;
      reader.word(key);
      args.emplace_back(key, reader.value());
    }
    std::string ours, ours_message;
    reader.word(ours);
    std::vector<Raw> results;
    if (ours == "ok") {
      flatten(reader.value(), results);
    } else {
      ours_message = reader.value().s;
    }
    if (number++ < skip) {
      reader.forget();
      continue;
    }
    if (write(progress, &number, sizeof number) != sizeof number) std::exit(3);
    alarm(20);  // a call that hangs ends this child
    Outcome o = call(name, overload, args);
    std::ostringstream text;
    if (kinds) {
      text << id << ' ' << o.kind;
      for (const IValue& v : o.values) text << ' ' << (v.isTensor() && v.toTensor().defined() ? c10::toString(v.toTensor().scalar_type()) : "-");
    } else if (o.kind == "absent") {
      text << "ABSENT " << name << '.' << overload;
    } else if (o.kind != ours) {
      text << "KIND " << id << ' ' << name << '.' << overload << " ours " << ours << " LibTorch " << o.kind << " | " << first_line(ours_message) << " | " << first_line(o.message);
    } else if (ours == "ok") {
      if (o.values.size() != results.size()) {
        text << "VALUE " << id << ' ' << name << '.' << overload << " count " << results.size() << ", LibTorch " << o.values.size();
      } else {
        for (size_t k = 0; k < results.size(); ++k) {
          std::string d;
          if (o.values[k].isTensor()) {
            d = results[k].kind == 'T' ? compare(o.values[k].toTensor(), results[k].tensor)
                                       : (o.values[k].toTensor().defined() == false ? "" : "no tensor");
          } else if (o.values[k].isInt() && results[k].i != o.values[k].toInt()) {
            d = "int " + std::to_string(results[k].i) + ", LibTorch " + std::to_string(o.values[k].toInt());
          } else if (o.values[k].isBool() && (results[k].i != 0) != o.values[k].toBool()) {
            d = "bool";
          }
          if (!d.empty()) text << "VALUE " << id << ' ' << name << '.' << overload << " result " << k << ": " << d;
          if (!d.empty()) break;
        }
      }
    }
    if (!text.str().empty()) std::printf("%s\n", text.str().c_str()), std::fflush(stdout);
    reader.forget();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool kinds = argc > 2 && std::string(argv[2]) == "--kinds";
  at::set_num_threads(1);
  int64_t skip = 0;
  for (;;) {
    int ends[2];
    if (pipe(ends) != 0) return 3;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      at::set_num_threads(1);
      work(argv[1], kinds, skip, ends[1]);
      std::fflush(stdout);
      _exit(0);
    }
    close(ends[1]);
    int64_t number = skip;
    alarm(0);
    while (read(ends[0], &number, sizeof number) == sizeof number) {
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    std::printf("CRASH LibTorch at call %ld, signal %d\n", static_cast<long>(number - 1), WTERMSIG(status));
    skip = number;
  }
}
