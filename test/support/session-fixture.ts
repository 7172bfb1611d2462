import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { DatabasePool } from "slonik";
import type { DevicePrincipal, Principal, UserPrincipal } from "../../src/access/principal.ts";
import type { RevocationEvent } from "../../src/access/revocations.ts";
import { findDecoder } from "../../src/base/decoder/decoder-program.ts";
import { newId } from "../../src/base/ids.ts";
import type { FeatureContext } from "../../src/conversations/context.ts";
import { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { createRecording } from "../../src/conversations/recording/feature.ts";
import { Sounds } from "../../src/conversations/recording/sounds.ts";
import { createSessions } from "../../src/conversations/sessions/feature.ts";
import type { SessionStore } from "../../src/conversations/sessions/store.ts";
import { createSummaries } from "../../src/conversations/summaries/routes.ts";
import { createJobs } from "../../src/conversations/transcript/all-jobs-routes.ts";
import { createTranscript } from "../../src/conversations/transcript/feature.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import { createPool, type PoolOptions } from "../../src/postgres/pool.ts";
import type { Route, Upload } from "../../src/rest/route.ts";
import { redactionFiles } from "../../src/roles/audio.ts";
import { PATIENCE } from "../../src/session/limits.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import { AttemptStore } from "../../src/tenancy/accounts/attempts-store.ts";
import { createMailing } from "../../src/tenancy/accounts/mailing.ts";
import { UserStore } from "../../src/tenancy/accounts/users-store.ts";
import { ElevationStore } from "../../src/tenancy/audit/elevation-store.ts";
import { DeviceStore } from "../../src/tenancy/devices/store.ts";
import { createWorkspaces } from "../../src/tenancy/workspaces/feature.ts";
import { createInvitations } from "../../src/tenancy/workspaces/invitations/feature.ts";
import { createOwnerNotices } from "../../src/tenancy/workspaces/invitations/owner-notices.ts";
import type { WorkspaceStore } from "../../src/tenancy/workspaces/store.ts";
import { MOONSHINE, type SpeechEngine } from "../../src/wire/speech-engines.ts";
import { createContext, NO_SUGGESTIONS } from "./feature-context.ts";
import { ManualClock } from "./manual-clock.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { callRoute, jsonBody } from "./route-call.ts";
import { audioMending, verifiedAudio } from "./verified-audio.ts";

/** Of the house's pool. */
export const HOUSE_CONNECTIONS = 8;

/** A database and an audio folder with the session routes on top, as the service role sees them. */
export class SessionFixture {
  readonly pool: DatabasePool;
  readonly blobs: FolderBlobs;
  readonly sounds = new Sounds();
  readonly converter: FileConverter;
  readonly folder: string;
  /** Commands handed to the bus. */
  readonly notified: OutboxRow[] = [];
  /** Of the routes; other features of a test are made with it, too. */
  readonly context: FeatureContext;
  readonly directory: SessionStore;
  readonly workspaces: WorkspaceStore;
  readonly routes: readonly Route[];
  readonly #database: TestDatabase;
  readonly #client: pg.Client;
  /** Revocations published. */
  readonly revoked: RevocationEvent[] = [];
  readonly clock = new ManualClock(Date.now());
  /** What actors were asked; replaced by a test in which one answers otherwise. */
  readonly asked: OutsideCommand[] = [];
  /** Replaced by a test of other engines. */
  engines: readonly SpeechEngine[] = [MOONSHINE];
  ask: (sessionId: string, command: OutsideCommand) => Promise<unknown> = async (_id, command) => {
    this.asked.push(command);
  };
  /** Replaced by a test in which a caller's right ends. */
  revalidate: (principal: Principal) => Principal = (principal) => principal;
  /** Replaced by a test in which too much waits. */
  checkBacklog: (sessionId: string) => void = () => {};
  /** Replaced by a test that wants the bus to fail. */
  notify: (rows: readonly OutboxRow[]) => void = (rows) => {
    this.notified.push(...rows);
  };

  private constructor(database: TestDatabase, pool: DatabasePool, client: pg.Client) {
    this.#database = database;
    this.pool = pool;
    this.#client = client;
    this.folder = mkdtempSync(join(tmpdir(), "session-"));
    this.blobs = new FolderBlobs(this.folder);
    const folder = this.blobs.temporaryFolder;
    this.converter = new FileConverter({ folder, program: findDecoder("auto") });
    const revocations = new LocalRevocations();
    revocations.subscribe((event) => this.revoked.push(event));
    this.context = createContext(pool, {
      clock: this.clock,
      revocations,
      notifier: { notify: (rows) => this.notify(rows) },
      actors: { ask: (id, command) => this.ask(id, command) },
      engines: () => this.engines,
    });
    const { context, blobs, sounds, converter } = this;
    const attempts = new AttemptStore(pool, this.clock);
    const mailing = createMailing(context, undefined);
    const publicUrl = () => "";
    const invited = createInvitations(context, {
      ...{ attempts, mailing, publicUrl, users: new UserStore(pool), signsUp: false },
      signIn: { enter: () => Promise.reject(new Error("Nobody signs in here.")) },
      failures: { recordFailedSignIn: async () => {} },
    });
    const giving = {
      ...invited,
      elevations: new ElevationStore(pool),
      notices: createOwnerNotices(context, { mail: undefined, publicUrl }),
    };
    const groups = createWorkspaces(context, giving);
    this.workspaces = groups.workspaces;
    const patience = PATIENCE;
    const sessions = createSessions(context, {
      ...{ ...groups, ...giving, patience },
      suggestions: NO_SUGGESTIONS,
    });
    this.directory = sessions.directory;
    const { directory } = sessions;
    const summaries = createSummaries(context, { directory, workspaces: groups.workspaces });
    const { notes } = summaries;
    const transcript = createTranscript(context, { ...sessions, patience, notes });
    const jobs = createJobs(context, { directory, redo: transcript.redo });
    const recording = createRecording(context, {
      directory,
      workshops: groups.workshops,
      devices: new DeviceStore(pool),
      authenticator: { revalidate: async (principal) => this.revalidate(principal) },
      ...{ blobs, sounds, converter, verified: verifiedAudio(pool, blobs) },
      mending: audioMending(pool, blobs, context.notifier),
      backlog: { check: (id) => this.checkBacklog(id) },
      ...{ publicUrl: undefined, disk: { room: undefined } },
    });
    const features = [invited, groups, sessions, summaries, transcript, jobs, recording];
    this.routes = features.flatMap((feature) => feature.routes);
  }

  /** `poolUrl`: where the service looks for the database, when it is not there alone. */
  static async open(
    given?: TestDatabase,
    poolUrl?: string,
    limits?: Partial<PoolOptions>,
  ): Promise<SessionFixture> {
    const database = given ?? (await createTestDatabase());
    const pool = await createPool(poolUrl ?? database.serviceUrl, {
      maximumPoolSize: HOUSE_CONNECTIONS,
      ...limits,
    });
    const client = new pg.Client({ connectionString: database.serviceUrl });
    // A test that ends the server knows.
    client.on("error", () => undefined);
    await client.connect();
    const fixture = new SessionFixture(database, pool, client);
    await fixture.blobs.start();
    return fixture;
  }

  /** The files in which redacted spans become silence, as the service has them. */
  get redactionFiles() {
    return redactionFiles(this);
  }

  /** As the service itself. */
  get serviceUrl(): string {
    return this.#database.serviceUrl;
  }

  /** As the role that owns the tables. */
  get ownerUrl(): string {
    return this.#database.ownerUrl;
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.pool.end();
    await this.#database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Plain SQL, to arrange and to look. */
  async sql<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.#client.query<T>(text, values)).rows;
  }

  /** Holds a session's row in a transaction of somebody else, as a slow append does; call it to end. */
  async hold(sessionId: string): Promise<() => Promise<void>> {
    const other = new pg.Client({ connectionString: this.#database.serviceUrl });
    await other.connect();
    await other.query("begin");
    await other.query("select from sessions where id = $1 for no key update", [sessionId]);
    return async () => {
      await other.query("commit");
      await other.end();
    };
  }

  async user(role: UserPrincipal["role"] = "participant", name = ""): Promise<UserPrincipal> {
    const id = newId();
    const email = `${id}@example.org`;
    await this.sql("insert into users (id, email, name, role) values ($1, $2, $3, $4)", [
      id,
      email,
      name,
      role,
    ]);
    return { kind: "user", id, role, tokenId: newId(), expiresAt: Date.now() + 3_600_000 };
  }

  async workspace(ownerId: string): Promise<string> {
    const id = newId();
    await this.sql("insert into workspaces (id, name, preferred_language) values ($1, 'W', 'en')", [
      id,
    ]);
    await this.join(id, ownerId, "owner");
    return id;
  }

  async join(workspaceId: string, userId: string, role = "member"): Promise<void> {
    await this.sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, userId, role],
    );
  }

  async device(workspaceId: string, ownerId: string): Promise<DevicePrincipal> {
    const id = newId();
    await this.sql(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1, 'serial', 'paired', $2, $3, convert_to($4, 'UTF8'))`,
      [id, workspaceId, ownerId, id],
    );
    const expiresAt = Date.now() + 3_600_000;
    return { kind: "device", id, keyId: newId(), workspaceId, ownerId, expiresAt };
  }

  /** A paired device of a new user in a new workspace. */
  async ownDevice(): Promise<{ device: DevicePrincipal; owner: UserPrincipal }> {
    const owner = await this.user("participant", "Olga Owner");
    const device = await this.device(await this.workspace(owner.id), owner.id);
    return { device, owner };
  }

  async start(device: DevicePrincipal, body?: unknown): Promise<string> {
    const reply = await callRoute(this.routes, "startDeviceSession", {
      principal: device,
      params: { device_id: device.id },
      headers: { host: "voice.test:8080" },
      body,
    });
    return String(jsonBody(reply).session_id);
  }

  async stop(device: DevicePrincipal, body?: unknown): Promise<Record<string, unknown>> {
    const reply = await callRoute(this.routes, "stopDeviceSession", {
      principal: device,
      params: { device_id: device.id },
      body,
    });
    return jsonBody(reply);
  }

  /** Uploads bytes as the front hands few of them on: in memory. */
  async upload(
    device: DevicePrincipal,
    sessionId: string,
    sequence: number | string | undefined,
    bytes: Buffer,
    upload: Partial<Upload> = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const reply = await callRoute(this.routes, "uploadAudio", {
      principal: device,
      params: { session_id: sessionId },
      upload: {
        content: { kind: "memory", data: bytes },
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        mediaType: "audio/wav",
        filename: "chunk.wav",
        fields: sequence === undefined ? {} : { chunk_sequence: String(sequence) },
        ...upload,
      },
    });
    return { status: reply.status, body: jsonBody(reply) };
  }
}
