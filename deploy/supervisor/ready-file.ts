import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type Layout, type ServiceSpec, servesRest } from "./layout.ts";
import type { ReadyFacts } from "./part.ts";
import { writeAtomically } from "./write-atomically.ts";

/** A process that serves REST and WebSockets. */
export interface FrontAddresses {
  readonly base_url: unknown;
  readonly live_url: unknown;
  readonly ops_url: unknown;
  readonly grpc_sessions: unknown;
}

/** What `--ready-file` holds. A part that is down, or not ours, has no pid. */
export interface ReadyState {
  /** Of the first front, worker and so on, as a client needs one of each. */
  readonly base_url: unknown;
  readonly live_url: unknown;
  readonly grpc_worker: unknown;
  readonly grpc_sessions: unknown;
  readonly ops_url: unknown;
  /** Without a password when the account has one that its user chose. */
  readonly admin: { readonly email: string; readonly password?: string };
  readonly supervisor: number;
  readonly fronts: readonly FrontAddresses[];
  readonly hosts: readonly { readonly ops_url: unknown; readonly grpc_sessions: unknown }[];
  readonly workers: readonly { readonly grpc_worker: unknown; readonly ops_url: unknown }[];
  /** By part: main, worker, nats, postgres; in a cluster front-1, sessions-1, nats-1, and so on. */
  readonly pids: Readonly<Record<string, number | null>>;
}

/** What the parts of a layout have told, as the ready file says it. */
export function readyState(
  layout: Layout,
  parts: ReadonlyMap<string, { readonly facts: ReadyFacts; readonly pid: number | undefined }>,
  admin: ReadyState["admin"],
): ReadyState {
  const factsOf = (accepts: (spec: ServiceSpec) => boolean) =>
    layout.services.filter(accepts).map(({ name }) => parts.get(name)?.facts ?? {});
  const fronts = factsOf(servesRest).map(({ base_url, live_url, ops_url, grpc_sessions }) => ({
    base_url,
    live_url,
    ops_url,
    grpc_sessions,
  }));
  const hosts = factsOf(({ roles }) => roles.includes("sessions"));
  const workers = factsOf(({ roles }) => roles === "worker");
  const names = [...layout.services.map(({ name }) => name), ...layout.nats, "postgres"];
  const [front] = fronts;
  return {
    base_url: front?.base_url,
    live_url: front?.live_url,
    grpc_worker: workers[0]?.grpc_worker,
    grpc_sessions: front?.grpc_sessions,
    ops_url: front?.ops_url,
    admin,
    supervisor: process.pid,
    fronts,
    hosts: hosts.map(({ ops_url, grpc_sessions }) => ({ ops_url, grpc_sessions })),
    workers: workers.map(({ grpc_worker, ops_url }) => ({ grpc_worker, ops_url })),
    pids: Object.fromEntries(names.map((name) => [name, parts.get(name)?.pid ?? null])),
  };
}

/** A file that is there only while the service is up. It holds the admin's password: mode 0600. */
export class ReadyFile {
  readonly #path: string | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
    this.remove();
  }

  write(state: ReadyState): void {
    if (this.#path === undefined) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeAtomically(this.#path, `${JSON.stringify(state, null, 2)}\n`);
  }

  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }
}
