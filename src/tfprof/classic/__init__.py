"""The names of TensorFlow's own profiler for live programs, on our engine.

A program that calls `tf.compat.v1.profiler.X` gets the same from `tfprof.X`; what it passes in
stays as it is. TensorFlow is imported inside functions, so that these names cost nothing to have.
"""
