"""
Build and run the C tests of the kernels: `python tests/c/build.py TARGET...`.

The flags that each source file needs are in FILES, and nowhere else in the
tests; a file whose flags a compiler does not know is built without them and
then defines an empty kernel set.  Each target below is one way to build and
run; `all` runs those that need nothing but the host's compiler and valgrind.

    native      every test on every kernel that this processor can run
    sanitize    the same under AddressSanitizer and UndefinedBehaviorSanitizer
    m32         the same as a 32-bit program
    scalar      32-bit without SSE2: the portable kernel with one lane
    valgrind    secrets marked undefined: no branch or address depends on them
    clang       native, built by clang
    broken      every kernel with a fault built in: each self-test must fail
    aarch64     cross-built, run by qemu (aarch64-linux-gnu-gcc, qemu-aarch64)
    bigendian   cross-built, run by qemu (s390x-linux-gnu-gcc, qemu-s390x)
    bench       speed of every kernel

CC names the compiler of the host's targets (default gcc).  Exit status 0 means
that everything asked for was built, run and right.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "generators" / "_kernels"
VECTORS = HERE.parent / "vectors"

X86 = {
    "chacha_ssse3": ["-mssse3"],
    "chacha_avx2": ["-mavx2"],
    "chacha_avx512": ["-mavx512f", "-mavx512vl"],
    "aes256_icm_aesni": ["-maes", "-msse4.2"],
    "aes256_icm_vaes": ["-maes", "-mvaes", "-mavx2"],
    "aes256_icm_vaes512": ["-maes", "-mvaes", "-mavx512f", "-mavx512vl"],
}
ARM64 = {"aes256_icm_armv8": ["-march=armv8-a+crypto"]}
FILES = [
    "chacha_portable",
    "chacha_ssse3",
    "chacha_avx2",
    "chacha_avx512",
    "chacha_neon",
    "aes256_icm_aesni",
    "aes256_icm_vaes",
    "aes256_icm_vaes512",
    "aes256_icm_armv8",
    "cpu",
    "cpu_random",
    "dispatch",
    "selftest",
]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Werror"]
BASE = ["-std=c11", "-O3", "-g", *WARNINGS]
HARDENING = ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]
# Without lazy binding, as wipe.h asks of everything that the kernels are linked into.
LINK = ["-pthread", "-Wl,-z,now"]
TESTS = ["test_vectors", "test_lengths", "test_carries", "test_dispatch", "test_cpu_random"]


def run(*command: str | Path, **options: Any) -> None:
    """Run a command, showing it; an error ends the program."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def accepts(compiler: list[str], flags: list[str]) -> bool:
    """Return whether a compiler knows some flags."""
    command = [*compiler, *flags, "-x", "c", "-fsyntax-only", "-"]
    return subprocess.run(command, input=b"", capture_output=True, check=False).returncode == 0


def c_table(kind: str, fields: tuple[str, ...], rows: list[dict[str, Any]]) -> str:
    """Return the C source of a table of strings (and of the size n)."""
    members = " ".join("size_t n;" if name == "n" else f"const char *{name};" for name in fields)
    lines = []
    for row in rows:
        values = (str(row[name]) if name == "n" else json.dumps(row[name]) for name in fields)
        lines.append("    {" + ", ".join(values) + "},\n")
    return f"static const struct {{ {members} }} {kind}[] = {{\n{''.join(lines)}}};\n"


def load(name: str) -> Any:
    """Return the content of one vector file."""
    return json.loads((VECTORS / f"{name}.json").read_text())


def write_vectors(path: Path) -> None:
    """Write vectors.h from the JSON files of tests/vectors."""
    streams: list[dict[str, Any]] = []
    subkeyed: list[dict[str, Any]] = []
    requests: list[dict[str, Any]] = []
    for name in ("chacha20_rfc8439", "chacha_strombergson_256", "chacha_google_random", "chacha_counter_boundaries"):
        for row in load(name)["tests"]:
            skipped = row.get("skip", 0)
            assert skipped % 64 == 0, row["id"]
            counter = int.from_bytes(bytes.fromhex(row["iv"]), "little") + skipped // 64
            counter = (counter % 2**128).to_bytes(16, "little").hex()
            streams.append({**row, "cipher": f"chacha{row['rounds']}", "counter": counter})
    for row in load("aes256_icm_le")["tests"]:
        counter = int(row["counter"]).to_bytes(16, "little").hex()
        streams.append({**row, "cipher": "aes256-icm", "counter": counter})
    for name, cipher in (("freebsd_aes_icm", "aes256-icm"), ("freebsd_chacha20", "chacha20")):
        content = load(name)
        for index, row in enumerate(content["keystream"]):
            common = {"id": f"{name} keystream {index}", "cipher": cipher, "key": row["key"], "counter": row["ctr_le"]}
            streams.append({**common, "keystream": row["out"]})
        for row in content["read_concurrent"]:
            # Fortuna's request equals FreeBSD's read in this range.
            if 1 <= row["n"] <= 2**20 - 16:
                ends = {"first": row.get("out", row.get("first32")), "last": row.get("last32", "")}
                after = {"key_after": row["key_after"], "counter_after": row["ctr_after_le"]}
                requests.append({**row, **ends, **after, "cipher": cipher, "counter": row["ctr_le"]})
    for row in load("xchacha")["tests"]:
        nonce = bytes.fromhex(row["nonce24"])
        counter = row["block"].to_bytes(8, "little") + nonce[16:]
        names = {"cipher": f"chacha{row['rounds']}", "nonce": nonce[:16].hex(), "counter": counter.hex()}
        subkeyed.append({**row, **names})
    subkeys = [{**row, "nonce": row["nonce16"]} for row in load("hchacha20")["tests"]]
    request_fields = ("cipher", "key", "counter", "n", "first", "last", "key_after", "counter_after")
    path.write_text(
        "/* Made by build.py from tests/vectors. */\n"
        + c_table("keystreams", ("id", "cipher", "key", "counter", "keystream"), streams)
        + c_table("subkeyed", ("id", "cipher", "key", "nonce", "counter", "keystream"), subkeyed)
        + c_table("subkeys", ("id", "key", "nonce", "subkey"), subkeys)
        + c_table("requests", request_fields, requests)
    )


