"""Tokens by Django under gunicorn: the master loads this file, boots, and forks workers that have their own keys."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

import fortuna

if TYPE_CHECKING:
    from django.http import HttpRequest

# At import, so that `--preload` boots once, in the master. A master that cannot boot ends here, and says why.
print(f"process {os.getpid()} booted {fortuna.boot()!r}", flush=True)


def token(_: HttpRequest) -> JsonResponse:
    """Answer with a token."""
    stats = fortuna.stats()
    return JsonResponse(
        {
            "token": fortuna.random_bytes(16).hex(),
            "pid": os.getpid(),
            "cipher": stats.generator,
            "provider": stats.provider,
        }
    )


def ready(_: HttpRequest) -> JsonResponse:
    """Answer 200 where a token would be given now, else 503."""
    is_seeded = fortuna.stats().is_seeded
    return JsonResponse({"ready": is_seeded, "pid": os.getpid()}, status=200 if is_seeded else 503)


urlpatterns = [path("token", token), path("ready", ready)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1", "localhost"])
application = get_wsgi_application()
