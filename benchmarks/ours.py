"""Loads a model and asks questions with tfprof: python benchmarks/ours.py JOB (`phases.Job`)."""

from __future__ import annotations

from phases import Job, Phases


def main() -> None:
    job, phases = Job.given(), Phases()
    with phases.phase("import"):
        from tfprof import load  # noqa: PLC0415 -- the import is measured
    with phases.phase(job.load):
        profile = load(job.graph, job.run_meta, job.op_log)
    for question in job.questions:
        options = dict(question["options"])
        output = options.pop("output")
        with phases.phase(question["task"]):
            getattr(profile, question["view"])(**options).write(output)
    phases.report()


if __name__ == "__main__":
    main()
