"""Which file system a folder is on, as Linux lists them, and whether it tells of changes.

Promises: no I/O; a list that cannot be read names no file system.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["file_system", "is_remote"]

# What others do to these no system here is told of; of FUSE only what goes through this mount.
_REMOTE: Final = frozenset(
    {
        *("9p", "afs", "ceph", "cifs", "coda", "davfs", "glusterfs", "lustre", "ncpfs", "nfs"),
        *("nfs4", "ocfs2", "gfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    }
)
_POINT: Final = 4
"""The place of the mount point in a line."""
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def file_system(mounts: str, path: str) -> str:
    r"""Return the type of the file system that holds ``path``, or ``""``.

    Args:
        mounts: What stands in ``/proc/self/mountinfo``.
        path: An absolute path without links.

    >>> line = r"29 1 0:26 / /mnt/a\040b rw,relatime shared:1 - nfs4 host:/share rw"
    >>> file_system(line, "/mnt/a b/project")
    'nfs4'
    """
    best, found = -1, ""
    for line in mounts.split("\n"):
        place, _, kind = line.partition(" - ")
        fields, kinds = place.split(" "), kind.split(" ")
        if len(fields) > _POINT and kinds[0]:
            point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[_POINT]).rstrip("/")
            # Of two on one point it is the later one that is seen.
            if len(point) >= best and f"{path}/".startswith(f"{point}/"):
                best, found = len(point), kinds[0]
    return found


def is_remote(kind: str) -> bool:
    """Whether changes on such a file system may come from elsewhere, untold."""
    return kind in _REMOTE or kind.startswith("fuse.")
