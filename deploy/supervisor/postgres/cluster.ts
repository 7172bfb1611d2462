import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StepError } from "../../setup/step-error.mjs";
import { surroundings } from "../environment.ts";
import type { PostgresBinaries } from "./binaries.ts";
import type { UnprivilegedUser } from "./unprivileged-user.ts";

const INITDB_TIMEOUT_MS = 60_000;

/** A PostgreSQL data folder and who runs it. */
export interface Cluster {
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly user: UnprivilegedUser | undefined;
}

/**
 * Makes the data folder when it is not there: UTF-8, C.UTF-8, scram passwords, superuser
 * `postgres`. Made beside and renamed, so that an interrupted run leaves no half folder.
 */
export async function createCluster(
  cluster: Cluster,
  password: string,
  signal?: AbortSignal,
): Promise<void> {
  const { folder, user } = cluster;
  if (existsSync(join(folder, "PG_VERSION"))) return;
  const scratch = `${folder}.new`;
  rmSync(scratch, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(scratch, { mode: 0o700 });
  const passwordFile = join(tmpdir(), `voice-initdb-${process.pid}-${Date.now()}`);
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: "wx" });
    if (user) chownSync(scratch, user.uid, user.gid);
    if (user) chownSync(passwordFile, user.uid, user.gid);
    await runInitdb(cluster, scratch, passwordFile, signal);
    renameSync(scratch, folder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The arguments of a server that listens on loopback only. */
export function serverArguments(cluster: Cluster, port: number, durable: boolean): string[] {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "120",
    shared_buffers: "128MB",
    timezone: "UTC",
    log_timezone: "UTC",
    jit: "off",
    // Nearly all statements take a few milliseconds, of which starting helpers for one is several, and they would take
    // the processor from the words of live sessions.
    max_parallel_workers_per_gather: "0",
    ...(durable
      ? { fsync: "on", synchronous_commit: "on" }
      : { fsync: "off", synchronous_commit: "off" }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", cluster.folder, ...flags];
}

/** The environment without what would redirect PostgreSQL's own settings. */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C.UTF-8" };
}

function runInitdb(
  cluster: Cluster,
  folder: string,
  passwordFile: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = [
    `--pgdata=${folder}`,
    "--username=postgres",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale=C.UTF-8",
  ];
  return new Promise((settle, refuse) => {
    const child = spawn(cluster.binaries.initdb, args, {
      ...cluster.user,
      cwd: "/",
      env: serverEnvironment(surroundings(process.env)),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: INITDB_TIMEOUT_MS,
      signal,
    });
    let output = "";
    const take = (chunk: string) => {
      output = (output + chunk).slice(-4_000);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.once("error", (error) => refuse(initdbFailure(error.message)));
    child.once("close", (code) => {
      if (code === 0) settle();
      else refuse(initdbFailure(output.trim()));
    });
  });
}

function initdbFailure(output: string): StepError {
  const lines = output.split("\n").slice(-8);
  return new StepError(
    `PostgreSQL's initdb failed:\n${lines.map((line) => `    ${line}`).join("\n")}`,
    "check room and rights in the data folder, or set DATABASE_URL to a PostgreSQL of your own",
  );
}
