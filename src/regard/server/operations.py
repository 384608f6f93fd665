"""Routes for whoever runs the server: health, readiness, metrics."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from regard.server.faults import JsonResponse
from regard.version import __version__

router = APIRouter(tags=["operations"])


@router.get("/health")
async def health() -> dict[str, str]:
    """Return that the process answers."""
    return {"status": "ok", "version": __version__}


@router.get("/ready")
async def ready(request: Request) -> Response:
    """Return whether the models are loaded: 200, or 503 while they are not or the server stops."""
    is_ready: bool = request.app.state.is_ready
    return JsonResponse({"status": "ready" if is_ready else "loading"}, 200 if is_ready else 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return counts and times in the text format of Prometheus."""
    state = request.app.state.server.metrics
    return Response(state.text(), media_type=state.content_type)
