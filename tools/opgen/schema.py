# SPDX-License-Identifier: Apache-2.0
"""Operator schemas: parsing, and the C++ types that stand for schema types."""
import re
from dataclasses import dataclass, field


class SchemaError(Exception):
    pass


@dataclass
class Arg:
    type: str  # schema type without alias annotation, for example "Tensor?", "int[2]"
    name: str
    default: str | None = None
    kwarg_only: bool = False
    mutable: bool = False
    alias: bool = False


@dataclass
class Schema:
    text: str
    name: str
    overload: str
    args: list[Arg] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    return_names: list[str] = field(default_factory=list)
    returns_view: bool = False

    @property
    def inplace(self):
        return bool(self.args) and self.args[0].mutable

    def tensor_args(self):
        return [a for a in self.args if a.type in ("Tensor", "Tensor?", "Tensor[]")]


def split_top(text):
    """Splits at commas outside brackets and quotes."""
    parts, depth, quote, current = [], 0, None, ""
    for c in text:
        if quote:
            quote = None if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
            continue
        current += c
    if current.strip():
        parts.append(current.strip())
    return parts


def parse(text):
    m = re.fullmatch(r"([A-Za-z_]\w*)(?:\.(\w+))?\((.*)\) -> (.+)", text.strip(), re.S)
    if not m:
        raise SchemaError(f"not a schema: {text}")
    schema = Schema(text.strip(), m[1], m[2] or "")
    kwarg_only = False
    for part in split_top(m[3]):
        if part == "*":
            kwarg_only = True
            continue
        pm = re.fullmatch(r"(\w+)(\([a-z]!?\))?((?:\[\d*\])?\??(?:\[\])?\??) (\w+)(?:\s*=\s*(.+))?", part)
        if not pm:
            raise SchemaError(f"not an argument: '{part}' in {text}")
        alias = pm[2] or ""
        schema.args.append(
            Arg(pm[1].replace("SymInt", "int") + pm[3], pm[4], pm[5], kwarg_only, "!" in alias, bool(alias)))
    returns = m[4].strip()
    if returns.startswith("("):
        returns = split_top(returns[1:-1])
    else:
        returns = [returns]
    for r in returns:
        rm = re.fullmatch(r"(\w+)(\([a-z]!?\))?((?:\[\])?)(?: (\w+))?", r)
        if not rm:
            raise SchemaError(f"not a return: '{r}' in {text}")
        if rm[2] and "!" not in rm[2]:
            schema.returns_view = True
        schema.returns.append(rm[1] + rm[3])
        schema.return_names.append(rm[4] or "")
    return schema


_PARAM = {
    "Tensor": "const Tensor&",
    "Tensor?": "const std::optional<Tensor>&",
    "Tensor[]": "TensorList",
    "Tensor?[]": "const std::vector<std::optional<Tensor>>&",
    "Scalar": "const Scalar&",
    "Scalar?": "const std::optional<Scalar>&",
    "Scalar[]": "ArrayRef<Scalar>",
    "int": "int64_t",
    "int?": "std::optional<int64_t>",
    "float": "double",
    "float?": "std::optional<double>",
    "bool": "bool",
    "bool?": "std::optional<bool>",
    "str": "std::string_view",
    "str?": "std::optional<std::string_view>",
    "float[]": "ArrayRef<double>",
    "float[]?": "OptionalArrayRef<double>",
    "ScalarType": "ScalarType",
    "ScalarType?": "std::optional<ScalarType>",
    "Layout?": "std::optional<Layout>",
    "Device?": "std::optional<Device>",
    "MemoryFormat": "MemoryFormat",
    "MemoryFormat?": "std::optional<MemoryFormat>",
    "Generator?": "std::optional<Generator>",
    "TensorOptions": "const TensorOptions&",
}


def param_type(t):
    base = re.sub(r"\[\d+\]", "[]", t)
    if base == "int[]":
        return "IntArrayRef"
    if base == "int[]?":
        return "OptionalIntArrayRef"
    if base in _PARAM:
        return _PARAM[base]
    raise SchemaError(f"unknown schema type {t}")


def return_type(schema):
    single = {"Tensor": "Tensor", "Tensor[]": "std::vector<Tensor>", "bool": "bool", "int": "int64_t",
              "float": "double", "Scalar": "Scalar", "()": "void", "ScalarType": "ScalarType"}
    if schema.inplace:
        return "Tensor&"
    types = []
    for r in schema.returns:
        if r not in single:
            raise SchemaError(f"unknown return type {r} in {schema.text}")
        types.append(single[r])
    return types[0] if len(types) == 1 else "std::tuple<" + ", ".join(types) + ">"


def default_value(arg):
    """The C++ default for a schema default, or None."""
    d, t = arg.default, arg.type
    if d is None:
        return None
    if d == "None":
        return "{}" if t in ("Tensor?",) else "std::nullopt"
    if d in ("True", "False"):
        return d.lower()
    if t.startswith("int["):
        items = d.strip("[]")
        if not d.startswith("["):  # "int[2] stride=1"
            return f"static_cast<int64_t>({d})" if False else "{" + d + "}"
        return "{" + items + "}" if items else "IntArrayRef{}"
    if t.startswith("str"):
        return '"' + d.strip("'\"") + '"'
    if d == "contiguous_format":
        return "MemoryFormat::Contiguous"
    if d == "inf":
        return "std::numeric_limits<double>::infinity()"
    if d == "-inf":
        return "-std::numeric_limits<double>::infinity()"
    if d == "Mean":
        return "1"
    return d


def from_value(t, expr):
    """C++ expression turning a `const Value&` into an argument of schema type t."""
    base = re.sub(r"\[\d+\]", "[]", t)
    table = {
        "Tensor": f"{expr}.tensor()",
        "Tensor?": f"detail::opt_tensor({expr})",
        "Tensor[]": f"{expr}.tensor_list()",
        "Tensor?[]": f"{expr}.optional_tensor_list()",
        "Scalar": f"{expr}.to_scalar()",
        "Scalar?": f"detail::opt_scalar({expr})",
        "Scalar[]": f"{expr}.scalar_list()",
        "int": f"{expr}.to_int()",
        "int?": f"detail::opt_int({expr})",
        "int[]": f"{expr}.int_list()",
        "int[]?": f"detail::OptIntList({expr})",
        "float": f"{expr}.to_double()",
        "float?": f"detail::opt_double({expr})",
        "float[]": f"{expr}.double_list()",
        "float[]?": f"detail::OptDoubleList({expr})",
        "bool": f"{expr}.to_bool()",
        "bool?": f"detail::opt_bool({expr})",
        "str": f"{expr}.string()",
        "str?": f"detail::opt_string({expr})",
        "ScalarType": f"static_cast<ScalarType>({expr}.to_int())",
        "ScalarType?": f"detail::opt_enum<ScalarType>({expr})",
        "Layout?": f"detail::opt_enum<Layout>({expr})",
        "Device?": f"detail::opt_device({expr})",
        "MemoryFormat": f"static_cast<MemoryFormat>({expr}.to_int())",
        "MemoryFormat?": f"detail::opt_enum<MemoryFormat>({expr})",
        "Generator?": f"detail::opt_generator({expr})",
    }
    if base not in table:
        raise SchemaError(f"unknown schema type {t}")
    return table[base]
