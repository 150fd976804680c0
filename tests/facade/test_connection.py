"""A connection by profile, environment and arguments, and what is said when there is none."""

import asyncio
import traceback
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.service import ConnectConfig, ServiceClient, TLSConfig

from temperance import connection
from temperance.connection import ConnectionFailed, connect
from temperance.connection_settings import resolve_settings
from temperance.embedded import EmbeddedServer

SECRET = "sk-live-51HqLyj"
NOBODY = "127.0.0.1:1"


def config(path: Path, text: str) -> Path:
    file = path / "temporal.toml"
    file.write_text(text)
    return file


async def failure(**arguments: object) -> ConnectionFailed:
    """What `connect` says; no secret may be in it, in whatever way the error is shown."""
    environment = arguments.pop("environment", {})
    with pytest.raises(ConnectionFailed) as failed:
        await connect(environment=environment, **arguments)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - any arguments, for brevity
    shown = "".join(traceback.format_exception(failed.value))
    assert SECRET not in shown
    assert SECRET not in repr(failed.value)
    assert "\n" not in str(failed.value)
    return failed.value


async def namespace_of(client: Client) -> str:
    """Asked of the server, so that the connection is known to work."""
    assert await client.service_client.check_health()
    return client.namespace


async def test_the_caller_is_over_the_environment_and_the_environment_over_the_profile(
    embedded: EmbeddedServer, tmp_path: Path
) -> None:
    file = config(
        tmp_path,
        f'[profile.default]\naddress = "{NOBODY}"\nnamespace = "from-default"\n'
        f'[profile.shop]\naddress = "{embedded.target_host}"\nnamespace = "from-shop"\n',
    )
    by_profile = await connect(profile="shop", config_file=file, environment={})
    assert await namespace_of(by_profile) == "from-shop"

    by_environment = await connect(
        environment={
            "TEMPORAL_CONFIG_FILE": str(file),
            "TEMPORAL_PROFILE": "shop",
            "TEMPORAL_NAMESPACE": "from-environment",
        }
    )
    assert await namespace_of(by_environment) == "from-environment"

    by_caller = await connect(
        config_file=file,
        address=embedded.target_host,
        namespace="from-caller",
        environment={"TEMPORAL_ADDRESS": NOBODY, "TEMPORAL_NAMESPACE": "from-environment"},
    )
    assert await namespace_of(by_caller) == "from-caller"


async def test_the_process_environment_is_read_by_default(
    embedded: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(config(tmp_path, "")))
    monkeypatch.setenv("TEMPORAL_ADDRESS", embedded.target_host)
    assert await namespace_of(await connect()) == "default"


def test_nothing_set_is_the_local_default(tmp_path: Path) -> None:
    settings = resolve_settings(config_file=config(tmp_path, ""), environment={})
    assert (settings.address, settings.namespace) == ("localhost:7233", "default")
    assert (settings.api_key, settings.tls) == (None, None)


def test_keys_and_certificates_come_from_each_place_and_are_in_no_repr(tmp_path: Path) -> None:
    certificate = tmp_path / "client.pem"
    certificate.write_bytes(SECRET.encode())
    file = config(
        tmp_path,
        f'[profile.default]\napi_key = "{SECRET}"\n[profile.default.grpc_meta]\nauth = "{SECRET}"\n'
        f'[profile.default.tls]\nclient_cert_path = "{certificate}"\n',
    )
    settings = resolve_settings(config_file=file, environment={})
    assert settings.api_key == SECRET
    assert settings.rpc_metadata == {"auth": SECRET}
    assert isinstance(settings.tls, TLSConfig)
    assert settings.tls.client_cert == SECRET.encode()
    assert SECRET not in repr(settings)

    said = resolve_settings(config_file=file, api_key="other", tls=False, environment={})
    assert (said.api_key, said.tls) == ("other", False)
    from_environment = resolve_settings(
        config_file=config(tmp_path, ""), environment={"TEMPORAL_API_KEY": SECRET}
    )
    assert from_environment.api_key == SECRET


async def test_plugins_are_used_and_their_errors_are_their_own(embedded: EmbeddedServer) -> None:
    plugin = SimplePlugin("shop")
    client = await connect(address=embedded.target_host, plugins=[plugin], environment={})
    assert client.config()["plugins"] == [plugin]

    class Broken(SimplePlugin):
        async def connect_service_client(
            self,
            config: ConnectConfig,
            next: object,  # noqa: A002 - the SDK's name for it
        ) -> ServiceClient:
            raise RuntimeError("the plugin is broken")

    with pytest.raises(RuntimeError, match="the plugin is broken"):
        await connect(address=embedded.target_host, plugins=[Broken("b")], environment={})


