"""The one thing pyproject.toml cannot say: the compiled core is optional.

Without a C compiler the package installs all the same and uses the pure-Python twin
(`screensearch plugins` says which of the two is in use).
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "screensearch.identify._exact",
            ["src/screensearch/identify/_exact.c"],
            extra_compile_args=["-O3", "-std=c11"],
            optional=True,
        )
    ]
)
