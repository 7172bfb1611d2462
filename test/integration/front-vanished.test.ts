import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { noticeVanishedCallers } from "../../src/http/vanished-callers.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { KeptLog } from "../support/kept-log.ts";
import { until } from "../support/until.ts";

/** The socket options of a connection of this process, which `ss` does not show all. */
const READ = `open(my $s, "+<&=", 3) or die $!;
print join ",", map { unpack("i", getsockopt($s, $_->[0], $_->[1])) } [1,9],[6,4],[6,5],[6,6],[6,18];`;

/** The descriptor of a connection that this process accepted on the port. */
function acceptedOn(port: number): number | undefined {
  const rows = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, "utf8").split("\n"),
  );
  const inodes = rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
    const isPort = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
    return isPort && state === "01" ? [`socket:[${inode}]`] : [];
  });
  const descriptor = readdirSync("/proc/self/fd").find((each) => {
    try {
      return inodes.includes(readlinkSync(`/proc/self/fd/${each}`));
    } catch {
      return false;
    }
  });
  return descriptor === undefined ? undefined : Number(descriptor);
}

describe("callers that vanish", () => {
  let front: TestFront | undefined;
  afterEach(() => front?.stop());

  it("callers that vanish: the kernel asks whether a connection's other end is there, and gives up in time", async () => {
    front = await startFront({ routes: [] });
    const log = new KeptLog();
    await noticeVanishedCallers(front.port, log);
    expect(log.lines).toEqual([]);
    const caller = connect(front.port, "127.0.0.1");
    try {
      const { port } = front;
      await until(() => acceptedOn(port) !== undefined, "the connection");
      const socket = acceptedOn(port) ?? -1;
      const read = spawnSync("/usr/bin/perl", ["-e", READ], {
        stdio: ["ignore", "pipe", "inherit", socket],
      });
      expect(read.stdout.toString()).toBe("1,20,5,4,30000");
    } finally {
      caller.destroy();
    }
  });

  it("callers that vanish: a front that cannot be watched serves all the same", async () => {
    const log = new KeptLog();
    await noticeVanishedCallers(1, log);
    expect(log.lines).toMatchObject([{ error: "The listening socket was not found." }]);
    await expect(noticeVanishedCallers(1, silentLog)).resolves.toBeUndefined();
  });
});
