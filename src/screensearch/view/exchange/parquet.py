"""A run as a folder of Parquet files: one a table, and ``export.json``, which says what they are.

The one place that knows pyarrow (extra `tables`). Rows are written and read in batches, so that the size of a
run does not matter. Every column carries its meaning as metadata; texts that repeat are dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from screensearch.domain.document import decode_document, encode_document
from screensearch.errors import FormatError, NewerFormat, PluginUnavailable, StoreFailed
from screensearch.view.exchange.document import join_elements
from screensearch.view.exchange.rows import (
    KIND,
    TABLES,
    VERSION,
    Column,
    ElementRow,
    Head,
    Row,
    ScreenRow,
    TransitionRow,
    columns_of,
)

Table = TypeVar("Table", bound=Row)

HEAD = "export.json"

_BATCH = 20_000  # rows that are in memory at once
_LARGE = 10  # times as much is a row with lists: so many times fewer are


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as problem:
        raise PluginUnavailable(
            f"Parquet needs the extra `tables`: pip install 'screensearch[tables]' ({problem})"
        ) from problem
    return pyarrow


def check_parquet() -> None:
    """Raise now if Parquet cannot be written."""
    _arrow()


def write_tables(folder: Path, head: Head, tables: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """Write every table into a folder that exists; the head last, so that a folder with one is whole."""
    for name, rows in tables:
        _write_table(folder / f"{name}.parquet", name, rows)
    (folder / HEAD).write_bytes(encode_document(KIND, head, version=VERSION) + b"\n")


def _write_table(path: Path, name: str, rows: Iterable[Row]) -> None:
    arrow = _arrow()
    columns = columns_of(TABLES[name])
    schema = arrow.schema(
        [
            arrow.field(
                column.name,
                _type_of(arrow, column),
                nullable=column.optional,
                metadata={"description": column.meaning},
            )
            for column in columns
        ],
        metadata={"format": f"screensearch.{KIND}", "version": str(VERSION), "table": name},
    )
    remaining = iter(rows)
    most = _rows_at_once(TABLES[name])
    with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(remaining, most)):
            arrays = [
                arrow.array([getattr(row, field.name) for row in batch], type=field.type) for field in schema
            ]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))


def _rows_at_once(table: type[Row]) -> int:
    return _BATCH // _LARGE if any(column.kind is list for column in columns_of(table)) else _BATCH


def _type_of(arrow: Any, column: Column) -> Any:
    if column.repeats:
        return arrow.dictionary(arrow.int32(), arrow.string())
    return {
        int: arrow.int64(),
        float: arrow.float64(),
        bool: arrow.bool_(),
        str: arrow.string(),
        list: arrow.list_(arrow.string()),
    }[column.kind]


class ParquetReader:
    """A folder of tables, read back batch by batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.pictures: Path | None = folder
        _arrow()
        try:
            content = (folder / HEAD).read_bytes()
        except FileNotFoundError as problem:
            raise FormatError(
                f"{folder} is no Parquet export: it has no {HEAD}; "
                "one is made by `screensearch export RUN --format parquet`"
            ) from problem
        except OSError as problem:
            raise StoreFailed(f"cannot read {folder / HEAD}: {problem}; check its permissions") from problem
        try:
            self.head = decode_document(content, KIND, Head, version=VERSION)
        except NewerFormat:
            raise
        except FormatError as problem:
            raise FormatError(f"{folder / HEAD} is malformed: {problem}; export the run again") from problem

    def transitions(self) -> Iterator[TransitionRow]:
        return self._read("transitions", TransitionRow)

    def screens(self) -> Iterator[tuple[ScreenRow, list[ElementRow]]]:
        """Every screen with its elements. Both tables are in order of the screen's number."""
        return join_elements(self._read("screens", ScreenRow), self._read("elements", ElementRow))

    def _read(self, name: str, kind: type[Table]) -> Iterator[Table]:
        path = self._folder / f"{name}.parquet"
        fields = list(kind.__struct_fields__)
        number = 0
        with _translated(path), _arrow().parquet.ParquetFile(path) as file:
            missing = [field for field in fields if field not in file.schema_arrow.names]
            if missing:
                raise FormatError(f"{path} has no column {missing[0]!r}: export the run again")
            for batch in file.iter_batches(_rows_at_once(kind), columns=fields):
                for values in zip(*(batch.column(field).to_pylist() for field in fields), strict=True):
                    number += 1
                    try:
                        yield msgspec.convert(dict(zip(fields, values, strict=True)), kind)
                    except msgspec.ValidationError as problem:
                        raise FormatError(f"row {number} of {path} is not valid: {problem}") from problem


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    arrow = _arrow()
    try:
        yield
    except FileNotFoundError as problem:
        raise FormatError(f"{path} is missing: copy the folder whole, or export the run again") from problem
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path} cannot be read as Parquet: {problem}; export the run again") from problem
