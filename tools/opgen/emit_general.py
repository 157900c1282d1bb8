# SPDX-License-Identifier: Apache-2.0
"""Doors, grad nodes, boxed calls and registry rows of the operators defined in taeda/ops/*.cpp."""
import re
from dataclasses import replace

from . import schema as sch
from .emit_common import (BANNER, boxed_call, boxed_values, c_string, grouped_args, has, inplace_schema, is_factory, names,
                          op_info, out_args, params)

# How a non-tensor argument is kept in a node: (member type, expression that gives it back).
_KEEP = {
    "Scalar": ("Scalar", "{}"), "int": ("int64_t", "{}"), "float": ("double", "{}"), "bool": ("bool", "{}"),
    "int[]": ("DimVector", "{}"), "int[]?": ("std::optional<DimVector>", "detail::opt_ref({})"),
    "str": ("std::string", "{}"), "int?": ("std::optional<int64_t>", "{}"),
    "float?": ("std::optional<double>", "{}"), "Scalar?": ("std::optional<Scalar>", "{}"),
    "ScalarType?": ("std::optional<ScalarType>", "{}"), "bool?": ("std::optional<bool>", "{}"),
    "str?": ("std::optional<std::string>", "{}"), "float[]?": ("std::optional<std::vector<double>>", "detail::opt_ref({})"),
    "MemoryFormat?": ("std::optional<MemoryFormat>", "{}"), "Device?": ("std::optional<Device>", "{}"),
}


def keep(arg_type):
    base = re.sub(r"\[\d+\]", "[]", arg_type)
    if base not in _KEEP:
        raise sch.SchemaError(f"arguments of type {arg_type} cannot be kept for a gradient")
    return _KEEP[base]


class NodePlan:
    """Which gradients an operator has, and what each needs kept."""

    def __init__(self, d):
        self.d = d
        s = d.schema
        self.joint = "grads" in d.grads
        tensor_args = s.tensor_args()
        if self.joint:
            wanted = d.flags.get("grads_for", "").strip('"').split() or [a.name for a in tensor_args]
        else:
            wanted = [a.name for a in tensor_args if a.name in d.grads]
        unknown = [g for g in d.grads if g != "grads" and g not in [a.name for a in tensor_args]]
        if unknown:
            d.fail(f"gradient for {unknown}, which is no tensor argument")
        self.args = [a for a in tensor_args if a.name in wanted]
        self.members = {}  # member -> (type, kind, source, set of argument names whose gradient needs it)
        self.calls = {}
        for key, plist in d.grads.items():
            self.calls[key] = [self._param(t, n, key) for t, n in plist]

    def _member(self, name, mtype, kind, source, key):
        entry = self.members.setdefault(name, (mtype, kind, source, set()))
        entry[3].update([a.name for a in self.args] if key == "grads" else [key])

    def _param(self, ptype, name, key):
        d, s = self.d, self.d.schema
        if name == "grad":
            return "grads_in[0]"
        if name == "grads":
            return "TensorList(grads_in.data(), grads_in.size())"
        if name == "needs":
            return "needs_"
        for i, rn in enumerate(s.return_names):
            if rn and name == "grad_" + rn:
                return f"grads_in[{i}]"
        outputs = {"result": 0} if len(s.returns) == 1 else {f"result{i}": i for i in range(len(s.returns))}
        outputs.update({rn: i for i, rn in enumerate(s.return_names) if rn})
        args = {a.name: a for a in s.args}
        if name in args:
            a = args[name]
            if a.type == "Tensor?[]":
                self._member(name + "_", "std::vector<autograd::SavedTensor>", "opt_list", name, key)
                return f"detail::unpack_optional_list({name}_, *this)"
            if a.type == "Tensor[]":
                self._member(name + "_", "std::vector<autograd::SavedTensor>", "list", name, key)
                return f"detail::unpack_list({name}_, *this)"
            if a.type in ("Tensor", "Tensor?"):
                self._member(name + "_", "autograd::SavedTensor", "tensor?" if a.type == "Tensor?" else "tensor", name, key)
                return f"{name}_.unpack(*this)"
            mtype, back = keep(a.type)
            self._member(name + "_", mtype, "value:" + a.type, name, key)
            return back.format(name + "_")
        if name in outputs:
            self._member(name + "_", "autograd::SavedTensor", "output", str(outputs[name]), key)
            return f"{name}_.unpack(*this)"
        for suffix, mtype, get in (("_sizes", "DimVector", "{}.sizes()"), ("_dtype", "ScalarType", "{}.scalar_type()"),
                                   ("_strides", "DimVector", "{}.strides()"), ("_numel", "int64_t", "{}.numel()"),
                                   ("_dim", "int64_t", "{}.dim()"), ("_options", "TensorOptions", "{}.options()"),
                                   ("_storage_offset", "int64_t", "{}.storage_offset()")):
            if name.endswith(suffix) and name.removesuffix(suffix) in args:
                base = args[name.removesuffix(suffix)]
                if base.type == "Tensor[]" and suffix == "_sizes":
                    self._member(name + "_", "std::vector<DimVector>", "value_expr", f"detail::list_sizes({base.name})", key)
                else:
                    source = base.name if base.type == "Tensor" else f"detail::or_undefined({base.name})"
                    self._member(name + "_", mtype, "value_expr", get.format(source), key)
                return name + "_"
        d.fail(f"gradient parameter '{name}' is neither an argument, nor a result, nor `grad`")


