#!/usr/bin/env bash
# nginx, configured as docs/proxies.md has it, asks about each request before it passes it on to an application.
#
# usage: proxies.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$here/proxy-checks.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || apt_install_unstarted nginx-light
[ -x "$nginx" ] || leave_out "nginx, since it could not be installed"

project=$(new_project)
serve
app_port=$(free_port)
node app.mjs "$app_port" &
proxy_port=$(free_port)
proxy=http://127.0.0.1:$proxy_port

printf 'proxy_set_header X-Api-Key %s;\n' "$(jq -r .live_key <<<"$project")" >dwar-key.conf
{
    echo "error_log $scratch/nginx.log; pid $scratch/nginx.pid; daemon off; master_process off; events {}"
    echo "http { access_log off; default_type text/plain;"
    for temporary in client_body proxy fastcgi uwsgi scgi; do echo "${temporary}_temp_path $scratch/$temporary;"; done
    block proxies nginx | placed "$proxy_port" "$app_port"
    echo "}"
} >nginx.conf
"$nginx" -p "$scratch" -c nginx.conf 2>nginx.said &
until_answered "$proxy" || fail "nginx does not start: $(cat nginx.said nginx.log)"
check_proxy nginx 503 503
