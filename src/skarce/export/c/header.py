"""One C99 header for a described model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.c import careful
from skarce.export.c.arithmetic import Arithmetic
from skarce.export.c.heads import add_head, add_query_kernels, multiplications_of_classes, multiplications_of_numbers
from skarce.export.c.names import constants, in_comment, own_names, remark
from skarce.export.c.stages import Functions
from skarce.export.c.tables import Real, Tables
from skarce.export.columns import Columns
from skarce.export.description import CLASSES, COUNTS, MARGINS, Described
from skarce.export.heads import Head
from skarce.export.stages import Chain, Kernels, Stage, simplified
from skarce.likelihoods.bernoulli import MIXTURE


@dataclass(frozen=True)
class Size:
    """What a model costs on the device.

    Attributes
    ----------
    table_bytes : of constant tables, without those of the self-test
    stack_bytes : of buffers on the stack
    n_multiplications : in one prediction
    """

    table_bytes: int
    stack_bytes: int
    n_multiplications: int


@dataclass(frozen=True)
class Examples:
    """Rows with what Python predicts there: columns of means and stds, or of probabilities."""

    rows: Floats
    expected: Floats


class Header:
    """The parts of a header. `text` puts them together."""

    def __init__(self, described: Described, name: str, real: Real, *, has_std: bool, is_augmented: bool) -> None:
        self.described, self.name, self.real = described, name, real
        self.has_variance = described.is_moderated and (has_std or described.target == CLASSES)
        self.has_std, self.is_augmented = has_std and not described.has_classes, is_augmented
        self.tables = Tables(name, real)
        self.functions = Functions(self.tables, Arithmetic(self.tables))
        self._add_model()
        self._arithmetic = self.functions.arithmetic.lines()
        self.size = Size(self.tables.n_bytes, self._stack(), self.functions.n_multiplications + self._multiplications())

    # Cost -----------------------------------------------------------------------------------------------------------------

    def _stack(self) -> int:
        return self.real.size * (self.functions.n_buffered + self.described.n_functions + 2 * len(self.described.heads))

    def _multiplications(self) -> int:
        described, c_type, n_heads = self.described, self.real.c_type, len(self.described.heads)
        if described.target == CLASSES:
            return multiplications_of_classes(c_type, n_heads, len(MIXTURE) if described.is_moderated else 0)
        return multiplications_of_numbers(c_type, n_heads, is_counts=described.target == COUNTS, has_std=self.has_std)

    @property
    def macros(self) -> list[str]:
        """The macros that may be defined before the header."""
        upper = self.name.upper()
        return [*self.tables.reading.names(), f"{upper}_EXP(x)", f"{upper}_SQRT(x)"]

    # Functions ------------------------------------------------------------------------------------------------------------

    def _add_model(self) -> None:
        described = self.described
        taken = Columns.taking(np.array(described.used, dtype=np.intp), len(described.inputs))
        stages = simplified((taken, *described.stages))
        steps = self._steps(stages)
        heads = [self._add_head(head, number) for number, head in enumerate(described.heads)]
        if described.target == CLASSES:
            self._add_classes(steps, heads)
        elif described.target == MARGINS:
            self._add_margins(steps, heads)
        else:
            self._add_numbers(steps, heads)

    def _add_head(self, head: Head, number: int) -> str:
        if self.described.in_pairs:
            n_functions = self.described.n_functions
            return careful.add_head(self.functions, head, number, n_functions, has_variance=self.has_variance)
        return add_head(self.functions, head, number, has_variance=self.has_variance)

    def _steps(self, stages: Chain) -> list[str]:
        """Return the lines from x to the functions u. For the augmented std and for pairs, inputs of kernels stay in w."""
        in_pairs = self.described.in_pairs
        n, real = max(self.described.n_functions, 1) * (1 + in_pairs), f"{self.name}_real"
        if not (self.is_augmented or in_pairs):
            return [f"    {real} u[{n}];", f"    {self.functions.chain(stages)}(x, u);"]
        width = max(stages[-1].n_inputs, 1)
        self.functions.n_buffered += width
        before, last = self.functions.chain(stages[:-1]), self._last(stages[-1])
        return [f"    {real} u[{n}], w[{width}];", f"    {before}(x, w);", f"    {last}(w, u);"]

    def _last(self, stage: Stage) -> str:
        if self.described.in_pairs:
            assert isinstance(stage, Kernels)
            return careful.add_kernels(self.functions, stage)
        return self.functions.stage(stage)

    def _add_numbers(self, steps: list[str], heads: list[str]) -> None:
        real, functions, is_counts = f"{self.name}_real", self.functions, self.described.target == COUNTS
        body = []
        for number, head in enumerate(heads):
            mean, variance = f"mean[{number}]", f", std != 0 ? &std[{number}] : 0" if self.has_std else ""
            body.append(f"    {head}(u, &{mean}{variance});")
            if is_counts:
                body.append(f"    {mean} = {functions.arithmetic.exp()}({mean});")
            if self.has_std:
                body += ["    if (std != 0) {", *self._std_lines(number, is_counts=is_counts), "    }"]
        parameters = f"const {real} x[], {real} mean[]{f', {real} std[]' if self.has_std else ''}"
        what = (
            "Mean and std of a new observation at the raw row x. std may be a null pointer." if self.has_std else "The mean at x."
        )
        functions.lines += ["", f"/* {what} */", f"static inline void {self.name}_predict({parameters})"]
        functions.lines += ["{", *steps, *body, "}"]

    def _std_lines(self, number: int, *, is_counts: bool) -> list[str]:
        std, sqrt = f"std[{number}]", self.functions.arithmetic.sqrt()
        lines = []
        if self.is_augmented and self.described.query_kernels is not None:
            query = self.described.query_kernels[number]
            if not query.is_zero:
                beyond = add_query_kernels(self.functions, query, self.described.heads[number], number)
                lines.append(f"        {std} += {beyond}(w, u);")
        if is_counts:
            factor, mean = self.functions.number(self.described.temperature), f"mean[{number}]"
            return [*lines, f"        {std} = {sqrt}({factor} * ({mean} + {std} * {mean} * {mean}));"]
        return [*lines, f"        {std} = {sqrt}({std});"]

    def _add_classes(self, steps: list[str], heads: list[str]) -> None:
        real, functions, described = f"{self.name}_real", self.functions, self.described
        n_classes, one, zero = len(described.classes), functions.number(1.0), functions.number(0.0)
        exp = functions.arithmetic.exp()
        body = [f"    {real} odds, variance;"]
        for number, head in enumerate(heads):
            if described.is_moderated:
                body += [f"    {head}(u, &odds, &variance);", f"    odds = {functions.arithmetic.log_odds()}(odds, variance);"]
            else:
                body.append(f"    {head}(u, &odds);")
            if described.temperature != 1.0 and described.class_log_odds is not None:
                center = functions.number(described.class_log_odds[number])
                body.append(f"    odds = {center} + (odds - {center}) * {functions.number(1.0 / described.temperature)};")
            body.append(f"    proba[{number}] = odds;")
        if len(heads) == 1:
            body += [
                f"    variance = {exp}(odds < {zero} ? odds : -odds);",
                f"    proba[0] = (odds < {zero} ? {one} : variance) / ({one} + variance);",
                f"    proba[1] = (odds < {zero} ? variance : {one}) / ({one} + variance);",
            ]
        else:
            log, largest = functions.arithmetic.log(), functions.number(-self.real.largest)
            body += [
                f"    variance = {largest};",
                f"    for (i = 0; i < {n_classes}; ++i) {{",
                "        odds = proba[i];",
                f"        proba[i] = (odds < {zero} ? odds : {zero}) - {log}({one} + {exp}(odds < {zero} ? odds : -odds));",
                "        if (proba[i] > variance) variance = proba[i];",
                "    }",
                f"    odds = {zero};",
                f"    for (i = 0; i < {n_classes}; ++i) {{",
                f"        proba[i] = {exp}(proba[i] - variance);",
                "        odds += proba[i];",
                "    }",
                f"    for (i = 0; i < {n_classes}; ++i) proba[i] /= odds;",
            ]
            body.insert(1, "    int i;")
        functions.lines += [
            "",
            "/* The probability of each class at the raw row x. */",
            f"static inline void {self.name}_predict_proba(const {real} x[], {real} proba[])",
            "{",
            *steps[:1],
            *body[: 2 if len(heads) > 1 else 1],
            *steps[1:],
            *body[2 if len(heads) > 1 else 1 :],
            "}",
        ]
        self._add_choice("The most probable class at the raw row x, or -1 if that is NaN.", "predict_proba", n_classes)

    def _add_margins(self, steps: list[str], heads: list[str]) -> None:
        real = f"{self.name}_real"
        what = "The margin of the second class" if len(heads) == 1 else "The margin of each class against the rest"
        self.functions.lines += [
            "",
            f"/* {what} at the raw row x. */",
            f"static inline void {self.name}_decision_function(const {real} x[], {real} margins[])",
            "{",
            *steps,
            *(f"    {head}(u, &margins[{number}]);" for number, head in enumerate(heads)),
            "}",
        ]
        self._add_choice("The class of the largest margin at the raw row x, or -1 if it is NaN.", "decision_function", len(heads))

    def _add_choice(self, comment: str, function: str, n_values: int) -> None:
        """Add the function that returns the place of the largest value; of a single value, whether it is positive."""
        real = f"{self.name}_real"
        best = [
            "    int i, best = 0;",
            f"    {self.name}_{function}(x, values);",
            "    if (values[0] != values[0]) return -1;",
            f"    for (i = 1; i < {n_values}; ++i)",
            "        if (values[i] > values[best]) best = i;",
            "    return best;",
        ]
        sign = [
            f"    {self.name}_{function}(x, values);",
            f"    return values[0] != values[0] ? -1 : values[0] > {self.functions.number(0.0)};",
        ]
        self.functions.lines += [
            "",
            f"/* {comment} */",
            f"static inline int {self.name}_predict(const {real} x[])",
            "{",
            f"    {real} values[{n_values}];",
            *(best if n_values > 1 else sign),
            "}",
        ]

    # Text -----------------------------------------------------------------------------------------------------------------

    def text(self, examples: Examples, remarks: list[str]) -> str:
        """Return the header. `remarks` are lines of its comment on top."""
        guard, name = f"{self.name.upper()}_H", self.name
        test = self._selftest(examples)
        parts = [
            comment(remarks),
            [f"#ifndef {guard}", f"#define {guard}", "", *self.tables.reading.lines(), ""],
            [f"typedef {self.real.c_type} {name}_real;", "", *enumerations(name, self.described, own_names(name.upper())), ""],
            self.tables.lines,
            self._arithmetic,
            self.functions.lines,
            test,
            ["", f"#endif /* {guard} */", ""],
        ]
        return "\n".join(line for part in parts for line in part)

    def _selftest(self, examples: Examples) -> list[str]:
        name, real, n_rows = self.name, f"{self.name}_real", len(examples.rows)
        n_inputs, n_outputs = len(self.described.inputs), examples.expected.shape[1]
        tables = Tables(f"{name}_test", self.real)
        inputs, expected = tables.reals("inputs", examples.rows), tables.reals("outputs", examples.expected)
        lines = [
            line.replace(f"{name}_test_real", real).replace(f"{name.upper()}_TEST_STORAGE", f"{name.upper()}_STORAGE")
            for line in tables.lines
        ]
        half, most = n_outputs // 2, self.functions.number(self.real.largest)
        call = f"{name}_predict(x, found, found + {half});" if self.has_std else f"{name}_predict(x, found);"
        if self.described.has_classes:
            call = f"{name}_{'predict_proba' if self.described.target == CLASSES else 'decision_function'}(x, found);"
        read = f"{name.upper()}_READ"
        return [
            "",
            *lines,
            "",
            "/* The largest difference to what Python predicts, over the rows of the test. */",
            f"static inline {real} {name}_selftest(void)",
            "{",
            f"    {real} x[{n_inputs}], found[{n_outputs}], error, largest = {self.functions.number(0.0)};",
            "    int i, j;",
            f"    for (i = 0; i < {n_rows}; ++i) {{",
            f"        for (j = 0; j < {n_inputs}; ++j) x[j] = {read}({inputs}, i * {n_inputs} + j);",
            f"        {call}",
            f"        for (j = 0; j < {n_outputs}; ++j) {{",
            f"            error = found[j] - {read}({expected}, i * {n_outputs} + j);",
            f"            if (error < {self.functions.number(0.0)}) error = -error;",
            f"            if (!(error <= {most})) return {most};",
            "            if (error > largest) largest = error;",
            "        }",
            "    }",
            "    return largest;",
            "}",
        ]


def comment(remarks: list[str]) -> list[str]:
    """Return lines as a comment."""
    return ["/*", *(f" * {in_comment(line)}".rstrip() for line in remarks), " */"]


def enumerations(name: str, described: Described, taken: set[str], missing: str = "NaN") -> list[str]:
    """Return the numbers of inputs and outputs, places of inputs, codes of texts, and classes, by names that are not taken.

    `missing` is the input that stands for a missing one.
    """
    prefix = name.upper()
    n_outputs = len(described.classes) if described.target == CLASSES else len(described.heads)
    lines = [f"#define {prefix}_N_INPUTS {len(described.inputs)}", f"#define {prefix}_N_OUTPUTS {n_outputs}", ""]
    inputs = [one.name for one in described.inputs]
    lines += _enumeration("Places of the inputs in x.", inputs, constants(f"{prefix}_INPUT", inputs, taken))
    for one, column in zip(described.inputs, constants(prefix, inputs, set()), strict=True):
        if one.categories is None:
            continue
        codes = constants(column, one.categories, taken)
        unknown = f"Codes of {one.name}. Any other number is a text that was not in the training rows"
        if one.gaps.code is None:
            lines += _enumeration(f"{unknown}, and so is {missing}, missing text.", one.categories, codes)
            continue
        if_missing = constants(column, ["if missing"], taken)[0]
        lines += _enumeration(f"{unknown}. Missing text is {missing}, or {if_missing}.", one.categories, codes)
        lines += [f"#define {if_missing} {codes[one.gaps.code]}", ""]
    if described.has_classes:
        lines += _enumeration("The classes.", described.classes, constants(f"{prefix}_CLASS", described.classes, taken))
    return lines


def _enumeration(comment: str, texts: Sequence[Any], names: list[str]) -> list[str]:
    last = len(names) - 1
    pairs = enumerate(zip(names, texts, strict=True))
    cells = [f"    {name} = {place}{',' * (place < last)} {remark(text)}" for place, (name, text) in pairs]
    return [f"/* {in_comment(comment)} */", "enum {", *cells, "};", ""]
