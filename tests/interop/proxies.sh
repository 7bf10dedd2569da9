#!/usr/bin/env bash
# nginx, configured as docs/proxies.md has it, asks about each request before it passes it on to an application; and as
# docs/operations/reverse-proxy.md has it, it stands in front of the service and its dashboard, and so does Caddy.
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
# run_nginx NAME CURL_ARGUMENT...: with the file NAME.http for `http`, until curl is answered.
run_nginx() {
    {
        echo "error_log $scratch/$1.log; pid $scratch/$1.pid; daemon off; master_process off; events {}"
        echo "http { access_log off; default_type text/plain;"
        for temporary in client_body proxy fastcgi uwsgi scgi; do echo "${temporary}_temp_path $scratch/$temporary;"; done
        cat "$1.http"
        echo "}"
    } >"$1.conf"
    "$nginx" -p "$scratch" -c "$1.conf" 2>"$1.said" &
    until_answered "${@:2}" || fail "nginx does not start: $(cat "$1.said" "$1.log")"
}

block proxies nginx | placed "$proxy_port" "$app_port" >nginx.http
run_nginx nginx "$proxy"
check_proxy nginx 503 503

# In front of the service.
stop_service
tls_port=$(free_port)
settings_in_front "https://console.example.com:$tls_port"
serve
certificate otp.example.com console.example.com
block operations/reverse-proxy nginx | in_front "$tls_port" |
    sed -e "s#/etc/nginx/tls/[a-z.]*\.pem#$scratch/tls.pem#; s#/etc/nginx/tls/[a-z.]*\.key#$scratch/tls.key#" \
        -e "s#/var/log/nginx/dwar.log#$scratch/front.access#" >front.http
run_nginx front "${tls[@]}" "https://otp.example.com:$tls_port/"
check_front nginx
! grep -q 'hub.verify_token' front.access || fail "nginx: its log has the query of a webhook"
grep -q 'GET /webhooks/whatsapp_cloud' front.access || fail "nginx: its log has no webhook"

caddy=$(command -v caddy || true)
[ -n "$caddy" ] || apt_install_unstarted caddy
caddy=$(command -v caddy || true)
[ -n "$caddy" ] || leave_out "Caddy, since it could not be installed"
caddy_in_front "$caddy"
