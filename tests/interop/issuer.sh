#!/usr/bin/env bash
# Libraries verify the live tokens of a project with an issuer of its own: some are configured only with this issuer,
# others with the keys that discovery names. They refuse altered tokens, those of its sandbox and of other projects, and
# a type that the table of docs/own-issuers.md says they do not take. Servers with long builds are in servers.sh.
#
# usage: issuer.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/tokens.sh"

(build_go_oidc) || leave_out "the issuer of a project, since go-oidc could not be built"
for verifier in "${LIBRARIES[@]}"; do
    for type in at+jwt JWT; do expect_type "$verifier" $type authenticated; done
done
exit "$failed"
