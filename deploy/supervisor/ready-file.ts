import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeAtomically } from "./write-atomically.ts";

/** What `--ready-file` holds. A part that is down, or not ours, has no pid. */
export interface ReadyState {
  readonly base_url: unknown;
  readonly live_url: unknown;
  readonly grpc_worker: unknown;
  readonly grpc_sessions: unknown;
  readonly ops_url: unknown;
  /** Without a password when the account has one that its user chose. */
  readonly admin: { readonly email: string; readonly password?: string };
  readonly supervisor: number;
  readonly pids: Readonly<Record<"main" | "worker" | "nats" | "postgres", number | null>>;
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
