"""
Make generators/_kernels/known_answers.h, the self-test's table, and print it.

Every value is computed twice: by the plain reference in this file, which counts
with Python's integers, and by pyca/cryptography, one object per block so that
no library counter is involved (its ChaCha20 covers 20 rounds; for 8 and 12
rounds the second path is the published vectors of chacha_strombergson_256.json,
which pin the same reference).  HChaCha is pinned by hchacha20.json and
xchacha.json.  The script stops at the first disagreement.

    python tests/vectors/make_known_answers.py > generators/_kernels/known_answers.h
"""

import json
import struct
import sys
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HERE = Path(__file__).parent
KEY = bytes(range(32))
BOUNDARIES = [32, 64, 96, 128]
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
COLUMNS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def rotate(word: int, bits: int) -> int:
    """Rotate a 32-bit word left."""
    return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF


def permute(state: tuple[int, ...], rounds: int) -> list[int]:
    """Apply ChaCha's rounds (RFC 8439 2.1 and 2.2)."""
    x = list(state)
    for index in range(rounds):
        for a, b, c, d in DIAGONALS if index % 2 else COLUMNS:
            for p, q, r, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[p] = (x[p] + x[q]) & 0xFFFFFFFF
                x[r] = rotate(x[r] ^ x[p], bits)
    return x


def chacha_block(rounds: int, key: bytes, counter: int) -> bytes:
    """Return the 64-byte block number `counter`, a 128-bit integer."""
    tail = (counter % 2**128).to_bytes(16, "little")
    state = CONSTANTS + struct.unpack("<12I", key + tail)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(state, permute(state, rounds), strict=True)))


def hchacha(rounds: int, key: bytes, nonce: bytes) -> bytes:
    """Return the 32-byte subkey (draft-irtf-cfrg-xchacha 2.2)."""
    x = permute(CONSTANTS + struct.unpack("<12I", key + nonce), rounds)
    return struct.pack("<8I", *x[:4], *x[12:])


def multiply(a: int, b: int) -> int:
    """Multiply in GF(2^8) with AES's polynomial (FIPS 197 4.2)."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def s_box(byte: int) -> int:
    """Substitute one byte: inverse, then the affine map (FIPS 197 5.1.1)."""
    inverse = next((i for i in range(256) if multiply(byte, i) == 1), 0)
    result = inverse ^ 0x63
    for bits in (1, 2, 3, 4):
        result ^= (inverse << bits | inverse >> (8 - bits)) & 0xFF
    return result


SUB = bytes(s_box(i) for i in range(256))


def aes256_block(key: bytes, counter: int) -> bytes:
    """Encrypt LE128(counter) with AES-256 (FIPS 197 5.1 and 5.2)."""
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    rcon = 1
    for i in range(8, 60):
        term = words[-1]
        if i % 8 == 0:
            term = bytes([SUB[term[1]] ^ rcon, SUB[term[2]], SUB[term[3]], SUB[term[0]]])
            rcon <<= 1
        elif i % 8 == 4:
            term = bytes(SUB[b] for b in term)
        words.append(bytes(a ^ b for a, b in zip(words[-8], term, strict=True)))
    keys = [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]
    state = bytes(a ^ b for a, b in zip((counter % 2**128).to_bytes(16, "little"), keys[0], strict=True))
    for index in range(1, 15):
        state = bytes(SUB[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if index < 14:
            mixed = bytearray()
            for column in range(0, 16, 4):
                c = state[column : column + 4]
                mixed += bytes(
                    multiply(c[i], 2) ^ multiply(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4] for i in range(4)
                )
            state = bytes(mixed)
        state = bytes(a ^ b for a, b in zip(state, keys[index], strict=True))
    return state


def block(cipher: str, counter: int) -> bytes:
    """Return one keystream block of a cipher, by the reference."""
    if cipher == "aes256-icm":
        return aes256_block(KEY, counter)
    rounds = int(cipher.partition("chacha")[2])
    key = hchacha(rounds, KEY, bytes(16)) if cipher.startswith("x") else KEY
    return chacha_block(rounds, key, counter)


def by_library(cipher: str, counter: int) -> bytes | None:
    """Return the same block by pyca/cryptography, or None where it has no such cipher."""
    position = (counter % 2**128).to_bytes(16, "little")
    if cipher == "aes256-icm":
        ecb = Cipher(algorithms.AES256(KEY), modes.ECB())  # noqa: S305  # one block: the cipher itself
        return bytes(ecb.encryptor().update(position))
    if not cipher.endswith("20"):
        return None
    key = hchacha(20, KEY, bytes(16)) if cipher.startswith("x") else KEY
    return bytes(Cipher(algorithms.ChaCha20(key, position), None).encryptor().update(bytes(64)))


def check_reference() -> None:
    """Compare the reference with published vectors."""
    for row in json.loads((HERE / "chacha_strombergson_256.json").read_text())["tests"]:
        want, start = bytes.fromhex(row["keystream"]), int.from_bytes(bytes.fromhex(row["iv"]), "little")
        got = b"".join(chacha_block(row["rounds"], bytes.fromhex(row["key"]), start + i) for i in range(4))
        assert want == got[: len(want)], row["id"]
    for row in json.loads((HERE / "hchacha20.json").read_text())["tests"]:
        key, nonce = bytes.fromhex(row["key"]), bytes.fromhex(row["nonce16"])
        assert bytes.fromhex(row["subkey"]) == hchacha(row["rounds"], key, nonce), row["id"]
    for row in json.loads((HERE / "xchacha.json").read_text())["tests"]:
        want, nonce = bytes.fromhex(row["keystream"]), bytes.fromhex(row["nonce24"])
        key = hchacha(row["rounds"], bytes.fromhex(row["key"]), nonce[:16])
        start = int.from_bytes(row["block"].to_bytes(8, "little") + nonce[16:], "little")
        got = b"".join(chacha_block(row["rounds"], key, start + i) for i in range(len(want) // 64 + 1))
        assert want == got[: len(want)], row["id"]


def main() -> None:
    """Print the header."""
    check_reference()
    out = sys.stdout.write
    out("/* Made by tests/vectors/make_known_answers.py; do not edit.\n")
    out(" * Key 00 01 .. 1f; per cipher and boundary 2^32, 2^64, 2^96, 2^128: the block\n")
    out(" * before the boundary and the one at it (at 2^128: block 0). */\n")
    for cipher in ("aes256-icm", *(x + "chacha" + r for x in ("", "x") for r in ("20", "12", "8"))):
        size = 16 if cipher == "aes256-icm" else 64
        out(f"static const uint8_t {cipher.replace('-', '_')}_answers[{len(BOUNDARIES) * 2 * size}] = {{\n")
        for boundary in BOUNDARIES:
            answer = b""
            for counter in (2**boundary - 1, 2**boundary):
                answer += block(cipher, counter)
                library = by_library(cipher, counter)
                assert library in (None, answer[-size:]), (cipher, counter)
            lines = [answer[i : i + 16] for i in range(0, len(answer), 16)]
            out("".join("    " + " ".join(f"0x{b:02x}," for b in line) + "\n" for line in lines))
        out("};\n")


main()
