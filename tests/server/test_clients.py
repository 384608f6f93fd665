"""Keys and addresses: who asks, and how much each may ask."""

import pytest

from regard.errors import ConfigError
from regard.server.clients import Clients, read_keys
from regard.server.errors import Overloaded, WrongKey

KEYS = """
[alice]
key = "secret-of-alice"
concurrent = 1
priority = 3
[bob]
key = "secret-of-bob"
requests_per_minute = 2
"""


@pytest.fixture
def clients(tmp_path):
    (tmp_path / "keys.toml").write_text(KEYS)
    return Clients(str(tmp_path / "keys.toml"))


def test_a_key_names_its_owner_and_a_wrong_one_is_refused(clients):
    assert clients.find("secret-of-alice", "1.2.3.4").name == "alice"
    for wrong in ("secret-of-eve", "", None, "secret-of-alicé"):
        with pytest.raises(WrongKey):
            clients.find(wrong, "1.2.3.4")


def test_a_key_has_its_limits(clients):
    alice, bob = clients.find("secret-of-alice", ""), clients.find("secret-of-bob", "")
    alice.enter()
    with pytest.raises(Overloaded, match="1 requests at a time"):
        alice.enter()
    alice.leave()
    alice.enter()
    assert alice.priority(9) == 3 and bob.priority(9) == 0 and bob.priority(-1) == -1
    bob.enter()
    bob.enter()
    with pytest.raises(Overloaded, match="2 requests a minute") as refused:
        bob.enter()
    assert 1 <= refused.value.retry_after <= 31


def test_without_keys_an_address_is_a_client():
    clients = Clients(None)
    assert clients.find("any", "1.2.3.4") is clients.find(None, "1.2.3.4") is not clients.find(None, "5.6.7.8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no keys"),
        ("[a]\nkey = 3\n", "[a] key"),
        ('[a]\nkey = "short"\n', "[a] key"),
        ("[a\n", "is not TOML"),
        ('[a]\nkey = "the same key"\n[b]\nkey = "the same key"\n', "the same key twice"),
    ],
)
def test_a_file_of_keys_that_is_wrong_is_refused(tmp_path, text, sentence):
    (tmp_path / "keys.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_keys(tmp_path / "keys.toml")
    assert sentence in str(refused.value)
