#!/usr/bin/env bash
# Installs the grader into an environment beside this script: from wheels/ if there are any, without
# a network if they are all that it needs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

if ! python3 -m venv "$here/venv"; then
    # A system Python may come without venv.
    apt-get update && apt-get install -y python3 python3-venv
    python3 -m venv "$here/venv"
fi

install=("$here/venv/bin/python" -m pip install --disable-pip-version-check "mha-grade==@version@")
if compgen -G "$here/wheels/*.whl" >/dev/null; then
    "${install[@]}" --no-index --find-links "$here/wheels" ||
        "${install[@]}" --find-links "$here/wheels"
else
    "${install[@]}"
fi
