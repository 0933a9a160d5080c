"""Drop-in replacement for TensorFlow's own profiler of live programs, built on tfprof's engine.

`tfprof.X` gives a program the same results as `tf.compat.v1.profiler.X`, and never modifies its
arguments. TensorFlow is imported inside functions, so importing these modules is cheap.
"""
