"""What runs on every system, and what does not."""

from importlib.util import find_spec

# The workers of benchmarks.fuzz limit their memory and write their stack as only POSIX systems can.
collect_ignore = [] if find_spec("resource") else ["test_fuzz.py", "test_fuzz_commands.py"]
