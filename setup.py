"""What pyproject.toml cannot say: the optional C extension, and a checkout without symbolic links.

The environment variable ``FORTUNA_NATIVE`` decides about the extension: ``auto`` (the default) builds it where a
compiler can and goes on without it where none can, ``require`` turns a failure into an error, ``off`` does not try.
"""

from __future__ import annotations

import os
import platform
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

ROOT = Path(__file__).resolve().parent

#: The only files that an instruction set may be named for: each kernel checks the processor before it runs.
ISA_FLAGS = {
    "x86_64": {
        "chacha_ssse3": ["-mssse3"],
        "chacha_avx2": ["-mavx2"],
        "chacha_avx512": ["-mavx512f", "-mavx512vl"],
        "aes256_icm_aesni": ["-maes", "-msse4.2"],
        "aes256_icm_vaes": ["-maes", "-mvaes", "-mavx2"],
        "aes256_icm_vaes512": ["-maes", "-mvaes", "-mavx512f", "-mavx512vl"],
    },
    "aarch64": {"aes256_icm_armv8": ["-march=armv8-a+crypto"]},
}
MACHINES = {"AMD64": "x86_64", "i686": "x86_64", "arm64": "aarch64"}
# Eager binding: a lazily bound memcpy would save vector registers, and what they hold, on a stack that is not wiped.
LINK_FLAGS = ["-Wl,-z,now", "-Wl,-z,relro"] if platform.system() == "Linux" else []
HARDENING = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
# Without debug information, which would hold the path of the build folder and make two builds differ.
C_FLAGS = ["-std=c11", "-O3", "-g0", "-fvisibility=hidden", *HARDENING]


class BuildNative(build_ext):
    """Compile each kernel with flags of its own, then the rest without any instruction set."""

    def build_extension(self, ext: Extension) -> None:
        """Build *ext*; a kernel whose flags the compiler does not know is built empty, and says so at run time."""
        isa = ISA_FLAGS.get(MACHINES.get(platform.machine(), platform.machine()), {})
        folder = ROOT / "generators" / "_kernels"
        for source in sorted(folder.glob("*.c")):
            name = os.path.relpath(source, ROOT)
            flags = isa.get(source.stem, [])
            try:
                objects = self.compiler.compile([name], output_dir=self.build_temp, extra_postargs=[*C_FLAGS, *flags])
            except CompileError:
                if not flags:
                    raise
                objects = self.compiler.compile([name], output_dir=self.build_temp, extra_postargs=C_FLAGS)
            ext.extra_objects.extend(objects)
        super().build_extension(ext)


class NamedForContents(bdist_wheel):
    """Name the wheel for this platform only if the extension was compiled."""

    def run(self) -> None:
        """Compile before the name is made, and forget the extension where that failed."""
        if self.distribution.has_ext_modules():
            self.run_command("build_ext")
            if not any(Path(path).exists() for path in self.get_finalized_command("build_ext").get_outputs()):
                self.distribution.ext_modules = []
                self.root_is_pure = True
        super().run()


def extensions() -> list[Extension]:
    """Return the extension, unless it is switched off."""
    wish = os.environ.get("FORTUNA_NATIVE", "auto")
    if wish not in ("auto", "require", "off"):
        raise SystemExit(f"FORTUNA_NATIVE: got {wish!r}; allowed is auto, require, off")
    if wish == "off":
        # What an editable installation with the extension has left in the checkout would be found again.
        (ROOT / "generators" / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}").unlink(missing_ok=True)
        return []
    sources = sorted((ROOT / "generators" / "_extension").glob("*.c"))
    headers = [*(ROOT / "generators").glob("_*/*.h")]
    native = Extension(
        "fortuna.generators._native",
        sources=[os.path.relpath(source, ROOT) for source in sources],
        depends=[os.path.relpath(header, ROOT) for header in headers],
        extra_compile_args=C_FLAGS,
        extra_link_args=LINK_FLAGS,
        optional=wish == "auto",
    )
    return [native]


package_dir: dict[str, str] = {}
if not (ROOT / "fortuna" / "generators").is_dir():
    package_dir["fortuna.generators"] = "generators"
    package_dir["fortuna.generators.providers"] = "generators/providers"

setup(
    package_dir=package_dir,
    ext_modules=extensions(),
    cmdclass={"bdist_wheel": NamedForContents, "build_ext": BuildNative},
)
