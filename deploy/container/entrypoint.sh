#!/bin/sh
# What a part is told in a container and need not be told by you; what you set wins.
set -eu

first_address() {
	getent hosts "$(cat /proc/sys/kernel/hostname)" | cut -d ' ' -f 1 | head -n 1
}

case "${1:-}" in
service | front | sessions)
	export OPS_PORT="${OPS_PORT:-9464}"
	export VOICE_BLOB_DIR="${VOICE_BLOB_DIR:-/var/lib/voice/blobs}"
	[ -n "${VOICE_KEYS:-}" ] || export VOICE_KEY_DIR="${VOICE_KEY_DIR:-/var/lib/voice/keys}"
	export GRPC_SESSIONS_PORT="${GRPC_SESSIONS_PORT:-50051}"
	;;
worker)
	export WORKER_HOST="${WORKER_HOST:-0.0.0.0}"
	export WORKER_PORT="${WORKER_PORT:-50052}"
	export WORKER_ADVERTISE="${WORKER_ADVERTISE:-$(first_address):$WORKER_PORT}"
	export WORKER_OPS_PORT="${WORKER_OPS_PORT:-9464}"
	;;
esac
exec /app/deploy/role.sh "$@"
