"""The package `libretranslatepy`, unmodified, against a server process, and what else its clients send."""

import httpx2
import pytest
from libretranslatepy import LibreTranslateAPI

from regard.server.faults import Fault
from regard.server.protocols.libretranslate import NAMES, libretranslate_shape
from regard.tasks.load import load

TEXT = "Der Mann schläft. Die Frau liest ein Buch.\n\n  Ja!  \n"


@pytest.fixture(scope="module")
def translator(models):
    return load(models / "de-en")


def test_the_package_translates_detects_and_lists(url, translator):
    client = LibreTranslateAPI(url)
    assert client.translate(TEXT, "de", "en") == translator.paragraphs(TEXT)
    assert client.languages() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
    ]
    assert client.detect("Das ist ein Haus.") == [{"confidence": 100.0, "language": "de"}]


def test_a_list_in_json_gives_lists_and_auto_the_language(url, translator):
    body = {"q": ["Ja.", "Nein. Doch."], "source": "auto", "target": "en", "alternatives": 2, "format": "text"}
    answer = httpx2.post(f"{url}/translate", json=body).json()
    assert answer["translatedText"] == [translator.paragraphs(text) for text in body["q"]]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["de", "de"]
    candidates = [each.text for each in translator("Ja.", n_best=3).candidates]
    assert answer["alternatives"][0] == candidates[1:3]


def test_alternatives_beyond_the_beam_widen_it(url):
    body = {"q": "Ja.", "source": "de", "target": "en", "alternatives": 9}
    answer = httpx2.post(f"{url}/translate", json=body).json()
    assert len({answer["translatedText"], *answer["alternatives"]}) == 10


def test_a_form_of_several_parts_is_read(url, translator):
    files = {name: (None, value) for name, value in (("q", "Ja."), ("source", "de"), ("target", "en"))}
    assert httpx2.post(f"{url}/translate", files=files).json()["translatedText"] == translator("Ja.").text


def test_white_space_alone_stays_as_it_is(url):
    body = {"q": " \n ", "source": "de", "target": "en"}
    assert httpx2.post(f"{url}/translate", json=body).json() == {"translatedText": " \n "}


def test_settings_tell_pages_what_there_is(url):
    answer = httpx2.get(f"{url}/frontend/settings").json()
    assert answer["language"]["source"] == {"code": "de", "name": "German"} and answer["keyRequired"] is False


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"source": "de", "target": "en"}, "missing q"),
        ({"q": "Ja.", "target": "en"}, "missing source"),
        ({"q": "Ja.", "source": "fr", "target": "en"}, "fr is not supported"),
        ({"q": "Yes.", "source": "en", "target": "de"}, "de is not available"),
        ({"q": 3, "source": "de", "target": "en"}, "q: "),
        ({"q": "Ja.", "source": "de", "target": "en", "format": "html"}, "html"),
        ({"q": "x" * 200_001, "source": "de", "target": "en"}, "exceeds text limit"),
    ],
)
def test_what_is_wrong_is_told_in_libretranslate_s_shape(url, body, sentence):
    answer = httpx2.post(f"{url}/translate", json=body)
    assert answer.status_code == 400 and sentence in answer.json()["error"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"q": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json_is_refused(url, content):
    answer = httpx2.post(f"{url}/translate", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and isinstance(answer.json()["error"], str)


def test_a_fault_is_a_sentence_under_error():
    assert libretranslate_shape(Fault(401, "No.")) == (403, {"error": "No."}) and NAMES["de"] == "German"
