import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { JobQueueStore } from "../../src/conversations/jobs/queue-store.ts";
import { Tenants } from "../../src/postgres/tenants.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const KINDS = ["summarisation"];
const LEASE_MS = 60_000;

describe("tenants", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let other: UserPrincipal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    owner = await fixture.user();
    other = await fixture.user();
  });
  afterAll(() => fixture.close());

  async function session(by: UserPrincipal): Promise<{ workspaceId: string; sessionId: string }> {
    const workspaceId = await fixture.workspace(by.id);
    const device = await fixture.device(workspaceId, by.id);
    return { workspaceId, sessionId: await fixture.start(device) };
  }

  async function ask(by: UserPrincipal, automatic = false): Promise<string> {
    const { sessionId, workspaceId } = await session(by);
    await fixture.sql(
      `insert into jobs (id, kind, session_id, workspace_id, status, due_at, automatic)
       values ($1, 'summarisation', $2, $3, 'queued', now(), $4)`,
      [newId(), sessionId, workspaceId, automatic],
    );
    return sessionId;
  }

  it("tenants: a session is its workspace's owner's, whoever records it", async () => {
    const tenants = new Tenants(fixture.pool);
    const workspaceId = await fixture.workspace(owner.id);
    await fixture.join(workspaceId, other.id);
    const sessionId = await fixture.start(await fixture.device(workspaceId, other.id));
    expect(await tenants.ofSession(sessionId)).toBe(owner.id);
    expect(await tenants.ofWorkspace(workspaceId)).toBe(owner.id);
    const unknown = newId();
    expect(await tenants.ofSession(unknown)).toBe(unknown);
    await fixture.sql("delete from workspace_members where workspace_id = $1", [workspaceId]);
    expect(await new Tenants(fixture.pool).ofSession(sessionId)).toBe(workspaceId);
  });

  it("tenants: jobs of one with many workspaces do not delay those of another", async () => {
    const jobs = new JobQueueStore(fixture.pool);
    const flood: string[] = [];
    for (let n = 0; n < 10; n += 1) flood.push(await ask(owner));
    expect((await jobs.claim(KINDS, LEASE_MS))?.sessionId).toBe(flood[0]);
    const waiting = await ask(other);
    expect((await jobs.claim(KINDS, LEASE_MS))?.sessionId).toBe(waiting);
    expect((await jobs.claim(KINDS, LEASE_MS))?.sessionId).toBe(flood[1]);
  });

  it("tenants: what somebody asked for does not wait for what nobody did", async () => {
    const jobs = new JobQueueStore(fixture.pool);
    const third = await fixture.user();
    for (let n = 0; n < 3; n += 1) await ask(third, true);
    const wanted = await ask(third);
    let claimed = await jobs.claim(KINDS, LEASE_MS);
    while (claimed !== undefined && !(await isOf(third, claimed.sessionId))) {
      claimed = await jobs.claim(KINDS, LEASE_MS);
    }
    expect(claimed?.sessionId).toBe(wanted);
  });

  it("tenants: jobs that wait for a language model leave hosts to others", async () => {
    await fixture.sql("delete from jobs where kind = 'summarisation'", []);
    const jobs = new JobQueueStore(fixture.pool);
    for (let n = 0; n < 8; n += 1) await ask(owner);
    await fixture.sql("update jobs set model_attempt = 1 where kind = 'summarisation'", []);
    const quick = await ask(owner);
    expect((await jobs.claim(KINDS, LEASE_MS))?.sessionId).toBe(quick);
    const claimed = [];
    for (let n = 0; n < 6; n += 1) claimed.push(await jobs.claim(KINDS, LEASE_MS));
    expect(claimed.every((job) => job !== undefined)).toBe(true);
    expect(await jobs.claim(KINDS, LEASE_MS)).toBeUndefined();
    const waiting = await ask(other);
    expect((await jobs.claim(KINDS, LEASE_MS))?.sessionId).toBe(waiting);
    const [first] = claimed;
    if (first === undefined) throw new Error("No job was claimed.");
    await jobs.end(first, "failed", "Enough.");
    expect(await jobs.claim(KINDS, LEASE_MS)).toBeDefined();
  });

  async function isOf(user: UserPrincipal, sessionId: string): Promise<boolean> {
    return (await new Tenants(fixture.pool).ofSession(sessionId)) === user.id;
  }
});