def build(folder: Path, compiler: list[str], flags: list[str], programs: list[str], isa: dict[str, list[str]]) -> None:
    """Compile the kernels and link each test program with them."""
    objects = []
    write_vectors(folder / "vectors.h")
    for name in FILES:
        extra = isa.get(name, [])
        if not accepts(compiler, extra):
            print(f"{name}: {compiler[0]} does not know {' '.join(extra)}")
            extra = []
        objects.append(folder / f"{name}.o")
        run(*compiler, *BASE, *flags, *extra, "-c", KERNELS / f"{name}.c", "-o", objects[-1])
    for name in programs:
        sources = [HERE / f"{name}.c", HERE / "oracle.c"]
        run(*compiler, *BASE, *flags, f"-I{KERNELS}", f"-I{folder}", *sources, *objects, *LINK, "-o", folder / name)


def target(name: str, folder: Path) -> None:
    """Build and run one target."""
    host = [os.environ.get("CC", "gcc")]
    if name == "native":
        build(folder, host, HARDENING, [*TESTS, "test_wipe"], X86)
        for test in (*TESTS, "test_wipe"):
            run(folder / test)
    elif name == "clang":
        build(folder, [os.environ.get("CLANG", "clang-14")], HARDENING, [*TESTS, "test_wipe"], X86)
        for test in (*TESTS, "test_wipe"):
            run(folder / test)
    elif name == "broken":
        build(folder, host, [f"-I{KERNELS}", "-include", str(HERE / "broken_carry.h")], ["test_dispatch"], X86)
        for kernel in ("portable", "ssse3", "avx2", "avx512", "aesni", "vaes", "vaes512"):
            result = subprocess.run([folder / "test_dispatch", kernel], capture_output=True, text=True, check=False)
            print(kernel, result.stdout.splitlines()[0])
            assert result.returncode != 0, f"the self-test of a broken {kernel} kernel passed"
    elif name == "sanitize":
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
        build(folder, host, flags, TESTS, X86)
        for test in TESTS:
            run(folder / test)
    elif name == "m32":
        build(folder, [*host, "-m32"], [], TESTS, X86)
        for test in TESTS:
            run(folder / test)
    elif name == "scalar":
        build(folder, [*host, "-m32", "-march=i686", "-mno-sse"], [], TESTS, {})
        for test in TESTS:
            run(folder / test, "portable")
    elif name == "valgrind":
        build(folder, host, [], ["test_secrets"], X86)
        memcheck = ["valgrind", "-q", "--error-exitcode=9"]
        failing = subprocess.run([*memcheck, folder / "test_secrets", "--must-fail"], capture_output=True, check=False)
        assert failing.returncode == 9, "valgrind did not see a branch on a secret"
        for kernel in ("portable", "ssse3", "avx2", "aesni"):
            run(*memcheck, folder / "test_secrets", kernel)
    elif name == "aarch64":
        build(folder, ["aarch64-linux-gnu-gcc"], ["-static"], TESTS, ARM64)
        for test in TESTS:
            run("qemu-aarch64", folder / test)
    elif name == "bigendian":
        for level in ("z900", "z13"):  # without and with vector registers: one lane and four
            build(folder, ["s390x-linux-gnu-gcc", f"-march={level}"], ["-static"], TESTS, {})
            for test in TESTS:
                run("qemu-s390x", folder / test)
    elif name == "bench":
        build(folder, host, HARDENING, ["bench"], X86)
        run(folder / "bench")
    else:
        sys.exit(f"unknown target {name!r}; targets are in the docstring of {__file__}")


def main(names: list[str]) -> None:
    """Run the named targets in order."""
    for name in names or ["all"]:
        for each in ("native", "sanitize", "m32", "scalar", "valgrind", "broken") if name == "all" else (name,):
            with tempfile.TemporaryDirectory(prefix="fortuna-c-") as folder:
                print(f"== {each}", flush=True)
                try:
                    target(each, Path(folder))
                except subprocess.CalledProcessError as error:
                    sys.exit(f"{each}: failed with status {error.returncode}")


if __name__ == "__main__":
    main(sys.argv[1:])
