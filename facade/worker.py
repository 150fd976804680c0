"""Serves an application: one worker, from ready to drained.

```python
client = await Client.connect("localhost:7233", plugins=[TemperancePlugin(app)])
await run_worker(app, client)
```

SIGTERM and SIGINT let running attempts finish within the grace period; a second signal ends the
process at once. `temperance worker MODULE:app` is this with a command line around it.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance.plugin import GRACE, TemperancePlugin
from temperance.runtime.app import App
from temperance.signals import stop_on_signal
from temperance.worker_ready import WorkerReady, remove_ready_file, until_seen, write_ready_file

__all__ = ["WorkerReady", "run_worker"]

_log = logging.getLogger("temperance.worker")


async def run_worker(
    app: App,
    client: Client,
    *,
    task_queue: str | None = None,
    workflows: Sequence[type] = (),
    activities: Sequence[Callable[..., object]] = (),
    max_concurrent_activities: int | None = None,
    grace: timedelta = GRACE,
    ready_file: str | os.PathLike[str] | None = None,
    stop: asyncio.Event | None = None,
    signals: bool = True,
) -> None:
    """Serves an application until it is asked to stop, and returns when it is drained.

    Args:
        app: The application.
        client: A client that was connected with `TemperancePlugin`.
        task_queue: Where it listens; the application's own unless given.
        workflows: Workflow classes beside the application's own.
        activities: Hand-written activities.
        max_concurrent_activities: Most attempts at a time; the SDK's default unless given.
        grace: How long running attempts may go on once it was asked to stop; then they are
            cancelled. More than zero.
        ready_file: Written when the server has seen the worker ask for work, as JSON
            (`WorkerReady`), and removed when it begins to stop. One that is there before is
            removed.
        stop: Asks it to stop when set.
        signals: Whether SIGTERM and SIGINT ask it to stop, and a second one ends the process; in
            the main thread only.

    Raises:
        ConfigurationError: The application cannot be served; lists every reason.
        ValueError: Temporal refuses a workflow or an option, or ``grace`` is not positive.
        RuntimeError: The server refuses the worker, say because it has no such namespace.
        OSError: The ready file cannot be written.
    """
    if grace <= timedelta(0):
        raise ValueError(f"grace is {grace}: give more than zero")
    file = None if ready_file is None else Path(ready_file)
    if file is not None:
        remove_ready_file(file)
    served = [*app.workflows, *(entry for entry in workflows if entry not in app.workflows)]
    worker = Worker(
        client,
        task_queue=task_queue or app.task_queue,
        workflows=served,
        activities=activities,
        max_concurrent_activities=max_concurrent_activities,
        graceful_shutdown_timeout=grace,
        plugins=[] if _inherits(client, app) else [TemperancePlugin(app)],
    )
    ready = WorkerReady(
        pid=os.getpid(),
        identity=client.identity,
        namespace=client.namespace,
        task_queue=worker.task_queue,
        capabilities=len(app.governance.registry),
        workflows=[entry.__name__ for entry in served],
    )
    stop = stop or asyncio.Event()
    if signals:
        with stop_on_signal(stop):
            await _serve(worker, client, stop, ready, file)
    else:
        await _serve(worker, client, stop, ready, file)


def _inherits(client: Client, app: App) -> bool:
    """Whether a worker of this client has the application's plugin; another one's is refused."""
    return any(
        isinstance(plugin, TemperancePlugin) and plugin.app.governance is app.governance
        for plugin in client.config()["plugins"]
    )


async def _serve(
    worker: Worker, client: Client, stop: asyncio.Event, ready: WorkerReady, file: Path | None
) -> None:
    queue = {"task_queue": ready["task_queue"]}
    running = asyncio.ensure_future(worker.run())
    stopping = asyncio.ensure_future(stop.wait())
    seen = asyncio.ensure_future(
        until_seen(client, ready["task_queue"], client.identity, workflows=bool(ready["workflows"]))
    )
    try:
        await asyncio.wait({running, stopping, seen}, return_when=asyncio.FIRST_COMPLETED)
        if seen.done() and not running.done():
            if file is not None:
                write_ready_file(file, ready)
            _log.info("worker ready", extra=dict(ready))
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            _log.info("worker stops: running attempts may finish", extra=queue)
    finally:
        seen.cancel()
        stopping.cancel()
        if file is not None:
            remove_ready_file(file)
        if not running.done():
            await worker.shutdown()
        await running
    _log.info("worker stopped", extra=queue)
