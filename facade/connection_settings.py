"""Where the settings of a connection come from, and what is wrong with them in one line.

No text of a configuration file and no API key is in a message: a parser's excerpt may show a key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import TLSConfig
from temporalio.envconfig import ClientConfig, ClientConfigProfile

DEFAULT_ADDRESS = "localhost:7233"
_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\s:/\[\]]+):\d{1,5}")


class ConnectionFailed(Exception):
    """Raised when there is no connection: a setting is wrong, or the server cannot be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """Everything that `Client.connect` needs, and who set the address."""

    address: str
    address_source: str
    namespace: str
    api_key: str | None = field(repr=False)
    tls: bool | TLSConfig | None = field(repr=False)
    rpc_metadata: Mapping[str, str] = field(repr=False)


def resolve_settings(
    *,
    environment: Mapping[str, str],
    profile: str | None = None,
    config_file: Path | None = None,
    address: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
    tls: bool | TLSConfig | None = None,
) -> ConnectionSettings:
    """What the caller says, over the environment, over the profile, over the defaults.

    Raises:
        ConnectionFailed: as `temperance.connection.connect` says.
    """
    loaded = _load(profile, config_file, environment)
    if address:
        source = "given by the caller"
    elif environment.get("TEMPORAL_ADDRESS"):
        source = "from TEMPORAL_ADDRESS"
    elif loaded.address:
        source = f"from profile {_profile_name(profile, environment)!r}"
    else:
        source = "the default, as nothing sets an address"
    target = address or loaded.address or DEFAULT_ADDRESS
    if not _HOST_PORT.fullmatch(target):
        raise ConnectionFailed(
            f"{target!r} ({source}) is no address; write host:port, without a scheme"
        )
    try:
        loaded_tls = None if loaded.tls is None else loaded.tls.to_connect_tls_config()
    except OSError as error:
        raise ConnectionFailed(
            f"cannot read {error.filename}, which the TLS settings name: {error.strerror}"
        ) from None
    return ConnectionSettings(
        address=target,
        address_source=source,
        namespace=namespace or loaded.namespace or "default",
        api_key=loaded.api_key if api_key is None else api_key,
        tls=loaded_tls if tls is None else tls,
        rpc_metadata=loaded.grpc_meta,
    )


def _load(
    profile: str | None, config_file: Path | None, environment: Mapping[str, str]
) -> ClientConfigProfile:
    named_by = "config_file"
    if config_file is None and environment.get("TEMPORAL_CONFIG_FILE"):
        config_file, named_by = Path(environment["TEMPORAL_CONFIG_FILE"]), "TEMPORAL_CONFIG_FILE"
    # The SDK takes a file that is not there for an empty one, and would go to localhost.
    if config_file is not None and not config_file.is_file():
        raise ConnectionFailed(
            f"there is no configuration file {config_file} (named by {named_by}); "
            f"make it, or name another"
        )
    try:
        return ClientConfigProfile.load(
            profile, config_source=config_file, override_env_vars=dict(environment)
        )
    # Its ConfigError, which the SDK does not export, is one.
    except RuntimeError as error:
        text = str(error)
    file = str(config_file or "Temporal's configuration file")
    if text.startswith("Profile "):
        there = ClientConfig.load(
            config_source=config_file, override_env_vars=dict(environment)
        ).profiles
        names = ", ".join(sorted(there)) or "no profiles"
        raise ConnectionFailed(
            f"profile {_profile_name(profile, environment)!r} is not in {file}, which has {names}; "
            f"choose one of these, or add it"
        )
    # The parser's message quotes the line, and the line may hold an API key: only the place is
    # told.
    if place := re.search(r"at line (\d+), column (\d+)", text):
        raise ConnectionFailed(
            f"{file} cannot be read: line {place[1]}, column {place[2]} is not TOML, "
            f"or not the kind of value that belongs there; correct it"
        )
    if both := re.search(r"Cannot specify both \w+ and \w+", text):
        raise ConnectionFailed(f"{file} or the environment is contradictory: {both[0]}")
    raise ConnectionFailed(f"{file} or a TEMPORAL_* variable cannot be read; check them")


def _profile_name(profile: str | None, environment: Mapping[str, str]) -> str:
    return profile or environment.get("TEMPORAL_PROFILE") or "default"