def node_struct(d, plan, cname):
    s = d.schema
    out = [f"struct {d.struct}Node final : autograd::Node {{"]
    for member, (mtype, *_rest) in plan.members.items():
        init = "" if mtype.startswith(("std::", "Dim", "autograd", "TensorOptions")) else "{}"
        out.append(f"  {mtype} {member}{init};")
    for a in plan.args:
        if a.type == "Tensor[]":
            out.append(f"  size_t {a.name}_count_ = 0;")
    label = "".join(p[:1].upper() + p[1:] for p in s.name.strip("_").split("_"))
    out.append(f"  std::string name() const override {{ return {c_string(label + 'Backward0')}; }}")
    out.append("  void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) override {")
    multi = len(s.returns) > 1 or s.returns[0] == "Tensor[]"
    if multi and d.flags.get("undefined_grads") != "true":
        out.append("    detail::materialize_grads(*this, grads_in);")
    fixed = 0
    if plan.joint:
        n = len(plan.args)
        needs = ", ".join(f"needs({i})" for i in range(n))
        out.append(f"    [[maybe_unused]] const std::array<bool, {n}> needs_{{{needs}}};")
        out.append(f"    auto all = ops::{d.struct}::grads({', '.join(plan.calls['grads'])});")
        out.append(f"    detail::spread_grads(std::move(all), grads_out);")
    else:
        offset = "0"
        for a in plan.args:
            call = f"ops::{d.struct}::grad_{a.name}({', '.join(plan.calls[a.name])})"
            if a.type == "Tensor[]":
                out.append(f"    if (detail::any_needs(*this, {offset}, {a.name}_count_))")
                out.append(f"      detail::place_grads({call}, grads_out.subspan({offset}, {a.name}_count_));")
                offset += f" + {a.name}_count_"
            else:
                out.append(f"    if (needs({offset})) grads_out[{offset}] = {call};")
                offset += " + 1"
    if not plan.members and not multi:
        out.append("    (void)grads_in;")
    out.append("    (void)grads_out;")
    out.append("  }")
    saved = [m for m, (t, *_r) in plan.members.items() if "SavedTensor" in t]
    if saved:
        body = " ".join(f"detail::release_saved({m});" for m in saved)
        out.append(f"  void release_variables() override {{ {body} }}")
    out.append("};")
    return "\n".join(out)


