"""Providers: the libraries that execute keystream generators, one file for each; nothing is imported until used."""
