import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { AudioSender } from "../../src/cli/device/audio-sender.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { startWorker } from "../../workers/worker.ts";
import { ApiClient } from "./api-client.ts";
import { exampleRequests } from "./example-requests.ts";
import { recordForLong } from "./long-session.ts";
import { makeWav } from "./make-wav.ts";
import { askListsOf } from "./plan-lists.ts";
import { CHUNK_SAMPLES, type Populated, type Population, populate } from "./plan-population.ts";
import { PlanRecorder } from "./plan-recorder.ts";
import { openPolicyParts, type PolicyParts } from "./policy-parts.ts";
import type { TestDatabase } from "./postgres.ts";
import { type SeededWorld, seedWorld } from "./seeded-world.ts";
import { until } from "./until.ts";
import { Viewer } from "./viewer.ts";
import { WORKER_KEY } from "./worker-key.ts";

/** An hour of them. */
const CHUNKS = 900;
const ROOT = { email: "root@example.org", password: "correct horse battery staple" };
const ENTRY = new URL("./poison-thread-entry.ts", import.meta.url);

/** Looks for silent devices begin when the service has listened for so long. */
const SILENCE_S = "8";
/** Where nobody listens: deliveries to it fail and are tried again. */
const NOBODY = "http://127.0.0.1:9/";

type Headers = Readonly<Record<string, string>>;

interface EmptyFixture {
  database: TestDatabase;
  /** Of a superuser, in that database. */
  adminUrl: string;
}

/**
 * The whole service, as `startApp` composes it, with a worker, over a database of many sessions;
 * what PostgreSQL does for it is recorded.
 */
export class PlanFixture {
  readonly recorder: PlanRecorder;
  readonly #parts: PolicyParts;
  readonly #client: ApiClient;
  readonly #world: SeededWorld;
  readonly #stopWorker: () => Promise<void>;
  readonly #years: Populated;
  #sessionId = "";

  private constructor(
    recorder: PlanRecorder,
    parts: PolicyParts,
    client: ApiClient,
    world: SeededWorld,
    stopWorker: () => Promise<void>,
    years: Populated,
  ) {
    this.recorder = recorder;
    this.#parts = parts;
    this.#client = client;
    this.#world = world;
    this.#stopWorker = stopWorker;
    this.#years = years;
  }

  /** Takes a database that is migrated and empty, and drops it in the end. */
  static async open(
    { database, adminUrl }: EmptyFixture,
    population: Population,
  ): Promise<PlanFixture> {
    const years = await prepare(database, adminUrl, population);
    const recorder = await PlanRecorder.of(database, adminUrl);
    const env = { AUTO_STOP_SILENCE: SILENCE_S, WEBHOOK_ALLOW_PRIVATE: "1" };
    const parts = await openPolicyParts(database, env);
    const stopWorker = await announceWorker(parts);
    const client = await ApiClient.connect(`${parts.app.addresses.base_url}/api`);
    const world = await seedWorld(client, ROOT);
    return new PlanFixture(recorder, parts, client, world, stopWorker, years);
  }

