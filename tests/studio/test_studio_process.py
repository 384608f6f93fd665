import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from regard.studio import serve
from regard.studio.settings import StudioSettings


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


def test_the_browser_opens_once_the_address_answers(monkeypatch):
    opened = []
    monkeypatch.setattr(serve.webbrowser, "open", lambda address: opened.append(address) or True)
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        assert serve.open_browser(address) and opened == [address]


def test_nothing_opens_where_nobody_answers(monkeypatch):
    monkeypatch.setattr(serve, "PATIENCE", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert not serve.open_browser(f"http://127.0.0.1:{free.getsockname()[1]}/")


def test_a_token_is_asked_for_where_others_can_reach_it(monkeypatch):
    made = []
    monkeypatch.setattr(serve, "create_studio", lambda settings, token: made.append(token))
    monkeypatch.setattr(serve, "run_app", lambda app, settings, listener: listener.close())
    said = []
    for host in ("127.0.0.1", "0.0.0.0"):
        serve.serve_studio(StudioSettings(host=host, port=0, browser=False), said.append)
    assert made[0] is None and said[0].startswith("http://127.0.0.1:") and "token" not in said[0]
    assert made[1] and said[1].endswith(f"/?token={made[1]}")
