"""Pictures by content: once, whole, and the same when read back."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from screensearch.domain.screen import Image
from screensearch.errors import FormatError, StoreFailed
from screensearch.record import local_artifacts as module
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.pictures import name_of

RED = Image(2, 1, b"\xff\0\0" * 2)


@st.composite
def images(draw: st.DrawFn) -> Image:
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return Image(width, height, draw(st.binary(min_size=3 * width * height, max_size=3 * width * height)))


@given(image=images())
def test_an_image_is_read_back_to_the_pixel(tmp_path_factory: pytest.TempPathFactory, image: Image) -> None:
    artifacts = LocalArtifacts(tmp_path_factory.mktemp("artifacts"))
    assert artifacts.open_image(artifacts.put_image(image)) == image


@given(rows=st.lists(st.sampled_from([b"\0" * 12, b"\xff" * 12, bytes(range(12))]), min_size=1, max_size=12))
def test_rows_that_repeat_the_one_above_are_read_back_to_the_pixel(
    tmp_path_factory: pytest.TempPathFactory, rows: list[bytes]
) -> None:
    image = Image(4, len(rows), b"".join(rows))
    artifacts = LocalArtifacts(tmp_path_factory.mktemp("artifacts"))
    assert artifacts.open_image(artifacts.put_image(image)) == image


def test_a_blank_screen_takes_little_room(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path)
    name = artifacts.put_image(Image(1024, 768, b"\xf0" * (3 * 1024 * 768)))
    assert artifacts.path(name).stat().st_size < 16_000


def test_an_image_is_a_png_that_any_viewer_opens(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path / "artifacts")
    name = artifacts.put_image(RED)
    path = artifacts.path(name)
    assert path == tmp_path / "artifacts" / name[:2] / f"{name[2:]}.png"
    with Pillow.open(path) as png:
        assert (png.format, png.size, png.getpixel((1, 0))) == ("PNG", (2, 1), (255, 0, 0))


def test_the_same_pixels_are_stored_once_and_other_sizes_apart(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path)
    name = artifacts.put_image(RED)
    written = artifacts.path(name).stat().st_mtime_ns
    assert artifacts.put_image(RED) == name
    assert LocalArtifacts(tmp_path).put_image(RED) == name
    assert artifacts.path(name).stat().st_mtime_ns == written
    turned = artifacts.put_image(Image(1, 2, RED.pixels))
    assert turned != name
    assert len([file for file in tmp_path.rglob("*") if file.is_file()]) == 2
    assert artifacts.missing([name, turned, "0" * 64]) == {"0" * 64}


def _put(folder: Path, count: int) -> list[str]:
    artifacts = LocalArtifacts(folder)
    return [artifacts.put_image(Image(20, 20, bytes([number]) * 1200)) for number in range(count)]


def test_many_processes_may_bring_the_same_pictures_at_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        names = pool.starmap(_put, [(tmp_path, 20)] * 3)
    assert names[0] == names[1] == names[2]
    assert len([file for file in tmp_path.rglob("*") if file.is_file()]) == 20
    artifacts = LocalArtifacts(tmp_path)
    assert [artifacts.open_image(name).pixels[0] for name in names[0]] == list(range(20))


def test_a_shard_that_another_process_made_is_synced_into_its_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(module, "sync_folder", synced.append)
    shard = LocalArtifacts(tmp_path).path(name_of(RED)).parent
    shard.mkdir()
    artifacts = LocalArtifacts(tmp_path)
    artifacts.put_image(RED)
    assert synced == [tmp_path, shard]
    pictures = (Image(2, 1, number.to_bytes(6, "big")) for number in range(10_000))
    artifacts.put_image(next(picture for picture in pictures if name_of(picture).startswith(shard.name)))
    assert synced == [tmp_path, shard, shard]


@pytest.mark.parametrize("content", [b"", b"not a picture", None])
def test_a_damaged_or_missing_picture_is_said_so(tmp_path: Path, content: bytes | None) -> None:
    artifacts = LocalArtifacts(tmp_path)
    name = artifacts.put_image(RED)
    if content is None:
        artifacts.path(name).unlink()
    else:
        artifacts.path(name).write_bytes(content)
    with pytest.raises(FormatError, match="missing" if content is None else "damaged"):
        artifacts.open_image(name)


def test_a_picture_that_does_not_match_its_name_is_refused(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path)
    name, other = artifacts.put_image(RED), artifacts.put_image(Image(1, 1, b"abc"))
    artifacts.path(name).write_bytes(artifacts.path(other).read_bytes())
    with pytest.raises(FormatError, match="do not match"):
        artifacts.open_image(name)


@pytest.mark.parametrize("image", [Image(2, 2, b"short"), Image(0, 0, b"")])
def test_pixels_that_do_not_fill_the_image_are_refused(tmp_path: Path, image: Image) -> None:
    with pytest.raises(FormatError, match="bytes of pixels"):
        LocalArtifacts(tmp_path).put_image(image)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_a_name_that_is_no_hash_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match="not the name of an artifact"):
        LocalArtifacts(tmp_path).path(name)


def test_a_folder_that_cannot_be_written_is_a_failure_of_storage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreFailed, match="cannot store"):
        LocalArtifacts(tmp_path / "file").put_image(RED)
