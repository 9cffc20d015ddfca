"""Tests of what is written: README, the pages of docs/, the files of configs/."""
