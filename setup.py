"""The compiled parts; everything else stands in pyproject.toml."""

import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HEADERS = [str(path) for path in Path("src").rglob("*.h")]
MODULES = ("searches._climb", "basis._rbf", "basis._columns", "methods.lwpr._lwpr", "methods.latent._mode")
OLDEST = (3, 11)  # one wheel serves this Python and all later ones, through the limited API; see also `requires-python`
# The limited API is that of CPython with its lock: free-threaded Python needs wheels of its own.
IS_LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


class Build(build_ext):
    """Optimize the loops, in the words of each compiler."""

    def build_extensions(self):
        optimize = "/O2" if self.compiler.compiler_type == "msvc" else "-O3"
        for extension in self.extensions:
            extension.extra_compile_args.append(optimize)
        super().build_extensions()


def compiled(name):
    return Extension(
        name,
        [f"src/{name.replace('.', '/')}.c"],
        depends=HEADERS,
        py_limited_api=IS_LIMITED,
        define_macros=[("Py_LIMITED_API", f"0x{OLDEST[0]:02X}{OLDEST[1]:02X}0000")] if IS_LIMITED else [],
    )


setup(
    ext_modules=[compiled(f"skarce.{name}") for name in MODULES],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": f"cp{OLDEST[0]}{OLDEST[1]}"}} if IS_LIMITED else {},
)
