import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeProfiles } from "../../bench/cpu-profile.ts";

let folder = "";

function node(id: number, functionName: string, url: string) {
  return { id, callFrame: { functionName, url, lineNumber: 1 } };
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "voice-profile-"));
  const nodes = [node(1, "(idle)", ""), node(2, "feed", "file:///a/speech/engine.ts")];
  const threads = [
    { nodes, samples: [1, 2, 2], timeDeltas: [5_000_000, 1_000_000, 2_000_000] },
    { nodes: [node(7, "", "file:///a/b.ts")], samples: [7], timeDeltas: [1_000_000] },
  ];
  for (const [thread, profile] of threads.entries()) {
    const name = `CPU.20260101.000000.41.${thread}.00${thread + 1}.cpuprofile`;
    writeFileSync(join(folder, name), JSON.stringify(profile));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("cpu profiles: what a process did", () => {
  it("adds up the threads of a process, leaves idle time out and names the largest first", () => {
    expect(describeProfiles(folder, { worker: 41, main: 42 })).toBe(
      "worker: 4.0 s of feed (speech/engine.ts) 75.0 %, anonymous (a/b.ts) 25.0 %",
    );
  });

  it("says nothing without profiles", () => {
    expect(describeProfiles(join(folder, "none"), { worker: 41 })).toBe("");
  });
});
