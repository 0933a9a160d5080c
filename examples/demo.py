"""Profiles the example model: parameters, float operations and time; then writes its report."""

from pathlib import Path

import tfprof

FILES = Path(__file__).parent / "resnet32"
REPORT = Path("build/demo/resnet32.html")

profile = tfprof.load(FILES / "graph.pbtxt.gz", FILES / "run_meta.gz", FILES / "tfprof_log.gz")

print("Parameters by scope: tfprof scope FILES… -select params -max_depth 2 …\n")
print(
    profile.scope(
        select=["params"],
        account_type_regexes=["_trainable_variables"],
        order_by="params",
        max_depth=2,
    )
)

print("Float operations by op kind: tfprof op FILES… -select float_ops,occurrence …\n")
operations = profile.op(
    select=["float_ops", "occurrence"], order_by="float_ops", min_float_ops=1, max_depth=7
)
print(operations)
for note in operations.notes:
    print("Note:", note)

print("\nTime by scope: tfprof scope FILES… -select micros -order_by micros …\n")
print(profile.scope(select=["micros"], order_by="micros", min_micros=45_000, max_depth=3))

REPORT.parent.mkdir(parents=True, exist_ok=True)
profile.report(title="ResNet-32").save(REPORT)
print(f"All of this as one page, to open in a browser: {REPORT.resolve()}")
