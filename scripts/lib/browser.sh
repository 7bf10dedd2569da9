# Sourced by scripts that drive a browser. They have sourced apt.sh.

# find_browser: the program of CHROMIUM, or one that is installed; as root on Debian or Ubuntu it is installed first.
# Nothing if there is none.
find_browser() {
    local name
    [ -z "${CHROMIUM:-}" ] || { echo "$CHROMIUM"; return; }
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name"; then return 0; fi
    done
    apt_install chromium >&2
    command -v chromium || true
}
