import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");
const PARTS = ["service", "front", "sessions", "worker"];
/** Settings with which no part starts, whoever it is: what refuses it tells how far it came. */
const UNUSABLE = { LOG_LEVEL: "loudest" };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts one part by hand, as deploy/one-machine.md says; resolves when it has ended. */
async function start(part: string, env: Record<string, string>) {
  const child = spawn(resolve(PROJECT, "deploy/role.sh"), [part], {
    env: { PATH: process.env.PATH, ...UNUSABLE, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  children.push(child);
  let errors = "";
  child.stderr?.on("data", (data) => {
    errors += String(data);
  });
  await once(child, "close");
  return { code: child.exitCode, errors };
}

describe.runIf(process.getuid?.() === 0)("a part that root starts by hand", () => {
  it.each(PARTS)("does not stay root, which decodes what strangers send: %s", async (part) => {
    const { code, errors } = await start(part, {});
    expect(code).toBe(2);
    expect(errors).toContain("not as root");
    expect(errors).toContain("ALLOW_ROOT=1");
    expect(errors).not.toContain("LOG_LEVEL");
  });

  it.each(PARTS)("goes on where it is told that it may: %s", async (part) => {
    const { code, errors } = await start(part, { ALLOW_ROOT: "1" });
    expect(code).toBe(2);
    expect(errors).not.toContain("not as root");
    expect(errors).toContain("LOG_LEVEL");
  });
});
