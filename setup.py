"""The compiled parts; everything else stands in pyproject.toml."""

from setuptools import Extension, setup

CHECKS = "src/skarce/_boundary.h"

setup(
    ext_modules=[
        Extension("skarce.searches._climb", ["src/skarce/searches/_climb.c"], depends=[CHECKS], extra_compile_args=["-O3"]),
        Extension("skarce.basis._rbf", ["src/skarce/basis/_rbf.c"], depends=[CHECKS], extra_compile_args=["-O3"]),
    ]
)
