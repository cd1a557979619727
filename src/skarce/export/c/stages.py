"""The stages of a model as functions in C."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skarce._typing import Floats
from skarce.export.c.arithmetic import EXP_MULTIPLICATIONS, SQRT_MULTIPLICATIONS, Arithmetic
from skarce.export.c.tables import Tables
from skarce.export.columns import Columns, Lookup, Number
from skarce.export.stages import VANISHED, Chain, Kernels, Mixture, Products, SideBySide, Spline, Splines, Stage
from skarce.export.transformers import ExportError


@dataclass
class Functions:
    """The functions of a model in C, and what they cost.

    Attributes
    ----------
    tables, arithmetic : constants, and elementary functions
    lines : definitions so far
    n_multiplications : in one call of all of them, if each is called once
    n_buffered : numbers in buffers on the stack, of all functions together
    """

    tables: Tables
    arithmetic: Arithmetic
    lines: list[str] = field(default_factory=list)
    n_multiplications: int = 0
    n_buffered: int = 0
    _n_functions: int = 0
    _kernel_names: dict[tuple[str, int, float, int], str] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """How all names begin."""
        return self.tables.prefix

    def read(self, table: str, place: str) -> str:
        """Return the expression of an entry of a table."""
        return self.tables.read(table, place)

    def number(self, value: float) -> str:
        """Return a literal."""
        return self.tables.real.literal(value)

    def add(self, comment: str, body: list[str]) -> str:
        """Add a function from columns u to columns v, and return its name."""
        name = f"{self.prefix}_step{self._n_functions}"
        self._n_functions += 1
        real = f"{self.prefix}_real"
        head = ["", f"/* {comment} */", f"static inline void {name}(const {real} u[], {real} v[])"]
        self.lines += [*head, "{", *(f"    {line}" for line in body), "}"]
        return name

    def chain(self, chain: Chain) -> str:
        """Add the functions of a chain, and return the name of one that calls them one after the other."""
        names = [self.stage(stage) for stage in chain]
        if len(names) == 1:
            return names[0]
        real = f"{self.prefix}_real"
        sizes = [max(stage.n_outputs, 1) for stage in chain[:-1]]
        self.n_buffered += sum(sizes)
        buffers = [f"{real} {BUFFERS[place % 2]}{place}[{size}];" for place, size in enumerate(sizes)]
        ends = ["u", *(f"{BUFFERS[place % 2]}{place}" for place in range(len(sizes))), "v"]
        calls = [f"{name}({ends[place]}, {ends[place + 1]});" for place, name in enumerate(names)]
        return self.add("From one step to the next.", [*buffers, *calls])

    def stage(self, stage: Stage) -> str:
        """Add the function of a stage, and return its name."""
        if isinstance(stage, Columns):
            return self._columns(stage)
        if isinstance(stage, Kernels):
            return self._kernels(stage)
        if isinstance(stage, Products):
            return self._products(stage)
        if isinstance(stage, Splines):
            return self._splines(stage)
        if isinstance(stage, Mixture):
            return self._mixture(stage)
        if isinstance(stage, SideBySide):
            return self._side_by_side(stage)
        raise ExportError(f"{type(stage).__name__} cannot be written in C.")

    # Columns --------------------------------------------------------------------------------------------------------------

    def _columns(self, stage: Columns) -> str:
        numbers = [(place, item) for place, item in enumerate(stage.items) if isinstance(item, Number)]
        lookups = [(place, item) for place, item in enumerate(stage.items) if isinstance(item, Lookup)]
        body = [f"{self.prefix}_real value;", "int i;"]
        if lookups:
            body.append("int j;")
        if not stage.items:
            return self.add("Nothing.", ["(void)u;", "v[0] = u[0];"])
        if numbers:
            body += self._numbers(numbers)
        if lookups:
            body += self._lookups(lookups)
        return self.add("Scaled numbers, and values of categories.", body)

    def _numbers(self, numbers: list[tuple[int, Number]]) -> list[str]:
        items = [item for _, item in numbers]
        sources = self.tables.places("sources", [item.source for item in items])
        lines = [f"value = u[{self.read(sources, 'i')}];"]
        value = "value"
        if any(item.center for item in items):
            value = f"({value} - {self.read(self.tables.reals('shifts', [item.center for item in items]), 'i')})"
        if any(item.factor != 1.0 for item in items):
            value = f"{value} * {self.read(self.tables.reals('factors', [item.factor for item in items]), 'i')}"
            self.n_multiplications += len(items)
        filled = [item for item in items if not np.isnan(item.missing)]
        if filled:
            fills = self.tables.reals("fills", [0.0 if np.isnan(item.missing) else item.missing for item in items])
            guard = "value != value"
            if len(filled) < len(items):
                guard += f" && {self.read(self.tables.places('filled', [not np.isnan(i.missing) for i in items]), 'i')} != 0"
            value = f"{guard} ? {self.read(fills, 'i')} : {value}"
        if value != "value":
            lines.append(f"value = {value};")
        if any(item.lower > -np.inf or item.upper < np.inf for item in items):
            lower = self.read(self.tables.reals("lowest", [item.lower for item in items]), "i")
            upper = self.read(self.tables.reals("highest", [item.upper for item in items]), "i")
            lines += [f"if (value < {lower}) value = {lower};", f"if (value > {upper}) value = {upper};"]
        return [*self._loop([place for place, _ in numbers], lines)]

    def _lookups(self, lookups: list[tuple[int, Lookup]]) -> list[str]:
        items = [item for _, item in lookups]
        starts = self.tables.places("starts", np.cumsum([0, *(len(item.keys) for item in items)]))
        keys = self.tables.reals("keys", [key for item in items for key in item.keys])
        results = self.tables.reals("results", [result for item in items for result in item.results])
        sources = self.tables.places("sources", [item.source for item in items])
        otherwise = self.tables.reals("otherwise", [item.otherwise for item in items])
        missing = self.tables.reals("missing", [item.otherwise if np.isnan(item.missing) else item.missing for item in items])
        source = f"u[{self.read(sources, 'i')}]"
        lines = [
            f"value = {source} != {source} ? {self.read(missing, 'i')} : {self.read(otherwise, 'i')};",
            f"for (j = (int){self.read(starts, 'i')}; j < (int){self.read(starts, 'i + 1')}; ++j)",
            f"    if ({source} == {self.read(keys, 'j')}) value = {self.read(results, 'j')};",
        ]
        return self._loop([place for place, _ in lookups], lines)

    def _loop(self, outputs: list[int], lines: list[str]) -> list[str]:
        """Return a loop that writes the value that `lines` compute to each output."""
        is_straight = outputs == list(range(len(outputs)))
        to = "i" if is_straight else self.read(self.tables.places("outputs", outputs), "i")
        head = f"for (i = 0; i < {len(outputs)}; ++i) {{"
        return [head, *(f"    {line}" for line in lines), f"    v[{to}] = value;", "}"]

    # Kernels --------------------------------------------------------------------------------------------------------------

    def _kernels(self, stage: Kernels) -> str:
        function = self.kernel(stage)
        centers = self.tables.reals("centers", stage.centers)
        self.n_multiplications += stage.n_outputs * self.multiplications_of(stage)
        body = [
            "int i;",
            f"for (i = 0; i < {stage.n_outputs}; ++i) v[i] = {function}(u, {centers}, i * {stage.n_inputs});",
        ]
        return self.add(f"{stage.n_outputs} {stage.kind} kernels of {stage.n_inputs} columns.", body)

    def kernel(self, stage: Kernels) -> str:
        """Add a function k(u, row of a table), and return its name."""
        key, real = (stage.kind, stage.n_inputs, stage.coef0, stage.degree), f"{self.prefix}_real"
        if key in self._kernel_names:
            return self._kernel_names[key]
        name = self._kernel_names[key] = f"{self.prefix}_kernel{len(self._kernel_names)}"
        is_product = stage.kind in ("polynomial", "linear", "sigmoid", "cosine")
        cell = "READ(centers, start + j)".replace("READ", f"{self.prefix.upper()}_READ")
        zero = self.number(0.0)
        step = [f"total += u[j] * {cell};"] if is_product else [f"d = u[j] - {cell};", "total += d * d;"]
        if stage.kind == "laplacian":
            step[1] = f"total += d < {zero} ? -d : d;"
        if stage.kind == "cosine":
            step.append("length += u[j] * u[j];")
        more = {"cosine": f", length = {zero}"}.get(stage.kind, "" if is_product else ", d")
        self.lines += [
            "",
            f"/* The {stage.kind} kernel of a row and a center. Its width is in the scale of both. */",
            f"static inline {real} {name}(const {real} u[], const {real} centers[], int start)",
            "{",
            f"    {real} total = {zero}{more};",
            "    int j;",
            f"    for (j = 0; j < {stage.n_inputs}; ++j) {{",
            *(f"        {line}" for line in step),
            "    }",
            *(f"    {line}" for line in self.shaped(stage)),
            "}",
        ]
        return name

    def shaped(self, stage: Kernels) -> list[str]:
        """Return the lines that turn the sum over inputs into the value of a kernel."""
        kind, one, zero = stage.kind, self.number(1.0), self.number(0.0)
        if kind in ("rbf", "laplacian"):
            return [f"return {self.arithmetic.exp()}(-total);"]
        if kind in ("matern32", "matern52"):
            square = f" + total * total * {self.number(1.0 / 3.0)}" if kind == "matern52" else ""
            return [
                f"total = {self.arithmetic.sqrt()}(total);",
                f"if (total > {self.number(VANISHED)}) return {zero};",
                f"return ({one} + total{square}) * {self.arithmetic.exp()}(-total);",
            ]
        if kind == "polynomial":
            return [f"total += {self.number(stage.coef0)};", f"return {' * '.join(['total'] * stage.degree)};"]
        if kind == "sigmoid":
            return [f"return {self.arithmetic.tanh()}(total + {self.number(stage.coef0)});"]
        if kind == "cosine":
            return [f"return length <= {zero} ? {zero} : total / {self.arithmetic.sqrt()}(length);"]
        return ["return total;"]

    def multiplications_of(self, stage: Kernels) -> int:
        """Return the number of multiplications in one kernel."""
        c_type, per_input = self.tables.real.c_type, {"laplacian": 0, "cosine": 2}.get(stage.kind, 1)
        exp, sqrt = EXP_MULTIPLICATIONS[c_type], SQRT_MULTIPLICATIONS[c_type]
        shape = {
            "rbf": exp,
            "laplacian": exp,
            "matern32": exp + sqrt + 1,
            "matern52": exp + sqrt + 3,
            "polynomial": stage.degree - 1,
            "sigmoid": exp + 2,
            "cosine": sqrt + 1,
        }
        return per_input * stage.n_inputs + shape.get(stage.kind, 0)

    # Polynomials, splines, sums -------------------------------------------------------------------------------------------

    def _products(self, stage: Products) -> str:
        largest, real = stage.largest, f"{self.prefix}_real"
        offsets = np.cumsum([0, *largest[:-1]]).astype(int) if len(largest) else np.zeros(0, dtype=int)
        total = int(largest.sum())
        outputs, inputs = np.nonzero(stage.degrees)
        factors = self.tables.places("factors", offsets[inputs] + stage.degrees[outputs, inputs] - 1)
        starts = self.tables.places("starts", np.searchsorted(outputs, np.arange(stage.n_outputs + 1)))
        body = [f"{real} powers[{max(total, 1)}];", f"{real} product;", "int i, j;"]
        self.n_buffered += max(total, 1)
        if total:
            body += self._recurrence(stage, offsets, largest)
        else:
            body += ["(void)u;", f"powers[0] = {self.number(1.0)};"]
        body += [
            f"for (i = 0; i < {stage.n_outputs}; ++i) {{",
            f"    product = {self.number(1.0)};",
            f"    for (j = (int){self.read(starts, 'i')}; j < (int){self.read(starts, 'i + 1')}; ++j)",
            f"        product *= powers[{self.read(factors, 'j')}];",
            "    v[i] = product;",
            "}",
        ]
        self.n_multiplications += 3 * total + len(outputs)
        return self.add("Products of polynomials of single columns.", body)

    def _recurrence(self, stage: Products, offsets: Floats, largest: Floats) -> list[str]:
        """Return the lines that compute the polynomials of each column from degree 1 on."""

        def listed(table: Floats) -> list[float]:
            return [float(value) for row, most in zip(table, largest, strict=True) for value in row[:most]]

        shift, back, gain = (self.tables.reals(label, listed(getattr(stage, label))) for label in ("shift", "back", "gain"))
        begin = self.tables.places("begins", [*offsets, int(largest.sum())])
        last = f"j > (int){self.read(begin, 'i')}"
        beyond = f"j > (int){self.read(begin, 'i')} + 1"
        one = self.number(1.0)
        return [
            f"for (i = 0; i < {stage.n_inputs}; ++i)",
            f"    for (j = (int){self.read(begin, 'i')}; j < (int){self.read(begin, 'i + 1')}; ++j) {{",
            f"        product = u[i] - {self.read(shift, 'j')};",
            f"        if ({last}) product = product * powers[j - 1] - {self.read(back, 'j')} * ({beyond} ? powers[j - 2] : {one});",
            f"        powers[j] = product * {self.read(gain, 'j')};",
            "    }",
        ]

    def _splines(self, stage: Splines) -> str:
        body, start = [f"{self.prefix}_real z;", "int i, piece;"], 0
        for part in stage.parts:
            body += self._spline(part, start)
            start += part.coefficients.shape[2]
        return self.add("Splines, as polynomials of pieces.", body)

    def _spline(self, part: Spline, start: int) -> list[str]:
        n_outputs, n_terms = part.coefficients.shape[2], part.coefficients.shape[1]
        starts, origins = self.tables.reals("knots", part.starts), self.tables.reals("origins", part.origins)
        coefficients = self.tables.reals("pieces", part.coefficients.transpose(0, 2, 1))
        lines = [f"z = u[{part.source}];"]
        if part.period:
            lines.append(f"z = {self._wrap()}(z, {self.number(part.lower)}, {self.number(part.period)});")
        elif np.isfinite(part.lower):
            lines += [
                f"if (z < {self.number(end)}) z = {self.number(end)};".replace("<", way)
                for way, end in (("<", part.lower), (">", part.upper))
            ]
        value = self.read(coefficients, f"(piece * {n_outputs} + i) * {n_terms} + {n_terms - 1}")
        for term in range(n_terms - 2, -1, -1):
            value = f"({value}) * z + {self.read(coefficients, f'(piece * {n_outputs} + i) * {n_terms} + {term}')}"
        self.n_multiplications += n_outputs * (n_terms - 1)
        return [
            *lines,
            f"for (piece = 0; piece < {len(part.starts)} && z >= {self.read(starts, 'piece')}; ++piece) {{ }}",
            f"z -= {self.read(origins, 'piece')};",
            f"for (i = 0; i < {n_outputs}; ++i) v[{start} + i] = {value};",
        ]

    def _wrap(self) -> str:
        """Add a function that moves a number into the first period, and return its name."""
        name, real = f"{self.prefix}_wrapped", f"{self.prefix}_real"
        if not any(f" {name}(" in line for line in self.lines):
            turns, zero = self.number(1e9), self.number(0.0)
            self.lines += [
                "",
                "/* A number moved by whole periods into [lower, lower + period). */",
                f"static inline {real} {name}({real} x, {real} lower, {real} period)",
                "{",
                f"    const {real} turns = (x - lower) / period;",
                "    if (x != x) return x;",
                f"    if (!(turns < {turns} && turns > -{turns})) return lower;",
                "    x -= period * (" + real + ")(long)turns;",
                f"    return turns < {zero} && x < lower ? x + period : x;",
                "}",
            ]
        return name

    def _mixture(self, stage: Mixture) -> str:
        matrix, offset = self.tables.reals("matrix", stage.matrix), self.tables.reals("offset", stage.offset)
        self.n_multiplications += stage.matrix.size
        body = [
            f"{self.prefix}_real total;",
            "int i, j;",
            f"for (i = 0; i < {stage.n_outputs}; ++i) {{",
            f"    total = {self.read(offset, 'i')};",
            f"    for (j = 0; j < {stage.n_inputs}; ++j) total += {self.read(matrix, f'i * {stage.n_inputs} + j')} * u[j];",
            "    v[i] = total;",
            "}",
        ]
        return self.add("Weighted sums of columns.", body)

    def _side_by_side(self, stage: SideBySide) -> str:
        calls, start = [], 0
        for part in stage.parts:
            calls.append(f"{self.chain(part)}(u, v + {start});")
            start += part[-1].n_outputs
        return self.add("Several steps side by side.", calls or ["(void)u;", "(void)v;"])


BUFFERS = ("a", "b")
