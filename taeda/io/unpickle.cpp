// SPDX-License-Identifier: Apache-2.0
// The reading half of the pickle subset: a stack machine over untrusted bytes (Python's pickletools documents the opcodes).
#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "taeda/core/dict.h"
#include "taeda/io/pickle.h"
#include "taeda/io/pickle_globals.h"

namespace taeda::io {
namespace {

/// Most that one pickle may build, in units of about a byte: references make a small pickle name much.
constexpr uint64_t kBudget = uint64_t{1} << 30;
constexpr uint64_t kItemCost = 64;

struct Tuple;
struct Global {
  std::string name;
};
/// What the stack holds. Tuples keep items, because the arguments of calls contain storages and globals.
using Item = std::variant<Value, std::shared_ptr<Tuple>, Global, PickledStorage>;
struct Tuple {
  std::vector<Item> items;
  int depth = 1;
  std::shared_ptr<Value> as_list;  ///< made once, however often the tuple is named
};

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& name, const StorageLoader& load_storage)
      : bytes_(bytes), name_(name), load_storage_(load_storage) {}
  ~Machine() { break_containers(); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Value run();

 private:
  [[noreturn]] void fault(const std::string& what) const {
    TAEDA_CHECK_IO(false, "[pickle] ", name_, ": ", what, " at byte ", place_);
    __builtin_unreachable();
  }
  [[noreturn]] void damaged(const std::string& what) const { fault(what + " (the file is damaged)"); }

  // Input.
  std::string_view take(uint64_t n) {
    if (n > bytes_.size() - place_) damaged("the data end too early");
    const std::string_view part = bytes_.substr(place_, n);
    place_ += n;
    return part;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string line() {
    const size_t end = bytes_.find('\n', place_);
    if (end == std::string_view::npos || end - place_ > 1000) damaged("a line without an end");
    std::string text(bytes_.substr(place_, end - place_));
    place_ = end + 1;
    return text;
  }
  double big_endian_double() {
    uint64_t bits = __builtin_bswap64(number<uint64_t>());
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  int64_t long_integer(uint64_t n);

  // Stack.
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  void charge(uint64_t units) {
    cost_ += units;
    if (cost_ > kBudget) fault("the pickle names more data than can be real");
  }
  void push(Item item) {
    charge(kItemCost);
    stack_.push_back(std::move(item));
  }
  Item pop() {
    if (stack_.size() <= bottom()) damaged("the stack is empty");
    Item item = std::move(stack_.back());
    stack_.pop_back();
    return item;
  }
  Item& top() {
    if (stack_.size() <= bottom()) damaged("the stack is empty");
    return stack_.back();
  }
  std::vector<Item> pop_to_mark() {
    if (marks_.empty()) damaged("no mark on the stack");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Item> items(std::make_move_iterator(begin), std::make_move_iterator(stack_.end()));
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  void memoize(uint64_t key) {
    charge_string(top());
    memo_[key] = top();
  }
  void charge_string(const Item& item) {
    charge(kItemCost);
    const auto* value = std::get_if<Value>(&item);
    if (value && value->is_string()) charge(value->string().size());
  }
  void recall(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) damaged("a reference to nothing");
    charge_string(found->second);
    push(found->second);
  }

  // Values.
  Value to_value(const Item& item);
  Value make_list(Value::List items) {
    auto list = std::make_shared<Value::List>(std::move(items));
    lists_.push_back(list);
    return Value(std::move(list));
  }
  Value make_dict() {
    auto dict = std::make_shared<Dict>();
    dicts_.push_back(dict);
    return Value(std::move(dict));
  }
  void push_string(std::string_view text) {
    charge(text.size());
    push(Value(text));
  }
  void push_tuple(std::vector<Item> items);
  void push_global(const std::string& module, const std::string& name);
  void append(Item& target, std::vector<Item> items);
  void set_items(Item& target, std::vector<Item> items);
  void set_item(Dict& dict, const Item& key, const Item& value);

  // Opcodes.
  bool step();
  bool step_number(unsigned char code);
  bool step_string(unsigned char code);
  bool step_container(unsigned char code);
  bool step_memo(unsigned char code);
  bool step_object(unsigned char code);
  void reduce();
  Item call(const std::string& function, const Tuple& arguments);
  void build();
  void persistent();

  // Calls.
  const Item& argument(const Tuple& arguments, size_t i, const std::string& function) const {
    if (i >= arguments.items.size()) damaged("too few arguments for " + function);
    return arguments.items[i];
  }
  Value argument_value(const Tuple& arguments, size_t i, const std::string& function) {
    return to_value(argument(arguments, i, function));
  }
  std::vector<int64_t> sizes_of(const Value& value, const char* what) const;
  Value rebuild_tensor(const Tuple& arguments, const std::string& function);
  Value rebuild_parameter(const Tuple& arguments, const std::string& function);
  Value make_ordered_dict(const Tuple& arguments, const std::string& function);
  Value make_device(const Tuple& arguments, const std::string& function);

  // The end.
  void check_shape(const Value& root);
  void break_containers() noexcept;

  std::string_view bytes_;
  const std::string& name_;
  const StorageLoader& load_storage_;
  size_t place_ = 0;
  uint64_t cost_ = 0;
  std::vector<Item> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Item> memo_;
  // Every container made: a hostile pickle can put one into itself, and only emptying them all takes such a knot apart.
  std::vector<std::shared_ptr<Value::List>> lists_;
  std::vector<std::shared_ptr<Dict>> dicts_;
  std::unordered_map<const void*, uint64_t> weights_;  ///< of containers in the result: elements met when walking them
};

int64_t Machine::long_integer(uint64_t n) {
  if (n > 8) fault("an integer of more than 64 bits");
  const std::string_view bytes = take(n);
  uint64_t value = n && (bytes[n - 1] & 0x80) ? ~uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), n);
  return static_cast<int64_t>(value);
}

Value Machine::to_value(const Item& item) {
  if (const auto* value = std::get_if<Value>(&item)) return *value;
  if (const auto* tuple = std::get_if<std::shared_ptr<Tuple>>(&item)) {
    Tuple& t = **tuple;
    if (!t.as_list) {
      charge(kItemCost * t.items.size());
      Value::List items;
      items.reserve(t.items.size());
      for (const Item& i : t.items) items.push_back(to_value(i));
      t.as_list = std::make_shared<Value>(make_list(std::move(items)));
    }
    return *t.as_list;
  }
  if (const auto* global = std::get_if<Global>(&item)) {
    const ScalarType type = dtype_of_global(global->name);
    if (type != ScalarType::Undefined) return Value(type);
    fault("the value '" + global->name + "' cannot be loaded; save state dictionaries, tensors and plain values only");
  }
  fault("a bare storage cannot be loaded; save tensors");
}

void Machine::push_tuple(std::vector<Item> items) {
  charge(kItemCost * items.size());
  auto tuple = std::make_shared<Tuple>();
  for (const Item& item : items) {
    if (const auto* inner = std::get_if<std::shared_ptr<Tuple>>(&item)) tuple->depth = std::max(tuple->depth, (*inner)->depth + 1);
  }
  if (tuple->depth > kMaxPickleDepth) fault("tuples nested deeper than " + std::to_string(kMaxPickleDepth));
  tuple->items = std::move(items);
  push(std::move(tuple));
}

void Machine::push_global(const std::string& module, const std::string& name) {
  std::string full = module + "." + name;
  if (!is_allowed_global(full)) {
    fault("the pickle wants '" + full + "', which is not among the types that are loaded without running code; save a state " +
          "dictionary (torch.save(model.state_dict(), file)) instead");
  }
  charge(full.size());
  push(Global{std::move(full)});
}

void Machine::append(Item& target, std::vector<Item> items) {
  auto* value = std::get_if<Value>(&target);
  if (!value || !value->is_list()) damaged("appending to something that is no list");
  Value::List& list = value->mutable_list();
  for (const Item& item : items) {
    charge(kItemCost);
    list.push_back(to_value(item));
  }
}

void Machine::set_item(Dict& dict, const Item& key, const Item& value) {
  charge(2 * kItemCost);
  const Value k = to_value(key);
  if (!k.is_string() && !k.is_int() && !k.is_bool()) fault("a dictionary key must be a string or an integer: got " + k.describe());
  if (k.is_string()) charge(2 * k.string().size());
  dict.set(k, to_value(value));
}

void Machine::set_items(Item& target, std::vector<Item> items) {
  auto* value = std::get_if<Value>(&target);
  if (!value || !value->is_dict() || items.size() % 2 != 0) damaged("setting items of something that is no dictionary");
  Dict& dict = value->mutable_dict();
  for (size_t i = 0; i < items.size(); i += 2) set_item(dict, items[i], items[i + 1]);
}

bool Machine::step_number(unsigned char code) {
  switch (code) {
    case 'N': push(Value()); return true;
    case 0x88: push(Value(true)); return true;
    case 0x89: push(Value(false)); return true;
    case 'J': push(Value(number<int32_t>())); return true;
    case 'K': push(Value(number<uint8_t>())); return true;
    case 'M': push(Value(number<uint16_t>())); return true;
    case 0x8a: push(Value(long_integer(number<uint8_t>()))); return true;
    case 0x8b: push(Value(long_integer(number<uint32_t>()))); return true;
    case 'G': push(Value(big_endian_double())); return true;
    case 'I': case 'L': {  // protocol 0: decimal text; I00 and I01 are False and True
      std::string text = line();
      if (code == 'I' && (text == "00" || text == "01")) {
        push(Value(text == "01"));
        return true;
      }
      if (!text.empty() && text.back() == 'L') text.pop_back();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) damaged("a number that is none");
      push(Value(value));
      return true;
    }
    default: return false;
  }
}

