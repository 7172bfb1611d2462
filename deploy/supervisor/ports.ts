import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { StepError } from "../setup/step-error.mjs";
import { writeAtomically } from "./write-atomically.ts";

// below the range from which the kernel takes ports for outgoing connections
const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES = 200;

/** Ports of the parts: the same at every start as long as nobody else took them. */
export class PortBook {
  readonly #file: string;
  readonly #kept: Record<string, number>;
  readonly #taken = new Set<number>();

  constructor(file: string) {
    this.#file = file;
    this.#kept = readKept(file);
  }

  async take(name: string): Promise<number> {
    const kept = this.#kept[name];
    if (kept && !this.#taken.has(kept) && (await isFree(kept))) return this.#keep(name, kept);
    return this.#keep(name, await findFreePort(this.#taken));
  }

  #keep(name: string, port: number): number {
    this.#taken.add(port);
    if (this.#kept[name] !== port) {
      this.#kept[name] = port;
      writeAtomically(this.#file, `${JSON.stringify(this.#kept, null, 2)}\n`, 0o644);
    }
    return port;
  }
}

/** A port that nobody listens on now; somebody else may still be quicker. */
export async function findFreePort(except: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (!except.has(port) && (await isFree(port))) return port;
  }
  throw new StepError(`no free port between ${LOWEST} and ${HIGHEST}`, "stop some programs");
}

/** Throws a StepError that says who has the port; `setting` is the one that chose it, if not --port. */
export async function checkWantedPort(port: number, setting?: string): Promise<void> {
  if (await isFree(port)) return;
  const holder = findHolder(port);
  if (port < 1024 && !holder) {
    throw new StepError(`port ${port} cannot be used`, "ports below 1024 need rights: --port 8080");
  }
  const who = holder ? `${holder.name} (pid ${holder.pid})` : "another program";
  const kill = holder ? `stop it (kill ${holder.pid}) or ` : "";
  if (setting !== undefined) {
    throw new StepError(
      `port ${port} (${setting}) is taken by ${who}`,
      `${kill}choose another ${setting}`,
    );
  }
  throw new StepError(
    `port ${port} is taken by ${who}`,
    `${kill}choose another: npm run up -- --port ${port + 1}, or --port 0 for any free one`,
  );
}

/** Tried on every address, as whoever listens on one of them is in the way. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, "0.0.0.0")) && (await canListen(port, "127.0.0.1"));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => settle(true)));
  });
}

function findHolder(port: number): { pid: number; name: string } | undefined {
  const inodes = listeningInodes(port);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
      if (!links.some((link) => inodes.has(link))) continue;
      return { pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, "utf8").trim() };
    } catch {
      // another user's process, or gone
    }
  }
  return undefined;
}

function listeningInodes(port: number): Set<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap(readLines);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  const listening = fields.filter(
    ([, local, , state]) => local?.endsWith(`:${wanted}`) && state === "0A",
  );
  return new Set(listening.map((row) => `socket:[${row[9]}]`));
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").slice(1);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function readKept(file: string): Record<string, number> {
  try {
    const content: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
    const pairs = Object.entries(content);
    return Object.fromEntries(
      pairs.filter((pair): pair is [string, number] => Number.isInteger(pair[1])),
    );
  } catch {
    return {};
  }
}
