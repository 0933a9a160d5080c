"""The current options, one per line."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.options import VIEW_OPTIONS, Option, Options, OutputSpec, default_of

_NAME_WIDTH = 28
_MARK = "* "


def plain(options: Options) -> Iterator[str]:
    """The options in the original's format: those of the dialect, then others that are set."""
    for option in _listed(options):
        remark = options.generation.remarks.get(option.name, "")
        yield f"{remark}{_line(option, options)}\n"


def marked(options: Options, bold: tuple[str, str]) -> Iterator[str]:
    """The options for a terminal: those that differ from their default are marked.

    A marked line ends with the default, and `bold` has the codes to print before and after it.
    """
    before, after = bold
    for option in _listed(options):
        line = _line(option, options)
        default = default_of(option.name, options.dialect)
        if getattr(options, option.name) == default:
            yield f"{' ' * len(_MARK)}{line}".rstrip() + "\n"
        else:
            yield f"{before}{_MARK}{line}{after}  [{_value_text(option, default)}]\n"


def _listed(options: Options) -> Iterator[Option]:
    """The options of the dialect, then those of other dialects that are set."""
    known = options.generation.options
    yield from (VIEW_OPTIONS[name] for name in known)
    for name, option in VIEW_OPTIONS.items():
        if name not in known and getattr(options, name) != default_of(name, options.dialect):
            yield option


def _line(option: Option, options: Options) -> str:
    value = _value_text(option, getattr(options, option.name))
    return f"{'-' + option.name:<{_NAME_WIDTH}}{value}"


def _value_text(option: Option, value: object) -> str:
    if option.name == "output":
        return str(OutputSpec.parse(str(value)))
    return option.text(value)