  async close(): Promise<void> {
    const { app, pool, database, folder, nats } = this.#parts;
    await app.stop();
    await this.#stopWorker();
    this.recorder.stop();
    await pool.end();
    await Promise.all([database.drop(), nats.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }

  /** A session that has recorded for an hour goes on, with late audio, is followed, and ends. */
  async live(): Promise<void> {
    const { user } = this.#world.callers;
    const workspace_id = this.#world.ids.workspace_id ?? "";
    await this.#do("POST", `/workspaces/${workspace_id}/webhooks`, user, { url: NOBODY });
    const made = await this.#do("POST", "/devices", user, { workspace_id, name: "Long" });
    const id = String(made.device_id);
    const key = { "x-api-key": String(made.api_key) };
    const ownerId = await this.#idOf(user);
    const device = { id, ownerId, workspaceId: workspace_id };
    const sessionId = await recordForLong(this.#parts.database.ownerUrl, device, CHUNKS);
    this.#sessionId = sessionId;
    storeSilence(join(this.#parts.folder, "blobs", sessionId));
    const viewer = await this.#follow(user, {});
    await this.#do("POST", `/devices/${id}/heartbeat`, key, { recording: true });
    for (const sequence of [CHUNKS, CHUNKS + 1, CHUNKS - 1]) {
      const headers = { ...key, "content-type": "audio/wav", "x-chunk-sequence": `${sequence}` };
      const wav = makeWav({ frames: CHUNK_SAMPLES, seed: sequence });
      await this.#do("POST", `/sessions/${sessionId}/upload-audio`, headers, wav);
    }
    await viewer.received("UtteranceEnd");
    const body = { last_chunk_sequence: CHUNKS + 1 };
    await this.#do("POST", `/devices/${id}/session/stop`, key, body);
    const status = async () => (await this.#do("GET", `/sessions/${sessionId}`, user)).status;
    await until(async () => (await status()) === "completed", "the session's end", 180_000);
    await this.#follow(user, { from_seq: 0 });
  }

  /** A device streams into a session of its own. */
  async stream(): Promise<void> {
    const { user } = this.#world.callers;
    const { workspace_id = "" } = this.#world.ids;
    const made = await this.#do("POST", "/devices", user, { workspace_id, name: "Stream" });
    const [id, key] = [String(made.device_id), String(made.api_key)];
    const started = await this.#do("POST", `/devices/${id}/session/start`, { "x-api-key": key });
    const base = String(this.#parts.app.addresses.base_url).replace(/^http/, "ws");
    const sender = new AudioSender({
      url: `${base}/api/devices/${id}/stream`,
      key,
      configuration: {
        session_id: String(started.session_id),
        encoding: "pcm_s16le",
        sample_rate: 16_000,
        channels: 1,
      },
      signal: AbortSignal.timeout(180_000),
    });
    const running = sender.run();
    sender.push(Buffer.alloc(2 * CHUNK_SAMPLES));
    sender.end();
    await running;
    await this.#do("POST", `/devices/${id}/session/stop`, { "x-api-key": key });
  }

  /** The example of every operation, by whoever may. */
  async askEverything(): Promise<void> {
    const document = await this.#do("GET", "/openapi.json", {});
    const world = { ...this.#world, ids: { ...this.#world.ids, session_id: this.#sessionId } };
    for (const { method, path, callers, body } of exampleRequests(document, world)) {
      for (const caller of callers) {
        const headers = world.callers[caller];
        await this.#client.call(method, path, body === undefined ? { headers } : { headers, body });
      }
    }
  }

  /** Lists of sessions by each filter and in each order, for those who see many and who see none. */
  async askLists(): Promise<void> {
    const pool = await createPool(this.#parts.database.serviceUrl, { maximumPoolSize: 2 });
    try {
      await askListsOf(pool, this.#years);
    } finally {
      await pool.end();
    }
  }

  async #follow(headers: Headers, subscription: object): Promise<Viewer> {
    const url = String(this.#parts.app.addresses.live_url);
    const viewer = await new Viewer(url, { ...headers }).opened();
    viewer.send({ type: "Subscribe", session_id: this.#sessionId, ...subscription });
    return viewer;
  }

  async #idOf(headers: Headers): Promise<string> {
    const me = await this.#do("GET", "/auth/me", headers);
    return String(me.id ?? (me.user as { id?: string } | undefined)?.id);
  }

  async #do(
    method: string,
    path: string,
    headers: Headers,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const options = body === undefined ? { headers } : { headers, body };
    const answer = await this.#client.call(method, path, { ...options, headers: { ...headers } });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }
}

/** The file that all chunks of the hour share: the worker of this stage listens to none. */
function storeSilence(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, createHash("sha256").digest("hex")), "");
}

async function prepare(
  database: TestDatabase,
  adminUrl: string,
  population: Population,
): Promise<Populated> {
  const [hash, years] = await Promise.all([
    new PasswordHasher().hash(ROOT.password),
    populate(adminUrl, population),
  ]);
  await withClient(database.ownerUrl, (client) =>
    client.query(
      "insert into users (id, email, role, password_hash) values ($1, $2, 'admin', $3)",
      [newId(), ROOT.email, hash],
    ),
  );
  return years;
}

/** A worker without ears, in this process; returns how to end it. */
async function announceWorker({ nats }: PolicyParts): Promise<() => Promise<void>> {
  const worker = await startWorker({
    settings: {
      workerId: "worker",
      host: "127.0.0.1",
      port: 0,
      advertise: undefined,
      threads: 1,
      inferenceThreads: 1,
      sessionsPerThread: 8,
      natsUrl: nats.url,
      natsLogin: { token: nats.token },
      tls: undefined,
      key: WORKER_KEY,
      opsHost: "127.0.0.1",
      opsPort: undefined,
      logLevel: "info",
    },
    entry: ENTRY,
    version: "1.0.0",
    log: silentLog,
    // A busy machine is no silent thread.
    silenceMs: 60_000,
  });
  return () => worker.stop();
}
