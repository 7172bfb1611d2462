import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAlive, SupervisedRun } from "../../support/supervised-run.ts";

const PARTS = ["worker", "main", "nats", "postgres"] as const;

describe("supervisor", () => {
  let folder: string;
  let runs: SupervisedRun[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "voice-supervisor-"));
    chmodSync(folder, 0o711);
    runs = [];
  });

  afterEach(async () => {
    await Promise.all(runs.map((run) => run.end("SIGTERM")));
    rmSync(folder, { recursive: true, force: true });
  });

  function start(args: string[] = [], env: NodeJS.ProcessEnv = {}): SupervisedRun {
    const run = new SupervisedRun(folder, ["--port", "0", "--no-demo", ...args], env);
    runs.push(run);
    return run;
  }

  function starts(): string[] {
    return readFileSync(join(folder, "data/logs/setup.log"), "utf8").trim().split("\n");
  }

  it("supervisor: starts everything, and a stop leaves nothing running", async () => {
    const run = start();
    const { base_url, pids } = await run.ready();
    expect(await (await fetch(base_url)).text()).toBe("fake main");
    expect(statSync(join(folder, "ready.json")).mode & 0o777).toBe(0o600);
    const startedAt = performance.now();
    expect(await run.end("SIGTERM")).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(Object.values(pids).filter(isAlive)).toEqual([]);
    expect(existsSync(join(folder, "ready.json"))).toBe(false);
    expect(run.output).toContain("everything has stopped");
  });

  it("supervisor: restarts whatever is killed, and says so", async () => {
    const run = start();
    let state = await run.ready();
    for (const part of PARTS) {
      const before = state.pids[part];
      process.kill(before, "SIGKILL");
      state = await run.ready(({ pids }) => pids[part] !== null && pids[part] !== before);
    }
    const told = () => run.output.match(/is back after/g)?.length;
    await expect.poll(told, { timeout: 10_000 }).toBe(PARTS.length);
    expect(run.output.match(/restarting in 0\.2 s/g)).toHaveLength(PARTS.length);
  });

  it("supervisor: after a kill -9 the next start ends what was left and keeps the data", async () => {
    const first = start();
    const left = await first.ready();
    await first.end("SIGKILL");
    expect(isAlive(left.pids.postgres)).toBe(true);
    const second = start();
    const state = await second.ready(({ supervisor }) => supervisor !== left.supervisor);
    expect(Object.values(left.pids).filter(isAlive)).toEqual([]);
    expect(Object.values(state.pids).every(isAlive)).toBe(true);
    expect(second.output).toContain("of an earlier run");
    expect(starts()).toEqual(['{"event":"setup","starts":1}', '{"event":"setup","starts":2}']);
  });
});