bool Machine::step_string(unsigned char code) {
  switch (code) {
    case 'X': case 'T': case 'B': push_string(take(number<uint32_t>())); return true;
    case 0x8c: case 'U': case 'C': push_string(take(number<uint8_t>())); return true;
    case 0x8d: case 0x8e: push_string(take(number<uint64_t>())); return true;
    default: return false;
  }
}

bool Machine::step_container(unsigned char code) {
  switch (code) {
    case '(': marks_.push_back(stack_.size()); return true;
    case ']': case 0x8f: push(make_list({})); return true;  // a set becomes a list
    case '}': push(make_dict()); return true;
    case ')': push_tuple({}); return true;
    case 0x85: case 0x86: case 0x87: {
      const size_t n = static_cast<size_t>(code) - 0x84;
      if (stack_.size() < bottom() + n) damaged("the stack is empty");
      std::vector<Item> items(std::make_move_iterator(stack_.end() - static_cast<std::ptrdiff_t>(n)),
                              std::make_move_iterator(stack_.end()));
      stack_.resize(stack_.size() - n);
      push_tuple(std::move(items));
      return true;
    }
    case 't': push_tuple(pop_to_mark()); return true;
    case 'l': case 0x91: {
      std::vector<Item> items = pop_to_mark();
      push(make_list({}));
      append(top(), std::move(items));
      return true;
    }
    case 'd': {
      std::vector<Item> items = pop_to_mark();
      push(make_dict());
      set_items(top(), std::move(items));
      return true;
    }
    case 'a': {
      std::vector<Item> items;
      items.push_back(pop());
      append(top(), std::move(items));
      return true;
    }
    case 'e': case 0x90: {
      std::vector<Item> items = pop_to_mark();
      append(top(), std::move(items));
      return true;
    }
    case 's': {
      std::vector<Item> items(2);
      items[1] = pop();
      items[0] = pop();
      set_items(top(), std::move(items));
      return true;
    }
    case 'u': {
      std::vector<Item> items = pop_to_mark();
      set_items(top(), std::move(items));
      return true;
    }
    default: return false;
  }
}

