"""What to write instead of a function that has no rule: an expression that is recorded and gives the same.

Every row is evaluated by a test beside the function it stands for. x and y are arrays, a is a matrix, c a truth value
for each item, n and i are numbers.
"""

from __future__ import annotations

from hoad._core.refusals import ADVICE

# (function, a call of it, what to write)
INSTEAD = [
    ("np.diff", "np.diff(x)", "x[1:] - x[:-1]"),
    ("np.ediff1d", "np.ediff1d(x)", "x[1:] - x[:-1]"),
    ("np.flip", "np.flip(x)", "x[::-1]"),
    ("np.roll", "np.roll(x, n)", "np.concatenate([x[-n:], x[:-n]])"),
    ("np.sort", "np.sort(x)", "x[np.argsort(hoad.value(x))]"),
    ("np.median", "np.median(x)", "np.mean(x[np.argsort(hoad.value(x))[(x.size - 1) // 2 : x.size // 2 + 1]])"),
    ("np.ptp", "np.ptp(x)", "np.max(x) - np.min(x)"),
    ("np.var", "np.var(x)", "np.mean((x - np.mean(x)) ** 2)"),
    ("np.std", "np.std(x)", "np.sqrt(np.mean((x - np.mean(x)) ** 2))"),
    ("np.average", "np.average(x, weights=y)", "np.sum(x * y) / np.sum(y)"),
    ("np.cumsum", "np.cumsum(x)", "np.tril(np.ones((x.size, x.size))) @ x"),
    ("np.cumprod", "np.cumprod(x)", "np.stack([np.prod(x[: k + 1]) for k in range(x.size)])"),
    ("np.nansum", "np.nansum(x)", "np.sum(np.where(np.isnan(x), 0.0, x))"),
    ("np.trapezoid", "np.trapezoid(y, x)", "np.sum((y[1:] + y[:-1]) * (x[1:] - x[:-1])) / 2"),
    ("np.add.accumulate", "np.add.accumulate(x)", "np.tril(np.ones((x.size, x.size))) @ x"),
    ("np.maximum.accumulate", "np.maximum.accumulate(x)", "np.stack([np.max(x[: k + 1]) for k in range(x.size)])"),
    ("np.logaddexp.reduce", "np.logaddexp.reduce(x)", "np.max(x) + np.log(np.sum(np.exp(x - np.max(x))))"),
    ("np.inner", "np.inner(x, y)", "np.dot(x, y)"),
    ("np.vdot", "np.vdot(x, y)", "np.dot(x, y)"),
    ("np.tensordot", "np.tensordot(x, y, 1)", "np.dot(x, y)"),
    ("np.kron", "np.kron(x, y)", "np.ravel(np.outer(x, y))"),
    ("np.cross", "np.cross(x, y)", "x[[1, 2, 0]] * y[[2, 0, 1]] - x[[2, 0, 1]] * y[[1, 2, 0]]"),
    ("np.convolve", "np.convolve(x, y)",
     "sum(y[k] * np.concatenate([np.zeros(k), x, np.zeros(y.size - 1 - k)]) for k in range(y.size))"),
    ("np.polyval", "np.polyval(y, x)", "sum(y[-1 - k] * x**k for k in range(len(y)))"),
    ("np.linalg.matrix_power", "np.linalg.matrix_power(a, 2)", "a @ a"),
    ("np.linalg.lstsq", "np.linalg.lstsq(a, x)[0]", "np.linalg.solve(a.T @ a, a.T @ x)"),
    ("np.trace", "np.trace(a)", "np.sum(a * np.eye(len(a)))"),
    ("np.diagonal", "np.diagonal(a)", "a[np.arange(len(a)), np.arange(len(a))]"),
    ("np.diag", "np.diag(x)", "x[:, None] * np.eye(x.size)"),
    ("np.triu", "np.triu(a)", "a * np.triu(np.ones(a.shape))"),
    ("np.tril", "np.tril(a)", "a * np.tril(np.ones(a.shape))"),
    ("np.hstack", "np.hstack([x, y])", "np.concatenate([x, y])"),
    ("np.vstack", "np.vstack([x, y])", "np.stack([x, y])"),
    ("np.column_stack", "np.column_stack([x, y])", "np.stack([x, y], axis=1)"),
    ("np.append", "np.append(x, y)", "np.concatenate([x, y])"),
    ("np.insert", "np.insert(x, i, 5.0)", "np.concatenate([x[:i], [5.0], x[i:]])"),
    ("np.delete", "np.delete(x, i)", "np.concatenate([x[:i], x[i + 1 :]])"),
    ("np.pad", "np.pad(x, n)", "np.concatenate([np.zeros(n), x, np.zeros(n)])"),
    ("np.repeat", "np.repeat(x, n)", "np.ravel(np.broadcast_to(x[:, None], (x.size, n)))"),
    ("np.tile", "np.tile(x, n)", "np.concatenate([x] * n)"),
    ("np.take", "np.take(x, [i, n])", "x[[i, n]]"),
    ("np.compress", "np.compress(c, x)", "x[c]"),
    ("np.split", "np.split(x, [n])[0]", "x[:n]"),
    ("np.array_split", "np.array_split(x, [n])[0]", "x[:n]"),
    ("np.atleast_1d", "np.atleast_1d(x)", "np.reshape(x, np.shape(x) or (1,))"),
    ("np.atleast_2d", "np.atleast_2d(x)", "np.reshape(x, (1, -1))"),
    ("np.meshgrid", "np.meshgrid(x, y)[0]", "np.broadcast_to(x, (y.size, x.size))"),
    ("np.linspace", "np.linspace(x[0], x[1], 5)", "x[0] + (x[1] - x[0]) * np.linspace(0.0, 1.0, 5)"),
    ("np.select", "np.select([c], [x], y)", "np.where(c, x, y)"),
    ("np.piecewise", "np.piecewise(x, [c], [np.exp, np.sin])", "np.where(c, np.exp(x), np.sin(x))"),
    ("np.choose", "np.choose(c, [y, x])", "np.where(c, x, y)"),
    ("np.fix", "np.fix(x)", "np.trunc(x)"),
    ("np.apply_along_axis", "np.apply_along_axis(np.sum, 1, a)", "np.stack([np.sum(row) for row in a])"),
]  # fmt: skip

# Integers, truth values and the like, which no derivative passes.
CONSTANT = [
    *("argmax", "argmin", "argsort", "argpartition", "nonzero", "flatnonzero", "argwhere", "count_nonzero"),
    *("searchsorted", "digitize", "histogram", "unique", "isin", "isclose", "allclose", "array_equal", "array_equiv"),
    *("array2string", "array_repr", "array_str"),
]

for _name, _call, _expression in INSTEAD:
    ADVICE[_name] = f"Write {_expression} for {_call}."
for _name in CONSTANT:
    ADVICE[f"np.{_name}"] = "No derivative passes through it: give it hoad.value(x) in place of x."
