import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeScratchFolder } from "./scratch-folder.ts";

const FOLDER = resolve(import.meta.dirname, "../../deploy/clients/c");
const SOURCES = ["voice_client.c", "voice_json.c", "voice_socket.c"];
const FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra"];
const COMPILED_MS = 120_000;

/** The machine's C compiler, if it has one. */
export const C_COMPILER = ["cc", "gcc"].find((name) => {
  return spawnSync(name, ["--version"], { timeout: COMPILED_MS }).status === 0;
});

export interface CClient {
  program: string;
  remove(): void;
}

/** Makes the client in C; throws with what the compiler says, warnings too. */
export function compileClient(): CClient {
  const folder = makeScratchFolder("c-client");
  const program = join(folder, "voice_client");
  const sources = SOURCES.map((name) => join(FOLDER, name));
  const args = [...FLAGS, "-o", program, ...sources];
  const made = spawnSync(C_COMPILER ?? "cc", args, { encoding: "utf8", timeout: COMPILED_MS });
  if (made.status !== 0 || made.stderr !== "") throw new Error(made.stderr || String(made.error));
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
