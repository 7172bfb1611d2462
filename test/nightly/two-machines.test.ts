import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { locateBinaries } from "../../deploy/supervisor/postgres/binaries.ts";
import { postgresPart } from "../../deploy/supervisor/postgres/postgres-part.ts";
import { postgresUrl, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { chooseUser } from "../../deploy/supervisor/postgres/unprivileged-user.ts";
import { S3Server } from "../support/audio-store/s3-server.ts";
import { ACCESS_KEY, SECRET_KEY } from "../support/audio-store/s3-signature.ts";
import { countStart } from "../support/count-start.ts";
import { findNatsServer } from "../support/native-packages.ts";
import { PairedDevice } from "../support/paired-device.ts";
import { fillIn, RunningStep, readmeBlocks, runStep, settingsOf } from "../support/readme-steps.ts";
import { isAlive } from "../support/supervised-run.ts";
import { TestServer } from "../support/test-server.ts";
import type { ReadyFile } from "../support/whole-service.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const PAPER = "deploy/many-machines.md";
const SECTION = "From one machine to two";

let scratch: string;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "voice-machines-"));
  chmodSync(scratch, 0o711);
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(scratch, { recursive: true, force: true });
});

function folder(name: string): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o711);
  return path;
}

/** `npm run up` with a data folder in `machine`, whose other options come from `env`. */
class Machine {
  readonly step: RunningStep;
  readonly #readyFile: string;

  constructor(machine: string, command: string, env: Record<string, string> = {}) {
    const home = folder(machine);
    this.#readyFile = join(home, "ready.json");
    countStart();
    this.step = new RunningStep(command, {
      VOICE_DATA: join(home, "data"),
      VOICE_READY_FILE: this.#readyFile,
      VOICE_PORT: "0",
      ...env,
    });
    stops.push(() => this.step.stop());
  }

