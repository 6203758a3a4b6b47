#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads every table of a result file the way a user of h5py and pandas would, without Tidelab.

usage: read_with_h5py.py FILE
Prints `path rows columns` a table. Status 1, with the reason, where a table or its description
is not as promised: one dimension, named columns, unit and help of each, chunks, compression.
"""
import sys

import h5py
import numpy
import pandas


def read_tables(path):
    with h5py.File(path, "r") as file:
        tables = []
        file.visititems(lambda name, item: tables.append(name) if isinstance(item, h5py.Dataset) else None)
        return {name: pandas.DataFrame(file[name][:]) for name in tables}


def check_table(file, name, frame):
    dataset = file[name]
    faults = []
    if dataset.ndim != 1 or dataset.dtype.names is None:
        faults.append("not a table of one dimension with named columns")
        return faults
    if dataset.chunks is None or dataset.compression != "gzip" or not dataset.shuffle:
        faults.append("not chunked, shuffled and compressed")
    if dataset.dtype.itemsize != sum(dataset.dtype[column].itemsize for column in dataset.dtype.names):
        faults.append("rows are padded")
    if len(frame) != dataset.shape[0] or list(frame.columns) != list(dataset.dtype.names):
        faults.append("pandas sees other rows or columns than h5py")
    for column in dataset.dtype.names:
        for what in ("unit", "help"):
            if f"{what}.{column}" not in dataset.attrs:
                faults.append(f"column {column} has no {what}")
        names = h5py.check_enum_dtype(dataset.dtype[column])
        if names is not None:
            values = numpy.unique(dataset[column])
            if not set(int(value) for value in values) <= set(names.values()):
                faults.append(f"column {column} has a value without a name")
    return faults


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 64
    frames = read_tables(arguments[0])
    failed = not frames
    if failed:
        print(f"{arguments[0]}: no tables", file=sys.stderr)
    with h5py.File(arguments[0], "r") as file:
        for attribute in ("format", "schema_major", "schema_minor"):
            if attribute not in file.attrs:
                print(f"{arguments[0]}: no root attribute {attribute}", file=sys.stderr)
                failed = True
        for name, frame in sorted(frames.items()):
            print(f"/{name} {len(frame)} {len(frame.columns)}")
            for fault in check_table(file, name, frame):
                print(f"{arguments[0]}: /{name}: {fault}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
