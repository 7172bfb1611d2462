import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type RunningApp, startApp } from "../../src/app.ts";
import { newId } from "../../src/base/ids.ts";
import { Stack } from "../../src/base/stack.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { readConfig } from "../../src/roles/config.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { SetupAdminStore } from "../../src/tenancy/accounts/setup-admin-store.ts";
import { loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { WorkspaceStore } from "../../src/tenancy/workspaces/store.ts";
import type { ModelSettings } from "../../workers/language-model/model-settings.ts";
import { startWorker } from "../../workers/worker.ts";
import { KeptLog, type LogLine } from "./kept-log.ts";
import { startNats, type TestNats } from "./nats.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import type { TestService } from "./test-service.ts";
import { WORKER_KEY } from "./worker-key.ts";

const ENTRY = new URL("./conversation-thread-entry.ts", import.meta.url);
const ADMIN = { email: "admin@voice.local", password: "violet harbour lantern" };
const PLACES = 8;
const STOP_PART_MS = 10_000;
/** By their settings. */
const SHARED = new Map<string, Promise<AppFixture>>();
const SHARED_SERVERS: TestNats[] = [];

/** Nothing waits for a process of the tests that is told to end: its servers end at once. */
function endShared(): void {
  for (const nats of SHARED_SERVERS) nats.killNow();
  process.exit();
}

/**
 * The service and a worker in the test's own process: the database a copy of the run's template, a
 * nats-server of its own, and a reader that knows the sound of `scriptedPcm` instead of a recogniser.
 */
export class AppFixture implements TestService {
  readonly folder: string;
  readonly #app: RunningApp;
  readonly #parts: Stack;
  readonly #logs: { main: KeptLog; worker: KeptLog };

  private constructor(
    folder: string,
    app: RunningApp,
    parts: Stack,
    logs: { main: KeptLog; worker: KeptLog },
  ) {
    this.folder = folder;
    this.#app = app;
    this.#parts = parts;
    this.#logs = logs;
  }

  /**
   * The one with these settings that the files of this process share, each with people and workspaces of
   * its own. It ends with the process.
   */
  static shared(env: Readonly<Record<string, string>> = {}): Promise<AppFixture> {
    const name = JSON.stringify(env);
    const known = SHARED.get(name);
    if (known !== undefined) return known;
    if (SHARED.size === 0) process.once("SIGTERM", endShared);
    const fixture = AppFixture.start(env, async () => {
      const nats = await startNats();
      SHARED_SERVERS.push(nats);
      return nats;
    });
    SHARED.set(name, fixture);
    // The next file tries it again.
    fixture.catch(() => SHARED.delete(name));
    return fixture;
  }

  /**
   * `env`: settings of the service besides the usual; `startBus` may give a server that is away; `model`: the
   * worker's language model.
   */
  static async start(
    env: Readonly<Record<string, string>> = {},
    startBus: () => Promise<TestNats> = startNats,
    model?: ModelSettings,
  ): Promise<AppFixture> {
    const logs = { main: new KeptLog(), worker: new KeptLog() };
    const parts = new Stack(logs.main);
    const folder = makeScratchFolder("app");
    parts.push("folder", async () => rmSync(folder, { recursive: true, force: true }));
    try {
      const database = await createTestDatabase();
      parts.push("database", () => database.drop());
      const nats = await startBus();
      parts.push("nats", () => nats.stop());
      await createAdmin(database);
      const data = join(folder, "data");
      const keyFolder = join(data, "keys");
      mkdirSync(data);
      await loadKeyFolder(keyFolder);
      const config = readConfig(
        {
          DATABASE_URL: database.serviceUrl,
          NATS_URL: nats.url,
          NATS_TOKEN: nats.token,
          VOICE_BLOB_DIR: join(data, "blobs"),
          VOICE_MAIL_DIR: join(data, "mail"),
          VOICE_KEY_DIR: keyFolder,
          WORKER_KEY,
          PORT: "0",
          RATE_LIMIT_FACTOR: "20",
          // A stop need not spread clients over time: there is nowhere else to go.
          DRAIN_MS: "0",
          // The tests' server forgets with the power, so that it is quick.
          ALLOW_UNSAFE_DATABASE: "1",
          ...env,
        },
        "test",
      );
      const worker = await startWorker({
        settings: { ...workerSettings(nats), model },
        entry: ENTRY,
        version: "1.0.0",
        log: logs.worker,
        // A busy machine is no silent thread.
        silenceMs: 60_000,
      });
      parts.push("worker", () => worker.stop());
      const app = await startApp(config, "1.0.0", logs.main);
      parts.push("service", () => app.stop());
      return new AppFixture(folder, app, parts, logs);
    } catch (error) {
      await parts.stop(STOP_PART_MS);
      throw error;
    }
  }

  get ready(): TestService["ready"] {
    const { base_url, live_url, ops_url, grpc_sessions } = this.#app.addresses;
    if (base_url === undefined || live_url === undefined) throw new Error("there is no front");
    return { base_url, live_url, ops_url, grpc_sessions, admin: ADMIN };
  }

  get api(): string {
    return `${this.ready.base_url}/api`;
  }

  async log(part: "main" | "worker"): Promise<LogLine[]> {
    return this.#logs[part].lines;
  }

  stop(): Promise<void> {
    return this.#parts.stop(STOP_PART_MS);
  }
}

function workerSettings({ url, token }: { url: string; token: string }) {
  return {
    workerId: "worker",
    host: "127.0.0.1",
    port: 0,
    advertise: undefined,
    threads: 1,
    inferenceThreads: 0,
    sessionsPerThread: PLACES,
    natsUrl: url,
    natsLogin: { token },
    tls: undefined,
    key: WORKER_KEY,
    opsHost: "127.0.0.1",
    opsPort: undefined,
    logLevel: "info",
  };
}

/** As the set-up does it: the first administrator, who owns a workspace. */
async function createAdmin({ ownerUrl }: TestDatabase): Promise<void> {
  const pool = await createPool(ownerUrl, { maximumPoolSize: 1 });
  try {
    const id = newId();
    const passwordHash = await new PasswordHasher().hash(ADMIN.password);
    await new SetupAdminStore(pool).create({ id, email: ADMIN.email, passwordHash });
    await new WorkspaceStore(pool).insert({
      id: newId(),
      name: "Demo",
      preferredLanguage: "en",
      ownerId: id,
    });
  } finally {
    await pool.end();
  }
}