def record_statements(d, plan, inplace):
    """Statements that make the node where `record` says so; `node` stays null otherwise."""
    lines = [f"  node = IntrusivePtr<{d.struct}Node>::adopt(new {d.struct}Node);"]
    for a in plan.args:
        if a.type == "Tensor[]":
            lines.append(f"  node->{a.name}_count_ = {a.name}.size();")
            lines.append(f"  for (const Tensor& t : {a.name}) autograd::add_edge(*node, t);")
        elif a.type == "Tensor?":
            lines.append(f"  autograd::add_edge(*node, detail::or_undefined({a.name}));")
        else:
            lines.append(f"  autograd::add_edge(*node, {a.name});")
    for member, (mtype, kind, source, users) in plan.members.items():
        users = sorted(users)
        condition = " || ".join(f"detail::wants({u})" for u in users)
        guard = f"if ({condition}) " if len(plan.args) > 1 else ""
        if kind == "tensor":
            value = f"{source}.clone()" if inplace and source == "self" else source
            lines.append(f"  {guard}node->{member} = autograd::SavedTensor({value}, false);")
        elif kind == "tensor?":
            lines.append(f"  {guard}node->{member} = autograd::SavedTensor(detail::or_undefined({source}), false);")
        elif kind == "list":
            lines.append(f"  {guard}detail::save_list(node->{member}, {source});")
        elif kind == "opt_list":
            lines.append(f"  {guard}detail::save_optional_list(node->{member}, {source});")
        elif kind.startswith("value:"):
            t = kind[6:]
            if "int[" in t and t.endswith("?"):
                lines.append(f"  if ({source}.has_value()) node->{member} = DimVector(*{source});")
            elif t == "float[]?":
                lines.append(f"  if ({source}.has_value()) node->{member} = {source}->vec();")
            elif t == "str":
                lines.append(f"  node->{member} = std::string({source});")
            elif t == "str?":
                lines.append(f"  if ({source}) node->{member} = std::string(*{source});")
            elif t.startswith("int["):
                lines.append(f"  node->{member} = DimVector({source});")
            else:
                lines.append(f"  node->{member} = {source};")
        elif kind == "value_expr":
            lines.append(f"  {guard}node->{member} = {source};")
    return [f"  IntrusivePtr<{d.struct}Node> node;", "  if (record) {", *(f"  {line}" for line in lines), "  }"]


def keep_history(plan, attach, result, multi):
    """Statements that give the results their node, and the node what it keeps of them."""
    lines = [f"  {attach}"]
    for member, (mtype, kind, source, users) in plan.members.items():
        if kind == "output":
            value = f"std::get<{source}>({result})" if multi else result
            index = f", {source}" if multi else ""
            lines.append(f"  node->{member} = autograd::SavedTensor({value}, true{index});")
    return ["  if (node) {", *(f"  {line}" for line in lines), "  }"]


def flag_args(schema):
    return ", ".join(a.name for a in schema.args if a.type in ("Tensor", "Tensor?", "Tensor[]"))


def capturable(rt):
    return rt == "void" or re.fullmatch(r"Tensor|std::vector<Tensor>|std::tuple<(Tensor(, )?)+>", rt)


def captured(s, info, replay, rt, body):
    """`body` (statements) as a capture sees it: the call's arguments, the kernel now, and the kernel later."""
    if not capturable(rt):
        return f"[&] {{ const BelowDoorGuard whole; {body} }}()"
    adds = " ".join(f"c.add({a.name});" for a in grouped_args(s))
    return f"detail::captured<{rt}>({info}, {replay}, [&]([[maybe_unused]] capture::Call& c) {{ {adds} }}, [&] {{ {body} }})"


def replayed(s, name, rt, body):
    """The function that runs the kernel with recorded arguments. `body`: the call, as a statement or an expression."""
    if not capturable(rt):
        return []
    reads = "".join(f"  [[maybe_unused]] auto&& {a.name}_ = r.get(capture::As<{sch.param_type(a.type)}>());\n"
                    f"  [[maybe_unused]] auto&& {a.name} = capture::as_argument({a.name}_);\n" for a in grouped_args(s))
    run = f"{body};" if rt == "void" else f"capture::Results<{rt}>::put(call.results, {body});"
    return [f"static void {name}(const capture::Replay& call) {{\n  [[maybe_unused]] capture::Reader r(call);\n{reads}  {run}\n}}"]


def values_function(d, index):
    return f"{d.struct.lower()}_{index}_values"