  async ready(): Promise<ReadyFile> {
    await this.step.ready(() => existsSync(this.#readyFile));
    return JSON.parse(readFileSync(this.#readyFile, "utf8")) as ReadyFile;
  }
}

async function call(base: string, path: string, token?: string, body?: object) {
  const response = await fetch(`${base}/api${path}`, {
    method: body ? "POST" : "GET",
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status, path).toBeLessThan(300);
  return (await response.json()) as Record<string, unknown> & { token: string };
}

async function logIn(base: string, { email, password }: ReadyFile["admin"]): Promise<string> {
  return (await call(base, "/auth/login", undefined, { email, password })).token;
}

async function workspaces(base: string, token: string): Promise<string[]> {
  const { items } = await call(base, "/workspaces", token);
  return (items as { name: string }[]).map(({ name }) => name);
}

async function workersSeen(base: string, token: string): Promise<string[]> {
  const { workers } = await call(base, "/admin/overview", token);
  return (workers as { worker_id: string }[]).map(({ worker_id }) => worker_id);
}

/** A PostgreSQL of one's own on the copied folder, as step 4 has it. */
async function serveCopy(copy: string, password: string): Promise<number> {
  const port = await findFreePort();
  const user = chooseUser(copy);
  const part = postgresPart({
    cluster: { folder: copy, binaries: locateBinaries(PROJECT, user), user },
    port,
    adminUrl: postgresUrl("postgres", password, port, "postgres"),
    logFile: join(scratch, "postgres.log"),
    env: process.env,
    durable: true,
  });
  const server = new TestServer(part, folder("postgres-server"));
  await server.start();
  stops.push(() => server.stop());
  return port;
}

async function serveNats(configuration: string, port: number): Promise<void> {
  const file = join(scratch, "nats.conf");
  writeFileSync(file, configuration);
  const nats = new RunningStep(`exec ${findNatsServer()} -a 127.0.0.1 -c ${file}`, {});
  stops.push(() => nats.stop());
  await nats.ready(() => nats.output.includes("Server is ready"));
  expect(nats.output).toContain(String(port));
}

describe("deploy/many-machines.md: from one machine to two", () => {
  const steps = readmeBlocks(SECTION, "sh", PAPER);
  const [takeFolders = "", takeDatabase = "", start = "", look = "", ...single] = steps;
  const [shared = "", own = ""] = readmeBlocks(SECTION, "ini", PAPER);
  const [roles = ""] = readmeBlocks(SECTION, "sql", PAPER);
  const [natsConfiguration = ""] = readmeBlocks(SECTION, "conf", PAPER);

  let settings: Record<string, string>;
  let databasePort: number;
  let secrets: Record<string, string>;

  function ownSettings(name: string, workerPort: number): Record<string, string> {
    const values = { "10.0.0.1": "127.0.0.1", "voice-a": name, "50052": String(workerPort) };
    return settingsOf(fillIn(own, values));
  }

  it("takes along what one machine has, and both serve it", async () => {
    const alone = new Machine("a", start);
    const before = await alone.ready();
    const token = await logIn(before.base_url, before.admin);
    await call(before.base_url, "/workspaces", token, { name: "Made on one machine" });
    await alone.step.stop();

    const places = {
      "/srv/voice": folder("srv/voice"),
      "/srv/postgres": join(scratch, "srv/postgres"),
    };
    await runStep(fillIn(takeFolders, places), { cwd: folder("a") });
    await runStep(fillIn(takeDatabase, places), { cwd: folder("a") });
    secrets = JSON.parse(readFileSync(join(scratch, "a/data/secrets.json"), "utf8"));
    databasePort = await serveCopy(places["/srv/postgres"], secrets.postgresPassword ?? "");
    const natsPort = await findFreePort();
    await serveNats(
      fillIn(natsConfiguration, { "4222": String(natsPort), "/var/lib/nats": folder("nats") }),
      natsPort,
    );
    settings = settingsOf(
      fillIn(shared, {
        ...places,
        "SERVICE-PASSWORD": secrets.servicePassword ?? "",
        "OWNER-PASSWORD": secrets.ownerPassword ?? "",
        "db.internal:5432": `127.0.0.1:${databasePort}`,
        "nats.internal:4222": `127.0.0.1:${natsPort}`,
        "you@example.org": before.admin.email,
      }),
    );

    const servers = stops.length;
    const a = await new Machine("a", start, {
      ...settings,
      ...ownSettings("voice-a", await findFreePort()),
    }).ready();
    expect(a.admin).toEqual(before.admin);
    // The second one forgets the shared keys first.
    const { VOICE_KEY_DIR: keys = "", ...withoutKeys } = settings;
    const ownB = ownSettings("voice-b", await findFreePort());
    const wrong = new Machine("b", start, { ...withoutKeys, ...ownB });
    await wrong.step.ended();
    expect(wrong.step.output).toContain("holds the keys of another installation");
    expect(wrong.step.output).toMatch(/rm -r \S+ && cp -rp \S+ \S+; or let all mount one folder/);

    const second = new Machine("b", start, { ...withoutKeys, VOICE_KEY_DIR: keys, ...ownB });
    const b = await second.ready();
    await second.step.says("with an account of this database");
    expect(b.admin).toEqual({ email: before.admin.email });

    const atA = await logIn(a.base_url, before.admin);
    for (const { base_url } of [a, b]) {
      expect(await workspaces(base_url, atA)).toContain("Made on one machine");
      await expect
        .poll(() => workersSeen(base_url, atA), { timeout: 20_000 })
        .toEqual([expect.stringMatching(/^voice-a-/), expect.stringMatching(/^voice-b-/)]);
    }
    const places7 = { "http://10.0.0.2:8080": b.base_url, "you@example.org": before.admin.email };
    const env = { VOICE_PASSWORD: before.admin.password, XDG_CONFIG_HOME: folder("home") };
    const table = await runStep(fillIn(look, places7), { env });
    expect(table).toMatch(/voice-a.*voice-b/s);
    for (const stop of stops.splice(servers).reverse()) await stop();
  });

  /** By the printed statements; returns its addresses as settings. */
  async function makeDatabase(name: string): Promise<Record<string, string>> {
    const [owner, service] = [`${name}_owner`, `${name}_service`];
    const names = {
      voice_owner: owner,
      voice_service: service,
      "database voice": `database ${name}`,
    };
    const admin = secrets.postgresPassword ?? "";
    await withClient(postgresUrl("postgres", admin, databasePort, "postgres"), async (client) => {
      const statements = fillIn(roles, names).split(";");
      for (const each of statements.filter((text) => text.trim())) await client.query(each);
    });
    return {
      DATABASE_OWNER_URL: postgresUrl(owner, "OWNER-PASSWORD", databasePort, name),
      DATABASE_URL: postgresUrl(service, "SERVICE-PASSWORD", databasePort, name),
    };
  }

  it("needs no common folder with a bucket: what one machine stored, the other plays", async () => {
    const bucket = new S3Server();
    await bucket.start();
    stops.push(() => bucket.stop());
    const database = await makeDatabase("bucket");
    const common = {
      ...settings,
      ...database,
      ...{ AUDIO_STORE: `s3://${bucket.bucket}/voice`, AUDIO_S3_ENDPOINT: bucket.endpoint },
      ...{
        AUDIO_S3_PATH_STYLE: "1",
        AWS_ACCESS_KEY_ID: ACCESS_KEY,
        AWS_SECRET_ACCESS_KEY: SECRET_KEY,
      },
    };
    const begin = async (name: string): Promise<ReadyFile> => {
      const own = ownSettings(`voice-${name}`, await findFreePort());
      const folders = {
        VOICE_BLOB_DIR: join(scratch, name, "blobs"),
        VOICE_KEY_DIR: join(scratch, name, "keys"),
      };
      return new Machine(name, start, { ...common, ...own, ...folders }).ready();
    };
    const servers = stops.length;
    const a = await begin("bucket-a");
    folder("bucket-b");
    cpSync(join(scratch, "bucket-a/keys"), join(scratch, "bucket-b/keys"), { recursive: true });
    const b = await begin("bucket-b");
    const sound = readFileSync(join(PROJECT, "deploy/demo/conversation.wav"));
    const device = await PairedDevice.pair({
      ...{ api: `${a.base_url}/api`, ready: a, folder: join(scratch, "bucket-a") },
      ...{ log: async () => [], stop: async () => {} },
    });
    await device.start();
    await device.upload(0, sound);
    await device.stop(0);
    await device.completed();
    const token = await logIn(b.base_url, a.admin);
    const played = await fetch(`${b.base_url}/api/sessions/${device.sessionId}/audio`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(Buffer.from(await played.arrayBuffer()).equals(sound)).toBe(true);
    for (const stop of stops.splice(servers).reverse()) await stop();
  });

  it("runs parts of it one by one, on a database that the printed statements make", async () => {
    const database = await makeDatabase("parts");
    const env = {
      ...settings,
      // The tests may be root's, whereas units name the service's user.
      ALLOW_ROOT: "1",
      ...database,
      VOICE_BLOB_DIR: join(scratch, "parts/blobs"),
      VOICE_KEY_DIR: join(scratch, "parts/keys"),
      PORT: "0",
    };
    const [setUp = "", ...processes] = single;
    expect(JSON.parse(await runStep(setUp, { env }))).toMatchObject({ admin_password: "works" });
    expect(processes).toHaveLength(3);
    countStart();
    let base = "";
    for (const command of processes) {
      const ports = {
        "9465": await findFreePort(),
        "50053": await findFreePort(),
        "9466": await findFreePort(),
      };
      const values = Object.entries(ports).map(([from, to]) => [from, String(to)]);
      const running = new RunningStep(fillIn(command, Object.fromEntries(values)), env);
      stops.push(() => running.stop());
      await running.ready(() => running.output.includes('"event":"ready"'));
      base = /"base_url":"([^"]+)"/.exec(running.output)?.[1] ?? base;
    }
    const token = await logIn(base, {
      email: settings.ADMIN_EMAIL ?? "",
      password: /ADMIN_PASSWORD=(\S+)/.exec(setUp)?.[1] ?? "",
    });
    await expect.poll(async () => (await workersSeen(base, token)).length).toBe(1);
  });
});

describe("deploy/upkeep.md: backup and restore", () => {
  it("a backup is tried beside the running service, and then put back", async () => {
    // The first block is of the command, which has a drill of its own.
    const [, copy = "", restore = "", beside = ""] = readmeBlocks(
      "Backup and restore",
      "sh",
      "deploy/upkeep.md",
    );
    const [start = ""] = readmeBlocks(SECTION, "sh", PAPER).slice(2);
    const first = new Machine("kept", start);
    const { base_url, admin } = await first.ready();
    const made = await logIn(base_url, admin);
    await call(base_url, "/workspaces", made, { name: "Worth keeping" });
    await first.step.stop();
    const places = { "/backup/voice": join(folder("backup"), "voice") };
    await runStep(fillIn(copy, places), { cwd: folder("kept") });

    const original = new Machine("kept", start);
    const running = await original.ready();
    const tried = new Machine("tried", fillIn(beside, { ...places, "--port 8181": "--port 0" }));
    const copied = await tried.ready();
    for (const base of [running.base_url, copied.base_url]) {
      const token = await logIn(base, admin);
      expect(await workspaces(base, token)).toContain("Worth keeping");
    }
    const inCopy = await logIn(copied.base_url, admin);
    await call(copied.base_url, "/workspaces", inCopy, { name: "Only in the copy" });
    await tried.step.stop();
    expect(Object.values(running.pids).filter((pid) => !isAlive(pid))).toEqual([]);
    expect(original.step.output).not.toContain("restarting");
    const names = await workspaces(running.base_url, await logIn(running.base_url, admin));
    expect(names).not.toContain("Only in the copy");
    await original.step.stop();

    const steps = restore.trim().split("\n");
    const startAgain = steps.pop() ?? "";
    await runStep(fillIn(steps.join("\n"), places), { cwd: folder("kept") });
    const restored = await new Machine("kept", startAgain).ready();
    const token = await logIn(restored.base_url, admin);
    expect(await workspaces(restored.base_url, token)).toContain("Worth keeping");
  });
});
