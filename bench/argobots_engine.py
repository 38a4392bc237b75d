# SPDX-License-Identifier: MIT
"""An MPI engine that somebody has built with Argobots' thread package and installed: MPICH, by --with-thread-package=argobots. Its
programs run on Weft's libabt.so as on Argobots', whichever folder the loader looks at first."""
import os
import pathlib
import re
import subprocess


def argobots_of(prefix):
    """The folder of the libabt.so that the engine was built with."""
    library = pathlib.Path(prefix) / "lib" / "libmpi.so"
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    needed = subprocess.run(["ldd", library], env=environment, capture_output=True, text=True, check=False).stdout
    found = re.search(r"libabt\.so\S* => (/\S+)", needed)
    if found is None:
        raise SystemExit(f"{library} does not need a libabt.so that the loader finds: is it an engine built with Argobots' threads?")
    return pathlib.Path(found[1]).parent


def header_of(libabt):
    """The folder of the abt.h that goes with it: builds of Argobots that check no arguments have null handles of their own, all zero bits,
    which Weft knows too."""
    return libabt.parent / "include"


def on_libabt(folder):
    """What makes a program take the libabt.so of a folder."""
    return {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