def boxed_arguments(d, index, plist):
    """The function that boxes a call's arguments, for interceptors and reports: one, out of the way."""
    return f"static TAEDA_COLD std::vector<Value> {values_function(d, index)}({plist}) {{ return {boxed_values(d.schema)}; }}"


def door(d, index, info_table):
    """The free function, its slow side and its in-place form."""
    s = d.schema
    args = grouped_args(s)
    rt = sch.return_type(s)
    plist, call = params(args, False), names(args)
    out = []
    info = f"{info_table}[{index}]"
    target = f"ops::{d.struct}::forward({call})"
    if d.composite:
        out.append(f"{rt} {s.name}({plist}) {{ return {target}; }}")
        return out
    plan = NodePlan(d)
    differentiable = bool(plan.args)
    if differentiable:
        out.insert(0, "namespace {\n" + node_struct(d, plan, s.name) + "\n}  // namespace")
    flags = flag_args(s) if differentiable else ""
    inplace = s.inplace
    void = rt == "void"
    slow = f"{d.struct.lower()}_{index}_slow"
    replay = f"{d.struct.lower()}_{index}_replay"
    if not s.returns_view:
        out += replayed(s, replay, "void" if inplace else rt, target)
    out.append(boxed_arguments(d, index, plist))
    boxed = f"{values_function(d, index)}({call})"
    body = [f"static TAEDA_NOINLINE {rt} {slow}({plist}) {{"]
    body.append(f"  if (tls_modes.active & kModeIntercept) "
                + (f"{{ detail::intercept({info}, {boxed}); return {'const_cast<Tensor&>(self)' if inplace else ''}; }}"
                   if inplace or void else f"return detail::intercepted<{rt}>({info}, {boxed});"))
    multi = len(s.returns) > 1
    view = "true" if s.returns_view else "false"
    if differentiable:
        cond = " || ".join(f"detail::wants({a.name})" for a in plan.args)
        body.append(f"  const bool record = autograd::recording() && ({cond});")
        if inplace:
            body.append(f"  if (autograd::recording()) autograd::check_inplace(self, record, {c_string(s.name)});")
        if s.returns_view:
            body.append(f"  if (!record) return {target};")
        body += record_statements(d, plan, inplace)
        # What the forward calls is not recorded either.
        if inplace:
            below = captured(s, info, replay, "void", f"BelowDoorGuard below; {target};")
            body.append(f"  detail::mutate(self, [&] {{ {below}; }});")
            body += keep_history(plan, "autograd::rebase_history(self, node);", "self", False)
            body.append("  return const_cast<Tensor&>(self);")
        else:
            below = f"BelowDoorGuard below; return {target};"
            below = f"[&] {{ {below} }}()" if s.returns_view else captured(s, info, replay, rt, below)
            if not s.returns_view:
                body.append("  detail::tls_finite_blocks.clear();")
            body.append(f"  {rt} result = {below};")
            body += keep_history(plan, f"detail::set_histories<{view}>(result, node);", "result", multi)
            body.append("  return result;" if s.returns_view else
                        f"  return detail::checked({info}, std::move(result), [&] {{ return {boxed}; }});")
    else:
        if inplace:
            body.append(f"  if (autograd::recording()) autograd::check_inplace(self, detail::wants(self), {c_string(s.name)});")
            seen = captured(s, info, replay, "void", f"BelowDoorGuard below; {target};")
            body.append(f"  detail::mutate(self, [&] {{ {seen}; }}); return const_cast<Tensor&>(self);")
        elif void:
            body.append(f"  {target};")
        else:
            below = f"BelowDoorGuard below; return {target};"  # what the forward calls must not record either
            body.append(f"  return {target if s.returns_view else captured(s, info, replay, rt, below)};")
    body.append("}")
    out.append("\n".join(body))
    fast = [f"{rt} {s.name}({plist}) {{"]
    test = f"detail::needs_slow({flags})" if differentiable or inplace else "tls_modes.active"
    if inplace and not differentiable:
        test = "detail::needs_slow(self)"
    if not (inplace or differentiable or s.returns_view or is_factory(s)) and flag_args(s):
        test = f"detail::needs_slow({flag_args(s)})"
    if inplace:
        fast.append(f"  if (TAEDA_LIKELY(!{test})) {{ detail::mutate(self, [&] {{ {target}; }}); return const_cast<Tensor&>(self); }}")
        fast.append(f"  return {slow}({call});")
    elif is_factory(s):
        fast.append(f"  Tensor result = TAEDA_LIKELY(!{test}) ? {target} : {slow}({call});")
        fast.append("  if (options.requires_grad()) result.requires_grad_(true);")
        fast.append("  return result;")
    else:
        fast.append(f"  if (TAEDA_LIKELY(!{test})) return {target};")
        fast.append(f"  return {slow}({call});")
    fast.append("}")
    out.append("\n".join(fast))
    return out


