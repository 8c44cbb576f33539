"""An imitation of a server of embeddings, in a process of its own on loopback: its model takes no time.

A text's vector is one of a thousand made by a seed, by the text's checksum: it means nothing, and costs the
app what a real one does.
"""

import json
import subprocess
import sys
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

import numpy as np

NUMBERS = 384
_VECTORS = 1000


class ImitationEmbeddings:
    """A context manager. `url`: where it answers."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).resolve())], stdout=subprocess.PIPE
        )
        assert self._process.stdout
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vectors: tuple[bytes, ...] = ()

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = [
            b'{"object":"embedding","index":%d,"embedding":%b}'
            % (place, self.vectors[zlib.crc32(text.encode()) % _VECTORS])
            for place, text in enumerate(texts)
        ]
        body = b'{"object":"list","data":[%b],"model":"imitation"}' % b",".join(rows)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None: ...


def main() -> None:
    """Tell the port and answer until killed."""
    made = np.random.default_rng(1).standard_normal((_VECTORS, NUMBERS)).round(6)
    _Handler.vectors = tuple(json.dumps(vector.tolist()).encode() for vector in made)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
