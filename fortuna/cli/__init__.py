"""The command ``fortuna-dump``: one part, one file; `fortuna.cli.main` is the way in."""