def inplace_form(d, index, values, info_table):
    """`name_(self, …)` of an operator that declares `inplace = true`; `values`: the function that boxes its arguments."""
    s = d.schema
    name = s.name + "_"
    args = s.args
    plist, call = params(args, False), names(args)
    if d.composite:
        return [f"Tensor& {name}({plist}) {{ ops::{d.struct}::inplace({call}); return const_cast<Tensor&>(self); }}"]
    plan = NodePlan(d)
    target = f"ops::{d.struct}::forward({call})"
    if "into" in d.methods:
        write = f"detail::mutate(self, [&] {{ ops::{d.struct}::into(self, {call}); }})"
    else:
        write = f"detail::write_inplace(self, {target}, {c_string(name)})"
    slow = f"{d.struct.lower()}_{index}_inplace_slow"
    replay = f"{d.struct.lower()}_{index}_replay"
    seen = captured(s, f"{info_table}[{index}]", replay, "void", f"BelowDoorGuard below; {write};")
    body = [f"static TAEDA_NOINLINE Tensor& {slow}({plist}) {{"]
    body.append(f"  if (tls_modes.active & kModeIntercept) {{ detail::intercept({info_table}[{index}], {values}({call})); "
                "return const_cast<Tensor&>(self); }")
    if plan.args:
        cond = " || ".join(f"detail::wants({a.name})" for a in plan.args)
        body.append(f"  const bool record = autograd::recording() && ({cond});")
        body.append(f"  if (autograd::recording()) autograd::check_inplace(self, record, {c_string(name)});")
        body += record_statements(d, plan, True)
        body.append(f"  {seen};")
        body += keep_history(plan, "autograd::rebase_history(self, node);", "self", False)
    else:
        body.append(f"  if (autograd::recording()) autograd::check_inplace(self, detail::wants(self), {c_string(name)});")
        body.append(f"  {seen};")
    body.append("  return const_cast<Tensor&>(self);\n}")
    flags = flag_args(s)
    fast = (f"Tensor& {name}({plist}) {{\n  if (TAEDA_LIKELY(!detail::needs_slow({flags}))) {{ {write}; return const_cast<Tensor&>(self); }}\n"
            f"  return {slow}({call});\n}}")
    return replayed(s, replay, "void", write) + ["\n".join(body), fast]


def overlap_checks(d):
    """Refusals of an output that shares some memory with the arguments named by the flag `out_apart`."""
    lines = ""
    for name in d.flags.get("out_apart", "").strip('"').split():
        types = [a.type for a in d.schema.args if a.name == name]
        if types not in (["Tensor"], ["Tensor[]"]):
            d.fail(f"out_apart names '{name}', which is no tensor or list of tensors")
        each = f"for (const Tensor& t : {name}) " if types == ["Tensor[]"] else ""
        lines += f"  {each}if (out.defined()) detail::check_no_partial_overlap(out, {'t' if each else name}, {c_string(d.schema.name)});\n"
    return lines


