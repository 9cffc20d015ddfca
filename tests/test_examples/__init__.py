"""Tests of docs/examples: each server is started as its page says, loaded with clients, and has its workers killed."""
