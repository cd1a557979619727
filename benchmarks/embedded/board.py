"""Programs compiled for Cortex-M and run under QEMU."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
COMPILER, EMULATOR, SIZE = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-size"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
KNOWN_INSTRUCTIONS = 200_000
SECONDS = 120


@dataclass(frozen=True)
class Board:
    """A board of QEMU, its flash in bytes, and the options of the compiler for its core."""

    core: str
    machine: str
    flash: int
    options: tuple[str, ...]


BOARDS = (
    Board("Cortex-M0", "microbit", 256 * 1024, ("-mcpu=cortex-m0", "-mfloat-abi=soft")),
    Board("Cortex-M4", "mps2-an386", 4096 * 1024, ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")),
)


def missing_tools() -> list[str]:
    """Return the programs that are needed and not installed."""
    return [tool for tool in (COMPILER, EMULATOR) if shutil.which(tool) is None]


def built(source: Path, board: Board, *, is_ours: bool = True, folders: tuple[str, ...] = ()) -> Path:
    """Compile a program that includes board.h. Ours may not have a warning, and gets no library but that of the compiler."""
    program = source.with_suffix(f".{board.machine}.elf")
    layout = (
        "-mthumb",
        "-ffreestanding",
        "-nostdlib",
        "-nostartfiles",
        f"-Wl,--defsym=flash_size={board.flash}",
        f"-T{HERE / 'board.ld'}",
    )
    headers = [f"-I{folder}" for folder in (HERE, *folders)]
    checks, libraries = (WARNINGS, ("-lgcc",)) if is_ours else (("-std=c99",), ("-lm", "-lc", "-lgcc"))
    command = [COMPILER, *checks, "-Os", *board.options, *layout, *headers, str(source), "-o", str(program), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:4000])
    return program


def printed(program: Path, board: Board) -> str:
    """Run a program to its end, with one instruction in one nanosecond, and return what it prints."""
    machine = ("-machine", board.machine, "-nographic", "-monitor", "none", "-serial", "none", "-icount", "shift=0")
    semihosting = ("-semihosting-config", "enable=on,target=native")
    done = subprocess.run(
        [EMULATOR, *machine, *semihosting, "-kernel", str(program)], capture_output=True, text=True, timeout=SECONDS
    )
    if done.returncode:
        raise RuntimeError(f"{done.returncode}: {done.stderr[:2000]}")
    return done.stdout + done.stderr


def flash_bytes(program: Path) -> int:
    """Return the bytes of code, constants and initial values of variables."""
    done = subprocess.run([SIZE, str(program)], capture_output=True, text=True, check=True)
    code, data = done.stdout.splitlines()[1].split()[:2]
    return int(code) + int(data)
