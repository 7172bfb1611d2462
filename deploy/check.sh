#!/bin/sh
# Holds the files of deploy/ against the tools that will read them, as far as those are installed:
# nginx, caddy, systemd-analyze, docker compose. Starts nothing and changes nothing.
set -u

here=$(cd "$(dirname "$0")" && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
left_out=""

# check NAME COMMAND...: its output only when it fails
check() {
	name=$1
	shift
	if "$@" >"$scratch/output" 2>&1; then
		echo "ok         $name"
	else
		echo "not right  $name"
		sed 's/^/    /' "$scratch/output"
		failed=1
	fi
}

has() {
	command -v "$1" >/dev/null 2>&1 && return 0
	left_out="$left_out $1"
	return 1
}

# nginx wants to read the certificate, so it gets one that was made here.
check_nginx() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \
		-subj /CN=voice.example.com -keyout "$scratch/privkey.pem" -out "$scratch/fullchain.pem" &&
		sed "s#/etc/ssl/voice/#$scratch/#" "$here/proxy/nginx.conf" >"$scratch/voice.conf" &&
		printf 'pid %s/pid;\nerror_log stderr;\nevents {}\nhttp {\n\taccess_log off;\n\tinclude %s/voice.conf;\n}\n' \
			"$scratch" "$scratch" >"$scratch/nginx.conf" &&
		nginx -t -q -c "$scratch/nginx.conf"
}

# systemd looks for the program too, so the units are checked with this folder for /opt/voice.
check_units() {
	for unit in voice.service voice@.service; do
		sed "s#/opt/voice#$(dirname "$here")#" "$here/systemd/$unit" >"$scratch/$unit" || return 1
	done
	cp "$scratch/voice@.service" "$scratch/voice@worker.service"
	# A key that it does not know is a warning to it, and no error.
	words=$(systemd-analyze --man=no --recursive-errors=no verify \
		"$scratch/voice.service" "$scratch/voice@worker.service" 2>&1)
	status=$?
	echo "$words"
	case $words in *voice*) return 1 ;; esac
	return "$status"
}

# Without secrets it must refuse, with them be whole.
check_compose() {
	names=$(grep -o '\${[A-Z_]*:?' "$here/compose.yaml" | tr -d '${:?' | sort -u)
	: >"$scratch/none.env"
	for name in $names; do echo "$name=x" >>"$scratch/some.env"; done
	if env $(printf -- '-u %s ' $names) docker compose --env-file "$scratch/none.env" \
		-f "$here/compose.yaml" config -q; then
		echo "it takes a start without secrets"
		return 1
	fi
	docker compose --env-file "$scratch/some.env" -f "$here/compose.yaml" config -q
}

for script in role.sh container/entrypoint.sh check.sh; do check "$script" sh -n "$here/$script"; done
has nginx && has openssl && check "proxy/nginx.conf" check_nginx
has caddy && check "proxy/Caddyfile" caddy validate --adapter caddyfile --config "$here/proxy/Caddyfile"
has systemd-analyze && check "systemd/*.service" check_units
if docker compose version >/dev/null 2>&1; then
	check "compose.yaml" check_compose
else
	left_out="$left_out docker-compose"
fi
[ -z "$left_out" ] || echo "left out, not installed here:$left_out"
exit "$failed"
