"""What an inbox refuses to be set up as, and which addresses it answers to."""

import pytest

from temperance import Actor, ConfigurationError
from temperance.inbox.settings import InboxSettings, is_loopback

BOB = Actor(id="bob")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "give one"),
        ({"approver": BOB, "approver_header": "X-User"}, "give one"),
        ({"approver": Actor(id="x", kind="anonymous")}, "nobody in particular"),
        ({"approver_header": "X User"}, "no name of a header"),
        ({"approver_header": ""}, "no name of a header"),
        ({"approver": BOB, "host": "192.0.2.1"}, "has to be wanted expressly"),
        ({"approver": BOB, "host": "192.0.2.1", "remote": True}, "has to say who decides"),
        ({"approver_header": "X-User", "host": "::", "url": "https://a.b"}, "wanted expressly"),
        ({"approver_header": "X-User", "host": "10.0.0.1", "remote": True}, "address under which"),
        ({"approver_header": "X-User", "url": "approvals.example.com"}, "no address of an inbox"),
        ({"approver_header": "X-User", "url": "ftp://a.b"}, "no address of an inbox"),
        ({"approver_header": "X-User", "url": "https://a.b/inbox"}, "no address of an inbox"),
        ({"approver_header": "X-User", "url": "https://u:p@a.b"}, "no address of an inbox"),
        ({"approver_header": "X-User", "url": "https://a.b:0"}, "no address of an inbox"),
        ({"approver_header": "X-User", "url": "https://a.b:x"}, "no address of an inbox"),
    ],
)
def test_g3_what_would_let_strangers_decide_is_refused(
    given: dict[str, object], problem: str
) -> None:
    """One approver for everybody is for this machine only; elsewhere a login has to say who."""
    with pytest.raises(ConfigurationError) as error:
        InboxSettings(port=8234, **given)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - as the table has it
    assert problem in str(error.value)


def test_every_problem_of_a_setup_is_told_at_once() -> None:
    """Not one after the other."""
    with pytest.raises(ConfigurationError) as error:
        InboxSettings(port=8234, host="192.0.2.1")
    assert len(error.value.problems) == 4


def test_on_this_machine_it_answers_to_the_names_of_this_machine() -> None:
    """With its port: another program's page on this machine is another site."""
    settings = InboxSettings(port=8234, approver=BOB)
    assert settings.hosts == {"127.0.0.1:8234", "localhost:8234", "[::1]:8234"}
    assert settings.origins == {f"http://{host}" for host in settings.hosts}
    assert settings.link == "http://127.0.0.1:8234/"
    assert not settings.secure


def test_behind_a_proxy_it_answers_to_its_address_too() -> None:
    """Some proxies hand the name on, some do not."""
    settings = InboxSettings(port=8234, approver_header="X-User", url="https://Approvals.Example/")
    assert "approvals.example" in settings.hosts
    assert "127.0.0.1:8234" in settings.hosts
    assert "https://approvals.example" in settings.origins
    assert settings.secure
    assert settings.link == "https://Approvals.Example/"


def test_where_other_machines_reach_it_all_has_to_be_said() -> None:
    """Then it is allowed."""
    settings = InboxSettings(
        host="::", port=80, approver_header="X-User", url="https://a.b", remote=True
    )
    assert {"a.b", "[::]:80", "localhost"} < settings.hosts


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *(("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True)),
        *(("192.0.2.1", False), ("::", False), ("10.1.2.3", False), ("example.com", False)),
    ],
)
def test_this_machine_is_told_from_others(host: str, local: bool) -> None:
    """A name other than localhost may lead anywhere."""
    assert is_loopback(host) is local
