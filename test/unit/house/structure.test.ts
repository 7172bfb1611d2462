import { dirname, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fragments, portsOfOne, unusedExports } from "../../house/findings.ts";
import { cyclesOf, fileGraph, folderGraph } from "../../house/graph.ts";
import { readSources, type SourceFile } from "../../house/sources.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const WIDEST = 30;
/** Files of so few lines that one other imports, and how many of them there may be. */
const SMALL = { lines: 40, most: 10 };

/** Interfaces with one implementation that stand all the same, and why. */
const REASONS: Readonly<Record<string, string>> = {
  ActorRef: "the actor may be in another process",
  LiveFragments: "the worker's host may be in another process",
  StreamNotices: "the other streams may be in another process",
  DeviceKeyRecords: "devices stand on accounts, whose authenticator asks for their keys",
  FailedSignInTrail:
    "accounts count failures, and the audit beside them, on the same floor, keeps them",
  GuestRecords: "guests stand on sessions, and accounts below ask for them and sign them out",
  ServiceKeyRecords: "workspaces stand on accounts, whose authenticator asks for their keys",
  JobHandler: "handlers stand on the queue that runs them",
  JobContext: "handlers see of the runner only this",
  SessionFrames: "doubles in the tests are plain objects",
  FrameReader: "doubles in the tests are plain objects",
  ByteSink: "what takes a body's bytes stands above the front that reads them",
  StreamPort: "the streams of a service key are a plain object",
  FeedListener: "doubles in the tests are plain objects",
  NodeRegister: "doubles in the tests are plain objects",
};

describe("structure", () => {
  let ours: SourceFile[];
  let others: SourceFile[];
  beforeAll(() => {
    ours = readSources(PROJECT, ["src", "workers"]);
    others = readSources(PROJECT, ["test", "deploy"]);
    // Parsing the whole project takes seconds, and longer on a busy machine.
  }, 120_000);

  it("structure: neither files nor folders import each other in a circle", () => {
    const files = fileGraph(ours);
    expect(files.size).toBeGreaterThan(300);
    expect([...cyclesOf(files), ...cyclesOf(folderGraph(files))]).toEqual([]);
  });

  it("structure: a small file that one other imports is the exception", () => {
    expect(fragments(ours, SMALL.lines).length).toBeLessThanOrEqual(SMALL.most);
  });

  it("structure: what nobody else imports is not exported", () => {
    expect(unusedExports(ours, others)).toEqual([]);
  });

  it("structure: an interface has two implementations, a double in the tests, or a reason", () => {
    const names = portsOfOne(ours, others).map((each) => each.split(" ")[1] ?? "");
    expect(names.sort()).toEqual(Object.keys(REASONS).sort());
  });

  it("structure: no folder has more files side by side than one reads at a glance", () => {
    const counts = new Map<string, number>();
    for (const { path } of ours) {
      const folder = dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > WIDEST)).toEqual([]);
  });
});
