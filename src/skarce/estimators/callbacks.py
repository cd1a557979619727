"""Callbacks of scikit-learn, which 1.9 and later versions have: the parts of a fit are their tasks."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skarce._progress import Part, Watcher, watched

if importlib.util.find_spec("sklearn.callback") is not None:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks

    _tear_down = with_callbacks(lambda estimator: None)  # it tears callbacks down after a method, and this one does nothing
else:

    class CallbackSupport:  # type: ignore[no-redef]
        """There are no callbacks."""


__all__ = ["CallbackSupport", "called_back"]
SET_BY_OTHERS = ("_skl_callbacks", "_parent_callback_ctx")  # by `set_callbacks`, and by an estimator around this one


class Tasks(Watcher):
    """Tells callbacks when the parts of a fit begin and end. Parts inside of parts may be many and short, and are not told."""

    def __init__(self, estimator: Any, root: Any) -> None:
        self._estimator, self._root = estimator, root
        self._parts: list[Part] = []

    def begin(self, part: Part) -> None:
        self._parts.append(part)
        if len(self._parts) == 1:
            self._task = self._root.subcontext(task_name=part.label, max_subtasks=None)
            self._task.call_on_fit_task_begin(estimator=self._estimator)

    def end(self, part: Part, *, is_whole: bool, now: float) -> None:
        self._parts.remove(part)
        if is_whole and not self._parts:
            self._task.call_on_fit_task_end(estimator=self._estimator)


@contextmanager
def called_back(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Callable[[Any], None]]:
    """Call the callbacks of an estimator during its fit, if it has any. Call the function with the fitted twin."""
    if not any(hasattr(estimator, name) for name in SET_BY_OTHERS):
        yield lambda twin: None
        return
    data = {"estimator": estimator, "X": X, "y": y}
    if sample_weight is not None:
        data["metadata"] = {"sample_weight": sample_weight}
    before = set(vars(estimator))
    try:
        root = estimator._init_callback_context(max_subtasks=None)
        only_now = set(vars(estimator)) - before

        def tell(twin: Any) -> None:
            for name in only_now:
                vars(twin).pop(name, None)
            root.call_on_fit_task_end(**data, reconstruction_attributes=lambda: vars(twin))

        root.call_on_fit_task_begin(**data)
        with watched(Tasks(estimator, root)):
            yield tell
    finally:
        _tear_down(estimator)