bool Machine::step_memo(unsigned char code) {
  switch (code) {
    case 'q': memoize(number<uint8_t>()); return true;
    case 'r': memoize(number<uint32_t>()); return true;
    case 0x94: memoize(memo_.size()); return true;
    case 'h': recall(number<uint8_t>()); return true;
    case 'j': recall(number<uint32_t>()); return true;
    case '0': pop(); return true;
    case '1': pop_to_mark(); return true;
    case '2': {
      Item copy = top();
      charge_string(copy);
      push(std::move(copy));
      return true;
    }
    default: return false;
  }
}

bool Machine::step_object(unsigned char code) {
  switch (code) {
    case 'c': {
      const std::string module = line();
      push_global(module, line());
      return true;
    }
    case 0x93: {
      const Value name = to_value(pop()), module = to_value(pop());
      if (!name.is_string() || !module.is_string()) damaged("a global without a name");
      push_global(module.string(), name.string());
      return true;
    }
    case 'R': case 0x81: reduce(); return true;
    case 'b': build(); return true;
    case 'Q': persistent(); return true;
    case 0x80: {
      const unsigned version = number<uint8_t>();
      if (version > 5) fault("pickle protocol " + std::to_string(version) + " is unknown; save with protocol 2");
      return true;
    }
    case 0x95: take(8); return true;  // a frame's length: a hint for buffered readers
    default: return false;
  }
}

