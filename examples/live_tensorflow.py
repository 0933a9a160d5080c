"""Profiles a TensorFlow program while it runs: parameters, float operations and time."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import tfprof

v1 = tf.compat.v1

with tf.Graph().as_default() as graph:
    images = v1.placeholder(tf.float32, [8, 28, 28, 1], name="images")
    with v1.variable_scope("conv"):
        kernel = v1.get_variable("kernel", [5, 5, 1, 32])
        maps = tf.nn.relu(tf.nn.conv2d(images, kernel, strides=2, padding="SAME"))
    with v1.variable_scope("logits"):
        weights = v1.get_variable("weights", [14 * 14 * 32, 10])
        logits = tf.matmul(tf.reshape(maps, [-1, 14 * 14 * 32]), weights)
    init = v1.global_variables_initializer()

# Where are the parameters? This prints a table and returns the numbers.
parameters = tfprof.profile(graph)
print("parameters:", parameters.total_parameters)

with v1.Session(graph=graph) as session:
    session.run(init)
    profiler = tfprof.Profiler(graph)
    for step in range(3):
        run_meta = v1.RunMetadata()
        session.run(
            logits,
            {images: [[[[0.0]] * 28] * 28] * 8},
            options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE),
            run_metadata=run_meta,
        )
        profiler.add_step(step, run_meta)

# How many float operations does a step take?
profiler.profile_operations(tfprof.ProfileOptionBuilder.float_operation())

# Where does the time go? This prints nothing; the answer is in the message.
options = (
    tfprof.ProfileOptionBuilder(tfprof.ProfileOptionBuilder.time_and_memory())
    .with_step(2)
    .with_empty_output()
    .build()
)
slowest = profiler.profile_operations(options).children[0]
print("slowest kind of op:", slowest.name)
