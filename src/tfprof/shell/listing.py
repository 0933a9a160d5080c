"""What the options are set to, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.options import VIEW_OPTIONS, Option, Options, OutputSpec, default_of

_NAME_WIDTH = 28
_MARK = "* "


def plain(options: Options) -> Iterator[str]:
    """The options of the dialect, and what else is set, as it has always been printed."""
    for option in _listed(options):
        remark = options.generation.remarks.get(option.name, "")
        yield f"{remark}{_line(option, options)}\n"


def marked(options: Options, bold: tuple[str, str]) -> Iterator[str]:
    """The same for readers: what differs from its default is marked, and has that beside it.

    `bold` is what goes before and behind such a line to make it stand out.
    """
    before, behind = bold
    for option in _listed(options):
        line = _line(option, options)
        default = default_of(option.name, options.dialect)
        if getattr(options, option.name) == default:
            yield f"{' ' * len(_MARK)}{line}".rstrip() + "\n"
        else:
            yield f"{before}{_MARK}{line}{behind}  [{_value_text(option, default)}]\n"


def _listed(options: Options) -> Iterator[Option]:
    """The options that the dialect has always listed, then those of others that are set."""
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
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
