"""One C99 header for a model in whole numbers."""

from __future__ import annotations

import numpy as np

from skarce.export.c.fixed_class_code import class_code, probability_lines
from skarce.export.c.fixed_classes import ONE
from skarce.export.c.fixed_columns import column_lines
from skarce.export.c.fixed_numbers import EXPONENT_BITS, LOG2E, UNIT_BITS, integer_root, power_terms, rounded
from skarce.export.c.fixed_point import FACTOR_BITS, FixedHead, FixedPoint
from skarce.export.c.fixed_tables import FixedTables
from skarce.export.c.header import Examples, Size, comment, enumerations
from skarce.export.c.names import constants, own_names
from skarce.export.columns import Lookup

ARITHMETIC = """
/* value / 2^bits, rounded to the nearest. */
static inline int64_t NAME_round(int64_t value, int bits)
{
    const int64_t half = ((int64_t)1 << bits) / 2;
    return value >= 0 ? (value + half) >> bits : -((half - value) >> bits);
}

/* The square root, rounded down. */
static inline int64_t NAME_root(int64_t value)
{
    uint64_t rest = (uint64_t)value, root = 0, bit = (uint64_t)1 << 62;
    while (bit > rest) bit >>= 2;
    for (; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (int64_t)root;
}
"""


class FixedHeader:
    """The parts of a header. `text` puts them together."""

    def __init__(self, model: FixedPoint, name: str) -> None:
        self.model, self.name, self.upper = model, name, name.upper()
        self.tables = FixedTables(name, model.kind)
        self.n_multiplications = 0
        self.code = ARITHMETIC.replace("NAME_", f"{name}_").splitlines()
        self._add_columns()
        if model.kernels is not None:
            self._add_kernels()
        heads = [self._add_head(head, number) for number, head in enumerate(model.heads)]
        if model.has_classes:
            self._add_classes(heads)
        else:
            self._add_predict(heads)
        self.size = Size(self.tables.n_bytes, self._stack(), self.n_multiplications)

    def _stack(self) -> int:
        n = len(self.model.described.heads[0].weights)
        return 4 * (len(self.model.columns) + self.model.described.n_functions + n)

    @property
    def macros(self) -> list[str]:
        """The macros that may be defined before the header."""
        return self.tables.reading.names()

    # Columns and kernels --------------------------------------------------------------------------------------------------

    def _add_columns(self) -> None:
        body = column_lines(self.model, self.tables)
        self.n_multiplications += sum(not isinstance(column.item, Lookup) for column in self.model.columns)
        head = f"static inline void {self.name}_columns(const {self.name}_real x[], int32_t u[])"
        self.code += ["", "/* Scaled numbers, and values of categories. */", head, "{", *(f"    {line}" for line in body), "}"]

    def _add_kernels(self) -> None:
        model, kernels = self.model, self.model.kernels
        assert kernels is not None
        centers, n_inputs, kind = self.tables.numbers("centers", model.centers), kernels.n_inputs, model.kind
        d = f"(int64_t)u[j] - (int64_t){self.tables.read(centers, f'i * {n_inputs} + j')} * {1 << model.finer}"
        step = "total += d < 0 ? -d : d;" if kernels.kind == "laplacian" else f"total += (d * d) >> {kind.squares_dropped};"
        root = [f"        total = {self.name}_root(total);"] if kernels.kind.startswith("matern") else []
        self.n_multiplications += kernels.n_outputs * (n_inputs + kind.degree + 3)
        self.code += [
            "",
            f"/* {kernels.n_outputs} {kernels.kind} kernels of {n_inputs} columns. */",
            f"static inline void {self.name}_kernels(const int32_t u[], int32_t v[])",
            "{",
            "    int64_t total, d, t, w;",
            "    int i, j;",
            f"    for (i = 0; i < {kernels.n_outputs}; ++i) {{",
            "        total = 0;",
            f"        for (j = 0; j < {n_inputs}; ++j) {{",
            f"            d = {d};",
            f"            {step}",
            "        }",
            *root,
            f"        if (total >= {model.farthest}) {{",
            "            v[i] = 0;",
            "            continue;",
            "        }",
            *(f"        {line}" for line in self._shape(kernels.kind)),
            "    }",
            "}",
        ]

    def _shape(self, kind: str) -> list[str]:
        """Return the lines that turn a distance into the value of a kernel."""
        name, drop = self.name, self.model.distance_bits - EXPONENT_BITS
        terms = power_terms(self.model.kind)
        lines = [
            f"t = {f'{name}_round(total, {drop})' if drop >= 0 else f'total * {1 << -drop}'};",
            f"w = {name}_round(t * {LOG2E}, {UNIT_BITS});",
            f"d = w & {(1 << EXPONENT_BITS) - 1};",
            f"total = {terms[-1]};",
            *(f"total = {term} + {name}_round(total * d, {EXPONENT_BITS});" for term in terms[-2::-1]),
            f"total >>= w >> {EXPONENT_BITS};",
        ]
        if kind.startswith("matern"):
            square = f" + (t * t >> {2 * EXPONENT_BITS - FACTOR_BITS}) / 3" if kind == "matern52" else ""
            factor = f"({1 << FACTOR_BITS} + {name}_round(t, {EXPONENT_BITS - FACTOR_BITS}){square})"
            lines.append(f"total = {name}_round({factor} * total, {FACTOR_BITS});")
        return [*lines, "v[i] = (int32_t)total;"]

    # Heads ----------------------------------------------------------------------------------------------------------------

    def _add_head(self, head: FixedHead, number: int) -> str:
        model, name, n = self.model, f"{self.name}_target{number}", len(head.weights)
        weights, lost = self.tables.numbers("weights", head.weights), model.kind.dropped
        is_whole = (head.head.places == np.arange(n)).all()
        place = "i" if is_whole else self.tables.read(self.tables.places("places", head.head.places), "i")
        step = f"v[{place}]"
        if head.center.any():
            center = self.tables.read(self.tables.numbers("center", head.center), "i")
            step = f"(int32_t)({step} - (int64_t){center} * {1 << model.center_drop})"
        std = f", {self.name}_real *std" if model.has_std else ""
        self.n_multiplications += n
        self.code += [
            "",
            f"/* Mean{' and std' if model.has_std else ''} from {n} functions. */",
            f"static inline void {name}(const int32_t v[], {self.name}_real *mean{std})",
            "{",
            f"    int32_t steps[{max(n, 1)}];",
            "    int64_t total = 0;",
            "    int i;",
            f"    for (i = 0; i < {n}; ++i) {{",
            f"        steps[i] = {step};",
            f"        total += {self.name}_round((int64_t){self.tables.read(weights, 'i')} * steps[i], {lost});",
            "    }",
            f"    *mean = ({self.name}_real)({head.level} + {self.name}_round(total, {head.weight_drop}));",
            *(self._std(head, n) if model.has_std else []),
            *(["    (void)v;", "    (void)steps;"] if n == 0 else []),
            "}",
        ]
        return name

    def _std(self, head: FixedHead, n: int) -> list[str]:
        model, lost = self.model, self.model.kind.dropped
        if not len(head.root):
            std = rounded(integer_root(np.array(head.base)), model.part_bits - model.output_bits)
            return [f"    if (std != 0) *std = ({self.name}_real){int(std)};"]
        root, drops = self.tables.numbers("root", head.root[np.tril_indices(n)]), self.tables.places("drops", head.root_drops)
        self.n_multiplications += n * (n + 1) // 2 + n
        entry = self.tables.read(root, "i * (i + 1) / 2 + j")
        return [
            "    if (std != 0) {",
            "        int64_t part;",
            "        int j;",
            f"        total = {head.base};",
            f"        for (i = 0; i < {n}; ++i) {{",
            "            part = 0;",
            f"            for (j = 0; j <= i; ++j) part += {self.name}_round((int64_t){entry} * steps[j], {lost});",
            f"            part = {self.name}_round(part, (int){self.tables.read(drops, 'i')}){self._offset(head)};",
            "            total += part * part;",
            "        }",
            f"        total = {self.name}_round({self.name}_root(total), {model.part_bits - model.output_bits});",
            f"        *std = ({self.name}_real)total;",
            "    }",
        ]

    def _offset(self, head: FixedHead) -> str:
        """Return what is added to a part of the variance."""
        if not head.offset.any():
            return ""
        return f" + {self.tables.read(self.tables.longs('offset', head.offset), 'i')}"

    def _functions_at(self) -> tuple[list[str], str]:
        """Return the lines from x to the functions of the model, and in which buffer these are."""
        n_columns, n_functions = max(len(self.model.columns), 1), max(self.model.described.n_functions, 1)
        if self.model.kernels is None:
            return [f"    int32_t u[{n_columns}];", f"    {self.name}_columns(x, u);"], "u"
        buffers = f"    int32_t u[{n_columns}], v[{n_functions}];"
        return [buffers, f"    {self.name}_columns(x, u);", f"    {self.name}_kernels(u, v);"], "v"

    def _add_predict(self, heads: list[str]) -> None:
        model, real = self.model, f"{self.name}_real"
        std = f", {real} std[]" if model.has_std else ""
        lines, source = self._functions_at()
        for number, head in enumerate(heads):
            end = f", std != 0 ? &std[{number}] : 0" if model.has_std else ""
            lines.append(f"    {head}({source}, &mean[{number}]{end});")
        self.code += [
            "",
            f"/* Mean{' and std of a new observation' if model.has_std else ''} at the raw row x, in whole numbers. */",
            f"static inline void {self.name}_predict(const {real} x[], {real} mean[]{std})",
            "{",
            *lines,
            "}",
        ]

    def _add_classes(self, heads: list[str]) -> None:
        model, real, n_classes = self.model, f"{self.name}_real", len(self.model.described.classes)
        functions, n_multiplications = class_code(model, self.name)
        self.n_multiplications += n_multiplications
        (buffers, *steps), source = self._functions_at()
        for number, head in enumerate(heads):
            steps.append(f"    {head}({source}, &mean{', &std' if model.has_std else ''});")
            steps += probability_lines(model, self.name, number)
            steps.append(f"    proba[{number}] = ({real})p;")
        ends = [f"    proba[0] = ({real})({ONE} - p);", f"    proba[1] = ({real})p;"]
        if len(heads) > 1:
            ends = [
                "    p = 0;",
                f"    for (i = 0; i < {n_classes}; ++i) p += proba[i];",
                f"    for (i = 0; i < {n_classes}; ++i) proba[i] = ({real})((int64_t)proba[i] * {ONE} / p);",
            ]
        self.code += [
            *functions,
            "",
            "/* The probability of each class at the raw row x, in whole numbers. */",
            f"static inline void {self.name}_predict_proba(const {real} x[], {real} proba[])",
            "{",
            buffers,
            f"    {real} mean{', std' if model.has_std else ''};",
            "    int64_t p;",
            *(["    int i;"] if len(heads) > 1 else []),
            *steps,
            *ends,
            "}",
            "",
            "/* The most probable class at the raw row x. */",
            f"static inline int {self.name}_predict(const {real} x[])",
            "{",
            f"    {real} proba[{n_classes}];",
            "    int i, best = 0;",
            f"    {self.name}_predict_proba(x, proba);",
            f"    for (i = 1; i < {n_classes}; ++i)",
            "        if (proba[i] > proba[best]) best = i;",
            "    return best;",
            "}",
        ]

    # Text -----------------------------------------------------------------------------------------------------------------

    def text(self, examples: Examples, remarks: list[str]) -> str:
        """Return the header. `remarks` are lines of its comment on top."""
        guard, upper, taken = f"{self.upper}_H", self.upper, own_names(self.upper)
        selftest = self._selftest(examples)
        parts = [
            comment(remarks),
            [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", "", *self.tables.reading.lines(), ""],
            [f"typedef int32_t {self.name}_real;", f"#define {upper}_MISSING INT32_MIN", "", *self._scales(taken), ""],
            enumerations(self.name, self.model.described, taken, f"{upper}_MISSING"),
            selftest,
            ["", f"#endif /* {guard} */", ""],
        ]
        before, after = parts[:4], parts[4:]
        return "\n".join(line for part in (*before, self.tables.lines, self.code, *after) for line in part)

    def _scales(self, taken: set[str]) -> list[str]:
        """Return the factors between numbers and whole numbers."""
        model, described = self.model, self.model.described
        names = constants(f"{self.upper}_SCALE", [one.name for one in described.inputs], taken)
        lines = ["/* x[i] is the number times its scale, rounded. */"]
        for place, bits in zip(described.used, model.input_bits, strict=True):
            lines.append(f"#define {names[place]} {_power_of_two(bits)}")
        return [
            *lines,
            f"/* {'Probabilities' if model.has_classes else 'mean and std'} are numbers times this. */",
            f"#define {self.upper}_OUTPUT_SCALE {_power_of_two(model.result_bits)}",
        ]

    def _selftest(self, examples: Examples) -> list[str]:
        name, real, model = self.name, f"{self.name}_real", self.model
        n_inputs, n_outputs, n_rows = len(model.described.inputs), examples.expected.shape[1], len(examples.rows)
        expected = np.rint(np.ldexp(examples.expected, model.result_bits)).astype(np.int64)
        call = f"{name}_predict(x, found, found + {n_outputs // 2});" if model.has_std else f"{name}_predict(x, found);"
        call = f"{name}_predict_proba(x, found);" if model.has_classes else call
        (inputs, outputs), tables = self.tables.of_test(model.inputs(examples.rows), expected)
        return [
            "",
            *tables,
            "",
            "/* The largest difference to what Python predicts, over the rows of the test, times the scale of the output. */",
            f"static inline {real} {name}_selftest(void)",
            "{",
            f"    {real} x[{n_inputs}], found[{n_outputs}];",
            "    int64_t error, largest = 0;",
            "    int i, j;",
            f"    for (i = 0; i < {n_rows}; ++i) {{",
            f"        for (j = 0; j < {n_inputs}; ++j) x[j] = {self.tables.read(inputs, f'i * {n_inputs} + j')};",
            f"        {call}",
            f"        for (j = 0; j < {n_outputs}; ++j) {{",
            f"            error = (int64_t)found[j] - {self.tables.read(outputs, f'i * {n_outputs} + j')};",
            "            if (error < 0) error = -error;",
            "            if (error > largest) largest = error;",
            "        }",
            "    }",
            f"    return ({real})largest;",
            "}",
        ]


def _power_of_two(bits: int) -> str:
    text = f"{float(np.ldexp(1.0, bits)):.17g}"
    return text if any(letter in text for letter in ".e") else f"{text}.0"
