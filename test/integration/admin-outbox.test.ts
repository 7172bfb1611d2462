import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MOST_ATTEMPTS } from "../../src/base/backlog-limits.ts";
import { newId } from "../../src/base/ids.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { ApiClient } from "../support/api-client.ts";
import { openPolicyParts, type PolicyParts } from "../support/policy-parts.ts";
import { until } from "../support/until.ts";
import { runVoice } from "../support/voice-run.ts";

const ROOT = { email: "root@example.org", password: "correct horse battery staple" };
const PARKED = "internal: Cannot read properties of undefined (reading 'end')";

describe("parked commands", () => {
  let parts: PolicyParts;
  let client: ApiClient;
  let bearer = "";
  beforeAll(async () => {
    parts = await openPolicyParts();
    const hash = await new PasswordHasher().hash(ROOT.password);
    await parts.pool.query(
      "insert into users (id, email, role, password_hash) values ($1, $2, 'admin', $3)",
      [newId(), ROOT.email, hash],
    );
    client = await ApiClient.connect(`${parts.app.addresses.base_url}/api`);
    const { body } = await client.call("POST", "/auth/login", { body: ROOT });
    bearer = String(body.token);
  });
  afterAll(async () => {
    await parts?.app.stop();
    await parts?.pool.end();
    await Promise.all([parts?.database.drop(), parts?.nats.stop()]);
    rmSync(parts.folder, { recursive: true, force: true });
  });

  /** A session with a stored chunk whose command was put aside an hour ago. */
  async function park(type = "ChunkStored"): Promise<{ sessionId: string; id: string }> {
    const jobId = newId();
    const [sessionId, id, chunkId, owner, workspace] = [
      newId(),
      newId(),
      newId(),
      newId(),
      newId(),
    ];
    const sql = (text: string, values: unknown[]) => parts.pool.query(text, values);
    await sql("insert into users (id, email, role) values ($1, $2, 'participant')", [owner, owner]);
    await sql("insert into workspaces (id, name) values ($1, 'W')", [workspace]);
    await sql(
      `insert into sessions (id, workspace_id, owner_id, job_id, status)
       values ($1, $2, $3, $4, 'recording')`,
      [sessionId, workspace, owner, jobId],
    );
    await sql(
      `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
         duration_seconds)
       values ($1, 0, $2, 'audio/wav', 1, '', 16000, 16000, 1)`,
      [sessionId, chunkId],
    );
    const told = { chunkId, sequence: 0, frames: 16_000, sampleRate: 16_000 };
    const command = { type, jobId, language: "en", ...told };
    await sql(
      `insert into outbox (id, session_id, command, attempts, parked_at, parked_reason)
       values ($1, $2, $3, $4, now() - interval '1 hour', $5)`,
      [id, sessionId, command, MOST_ATTEMPTS, PARKED],
    );
    return { sessionId, id };
  }

  const ask = (method: string, path: string, body?: object) =>
    client.call(method, path, body === undefined ? { bearer } : { bearer, body });

  function voice(...args: string[]) {
    const env = {
      VOICE_BASE_URL: `${parts.app.addresses.base_url}`,
      VOICE_EMAIL: ROOT.email,
      VOICE_PASSWORD: ROOT.password,
    };
    return runVoice(["outbox", ...args], { folder: parts.folder, env });
  }

  async function audited(kind: string): Promise<unknown[]> {
    return (await ask("GET", `/admin/audit?kind=${kind}`)).body.items as unknown[];
  }

  async function chunkOf(sessionId: string): Promise<unknown> {
    const { rows } = await parts.pool.query("select * from chunks where session_id = $1", [
      sessionId,
    ]);
    return rows[0];
  }

  it("parked commands: are listed with why, shown in the overview and in the metrics", async () => {
    const { sessionId, id } = await park();
    expect((await ask("GET", "/admin/outbox")).body).toEqual({
      items: [
        {
          id,
          session_id: sessionId,
          type: "ChunkStored",
          attempts: MOST_ATTEMPTS,
          created_at: expect.any(String),
          parked_at: expect.any(String),
          reason: PARKED,
        },
      ],
      next_cursor: null,
    });
    expect((await ask("GET", "/admin/overview")).body).toMatchObject({
      queues: { parked: { count: 1, session_ids: [sessionId] }, outbox: { count: 0 } },
    });
    const metrics = async () => (await fetch(`${parts.app.addresses.ops_url}/metrics`)).text();
    await until(async () => (await metrics()).includes("voice_outbox_parked 1"), "the figure");
    expect(await metrics()).toMatch(/voice_outbox_parked_oldest_seconds 36\d\d/);
    await ask("POST", "/admin/outbox/drop", { ids: [id] });
  });

  it("parked commands: one that is retried is carried out by the next sweep, and audited", async () => {
    const { sessionId, id } = await park("Start");
    const { body } = await ask("POST", "/admin/outbox/retry", { ids: [id, newId()] });
    expect(body).toMatchObject({ count: 1, message: "1 command will be tried again." });
    const rows = async () =>
      (await parts.pool.query("select 1 from outbox where session_id = $1", [sessionId])).rowCount;
    await until(async () => (await rows()) === 0, "the command to be carried out");
    expect(await audited("command_retried")).toMatchObject([
      { session_id: sessionId, subject_id: id, detail: { type: "Start" } },
    ]);
    expect((await ask("POST", "/admin/outbox/retry", { ids: [id] })).status).toBe(404);
    expect((await ask("POST", "/admin/outbox/retry", {})).status).toBe(400);
  });

  it("parked commands: a dropped one leaves its chunk failed, and audited", async () => {
    const { sessionId, id } = await park();
    expect((await ask("POST", "/admin/outbox/drop", { ids: [id] })).body).toMatchObject({
      count: 1,
    });
    expect(await chunkOf(sessionId)).toMatchObject({
      status: "failed",
      error: "An operator gave it up: its session could not take it.",
    });
    expect((await ask("GET", "/admin/outbox")).body.items).toEqual([]);
    expect(await audited("command_dropped")).toMatchObject([
      { session_id: sessionId, subject_id: id, detail: { type: "ChunkStored" } },
      {},
    ]);
  });

  it("voice outbox: lists, retries and drops, and says what it cannot do", async () => {
    expect(await voice("list")).toEqual({
      code: 0,
      stdout: "No command is parked: everything is delivered or on its way.\n",
      stderr: "",
    });
    const [one, two] = [await park(), await park()];
    const listed = await voice("list");
    expect(listed.stdout).toContain(`${one.id}  ChunkStored  session ${one.sessionId}`);
    expect(listed.stdout).toContain("2 parked; `voice outbox retry --all` tries them again");
    const [newest] = (await voice("list", "--json")).stdout.split("\n");
    expect(JSON.parse(newest ?? "")).toMatchObject({ id: two.id, reason: PARKED });
    expect(await voice("drop", one.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("drop asks on a terminal; elsewhere give --yes"),
    });
    const dropped = await voice("drop", one.id, newId(), "--yes");
    expect(dropped).toMatchObject({ code: 1, stdout: "1 command dropped for good.\n" });
    expect(dropped.stderr).toContain("1 of 2 not found: `voice outbox list` shows what is parked");
    expect(await voice("retry")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("name the commands to be tried again, or give --all"),
    });
    expect(await voice("retry", "--all", "--json")).toMatchObject({
      code: 0,
      stdout: '{"count":1}\n',
    });
    expect((await voice("retry", "--all")).stdout).toBe("No command is parked.\n");
  });
});
