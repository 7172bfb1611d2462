import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";

/** Where and with what a measurement was made. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly kernel: string;
  readonly node: string;
  readonly project: string;
  readonly engine: string;
  readonly scorer: string;
}

/** Names this machine and the versions of what ran on it. */
export function describeMachine(project: string, scorer: string | undefined): Machine {
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    version: string;
  };
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memory_gib: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
    kernel: release(),
    node: process.version,
    project: [manifest.version, commit(project)].filter(Boolean).join(" "),
    engine: MOONSHINE.name,
    scorer: scorer ? (debianVersion("sctk") ?? scorer) : "not installed",
  };
}

function commit(project: string): string | undefined {
  return output("git", ["-C", project, "describe", "--always", "--dirty"]);
}

function debianVersion(name: string): string | undefined {
  return output("dpkg-query", ["-W", name])?.replace("\t", " ");
}

function output(program: string, args: readonly string[]): string | undefined {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync(program, args, { encoding: "utf8", stdio, timeout: 10_000 }).trim();
  } catch {
    return undefined;
  }
}
