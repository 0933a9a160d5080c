"""HDF5 files as Keras writes them: groups, attributes and dataset shapes, without values.

`groups.py` reads a file into objects, `objects.py` and `dense.py` decode the structures that lead
to them, and `stored.py` limits what is read.
"""

from tfprof.formats.hdf5.groups import Dataset, Group, read

__all__ = ["Dataset", "Group", "read"]
