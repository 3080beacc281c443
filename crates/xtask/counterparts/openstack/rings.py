"""Writes the rings of Swift: each one places all its data on one server and one disk.

The arguments are the folder of the rings, and `RING=PORT` for each server.
"""
import os
import sys

from swift.common.ring import RingBuilder

ADDRESS = "127.0.0.1"


def write(folder, name, port):
    # Four partitions, one copy, no pause between two changes.
    builder = RingBuilder(2, 1, 0)
    builder.add_dev(
        {
            "id": 0,
            "region": 1,
            "zone": 1,
            "weight": 1.0,
            "ip": ADDRESS,
            "port": port,
            "replication_ip": ADDRESS,
            "replication_port": port,
            "device": "disk",
        }
    )
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + ".ring.gz"))


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        ring, port = argument.split("=")
        write(sys.argv[1], ring, int(port))
