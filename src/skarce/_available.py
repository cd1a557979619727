"""Methods that an object has for some of its parameters only, and whose absence is explained."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class available_if:  # noqa: N801
    """Decorate a method that exists only if a check passes, as scikit-learn's decorator of the same name does.

    The check raises an AttributeError that says why the method does not exist. Users see this text. scikit-learn shows its own in
    place of it, "This ... has no attribute ...".

    Parameters
    ----------
    check : callable
        object -> True, or an AttributeError.
    """

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Decorate the method."""
        return _Available(self._check, method)


class _Available:
    """The method of an object for which the check passes."""

    def __init__(self, check: Callable[[Any], bool], method: Callable[..., Any]) -> None:
        self._check, self._method = check, method

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)
