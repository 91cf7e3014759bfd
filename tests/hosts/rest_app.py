"""Django REST framework: a class with the boundary around `post`, and one with it around everything."""

from __future__ import annotations

import sys

import core
import django
from django.conf import settings

settings.configure(SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, REST_FRAMEWORK={"UNAUTHENTICATED_USER": None})
django.setup()

from django.core.servers.basehttp import run  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.exceptions import APIException, MethodNotAllowed  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Refused(APIException):
    def __init__(self, status: int) -> None:
        super().__init__("no session")
        self.status_code = status


def answer(request: Request) -> Response:
    message = request.data
    if request.headers.get("Authorization") == "Bearer wrong":
        return Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    if status := core.refusal(message, request.headers.get("Mcp-Session-Id"), request.path):
        raise Refused(status)
    reply = core.reply(message, request.path)
    return Response(status=202) if reply is None else Response(reply, headers=core.opened(message))


class Endpoint(APIView):
    authentication_classes = ()

    def post(self, request: Request) -> Response:
        return answer(request)

    def get(self, request: Request) -> Response:
        raise MethodNotAllowed("GET")

    delete = get


class Dual(Endpoint):
    @core.DUAL.django
    def post(self, request: Request) -> Response:
        return answer(request)

    @core.DUAL.django
    def get(self, request: Request) -> Response:
        raise MethodNotAllowed("GET")

    delete = get


@core.MODERN.django
class Modern(Endpoint):
    """All its methods come from elsewhere."""


urlpatterns = [path("plain", Endpoint.as_view()), path("dual", Dual.as_view()), path("modern", Modern.as_view())]
run("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), threading=True)
