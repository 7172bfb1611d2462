import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { identifyProcess, isRunning } from "../../../deploy/supervisor/process-identity.ts";

describe("process identity", () => {
  it("identity: a running process is known, an ended one and a namesake are not", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const identity = identifyProcess(child.pid ?? 0);
    expect(identity).toBeDefined();
    if (!identity) return;
    expect(isRunning(identity)).toBe(true);
    expect(isRunning({ ...identity, startedAt: `${identity.startedAt}1` })).toBe(false);
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    expect(isRunning(identity)).toBe(false);
  });

  it("identity: there is none for a number that nobody has", () => {
    expect(identifyProcess(2 ** 30)).toBeUndefined();
  });
});
