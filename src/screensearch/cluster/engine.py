"""Ray: the only module that knows it, with the extra `cluster`. Whoever imports this does it late."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import socket
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import screensearch.cluster.first  # noqa: F401 (what it is about)

# isort: split
import ray
from ray._private.authentication.authentication_token_setup import ensure_token_if_auth_enabled
from ray._private.services import canonicalize_bootstrap_address, find_node_ids
from ray._private.state import actors, available_resources_per_node
from ray._raylet import GcsClient  # type: ignore[attr-defined]
from ray.exceptions import ActorAlreadyExistsError, AuthenticationError, GetTimeoutError, RayError
from ray.experimental import internal_kv

from screensearch.cluster.names import NAMESPACE, SLOT
from screensearch.errors import ScreenSearchError

CONTROL = "control"
"""Calls that ask how an actor is have an event loop of their own: they are answered while it works."""


HEAD = "node:__internal_head__"
"""The resource that only the head's node has."""

NODE = "ray.io/node-id"
"""The label that says which node a node is."""

KNOCK_SECONDS = 5.0
AGAIN_SECONDS = 1.0
LOOK_SECONDS = 0.2

Found = TypeVar("Found")

log = logging.getLogger(__name__)

_MEMORY = NAMESPACE.encode()

Gone = RayError
"""What is raised when the other side cannot answer: the actor, its node or the cluster is gone."""


NameTaken = ActorAlreadyExistsError
"""What is raised when an actor shall be placed under a name that another one has."""


class NoCluster(ScreenSearchError):
    """There is no cluster at that address, or it lets us not in."""


def connect(address: str) -> None:
    """Join the cluster at an address; `auto` is the one that this machine belongs to.

    A process is in one cluster at a time: as long as it is in another one, this is refused.
    """
    if ray.is_initialized():
        _check_joined(address)
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
    ray._private.worker.print_to_stdstream = _say_nothing  # there is no setting for it
    _knock(address)
    try:
        ray.init(address=address, namespace=NAMESPACE, logging_level=logging.ERROR, log_to_driver=False)
    except AuthenticationError as problem:
        raise NoCluster(_shut_out(address)) from problem
    except (ConnectionError, RayError, RuntimeError, ValueError) as problem:
        raise NoCluster(
            f"no cluster answers at {address!r}: {str(problem).splitlines()[0]} (is its head running there, "
            "this machine one of its nodes, RAY_AUTH_MODE set to token, and its token in RAY_AUTH_TOKEN or "
            "~/.ray/auth_token? docs/how-to/cluster.md begins with one)"
        ) from problem


def _check_joined(address: str) -> None:
    """Raise if this process is in another cluster than the one at an address."""
    joined = ray.get_runtime_context().gcs_address
    try:
        wanted = canonicalize_bootstrap_address(address)
    except ValueError:  # it is none
        wanted = None
    if wanted != joined:
        raise NoCluster(
            f"this process is in the cluster at {joined!r} and cannot be in the one at {address!r} as well: "
            f"give the same address, or use another process for {address!r}"
        )


def _shut_out(address: str) -> str:
    """What to do about a token that is missing or wrong."""
    where = "in RAY_AUTH_TOKEN or ~/.ray/auth_token"
    mode = os.environ.get("RAY_AUTH_MODE")
    if mode == "token":
        return (
            f"the cluster at {address!r} takes another token than ours, or we have none: put its own {where}"
        )
    now = "is not set" if mode is None else f"is {mode!r}"
    return (
        f"the cluster at {address!r} wants a token, and RAY_AUTH_MODE {now} here: "
        f"`export RAY_AUTH_MODE=token`, and have the token {where}"
    )


def _found(address: str) -> str:
    """Where the cluster of this machine is, or was, when its address is `auto`."""
    if address != "auto":
        return address
    try:
        return canonicalize_bootstrap_address(address) or address
    except (ConnectionError, ValueError):
        return address


