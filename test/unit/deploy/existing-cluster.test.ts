import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "../../../deploy/supervisor/postgres/cluster.ts";
import { checkExistingCluster } from "../../../deploy/supervisor/postgres/existing-cluster.ts";

describe("a PostgreSQL data folder that is there already", () => {
  let scratch: string;
  let folder: string;
  let other: ChildProcess | undefined;

  beforeEach(() => {
    scratch = realpathSync(mkdtempSync(join(tmpdir(), "voice-cluster-")));
    folder = join(scratch, "postgres");
    mkdirSync(folder);
    writeFileSync(join(folder, "PG_VERSION"), "17\n");
  });

  afterEach(async () => {
    if (other) {
      const ended = once(other, "exit");
      other.kill("SIGKILL");
      await ended;
    }
    other = undefined;
    rmSync(scratch, { recursive: true, force: true });
  });

  function cluster(major = "17"): Cluster {
    return { folder, binaries: { initdb: "", postgres: "", major }, user: undefined };
  }

  /** A process that works in `cwd`, with its number in the lock file of the folder. */
  function lockedBy(cwd: string, original: string): string {
    other = spawn("sleep", ["60"], { cwd });
    const file = join(folder, "postmaster.pid");
    writeFileSync(file, `${other.pid}\n${original}\n1700000000\n5432\n`);
    return file;
  }

  it("existing cluster: one of another PostgreSQL is refused with ways out", () => {
    expect(() => checkExistingCluster(cluster("18"))).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/made by PostgreSQL 17.* brings 18/),
        advice: expect.stringMatching(/pg_upgrade.*DATABASE_URL/),
      }),
    );
    checkExistingCluster(cluster("17"));
  });

  it("existing cluster: one that was copied from under a running server is refused", () => {
    const original = join(scratch, "original");
    mkdirSync(original);
    const file = lockedBy(original, original);
    expect(() => checkExistingCluster(cluster())).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`was running on ${original}`),
        advice: expect.stringContaining(`rm ${file}`),
      }),
    );
  });

  it("existing cluster: a lock whose number another program has by now is no obstacle", () => {
    const file = lockedBy("/", join(scratch, "gone"));
    checkExistingCluster(cluster());
    expect(readFileSync(file, "utf8").split("\n").slice(0, 2)).toEqual([
      String(process.pid),
      join(scratch, "gone"),
    ]);
  });

  it("existing cluster: the lock of a server that runs on this very folder stays", () => {
    const file = lockedBy(folder, folder);
    const before = readFileSync(file, "utf8");
    checkExistingCluster(cluster());
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});