void Machine::reduce() {
  const Item arguments = pop();
  const Item function = pop();
  const auto* tuple = std::get_if<std::shared_ptr<Tuple>>(&arguments);
  const auto* global = std::get_if<Global>(&function);
  if (!tuple || !global) damaged("a call of something that is no function");
  push(call(global->name, **tuple));
}

Item Machine::call(const std::string& function, const Tuple& arguments) {
  if (function == "collections.OrderedDict") return make_ordered_dict(arguments, function);
  if (function == "torch._utils._rebuild_tensor_v2" || function == "torch._utils._rebuild_tensor_v3" ||
      function == "torch._utils._rebuild_tensor") {
    return rebuild_tensor(arguments, function);
  }
  if (function == "torch._utils._rebuild_parameter" || function == "torch._utils._rebuild_parameter_with_state") {
    return rebuild_parameter(arguments, function);
  }
  if (function == "torch._tensor._rebuild_from_type_v2") {  // (function, type, arguments, state): a tensor with attributes
    const auto* inner = std::get_if<Global>(&argument(arguments, 0, function));
    const auto* inner_arguments = std::get_if<std::shared_ptr<Tuple>>(&argument(arguments, 2, function));
    if (!inner || !inner_arguments || inner->name == function) damaged("a tensor that is rebuilt by no function");
    return call(inner->name, **inner_arguments);
  }
  if (function == "torch.device") return make_device(arguments, function);
  if (function == "torch.Size" || function == "builtins.set" || function == "__builtin__.set" || function == "builtins.frozenset" ||
      function == "builtins.tuple" || function == "builtins.list") {
    if (arguments.items.empty()) return make_list({});
    const Value items = argument_value(arguments, 0, function);
    if (!items.is_list()) damaged("arguments of another kind for " + function);
    return items;
  }
  if (function == "_codecs.encode") {  // bytes in protocol 2: text in latin-1
    const Value text = argument_value(arguments, 0, function);
    if (!text.is_string()) damaged("arguments of another kind for " + function);
    return Value(latin1_bytes(text.string()));
  }
  fault("'" + function + "' cannot be called here; save a state dictionary instead");
}

void Machine::build() {
  // The state of an object: a dictionary's attributes (a state dict's version numbers, for example) carry nothing needed here.
  pop();
  const auto* value = std::get_if<Value>(&top());
  if (!value || !(value->is_dict() || value->is_tensor())) damaged("a state for something that has none");
}

