import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { SERVICE_ROLE, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { startPostgres, type TestDatabase, type TestPostgres } from "../support/postgres.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { until } from "../support/until.ts";
import { WORKER_KEY } from "../support/worker-key.ts";
import { parentOf } from "./process-cpu.ts";

const MAIN = resolve(import.meta.dirname, "../../src/main.ts");
const START_MS = 60_000;

export interface BenchUser {
  id: string;
  token: string;
  workspaceId: string;
}

/** Real servers, set as for production, with a migrated database and our process on top. */
export class BenchFixture {
  readonly folder: string;
  readonly database: TestDatabase;
  readonly nats: TestNats;
  readonly owner: pg.Client;
  readonly #postgres: TestPostgres;

  private constructor(
    folder: string,
    postgres: TestPostgres,
    nats: TestNats,
    database: TestDatabase,
    owner: pg.Client,
  ) {
    this.folder = folder;
    this.#postgres = postgres;
    this.nats = nats;
    this.database = database;
    this.owner = owner;
  }

  /** `settings`: of PostgreSQL, beside those of production. */
  static async open(settings: Readonly<Record<string, string>> = {}): Promise<BenchFixture> {
    const folder = makeScratchFolder("bench");
    const [postgres, nats] = await Promise.all([startPostgres({ durable: true }), startNats()]);
    if (Object.keys(settings).length > 0) await change(postgres, settings);
    const database = await postgres.createEmptyDatabase();
    await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    return new BenchFixture(folder, postgres, nats, database, owner);
  }

  async close(): Promise<void> {
    await this.owner.end();
    await Promise.all([this.#postgres.stop(), this.nats.stop()]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  get keyFolder(): string {
    return join(this.folder, "keys");
  }

  get blobFolder(): string {
    return join(this.folder, "blobs");
  }

  /** Of a superuser, in the same database. */
  get adminUrl(): string {
    const url = new URL(this.#postgres.adminUrl);
    url.pathname = new URL(this.database.serviceUrl).pathname;
    return url.href;
  }

  /** Our process as it runs in production, without limits on rates; its log goes to a file. */
  async startMain(
    roles: string,
    nodeFlags: readonly string[] = [],
    settings: NodeJS.ProcessEnv = {},
  ): Promise<MainProcess> {
    const env = {
      ...process.env,
      ALLOW_ROOT: "1",
      ...settings,
      ROLES: roles,
      PORT: "0",
      OPS_PORT: "0",
      NODE_NAME: "bench",
      DATABASE_URL: this.database.serviceUrl,
      NATS_URL: this.nats.url,
      NATS_TOKEN: this.nats.token,
      VOICE_BLOB_DIR: this.blobFolder,
      VOICE_KEY_DIR: this.keyFolder,
      WORKER_KEY,
      RATE_LIMIT_FACTOR: "0",
    };
    const file = join(this.folder, `main-${newId()}.log`);
    return MainProcess.start(env, file, nodeFlags);
  }

  /** Of PostgreSQL's first process. */
  async postgresPid(): Promise<number> {
    const { rows } = await this.owner.query("select pg_backend_pid() as pid");
    return parentOf(rows[0].pid);
  }

  /** A signed-in user with a workspace. */
  async addUser(): Promise<BenchUser> {
    const [id, workspaceId, loginId] = [newId(), newId(), newId()];
    const email = `${id}@example.org`;
    await this.owner.query(
      "insert into users (id, email, name, role) values ($1, $2, 'Bench', 'participant')",
      [id, email],
    );
    await this.owner.query(
      "insert into logins (id, user_id, expires_at) values ($1, $2, now() + interval '1 hour')",
      [loginId, id],
    );
    await this.owner.query(
      "insert into workspaces (id, name, preferred_language) values ($1, 'Bench', 'en')",
      [workspaceId],
    );
    await this.owner.query(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [workspaceId, id],
    );
    const tokens = new Tokens((await loadKeyFolder(this.keyFolder)).ring, systemClock);
    const claims = { subject: id, scope: loginId, expiresAt: Date.now() + 3_600_000 };
    const token = await tokens.sign({ kind: "access", ...claims });
    return { id, token, workspaceId };
  }

  /** A session without audio. */
  async addSession(user: BenchUser): Promise<string> {
    const id = newId();
    await this.owner.query(
      `insert into sessions (id, workspace_id, owner_id, job_id, title, status)
       values ($1, $2, $3, $4, 'Weekly planning', 'completed')`,
      [id, user.workspaceId, user.id, newId()],
    );
    return id;
  }
}

/** With a new start, which some of them need. */
async function change(
  postgres: TestPostgres,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await withClient(postgres.adminUrl, async (client) => {
    for (const [name, value] of Object.entries(settings)) {
      await client.query(
        `alter system set ${client.escapeIdentifier(name)} = ${client.escapeLiteral(value)}`,
      );
    }
  });
  await postgres.halt();
  await postgres.resume();
}

export class MainProcess {
  readonly port: number;
  readonly opsUrl: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number, opsUrl: string) {
    this.#child = child;
    this.port = port;
    this.opsUrl = opsUrl;
  }

  static async start(
    env: NodeJS.ProcessEnv,
    file: string,
    nodeFlags: readonly string[],
  ): Promise<MainProcess> {
    mkdirSync(join(file, ".."), { recursive: true });
    const log = openSync(file, "a");
    const args = ["--disable-warning=ExperimentalWarning", ...nodeFlags, MAIN];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", log, log] });
    closeSync(log);
    const text = () => readFileSync(file, "utf8");
    const ready = () => text().includes('"event":"ready"') || child.exitCode !== null;
    await until(ready, "our process", START_MS).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
    const line = text()
      .split("\n")
      .find((each) => each.includes('"event":"ready"'));
    if (line === undefined) throw new Error(`The service did not start:\n${text()}`);
    const { base_url = "http://127.0.0.1:0", ops_url } = JSON.parse(line) as ReadyLine;
    return new MainProcess(child, Number(new URL(base_url).port), ops_url);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** SIGKILL, and gone when this returns. */
  async kill9(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    await gone;
  }
}

interface ReadyLine {
  base_url?: string;
  ops_url: string;
}
