"""Files are written whole; what is no regular file is written into."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

from derive.show.files import write


def test_a_pipe_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text)
        write(pipe, "text")
        assert read.result(timeout=10) == "text"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "file"
    path.write_text("old and long")
    write(path, "new")
    assert path.read_text() == "new" and [p.name for p in tmp_path.iterdir()] == ["file"]
