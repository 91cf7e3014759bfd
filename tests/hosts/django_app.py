"""Django: a sync view and a class behind WSGI, or an async view behind ASGI."""

from __future__ import annotations

import json
import sys
from typing import Any

import core
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.common.CommonMiddleware"]
)  # fmt: skip
django.setup()

from django.core.asgi import get_asgi_application  # noqa: E402
from django.core.servers.basehttp import run  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpRequest, HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils.decorators import method_decorator  # noqa: E402
from django.views import View  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402


def answer(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return HttpResponse(status=405)
    message = json.loads(request.body)
    if request.headers.get("Authorization") == "Bearer wrong":
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    if status := core.refusal(message, request.headers.get("Mcp-Session-Id"), request.path):
        return JsonResponse({"error": "session"}, status=status)
    reply = core.reply(message, request.path)
    return HttpResponse(status=202) if reply is None else JsonResponse(reply, headers=core.opened(message))


@csrf_exempt
def plain(request: HttpRequest) -> HttpResponse:
    return answer(request)


@csrf_exempt
@core.DUAL.django
def sync_view(request: HttpRequest) -> HttpResponse:
    return answer(request)


@core.DUAL.django
@csrf_exempt
async def async_view(request: HttpRequest) -> HttpResponse:
    return answer(request)


@method_decorator(csrf_exempt, name="dispatch")
class Endpoint(View):
    @core.MODERN.django
    def dispatch(self, request: HttpRequest, *args: Any) -> Any:
        return super().dispatch(request, *args)

    def post(self, request: HttpRequest) -> HttpResponse:
        return answer(request)


is_async = sys.argv[2:] == ["asgi"]
urlpatterns = [path("plain", plain), path("dual", async_view if is_async else sync_view), path("modern", Endpoint.as_view())]
if is_async:
    import uvicorn

    uvicorn.run(get_asgi_application(), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", lifespan="off")
else:
    run("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), threading=True)
