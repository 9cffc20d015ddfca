"""Statistics of the process's generator for monitoring systems: the extra ``metrics``.

`fortuna.metrics.prometheus` and `fortuna.metrics.opentelemetry` export what `fortuna.metrics.measures` lists. Each
imports its library, so import the one that is used. Nothing is counted for them while bytes are drawn, or in a fork:
they read `fortuna.stats` when they are asked to, and a process that has booted nothing exports nothing.
"""
