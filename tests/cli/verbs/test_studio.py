from commands import bad, good
from regard.cli.verbs import serve as verb
from regard.studio import serve
from regard.studio.settings import StudioSettings


def test_the_studio_is_served_over_a_folder(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(
        serve, "serve_studio", lambda settings, announce: given.append(settings) or announce("http://x/")
    )
    printed = good("studio", tmp_path, "--port", 8123, "--no-browser", "--memory", 2)
    (settings,) = given
    assert settings == StudioSettings(runs=tmp_path, port=8123, browser=False, memory=2)
    assert printed.startswith("studio: http://x/ ") and verb.STUDIO
    good("studio")
    assert str(given[1].runs) == "runs" and given[1].browser and given[1].is_private


def test_a_port_that_is_none_is_refused():
    assert "port" in bad("studio", "--port", "99999", "--no-browser")
