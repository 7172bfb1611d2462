import { execFile, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const RUN = resolve(import.meta.dirname, "../../deploy/run.mjs");
const SCRIPT = resolve(import.meta.dirname, "../support/half-open.ts");
const NOTICED_MS = 60_000;

/** A network of one's own, also for a user without rights where the system gives them a namespace. */
const OWN_NETWORK = ["-rn", "--"];
const { status } = spawnSync("unshare", [...OWN_NETWORK, "ip", "link"]);
const title = status === 0 ? "vanished callers" : "vanished callers (skipped: no own network)";

describe.skipIf(status !== 0)(title, () => {
  it("vanished callers: an answer under way is given up within a minute", async () => {
    const given = [...OWN_NETWORK, process.execPath, RUN, SCRIPT];
    const { stdout } = await promisify(execFile)("unshare", given);
    const { ms } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { ms: number | null };
    expect(ms).not.toBeNull();
    expect(ms).toBeLessThan(NOTICED_MS);
  });
});
