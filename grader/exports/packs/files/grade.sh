#!/usr/bin/env bash
# The step: grades $MHA_FILE, hands the result to the reporter, prints the points if asked to.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT

options=(--format classroom --output "$made/result")
if [ -f "$here/course.yaml" ]; then
    options+=(--course "$here/course.yaml")
fi
# Until it has ended, nothing that is printed is a command to the runner.
token="mha-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
echo "::stop-commands::$token"
"$here/venv/bin/mha-grade" "$MHA_FILE" "${options[@]}"
code=$?
echo "::$token::"

if ! grep '^result=' "$made/result" >>"$GITHUB_OUTPUT" 2>/dev/null; then
    # No report: the reason was printed, and the step fails with the grader's own exit code.
    [ "$code" -ne 0 ] || code=3
    exit "$code"
fi
if [ "${MHA_NOTICES:-false}" = true ]; then
    grep '^::notice title=Autograding ' "$made/result"
fi