async def test_an_address_where_nothing_listens_is_told_with_who_set_it(tmp_path: Path) -> None:
    by_caller = await failure(address=NOBODY, api_key=SECRET)
    assert str(by_caller) == (
        f"cannot connect to Temporal at {NOBODY} (given by the caller): nothing listens there; "
        f"start a server (`temperance dev`), or give another address"
    )
    by_environment = await failure(environment={"TEMPORAL_ADDRESS": NOBODY})
    assert "(from TEMPORAL_ADDRESS)" in str(by_environment)
    file = config(tmp_path, f'[profile.shop]\naddress = "{NOBODY}"\napi_key = "{SECRET}"\n')
    by_profile = await failure(profile="shop", config_file=file)
    assert "(from profile 'shop')" in str(by_profile)


async def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as silent:
        host, port = silent.sockets[0].getsockname()
        error = await failure(
            address=f"{host}:{port}", api_key=SECRET, timeout=timedelta(milliseconds=300)
        )
    assert "no answer within 0.3 s" in str(error)


async def test_something_else_that_answers_is_not_taken_for_temporal() -> None:
    async def answer_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer_http, "127.0.0.1", 0) as other:
        host, port = other.sockets[0].getsockname()
        error = await failure(address=f"{host}:{port}")
    assert "no Temporal server, or expects TLS" in str(error)


async def test_a_key_turns_tls_on_and_a_server_without_tls_is_named_as_such(
    embedded: EmbeddedServer,
) -> None:
    error = await failure(address=embedded.target_host, api_key=SECRET)
    assert "does not speak TLS, and TLS or an API key is set" in str(error)

    without_tls = await connect(
        address=embedded.target_host, api_key=SECRET, tls=False, environment={}
    )
    assert await namespace_of(without_tls) == "default"


async def test_half_a_client_certificate_is_refused(embedded: EmbeddedServer) -> None:
    error = await failure(address=embedded.target_host, tls=TLSConfig(client_cert=b"x"))
    assert "needs its private key" in str(error)


@pytest.mark.parametrize(
    "address", ["https://shop.example:7233", "shop.example", "shop:port", "a b:1"]
)
async def test_an_address_is_host_and_port(address: str) -> None:
    """Without a port the SDK would silently go to port 80."""
    error = await failure(address=address)
    assert "write host:port, without a scheme" in str(error)


async def test_a_profile_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    file = config(tmp_path, f'[profile.shop]\napi_key = "{SECRET}"\n[profile.depot]\n')
    error = await failure(profile="prod", config_file=file)
    assert f"profile 'prod' is not in {file}, which has depot, shop" in str(error)
    chosen = await failure(
        environment={"TEMPORAL_CONFIG_FILE": str(file), "TEMPORAL_PROFILE": "live"}
    )
    assert "profile 'live' is not in" in str(chosen)


async def test_a_configuration_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The SDK takes it for an empty one, and would go to localhost."""
    absent = tmp_path / "absent.toml"
    by_caller = await failure(config_file=absent)
    assert f"no configuration file {absent} (named by config_file)" in str(by_caller)
    by_environment = await failure(environment={"TEMPORAL_CONFIG_FILE": str(absent)})
    assert "(named by TEMPORAL_CONFIG_FILE)" in str(by_environment)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'[profile.default]\napi_key = "{SECRET}', "line 2, column"),
        (f'[profile.default]\ntls = "{SECRET}"', "line 2, column"),
        (f'[profile.default]\naddress = ["{SECRET}"]', "line 2, column"),
        (
            f'[profile.default.tls]\nclient_cert_path = "a"\nclient_cert_data = "{SECRET}"',
            "Cannot specify both client_cert_path and client_cert_data",
        ),
        (
            f'[profile.default]\napi_key = "{SECRET}"\n'
            '[profile.default.tls]\nclient_cert_path = "/absent/pem"',
            "cannot read /absent/pem",
        ),
    ],
)
async def test_a_broken_configuration_is_told_by_its_place_and_never_quoted(
    tmp_path: Path, text: str, said: str
) -> None:
    error = await failure(config_file=config(tmp_path, text))
    assert said in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('ConnectError("dns error", Custom { kind: Uncategorized })', "host name is not known"),
        ('Os { code: 110, kind: TimedOut, message: "..." }', "no answer"),
        ("error: InvalidCertificate(UnknownIssuer)", "not accepted (UnknownIssuer)"),
        ("tonic::transport::Error(Transport, PrivateKeyParseError)", "cannot be read"),
        (
            f'Status {{ code: Unauthenticated, message: "{SECRET}" }}',
            "refused (Unauthenticated); check the API key",
        ),
        (f"something new with {SECRET}", "the connection could not be made"),
    ],
)
def test_the_sdks_texts_are_translated_and_never_passed_on(text: str, said: str) -> None:
    reason = connection._reason(f"Failed client connect: {text}")
    assert reason is not None
    assert said in reason
    assert SECRET not in reason
