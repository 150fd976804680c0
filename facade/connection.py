"""A client for any Temporal server: by profile, environment variables, or what the caller says.

The settings are Temporal's own (`temporalio.envconfig`): a TOML file with profiles, then TEMPORAL_*
environment variables over it, then the arguments of `connect` over both; see
https://docs.temporal.io/develop/environment-configuration. What this module adds is that a mistake
is told in one line: what is wrong, where it was set, and what to do. An API key is in no message;
nor is any text of a configuration file, because a parser's excerpt may show one.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client, Plugin, TLSConfig
from temporalio.runtime import Runtime

from temperance.connection_settings import ConnectionFailed, resolve_settings

__all__ = ["ConnectionFailed", "connect"]

# A pattern in the debug text of the SDK's core, and what it means.
_REASONS = (
    (
        "ConnectionRefused",
        "nothing listens there; start a server (`temperance dev`), or give another address",
    ),
    ("dns error|invalid target URL", "the host name is not known; check the address"),
    ("TimedOut", "no answer; check the address, and what filters the network"),
    ("InvalidContentType", "the server does not speak TLS, and TLS or an API key is set"),
    (r"InvalidCertificate\((\w+)", r"the server's certificate is not accepted (\1)"),
    ("PrivateKeyParseError|CertificateParseError", "the TLS client certificate cannot be read"),
)


async def connect(
    *,
    profile: str | None = None,
    config_file: str | os.PathLike[str] | None = None,
    address: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
    tls: bool | TLSConfig | None = None,
    plugins: Sequence[Plugin] = (),
    timeout: timedelta = timedelta(seconds=10),
    runtime: Runtime | None = None,
    environment: Mapping[str, str] | None = None,
) -> Client:
    """Connect to a Temporal server.

    Args:
        profile: the profile in the configuration file; None takes TEMPORAL_PROFILE, then `default`.
        config_file: the configuration file; None takes TEMPORAL_CONFIG_FILE, then Temporal's usual
            place.
        address: `host:port`; None takes the settings, then `localhost:7233`.
        namespace: None takes the settings, then `default`.
        api_key: None takes the settings. A key turns TLS on unless `tls` says otherwise.
        tls: None takes the settings.
        plugins: for the client, and for the workers made with it.
        timeout: how long the whole attempt may take.
        runtime: the SDK runtime; None takes the default one.
        environment: read instead of the process's environment variables.

    Returns:
        A client whose server has answered. That the namespace exists is not asked.

    Raises:
        ConnectionFailed: the configuration cannot be read, names no such profile, or names a file
            that is not there; the address is not `host:port`; the server does not answer in time,
            or refuses.
    """
    settings = resolve_settings(
        profile=profile,
        config_file=None if config_file is None else Path(config_file),
        address=address,
        namespace=namespace,
        api_key=api_key,
        tls=tls,
        environment=os.environ if environment is None else environment,
    )
    try:
        async with asyncio.timeout(timeout.total_seconds()):
            return await Client.connect(
                settings.address,
                namespace=settings.namespace,
                api_key=settings.api_key,
                tls=settings.tls,
                rpc_metadata=settings.rpc_metadata,
                plugins=plugins,
                runtime=runtime,
            )
    except TimeoutError:
        reason = f"no answer within {timeout.total_seconds():g} s"
    # The SDK says RuntimeError (or ValueError, before it tries) with the debug text of its Rust
    # core.
    except (RuntimeError, ValueError) as error:
        known = _reason(str(error))
        if known is None:
            raise
        reason = known
    # Outside `except`, so that neither cause nor context of the error carries the original.
    raise ConnectionFailed(
        f"cannot connect to Temporal at {settings.address} ({settings.address_source}): {reason}"
    )


def _reason(text: str) -> str | None:
    """What the SDK's text means, never the text itself; None when it is about something else."""
    if text.startswith("Must have both client cert"):
        return "a TLS client certificate needs its private key, and the other way round"
    if not text.startswith(("Failed client connect", "invalid target URL")):
        return None
    if status := re.search(r"Status { code: (\w+)", text):
        if status[1] in {"Unauthenticated", "PermissionDenied"}:
            return f"the server refused ({status[1]}); check the API key or the client certificate"
        return f"what answers there is no Temporal server, or expects TLS ({status[1]})"
    for pattern, meaning in _REASONS:
        if found := re.search(pattern, text):
            return found.expand(meaning)
    return "the connection could not be made"
