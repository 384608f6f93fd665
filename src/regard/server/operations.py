"""Routes for whoever runs the server: health, readiness, metrics."""

from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from regard.server.faults import JsonResponse
from regard.server.protocols.own import FAULTS
from regard.version import __version__

router = APIRouter(tags=["operations"])


@router.get("/health", responses=FAULTS)
async def health() -> dict[str, str]:
    """Return that the process answers."""
    return {"status": "ok", "version": __version__}


@router.get("/ready", responses=FAULTS)
async def ready(request: Request) -> Response:
    """Return whether the models are loaded: 200, or 503 while they are not or the server stops."""
    is_ready: bool = request.app.state.is_ready
    return JsonResponse({"status": "ready" if is_ready else "loading"}, 200 if is_ready else 503)


@router.get("/metrics", responses=FAULTS, response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Return counts and times in the text format of Prometheus."""
    state = request.app.state.server.metrics
    return Response(state.text(), media_type=state.content_type)


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """Return a page that lists all routes and sends requests to them; it loads nothing from elsewhere."""
    policy = "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
    page = (files("regard.server") / "docs.html").read_text(encoding="utf-8")
    return HTMLResponse(page, headers={"content-security-policy": f"{policy}; frame-ancestors 'none'"})
