"""The headings under which help lists options."""

from __future__ import annotations

# Headings of the option groups in help, in this order.
FILES = "Input files (recognised by content even without the option; may be gzipped)"
FOLDERS = "Folders"
READING = "How files are read"
PROGRAM = "The program"
COUNTED = "What is counted"
BUDGETS = "Budgets"
SHOWN = "What is shown"
THRESHOLDS = "Thresholds"
OUTPUT = "Output"
SERVER = "Server"
WORKERS = "Workers"
GROUPS = (
    *(FILES, FOLDERS, READING, PROGRAM, BUDGETS, COUNTED, SHOWN, THRESHOLDS, OUTPUT, SERVER),
    WORKERS,
)