def _knock(address: str) -> None:
    """See whether anyone listens at HOST:PORT and lets us in: Ray would try for minutes."""
    where = _found(address)
    host, _, port = where.rpartition(":")
    if not port.isdecimal():
        if address == "auto":
            return  # Ray will say what is wrong
        # For some words, as `local`, Ray would begin a cluster of its own.
        raise NoCluster(f"{address!r} is no address of a cluster: give HOST:PORT of its head, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except OSError as problem:
        raise NoCluster(
            f"nobody listens at {where!r}: {problem} (is the head of the cluster running there? "
            "docs/how-to/cluster.md begins with one)"
        ) from problem
    try:
        ensure_token_if_auth_enabled(None, create_token_if_missing=False)  # without one, Ray would abort
        GcsClient(address=where)
    except AuthenticationError as problem:
        raise NoCluster(_shut_out(address)) from problem
    except (RayError, RuntimeError):  # it may be busy: Ray tries longer, and tells more
        return
    _check_is_node(address)


def _check_is_node(address: str) -> None:
    """Only a node of a cluster can ask it for anything. Ray would wait for a minute, and then not say so."""
    until = time.monotonic() + KNOCK_SECONDS  # it may be starting
    while not find_node_ids():
        if time.monotonic() > until:
            raise NoCluster(
                f"this machine is no node of the cluster at {address!r}: give the command on one, or make "
                f"this one a node without slots: `ray start --address={address} --num-cpus=0`"
            )
        time.sleep(LOOK_SECONDS)


def _say_nothing(*arguments: object, **named: object) -> None:
    """In the place of Ray's reports, which go to standard output, where machines read our own results."""


def connected() -> bool:
    """Whether this process is in a cluster."""
    return bool(ray.is_initialized())


def disconnect() -> None:
    ray.shutdown()


def slots() -> tuple[float, float]:
    """How many workers the cluster can bear, and how many more at the moment."""
    offered: dict[str, float] = ray.cluster_resources()
    left: dict[str, float] = ray.available_resources()
    return offered.get(SLOT, 0.0), left.get(SLOT, 0.0)


def slot_elsewhere(node: str) -> bool:
    """Whether another node than this one has a slot left, as far as is known."""
    left: dict[str, dict[str, float]] = available_resources_per_node()
    return any(each.get(SLOT, 0.0) >= 1 for other, each in left.items() if other != node)


def nodes_alive() -> set[str]:
    """The addresses of the nodes that the cluster takes for alive."""
    return {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}


def this_node() -> str:
    """The address of this node."""
    return str(ray.util.get_node_ip_address())


def this_node_id() -> str:
    """What the cluster calls this node: what can be avoided."""
    return str(ray.get_runtime_context().get_node_id())


def where_placed(actor: Any) -> tuple[str, str] | None:
    """The node that has given an actor a process, as the cluster calls it and its address; None before that.

    While an actor waits for a slot, Ray names a node, too: the one that was asked. The process it names last.
    """
    known: dict[str, Any] = actors(actor._actor_id.hex())
    if not known.get("Pid"):
        return None
    return known["Address"]["NodeID"], known["Address"]["IPAddress"]


def find_actor(name: str) -> Any:
    """The actor of that name; None when there is none, or the cluster does not answer."""
    try:
        return look_up(name)
    except RayError:
        return None


def look_up(name: str) -> Any:
    """The actor of that name; None when there is none. `Gone` where the cluster does not answer."""
    try:
        return ray.get_actor(name, namespace=NAMESPACE)
    except ValueError:
        return None


def actors_of(run: str) -> list[str]:
    """The names of all actors of a run."""
    return [name for name in _named() if name.startswith(f"{run}/")]


def conductors() -> list[str]:
    """The names of the conductors of all runs."""
    return [name for name in _named() if name.endswith("/conductor")]


def _named() -> list[str]:
    named = ray.util.list_named_actors(all_namespaces=True)
    return [each["name"] for each in named if each["namespace"] == NAMESPACE]


def remember(what: bytes) -> None:
    """Keep this for the actor that calls, over all its lives."""
    internal_kv._internal_kv_put(_itself(), what, overwrite=True, namespace=_MEMORY)


def recall() -> bytes | None:
    """What the actor that calls has kept."""
    kept: bytes | None = internal_kv._internal_kv_get(_itself(), namespace=_MEMORY)
    return kept


def _itself() -> bytes:
    """The actor that calls: the same in all its lives."""
    return str(ray.get_runtime_context().get_actor_id()).encode()


def is_itself(actor: Any) -> bool:
    """Whether an actor is the one that calls, and not a later one that has its name."""
    return bool(actor._actor_id.hex() == ray.get_runtime_context().get_actor_id())


def started_anew() -> bool:
    """Whether the actor that calls had a life before this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own code makes use of what it advises against
        return bool(ray.get_runtime_context().was_current_actor_reconstructed)


def place(
    kind: type,
    name: str,
    *arguments: object,
    takes_slot: bool = False,
    restarts: bool = False,
    at_head: bool = False,
    avoid: str = "",
) -> Any:
    """Start an actor that outlives whoever started it; `restarts`: also its process and its node.

    `at_head` places it beside Ray's head, where one is known. `avoid` is a node that has become silent: the
    actor comes to another one, if there is any with room for it.
    """
    return (
        _actor_class(kind)
        .options(
            name=name,
            namespace=NAMESPACE,
            lifetime="detached",
            max_restarts=-1 if restarts else 0,
            max_concurrency=10_000,
            **_needs(takes_slot=takes_slot, at_head=at_head and HEAD in ray.cluster_resources()),
            **_elsewhere(avoid),
        )
        .remote(*arguments)
    )


@functools.cache
def _actor_class(kind: type) -> Any:
    """Made once: each one that is made is kept by the head, as long as the job that made it is there."""
    return ray.remote(concurrency_groups={CONTROL: 100})(kind)  # type: ignore[call-overload]


def _needs(*, takes_slot: bool, at_head: bool) -> dict[str, Any]:
    """What an actor takes of its node, and how one is chosen among those that have it."""
    needs: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
    if takes_slot:
        return needs | {"resources": {SLOT: 1}}
    if at_head:
        return needs | {"resources": {HEAD: 0.001}}
    # One byte is as good as nothing. But what needs nothing is placed by any node, perhaps by one that is
    # frozen; what needs something is placed by the node of whoever asks.
    return needs | {"memory": 1}


def _elsewhere(avoid: str) -> dict[str, Any]:
    """For as long as Ray has not noticed that a node is gone, it would place things there."""
    if not avoid:
        return {}
    return {"label_selector": {NODE: f"!{avoid}"}, "fallback_strategy": [{"label_selector": {}}]}


def control(method: Any) -> Any:
    """Mark a method as one that asks how an actor is."""
    return ray.method(concurrency_group=CONTROL)(method)


async def patiently(call: Callable[..., Found], *arguments: object) -> Found:
    """What a call to the cluster returns, made in a thread, and again while the cluster does not answer."""
    while True:
        try:
            return await asyncio.to_thread(call, *arguments)
        except RayError as problem:
            log.warning("the cluster does not answer: %s", problem)
            await asyncio.sleep(AGAIN_SECONDS)


def cause_of(problem: BaseException) -> BaseException:
    """What was raised on the other side, if it was there."""
    cause = getattr(problem, "cause", None)
    return cause if isinstance(cause, BaseException) else problem


async def ask(reference: Any, *, seconds: float | None = None) -> Any:
    """The answer to a call; `TimeoutError` when it takes too long. What failed there is raised here."""
    try:
        async with asyncio.timeout(seconds):
            return await reference
    except GetTimeoutError as problem:
        raise TimeoutError from problem


def answer(reference: Any, *, seconds: float) -> Any:
    """The same for callers without a loop."""
    try:
        return ray.get(reference, timeout=seconds)
    except GetTimeoutError as problem:
        raise TimeoutError from problem


def leave() -> None:
    """End the process of the actor that calls, at once, and also where the cluster cannot be reached."""
    os._exit(0)  # Ray's own way is open only to a method that is being asked, and asks the head


def start_anew(actor: Any) -> None:
    """End the process of an actor that `restarts`, also one that is frozen; Ray starts another."""
    ray.kill(actor, no_restart=False)


def end(actor: Any) -> None:
    """End an actor at once, also one that is frozen. It is not started again."""
    ray.kill(actor, no_restart=True)
