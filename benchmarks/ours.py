"""Loads and asks by tfprof's Python interface: python benchmarks/ours.py JOB (see `phases.Job`)."""

from __future__ import annotations

from phases import Job, Phases


def main() -> None:
    job, phases = Job.given(), Phases()
    with phases.phase("import"):
        from tfprof import load  # noqa: PLC0415 -- what it takes is measured
    with phases.phase(job.load):
        profile = load(job.graph, job.run_meta, job.op_log)
    for question in job.questions:
        options = dict(question["options"])
        output = options.pop("output")
        with phases.phase(question["work"]):
            getattr(profile, question["view"])(**options).write(output)
    phases.report()


if __name__ == "__main__":
    main()
