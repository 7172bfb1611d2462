import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { isAlive, SupervisedRun } from "../support/supervised-run.ts";
import { until } from "../support/until.ts";

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

  it("supervisor: gives each part only the secrets that it needs", async () => {
    await start().ready();
    const main = readFileSync(join(folder, "data/logs/main.log"), "utf8");
    const worker = readFileSync(join(folder, "data/logs/worker.log"), "utf8");
    expect(main).toContain('"knows_owner":false');
    expect(worker).toContain('"knows_database":false');
  });

  it("supervisor: two on one data folder: the second names the first", async () => {
    const { supervisor } = await start().ready();
    const second = new SupervisedRun(folder, ["--port", "0", "--no-demo"]);
    expect(await second.exit()).toBe(1);
    expect(second.output).toContain(`another supervisor (pid ${supervisor})`);
    expect(isAlive(supervisor)).toBe(true);
  });

  it("supervisor: --fresh starts with an empty database", async () => {
    const first = start();
    await first.ready();
    await first.end("SIGINT");
    await start(["--fresh"]).ready();
    expect(starts()).toEqual(['{"event":"setup","starts":1}']);
  });

  it("supervisor: --watch runs what was changed, tells of what does not start, and heals", async () => {
    const sources = join(folder, "src");
    mkdirSync(sources);
    const program = join(sources, "main.ts");
    const original = readFileSync("test/support/fake-service/fake-main.ts", "utf8");
    const write = (answer: string) =>
      writeFileSync(
        program,
        original.replace("fake main", () => answer),
      );
    write("first");
    const run = start(["--watch"], { FAKE_MAIN: program, FAKE_SOURCES: sources });
    const { base_url, pids } = await run.ready();
    const answer = async () => (await fetch(base_url).catch(() => undefined))?.text();
    const answers = (text: string) => until(async () => (await answer()) === text, text, 20_000);
    await answers("first");
    write("second");
    await answers("second");
    const now = await run.ready((content) => content.pids.main !== pids.main);
    expect({ ...now.pids, main: 0, worker: 0 }).toEqual({ ...pids, main: 0, worker: 0 });
    writeFileSync(program, "this is no program");
    await until(() => run.output.includes("started again when the next file"), "the word", 20_000);
    expect(run.output).toContain("main.ts changed");
    write("third");
    await answers("third");
    expect(await run.end("SIGTERM")).toBe(0);
  });

  it("supervisor: a part that a signal ends during the first start is started again", async () => {
    // The worker is not the one who runs this test.
    const marks = join(folder, "marks");
    mkdirSync(marks);
    chmodSync(marks, 0o777);
    const run = start([], { FAKE_WORKER_DIES_ONCE: join(marks, "died") });
    const { pids } = await run.ready();
    expect(isAlive(pids.worker ?? 0)).toBe(true);
    expect(run.output).toContain("the worker was ended by SIGKILL: restarting in 0.2 s");
  });

  it("supervisor: --cluster starts two of each and three nats-servers; each is restarted", async () => {
    const run = start(["--cluster"]);
    let state = await run.ready();
    expect(Object.keys(state.pids).sort()).toEqual([
      ...["front-1", "front-2", "nats-1", "nats-2", "nats-3", "postgres"],
      ...["sessions-1", "sessions-2", "worker-1", "worker-2"],
    ]);
    const urls = state.fronts.map(({ base_url }) => base_url);
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(await (await fetch(url)).text()).toBe("fake main");
    for (const part of ["front-2", "sessions-1", "worker-2", "nats-2"]) {
      const before = state.pids[part] ?? 0;
      process.kill(before, "SIGKILL");
      state = await run.ready(({ pids }) => pids[part] !== null && pids[part] !== before);
    }
    const { pids } = state;
    expect(await run.end("SIGTERM")).toBe(0);
    expect(Object.values(pids).filter(isAlive)).toEqual([]);
  });

  it("supervisor: a part that ignores SIGTERM is killed within the ten seconds", async () => {
    const run = start([], { FAKE_WORKER_STUBBORN: "1" });
    const { pids } = await run.ready();
    const startedAt = performance.now();
    await run.end("SIGHUP");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(isAlive(pids.worker)).toBe(false);
  });

  it("supervisor: a stop in the middle of the start leaves nothing behind", async () => {
    const run = start();
    const logs = join(folder, "data/logs/postgres.log");
    await expect.poll(() => existsSync(logs), { timeout: 30_000, interval: 5 }).toBe(true);
    await run.end("SIGTERM");
    expect(existsSync(join(folder, "data/run.json"))).toBe(false);
    await start().ready();
  });

  it("supervisor: an existing server that is not there is named, and nothing stays", async () => {
    const run = start([], { DATABASE_URL: "postgres://somebody:secret@127.0.0.1:9/none" });
    expect(await run.exit()).toBe(1);
    expect(run.output).toContain("DATABASE_URL names (127.0.0.1:9/none)");
    expect(run.output).toContain("ECONNREFUSED");
    expect(run.output).not.toContain("secret");
    expect(existsSync(join(folder, "data/run.json"))).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)(
    "supervisor: what root made where nobody else can pass moves, and is handed over without its links",
    async () => {
      const first = start();
      await first.ready();
      await first.end("SIGTERM");
      // As a release left it that ran as root, below a folder like /root.
      const data = join(folder, "data");
      const secret = join(folder, "secret");
      writeFileSync(secret, "root's own", { mode: 0o600 });
      mkdirSync(join(data, "blobs/session"));
      writeFileSync(join(data, "blobs/session/audio"), "sound");
      symlinkSync(secret, join(data, "blobs/session/planted"));
      execFileSync("chown", [
        "-R",
        "0:0",
        join(data, "blobs"),
        join(data, "keys"),
        join(data, "mail"),
      ]);
      chmodSync(folder, 0o700);
      const second = start();
      const { pids } = await second.ready();
      const moved = readlinkSync(data);
      try {
        expect(moved).toMatch(/^\/var\/lib\/voice-session-service\/data-/);
        expect(second.output).toContain(`it is a link to ${moved} now`);
        const user = Number(
          /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pids.main}/status`, "utf8"))?.[1],
        );
        expect(user).toBeGreaterThan(0);
        const owners = ["blobs", "blobs/session", "blobs/session/audio", "keys", "mail"].map(
          (name) => lstatSync(join(moved, name)).uid,
        );
        expect(owners).toEqual(owners.map(() => user));
        expect(statSync(secret).uid).toBe(0);
        for (const name of ["secrets.json", "logs"]) {
          expect(statSync(join(data, name)).uid, name).toBe(0);
          expect(statSync(join(data, name)).mode & 0o077, name).toBe(0);
        }
        expect(await second.end("SIGTERM")).toBe(0);
        expect(starts()).toHaveLength(2);
      } finally {
        await second.end("SIGTERM");
        rmSync(moved, { recursive: true, force: true });
      }
    },
  );

  it("supervisor: what would go over a network in clear is refused before anything starts", async () => {
    const run = start([], { HOST: "0.0.0.0" });
    expect(await run.exit()).toBe(1);
    expect(run.output).toContain("HOST is 0.0.0.0, so passwords, words and audio would go");
    expect(run.output).toContain("npm run up -- --insecure");
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("supervisor: ports that a person chose are taken; one that is in use is named", async () => {
    const [ops, grpc] = [await findFreePort(), await findFreePort()];
    const chosen = { OPS_PORT: String(ops), GRPC_SESSIONS_PORT: String(grpc) };
    const { fronts } = await start([], chosen).ready();
    expect(fronts[0]).toMatchObject({
      ops_url: `http://127.0.0.1:${ops}`,
      grpc_sessions: `127.0.0.1:${grpc}`,
    });
    const other = join(folder, "other");
    mkdirSync(other, { mode: 0o711 });
    const { port } = new URL((await runs[0]?.ready())?.base_url ?? "");
    const second = new SupervisedRun(other, ["--port", "0", "--no-demo"], { OPS_PORT: port });
    runs.push(second);
    expect(await second.exit()).toBe(1);
    expect(second.output).toContain(`port ${port} (OPS_PORT) is taken by`);
  });

  it("supervisor: existing servers are used as they are", async () => {
    const database = await createTestDatabase();
    const { url, token } = inject("nats");
    const run = start([], {
      DATABASE_URL: database.serviceUrl,
      DATABASE_OWNER_URL: database.ownerUrl,
      NATS_URL: url,
      NATS_TOKEN: token,
    });
    const { pids } = await run.ready();
    expect(pids).toMatchObject({ postgres: null, nats: null });
    await run.end("SIGTERM");
    expect(existsSync(join(folder, "data/postgres"))).toBe(false);
    await database.drop();
  });
});