void Machine::persistent() {
  const Item id = pop();
  const auto* tuple = std::get_if<std::shared_ptr<Tuple>>(&id);
  if (!tuple || (*tuple)->items.size() < 5) damaged("a reference that names no storage");
  const Tuple& t = **tuple;
  const auto* type = std::get_if<Global>(&t.items[1]);
  const Value kind = to_value(t.items[0]), key = to_value(t.items[2]), numel = to_value(t.items[4]);
  if (!type || !kind.is_string() || kind.string() != "storage" || !numel.is_int() || numel.to_int() < 0 ||
      !(key.is_string() || key.is_int())) {
    damaged("a reference that names no storage");
  }
  PickledStorage storage;
  storage.key = key.is_string() ? key.string() : std::to_string(key.to_int());
  storage.dtype = dtype_of_storage(type->name);
  storage.numel = numel.to_int();
  if (storage.dtype == ScalarType::Undefined && type->name != "torch.storage.UntypedStorage") {
    fault("the storage type '" + type->name + "' is one that tensors cannot have here; convert it where the file was made");
  }
  push(std::move(storage));
}

std::vector<int64_t> Machine::sizes_of(const Value& value, const char* what) const {
  if (!value.is_list() || value.list().size() > static_cast<size_t>(kMaxDims)) damaged(std::string("a tensor without ") + what);
  std::vector<int64_t> numbers;
  for (const Value& v : value.list()) {
    if (!v.is_int() || v.to_int() < 0) damaged(std::string("a tensor with wrong ") + what);
    numbers.push_back(v.to_int());
  }
  return numbers;
}

