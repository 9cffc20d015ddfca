"""Tests of the packaging: the link, the wheel, the installed package."""
