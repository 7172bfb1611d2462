import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAlive, type ReadyContent, SupervisedRun } from "../support/supervised-run.ts";

/** Each place holds a data folder, and the ready file of the supervisor that runs on it. */
describe("supervisor: a copy of a data folder", () => {
  let scratch: string;
  let runs: SupervisedRun[];

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "voice-copies-"));
    chmodSync(scratch, 0o711);
    runs = [];
  });

  afterEach(async () => {
    await Promise.all(runs.map((run) => run.end("SIGTERM")));
    rmSync(scratch, { recursive: true, force: true });
  });

  function place(name: string): string {
    const path = join(scratch, name);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o711);
    return path;
  }

  function start(name: string): SupervisedRun {
    const run = new SupervisedRun(place(name), ["--port", "0", "--no-demo"]);
    runs.push(run);
    return run;
  }

  function copy(from: string, to: string): void {
    execFileSync("cp", ["-a", join(place(from), "data"), join(place(to), "data")]);
  }

  async function madeAndStopped(name: string): Promise<void> {
    const run = start(name);
    await run.ready();
    expect(await run.end("SIGTERM")).toBe(0);
  }

  async function servesUnharmed({ base_url, pids }: ReadyContent): Promise<void> {
    expect(Object.values(pids).filter((pid) => !isAlive(pid))).toEqual([]);
    expect(await (await fetch(base_url)).text()).toBe("fake main");
  }

  it("made while stopped: starts, serves and stops beside the original, which it never touches", async () => {
    await madeAndStopped("original");
    copy("original", "copy");
    const original = start("original");
    const first = await original.ready();
    const second = await start("copy").ready();
    await servesUnharmed(first);
    await servesUnharmed(second);
    const pids = [...Object.values(first.pids), ...Object.values(second.pids)];
    expect(new Set(pids).size).toBe(8);
    await runs.at(-1)?.end("SIGTERM");
    await servesUnharmed(first);
    expect(original.output).not.toContain("restarting");
  });

  it("running first: the original starts beside it and keeps off it", async () => {
    await madeAndStopped("original");
    copy("original", "copy");
    const ports = () => readFileSync(join(place("original"), "data/ports.json"), "utf8");
    const before = ports();
    const copied = start("copy");
    const second = await copied.ready();
    await servesUnharmed(await start("original").ready());
    await servesUnharmed(second);
    expect(copied.output).not.toContain("restarting");
    // The ports of the original were left free for it.
    expect(ports()).toBe(before);
  });

  it("with a killed supervisor of its own: ends what that left, and nothing else", async () => {
    await madeAndStopped("original");
    copy("original", "copy");
    const original = start("original");
    const first = await original.ready();
    const killed = start("copy");
    const left = await killed.ready();
    await killed.end("SIGKILL");
    const again = start("copy");
    await servesUnharmed(await again.ready(({ supervisor }) => supervisor !== left.supervisor));
    expect(again.output).toContain("of an earlier run");
    expect(Object.values(left.pids).filter(isAlive)).toEqual([]);
    await servesUnharmed(first);
    expect(original.output).not.toContain("restarting");
  });

  it("made while the original runs: is refused with what to do, and the original goes on", async () => {
    const original = start("original");
    const first = await original.ready();
    copy("original", "copy");
    expect(existsSync(join(scratch, "copy/data/run.json"))).toBe(true);
    const copied = start("copy");
    expect(await copied.exit()).toBe(1);
    expect(copied.output).toContain("copied while PostgreSQL was running");
    expect(copied.output).toContain("postmaster.pid");
    await servesUnharmed(first);
    expect(original.output).not.toContain("restarting");
    // A snapshot taken at one moment is as good as a power cut: as told.
    rmSync(join(scratch, "copy/data/postgres/postmaster.pid"));
    await servesUnharmed(await start("copy").ready());
    await servesUnharmed(first);
  });

  it("moved instead: what a killed supervisor left before is found and ended", async () => {
    const killed = start("before");
    const left = await killed.ready();
    await killed.end("SIGKILL");
    renameSync(join(place("before"), "data"), join(place("after"), "data"));
    const again = start("after");
    await servesUnharmed(await again.ready());
    expect(again.output).toContain("of an earlier run");
    expect(Object.values(left.pids).filter(isAlive)).toEqual([]);
  });
});