Value Machine::rebuild_tensor(const Tuple& arguments, const std::string& function) {
  const auto* storage = std::get_if<PickledStorage>(&argument(arguments, 0, function));
  const Value offset = argument_value(arguments, 1, function);
  if (!storage || !offset.is_int() || offset.to_int() < 0) damaged("a tensor without storage");
  const std::vector<int64_t> sizes = sizes_of(argument_value(arguments, 2, function), "sizes");
  const std::vector<int64_t> strides = sizes_of(argument_value(arguments, 3, function), "strides");
  if (sizes.size() != strides.size()) damaged("a tensor whose sizes and strides differ in number");
  ScalarType dtype = storage->dtype;
  if (function == "torch._utils._rebuild_tensor_v3") {
    const Value type = argument_value(arguments, 6, function);
    if (!type.is_int()) damaged("a tensor without dtype");
    dtype = static_cast<ScalarType>(type.to_int());
  }
  if (dtype == ScalarType::Undefined || item_size(dtype) == 0) damaged("a tensor without dtype");

  const Storage memory = load_storage_(*storage);
  // The last element reached must lie inside; all sums are checked.
  uint64_t last = static_cast<uint64_t>(offset.to_int()), numel = 1, nonzero = 1;
  bool overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    uint64_t reach = 0;
    numel *= static_cast<uint64_t>(sizes[d]);
    overflow |= sizes[d] > 0 && __builtin_mul_overflow(nonzero, static_cast<uint64_t>(sizes[d]), &nonzero);
    overflow |= sizes[d] > 1 && __builtin_mul_overflow(static_cast<uint64_t>(sizes[d] - 1), static_cast<uint64_t>(strides[d]), &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  const uint64_t held = memory.nbytes() / item_size(dtype);
  if (overflow || nonzero > static_cast<uint64_t>(INT64_MAX) || (numel > 0 && last >= held) || static_cast<uint64_t>(offset.to_int()) > held) {
    damaged(str("a tensor of sizes ", IntArrayRef(sizes), ", strides ", IntArrayRef(strides), " and offset ", offset.to_int(),
                " does not fit its storage of ", held, " elements"));
  }
  Tensor tensor(IntrusivePtr<TensorImpl>::adopt(TensorImpl::make(memory.impl(), dtype, Device())));
  tensor.mutable_impl().set_sizes_strides(sizes, strides);
  tensor.mutable_impl().offset = offset.to_int();
  const bool has_flag = function != "torch._utils._rebuild_tensor";
  if (has_flag && is_floating_type(dtype)) {
    const Value flag = argument_value(arguments, 4, function);
    if (flag.is_bool() && flag.to_bool()) tensor.requires_grad_(true);
  }
  return tensor;
}

Value Machine::rebuild_parameter(const Tuple& arguments, const std::string& function) {
  const Value data = argument_value(arguments, 0, function);
  const Value flag = argument_value(arguments, 1, function);
  if (!data.is_tensor() || !flag.is_bool()) damaged("a parameter without data");
  const Tensor& tensor = data.tensor();
  if (flag.to_bool() && is_floating_type(tensor.scalar_type())) tensor.requires_grad_(true);
  return tensor;
}

Value Machine::make_ordered_dict(const Tuple& arguments, const std::string& function) {
  Value made = make_dict();
  if (arguments.items.empty()) return made;
  const Value pairs = argument_value(arguments, 0, function);
  if (!pairs.is_list()) damaged("arguments of another kind for " + function);
  for (const Value& pair : pairs.list()) {
    if (!pair.is_list() || pair.list().size() != 2) damaged("arguments of another kind for " + function);
    set_item(made.mutable_dict(), pair.list()[0], pair.list()[1]);
  }
  return made;
}

Value Machine::make_device(const Tuple& arguments, const std::string& function) {
  const Value type = argument_value(arguments, 0, function);
  if (!type.is_string()) damaged("arguments of another kind for " + function);
  std::string text = type.string().substr(0, 40);
  if (arguments.items.size() > 1) text += ":" + std::to_string(argument_value(arguments, 1, function).to_int());
  return Value(text);  // as text: the file may name a device this process does not know
}

bool Machine::step() {
  const auto code = static_cast<unsigned char>(take(1)[0]);
  if (code == '.') return false;
  if (step_number(code) || step_string(code) || step_container(code) || step_memo(code) || step_object(code)) return true;
  fault("the opcode " + std::to_string(code) + " is none that data need");
}

Value Machine::run() {
  while (step()) {
  }
  if (!marks_.empty() || stack_.size() != 1) damaged("a pickle that ends with more or less than one value");
  Value root = to_value(pop());
  try {
    check_shape(root);
  } catch (...) {
    weights_.clear();
    throw;
  }
  return root;
}

/// Containers must form a tree of bounded depth (sharing allowed): no list may hold itself, and walking the value must not explode.
void Machine::check_shape(const Value& root) {
  struct Frame {
    const void* container;
    std::vector<const Value*> children;
    size_t next = 0;
    uint64_t weight = 1;
  };
  const auto open = [](const Value& v) {
    Frame frame{v.is_list() ? static_cast<const void*>(&v.list()) : &v.dict(), {}};
    if (v.is_list()) {
      for (const Value& child : v.list()) frame.children.push_back(&child);
    } else {
      for (const Dict::Entry& entry : v.dict()) frame.children.push_back(&entry.second);
    }
    return frame;
  };
  std::unordered_set<const void*> unfinished;
  std::vector<Frame> frames;
  if (root.is_list() || root.is_dict()) frames.push_back(open(root));
  if (!frames.empty()) unfinished.insert(frames.back().container);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == frame.children.size()) {
      const uint64_t weight = frame.weight;
      weights_[frame.container] = weight;
      unfinished.erase(frame.container);
      frames.pop_back();
      if (weight > kBudget / kItemCost) fault("the pickle names more data than can be real");
      if (!frames.empty()) frames.back().weight += weight;
      continue;
    }
    const Value& child = *frame.children[frame.next++];
    if (!child.is_list() && !child.is_dict()) {
      ++frame.weight;
      continue;
    }
    Frame inner = open(child);
    if (const auto found = weights_.find(inner.container); found != weights_.end()) {
      frame.weight += found->second;
      continue;
    }
    if (!unfinished.insert(inner.container).second) fault("a container holds itself");
    if (frames.size() >= static_cast<size_t>(kMaxPickleDepth)) {
      fault("containers nested deeper than " + std::to_string(kMaxPickleDepth));
    }
    frames.push_back(std::move(inner));
  }
}

/// Empties what is not part of the result, one container at a time: no chain of them is destroyed by recursion.
void Machine::break_containers() noexcept {
  for (const auto& list : lists_) {
    if (!weights_.count(list.get())) list->clear();
  }
  for (const auto& dict : dicts_) {
    if (!weights_.count(dict.get())) dict->clear();
  }
}

}  // namespace

Value unpickle(std::string_view bytes, const std::string& name, const StorageLoader& load_storage) {
  return Machine(bytes, name, load_storage).run();
}

}  // namespace taeda::io
