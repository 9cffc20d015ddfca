"""Uses of `fortuna.metrics.prometheus` and `fortuna.metrics.opentelemetry`."""

from __future__ import annotations

from opentelemetry.metrics import get_meter
from prometheus_client import CollectorRegistry

from fortuna.metrics.opentelemetry import instrument
from fortuna.metrics.prometheus import PrometheusMetrics


def use() -> None:
    """Export to both."""
    PrometheusMetrics().update()
    PrometheusMetrics(CollectorRegistry()).update()
    PrometheusMetrics(registry=CollectorRegistry()).update()
    instrument()
    instrument(get_meter("service"))


def misuse() -> None:
    """Do what the types forbid."""
    PrometheusMetrics("registry")  # type: ignore[arg-type]
    instrument("meter")  # type: ignore[arg-type]
