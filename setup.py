"""The one compiled part; everything else stands in pyproject.toml."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("skarce.criteria._climb", ["src/skarce/criteria/_climb.c"], extra_compile_args=["-O3"]),
    ]
)
