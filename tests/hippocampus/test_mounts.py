"""The file system of a folder is read from the list that Linux keeps."""

from __future__ import annotations

import pytest

from engramdown.hippocampus.watch import file_system, is_remote

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
29 22 0:26 / /home/you rw,relatime shared:1 - nfs4 host:/you rw
30 29 0:27 / /home/you/local rw,relatime - tmpfs tmpfs rw
31 22 0:28 / /mnt/a\040b rw,relatime - ext4 /dev/vdb rw
32 22 0:29 / /mnt/a\040b rw,relatime - fuse.sshfs you@host: rw
torn line
33 22 0:30 / /no-kind rw -
"""


@pytest.mark.parametrize(
    "path, expected",
    [
        pytest.param("/srv/project", "ext4", id="on the root"),
        pytest.param("/home/you", "nfs4", id="the point itself"),
        pytest.param("/home/you/project", "nfs4", id="below it"),
        pytest.param("/home/yours", "ext4", id="a name that begins like it"),
        pytest.param("/home/you/local/x", "tmpfs", id="the longest point counts"),
        pytest.param("/mnt/a b/x", "fuse.sshfs", id="the later of two on one point"),
        pytest.param("/no-kind/x", "ext4", id="a line without a type"),
    ],
)
def test_the_nearest_mount_point_above_a_folder_says_its_file_system(
    path: str, expected: str
) -> None:
    assert file_system(MOUNTS, path) == expected


def test_a_list_that_says_nothing_names_no_file_system() -> None:
    assert file_system("", "/home") == file_system("\n - \nx - y", "/home") == ""


def test_file_systems_whose_changes_come_from_elsewhere_are_told_apart() -> None:
    remote = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "virtiofs",
        "vboxsf",
        "fuse.sshfs",
        "fuse.rclone",
    ]
    here = ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "zfs", "apfs", ""]
    assert [kind for kind in remote + here if is_remote(kind)] == remote
