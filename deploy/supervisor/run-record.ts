import { readFileSync, rmSync } from "node:fs";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";
import { writeAtomically } from "./write-atomically.ts";

/** Who is running on a data folder: what the next start needs after a kill -9 of this one. */
export interface RunRecordContent {
  readonly supervisor: ProcessIdentity;
  readonly parts: Readonly<Record<string, ProcessIdentity>>;
  /** Device and inode of the folder that they run on; a copy of the record lies in another. */
  readonly folder: string | undefined;
}

/** Keeps DATA/run.json equal to what runs; written at once after every spawn. */
export class RunRecord {
  readonly #file: string;
  readonly #folder: string;
  readonly #supervisor: ProcessIdentity;
  readonly #parts = new Map<string, ProcessIdentity>();

  constructor(file: string, folder: string) {
    this.#file = file;
    this.#folder = folder;
    this.#supervisor = identifyProcess(process.pid) ?? { pid: process.pid, startedAt: "" };
    this.#write();
  }

  started(name: string, pid: number): void {
    const identity = identifyProcess(pid);
    if (identity) this.#parts.set(name, identity);
    this.#write();
  }

  ended(name: string): void {
    this.#parts.delete(name);
    this.#write();
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }

  #write(): void {
    const content: RunRecordContent = {
      folder: this.#folder,
      supervisor: this.#supervisor,
      parts: Object.fromEntries(this.#parts),
    };
    writeAtomically(this.#file, `${JSON.stringify(content, null, 2)}\n`, 0o644);
  }
}

/** Undefined when there is none or it cannot be read. */
export function readRunRecord(file: string): RunRecordContent | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isObject(content) || !isIdentity(content.supervisor)) return undefined;
    const parts: Record<string, ProcessIdentity> = {};
    for (const [name, identity] of Object.entries(isObject(content.parts) ? content.parts : {})) {
      if (isIdentity(identity)) parts[name] = identity;
    }
    const folder = typeof content.folder === "string" ? content.folder : undefined;
    return { supervisor: content.supervisor, parts, folder };
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return isObject(value) && Number.isInteger(value.pid) && typeof value.startedAt === "string";
}
