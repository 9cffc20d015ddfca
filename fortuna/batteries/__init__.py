"""Statistical batteries: run an installed one on a stream and judge what it prints. One battery, one file.

Each adapter says how its battery is called, how its output is read and which known-bad generators it is known to
detect. Nothing here boots a generator; `fortuna.cli.battery` brings the stream.
"""
