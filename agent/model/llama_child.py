"""The child process that holds the embedded model: llama.cpp's own server, until the parent ends.

Run as a file, with its parameters as JSON in the first argument. It writes the
server's address as one line, and ends when its standard input does, which is
when the parent closes it or dies, however it dies. Imports nothing of ours.
"""

import json
import os
import sys
import threading
from typing import Any


def main(given: dict[str, Any]) -> None:
    # llama.cpp writes its log to the descriptors themselves; the parent reads one line only.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = given["path"]
    params.model_alias = {given["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.cors_origins = ""
    params.ui = False
    params.offline = True
    params.verbosity = 2
    # A stopped reply is noticed between two batches: small ones free the processors sooner, and read as fast.
    params.n_batch = params.n_ubatch = 256
    params.n_ctx = given["context_tokens"]
    params.n_parallel = given["parallel"]
    # One pool of memory: each conversation may use the whole context while the others are short.
    params.kv_unified = True
    # What a slot has read stays there; who asks says which slot, so nothing is moved out of idle ones.
    params.cache_prompt = True
    params.cache_idle_slots = False
    params.cache_ram_mib = 1024
    for processors in (params.cpuparams, params.cpuparams_batch):
        processors.n_threads = given["threads"]
    server = xllamacpp.Server(params)
    answer.write(server.listening_address + "\n")
    answer.close()
    threading.Event().wait()


def _end_with_parent() -> None:
    # Not through sys.stdin: its lock, held here, would hang an exit for another reason.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
