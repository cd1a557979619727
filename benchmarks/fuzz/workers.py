"""Processes that run cases. One that takes too long is asked where it is, ended, and replaced."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.fuzz.faults import OWN, Fault, place_of_stack

MOST_MEMORY = 8 * 2**30  # bytes of address space of a worker: a huge array is a MemoryError, not the end of the machine
POLL = 0.1  # seconds between two looks at the workers
LOOKS_ASLEEP = 20  # in a row, after which a worker that should run is taken for blocked
DUMP_TIME = 10.0  # most seconds for a worker to write its stack
STACK_ENDS = ("<module>\n", "  ...\n")  # with its outermost line, or where faulthandler cuts it
NO_END = "no end"
Job = Callable[[Any], list[Fault]]


def run_case(case: Any) -> list[Fault]:
    """The usual job of a worker."""
    return case.run()


class _Usage(NamedTuple):
    """CPU seconds that a process has used, and whether it waits for something."""

    cpu_seconds: float
    is_asleep: bool


class Worker:
    """One process that runs a job on one case after the other.

    Parameters
    ----------
    job : callable
        Takes a case and returns faults. It is found by its name in the new process.
    """

    def __init__(self, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._stacks = tempfile.NamedTemporaryFile(suffix=".stack")  # noqa: SIM115
        self._process = context.Process(target=_serve, args=(theirs, job, self._stacks.name, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()  # it is ready
        self.case: Any = None

    @property
    def connection(self) -> Connection:
        return self._connection

    def start(self, case: Any) -> None:
        self.case, self._since, self._n_asleep = case, (time.monotonic(), self._usage().cpu_seconds), 0
        self._connection.send(case)

    def is_late(self, limit: float) -> bool:
        """Whether the case has used its time by the clock, and by the CPU or asleep: other processes may have the core."""
        wall, cpu = self._since
        if time.monotonic() - wall < limit:
            return False
        usage = self._usage()
        self._n_asleep = self._n_asleep + 1 if usage.is_asleep else 0
        return usage.cpu_seconds - cpu > limit or self._n_asleep > LOOKS_ASLEEP

    def receive(self) -> list[Fault]:
        """The faults of the case. A process that died is a fault too."""
        self.case = None
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            self._process.join(1.0)
            return [Fault("process died", f"exit code {self._process.exitcode}")]

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def where(self) -> Fault:
        """The fault of a case that does not end: the innermost function of skarce that it is in."""
        if self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGUSR1)
        found = re.findall(rf'File "{re.escape(OWN)}(\S+)", line (\d+) in (\S+)', self._stack())
        place = place_of_stack([(name, function) for name, _, function in found])
        trail = " < ".join(f"{name}:{line}" for name, line, _ in found[:4])
        return Fault(NO_END, place, trail)

    def _stack(self) -> str:
        """What the worker has written when its stack is complete, or when it has had the time for it."""
        deadline = time.monotonic() + DUMP_TIME
        while not (text := Path(self._stacks.name).read_text()).endswith(STACK_ENDS) and time.monotonic() < deadline:
            time.sleep(POLL)
        return text

    def end(self) -> None:
        """End the process, whatever it does."""
        self._connection.close()
        self._process.kill()
        self._process.join()
        self._stacks.close()

    def _usage(self) -> _Usage:
        """What the system says about the process. Elsewhere than on Linux, only the clock counts."""
        try:
            state, *fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return _Usage(time.monotonic(), False)
        return _Usage((int(fields[10]) + int(fields[11])) / os.sysconf("SC_CLK_TCK"), state == "S")


class Pool:
    """Workers that run cases. Use it in a `with` statement, which ends all of them.

    Parameters
    ----------
    job : callable
        What to do with a case.
    n_workers : int
        Number of processes.
    limit : float
        Seconds for one case.
    """

    def __init__(self, job: Job, n_workers: int, limit: float) -> None:
        self._job, self._n_workers, self.limit = job, n_workers, limit
        self._workers: list[Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def run(self, cases: Iterable[Any]) -> Iterator[tuple[Any, list[Fault]]]:
        """Give every case with its faults, in the order in which they end."""
        for worker in [worker for worker in self._workers if worker.case is not None]:  # an earlier run was given up
            self._dismiss(worker)
        cases = iter(cases)
        busy = [self._started(case) for case in islice(cases, self._n_workers)]
        while busy:
            ready = wait([worker.connection for worker in busy], timeout=POLL)
            for worker in [worker for worker in busy if worker.connection in ready or worker.is_late(self.limit)]:
                busy.remove(worker)
                case, faults = worker.case, worker.receive() if worker.connection in ready else [worker.where()]
                if worker.case is not None or not worker.is_alive():
                    self._dismiss(worker)
                busy += [self._started(following) for following in islice(cases, 1)]
                yield case, faults

    def run_one(self, case: Any) -> list[Fault]:
        """The faults of one case."""
        ((_, faults),) = self.run([case])
        return faults

    def _started(self, case: Any) -> Worker:
        """A worker that begins with a case: one that has nothing to do, or a new one."""
        idle = [worker for worker in self._workers if worker.case is None]
        if not idle:
            self._workers += (idle := [Worker(self._job)])
        idle[0].start(case)
        return idle[0]

    def _dismiss(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()


def _serve(connection: Connection, job: Job, stacks: str, parent: int) -> None:
    """Run cases until the other end is closed. Ctrl-C is for the parent, which then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.RLIM_INFINITY))
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with open(stacks, "w") as file:
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=False)
        connection.send("ready")
        while True:
            try:
                case = connection.recv()
            except EOFError:
                return
            connection.send(job(case))


def _end_with(parent: int) -> None:
    """End this process as soon as its parent is gone, even if it was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