def out_form(d):
    s = d.schema
    args = grouped_args(s)
    tensors = flag_args(s)
    called = f"taeda::{s.name}" if any(a.name == s.name for a in args) else s.name  # a parameter may hide the function
    guard = f"  detail::check_out(out, {c_string(s.name)}{', ' + tensors if tensors else ''});\n"
    guard += overlap_checks(d)
    given = ", ".join("detail::options_of(out)" if a.type == "TensorOptions" else a.name for a in args)
    return (f"Tensor& {s.name}_out(Tensor& out, {params(out_args(args), False)}) {{\n{guard}"
            f"  return detail::write_out(out, {called}({given}), {c_string(s.name)});\n}}")


def has_out(d):
    s = d.schema
    return s.returns == ["Tensor"] and not s.inplace and not s.returns_view and has(d, "function") and \
        d.flags.get("out", "true") != "false"


def gradient_text(d):
    if d.composite:
        return "composite"
    if d.grads:
        return "yes"
    if "no_grad" in d.flags:
        return "none: " + d.flags["no_grad"].strip('"')
    d.fail("has no gradient: define grad_<argument>(…) or grads(…), derive from Composite, or state `no_grad = \"reason\"`")


def emit_file(stem, definitions):
    """The text of generated <stem>.inc."""
    table = f"op_infos_{stem}"
    out = [BANNER, "namespace taeda {", f"extern const OpInfo {table}[];"]
    if any("out_apart" in d.flags for d in definitions):
        out.insert(1, '#include "taeda/ops/pointwise_engine.h"\n')
    rows, boxed = [], []
    for d in definitions:
        s = d.schema
        gradient = gradient_text(d)
        index = len(rows)
        out += door(d, index, table)
        box = f"{d.struct}_{index}_boxed"
        boxed.append(f"static Value {box}([[maybe_unused]] const Value* args) {{ {boxed_call('taeda::' + s.name, s)} }}")
        kind = "kComposite" if d.composite else "kView" if s.returns_view else "kInplace" if s.inplace else "kPlain"
        rows.append(op_info(d, s, box, kind, gradient))
        args = grouped_args(s)
        const_self = "const "
        if has(d, "method"):
            out.append(f"{sch.return_type(s)} Tensor::{s.name}({params(args, False, True)}) const {{ return taeda::{s.name}("
                       + ", ".join(["*this"] + [a.name for a in args[1:]]) + "); }")
        if d.flags.get("inplace") == "true":
            si = inplace_schema(s)
            values = values_function(d, index)
            index = len(rows)
            out += inplace_form(d, index, values, table)
            out.append(f"Tensor& Tensor::{s.name}_({params(args, False, True)}) const {{ return taeda::{s.name}_("
                       + ", ".join(["*this"] + [a.name for a in args[1:]]) + "); }")
            box = f"{d.struct}_{index}_boxed"
            boxed.append(f"static Value {box}(const Value* args) {{ {boxed_call('taeda::' + si.name, si)} }}")
            rows.append(op_info(d, si, box, "kInplace", gradient))
        if has_out(d):
            out.append(out_form(d))
    out += boxed
    out.append(f"extern constinit const OpInfo {table}[] = {{\n  " + ",\n  ".join(rows) + "};")
    out.append("}  // namespace taeda\n")
    return "\n".join(out), table, len(rows)


def declarations(d):
    """(free function declarations, method declarations)"""
    s = d.schema
    # Arguments named by the flag `no_cpp_default` must be given in C++, where a default would make overloads ambiguous.
    required = d.flags.get("no_cpp_default", "").strip('"').split()
    args = [replace(a, default=None) if a.name in required else a for a in grouped_args(s)]
    functions, methods = [], []
    doc = "".join(f"/// {line}\n" for line in d.doc.splitlines())
    rt = sch.return_type(s)
    functions.append(f"{doc}TAEDA_API {rt} {s.name}({params(args, True)});")
    if has(d, "method"):
        methods.append(f"  {rt} {s.name}({params(args, True, True)}) const;")
    if d.flags.get("inplace") == "true":
        functions.append(f"TAEDA_API Tensor& {s.name}_({params(args, True)});")
        methods.append(f"  Tensor& {s.name}_({params(args, True, True)}) const;")
    if has_out(d):
        functions.append(f"TAEDA_API Tensor& {s.name}_out(Tensor& out, {params(out_args(args), True)});")
    return functions, methods
