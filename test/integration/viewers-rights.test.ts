import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDeviceKey, newServiceKey, secretHash } from "../../src/access/secrets.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { PlanRecorder } from "../support/plan-recorder.ts";
import { openPolicyParts, type PolicyParts } from "../support/policy-parts.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { portOf, throughProxy } from "../support/proxied-address.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

/** Contract 2: whoever has no right any more is out within. */
const SOON_MS = 5_000;
const HOUR = 3_600_000;
const VIEWERS_PER_USER = 5;
const USERS = 40;

type Headers = Record<string, string>;

/**
 * A front of which this test is the rest of the cluster: what ends rights is written by others, so
 * that this process hears of it over NATS, which is cut, or from the record.
 */
describe("rights of viewers, the front being cut from NATS", () => {
  let parts: PolicyParts;
  let nats: TestNats;
  let proxy: FaultProxy;
  let recorder: PlanRecorder;
  let tokens: Tokens;
  let ownerId: string;
  let workspaceId: string;
  let sessionId: string;
  const viewers: Viewer[] = [];

  beforeAll(async () => {
    const database = await createTestDatabase();
    recorder = await PlanRecorder.of(database, superuserUrl(database));
    nats = await startNats();
    proxy = await FaultProxy.start("nats", portOf(nats.url));
    const env = { NATS_URL: throughProxy(nats.url, proxy), NATS_TOKEN: nats.token };
    parts = await openPolicyParts(database, env);
    tokens = new Tokens(parts.keys.ring, systemClock);
    ownerId = await addUser();
    workspaceId = newId();
    sessionId = newId();
    await run("insert into workspaces (id, name) values ($1, 'W')", workspaceId);
    await run("insert into workspace_members values ($1, $2, 'owner')", workspaceId, ownerId);
    await run(
      `insert into sessions (id, workspace_id, owner_id, job_id, status, visibility)
       values ($1, $2, $3, $4, 'completed', 'workspace')`,
      ...[sessionId, workspaceId, ownerId, newId()],
    );
    void proxy.inflict({ kind: "refuse", ms: HOUR });
    await until(() => proxy.connections === 0, "NATS to be away");
  });
  afterAll(async () => {
    for (const { socket } of viewers) socket.terminate();
    proxy?.heal();
    await parts?.app.stop();
    recorder?.stop();
    await proxy?.stop();
    await parts?.pool.end();
    await Promise.all([parts?.database.drop(), parts?.nats.stop(), nats?.stop()]);
    if (parts !== undefined) rmSync(parts.folder, { recursive: true, force: true });
  });

  /** As another process would. */
  async function run(text: string, ...values: unknown[]): Promise<void> {
    await parts.pool.query(text, values);
  }

  async function addUser(role = "participant"): Promise<string> {
    const id = newId();
    await run(
      "insert into users (id, email, role) values ($1::uuid, $1::uuid::text, $2)",
      id,
      role,
    );
    return id;
  }

  async function addMember(): Promise<string> {
    const id = await addUser();
    await run("insert into workspace_members values ($1, $2, 'member')", workspaceId, id);
    return id;
  }

  async function signIn(userId: string): Promise<Headers> {
    const scope = newId();
    await run(
      `insert into logins (id, user_id, expires_at, created_at)
       values ($1, $2, now() + interval '1 hour', clock_timestamp())`,
      ...[scope, userId],
    );
    const expiresAt = Date.now() + HOUR;
    return bearer({ kind: "access", subject: userId, scope, expiresAt });
  }

  async function bearer(claims: Parameters<Tokens["sign"]>[0]): Promise<Headers> {
    return { authorization: `Bearer ${await tokens.sign(claims)}` };
  }

  async function enter(guestId: string): Promise<Headers> {
    await run(
      `insert into guests (id, session_id, display_name, expires_at)
       values ($1, $2, 'Gus', now() + interval '1 hour')`,
      ...[guestId, sessionId],
    );
    const expiresAt = Date.now() + HOUR;
    return bearer({ kind: "guest", subject: guestId, scope: sessionId, expiresAt });
  }

  async function serviceKey(id: string): Promise<Headers> {
    const secret = newServiceKey();
    const keeperId = await addUser();
    await run("insert into workspace_members values ($1, $2, 'owner')", workspaceId, keeperId);
    await run(
      "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'K', '{sessions:read}')",
      ...[id, workspaceId],
    );
    await run(
      `insert into service_key_secrets (id, key_id, secret_hash, prefix, created_at, expires_at,
         made_by)
       values ($1, $2, $3, '', now(), now() + interval '1 hour', $4)`,
      ...[newId(), id, secretHash(secret), keeperId],
    );
    return { "x-api-key": secret };
  }

  async function connect(headers: Headers): Promise<Viewer> {
    const viewer = new Viewer(String(parts.app.addresses.live_url), headers);
    viewers.push(viewer);
    return viewer.opened();
  }

  async function subscribe(viewer: Viewer): Promise<Viewer> {
    viewer.send({ type: "Subscribe", session_id: sessionId });
    await viewer.received("Snapshot");
    return viewer;
  }

  const follow = async (headers: Headers) => subscribe(await connect(headers));

  async function stream(deviceId: string): Promise<Viewer> {
    const key = newDeviceKey();
    await run(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1::uuid, '', 'paired', $2, $3, convert_to($1::uuid::text, 'UTF8'))`,
      ...[deviceId, workspaceId, ownerId],
    );
    await run(
      `insert into device_keys (id, device_id, key_hash, expires_at)
       values ($1, $2, $3, now() + interval '1 hour')`,
      ...[newId(), deviceId, secretHash(key)],
    );
    const url = String(parts.app.addresses.live_url).replace(/live$/, `devices/${deviceId}/stream`);
    const device = new Viewer(url, { "x-api-key": key });
    viewers.push(device);
    return device.opened();
  }

  /** How often statements ran that are like this. */
  const runsOf = (pattern: RegExp): number =>
    recorder.statements.reduce((sum, { text, runs }) => sum + (pattern.test(text) ? runs : 0), 0);
  const LOOKS = /from ended_rights, cast\(\$1/;
  const LOGINS = /from logins join users/;
  const FACTS = /^select k\.place::integer/;

  it("each is out within 5 s, with the code of what ended", async () => {
    const [user, member, admin, guest, device, key] = [
      await addMember(),
      await addMember(),
      await addUser("admin"),
      newId(),
      newId(),
      newId(),
    ];
    await run(
      `insert into content_elevations (id, admin_id, reason, expires_at)
       values ($1, $2, 'r', now() + interval '1 hour')`,
      ...[newId(), admin],
    );
    const following = {
      user: await follow(await signIn(user)),
      member: await follow(await signIn(member)),
      admin: await follow(await signIn(admin)),
      guest: await follow(await enter(guest)),
      key: await follow(await serviceKey(key)),
      device: await stream(device),
    };
    const stays = await follow(await signIn(ownerId));
    await run("update users set disabled_at = now() where id = $1", user);
    await run("delete from workspace_members where user_id = $1", member);
    await run("update content_elevations set ended_at = now() where admin_id = $1", admin);
    await run("update guests set revoked_at = now() where id = $1", guest);
    await run("update service_keys set revoked_at = now() where id = $1", key);
    await run("update devices set status = 'revoked' where id = $1", device);
    const out = Object.entries(following);
    const isOver = () => out.every(([, { closeCode }]) => closeCode !== undefined);
    await until(isOver, "all of them to be out", SOON_MS);
    expect(Object.fromEntries(out.map(([who, { closeCode }]) => [who, closeCode]))).toEqual({
      user: 4401,
      member: 4403,
      admin: 4403,
      guest: 4401,
      key: 4401,
      device: 4401,
    });
    expect(stays.closeCode).toBeUndefined();
    expect(proxy.connections).toBe(0);
  });

  it("an elevation that runs out is over then, with nobody to tell of it", async () => {
    const admin = await addUser("admin");
    const viewer = await connect(await signIn(admin));
    await run(
      `insert into content_elevations (id, admin_id, session_id, reason, expires_at)
       values ($1, $2, $3, 'r', now() + interval '4 seconds')`,
      ...[newId(), admin, sessionId],
    );
    await subscribe(viewer);
    await until(() => viewer.closeCode !== undefined, "the end of the elevation", 4_000 + SOON_MS);
    expect(viewer.closeCode).toBe(4403);
  });

  it("200 viewers: nothing is asked about any of them until something ends that concerns them", async () => {
    const users = await Promise.all(Array.from({ length: USERS }, () => addMember()));
    const all = await Promise.all(
      users.map(async (user) => {
        const headers = await signIn(user);
        return Promise.all(Array.from({ length: VIEWERS_PER_USER }, () => follow(headers)));
      }),
    );
    const [first = [], ...others] = all;
    const asked = () => [runsOf(LOGINS), runsOf(FACTS)];
    const looks = runsOf(LOOKS);
    await until(() => runsOf(LOOKS) > looks, "a look", 2 * SOON_MS);
    const [before, lookedBefore] = [asked(), runsOf(LOOKS)];
    expect(Math.min(...before)).toBeGreaterThan(0);
    await until(() => runsOf(LOOKS) >= lookedBefore + 3, "three more looks", 3 * SOON_MS);
    expect(asked()).toEqual(before);

    await run("update logins set revoked_at = now() where user_id = $1", users[0]);
    const isOut = (some: readonly Viewer[]) => some.every(({ closeCode }) => closeCode === 4401);
    await until(() => isOut(first), "the viewers of one user to be out", SOON_MS);
    expect(others.flat().filter(({ closeCode }) => closeCode !== undefined)).toEqual([]);

    const each = asked();
    await run("update sessions set visibility = 'private' where id = $1", sessionId);
    const areOut = () => others.flat().every(({ closeCode }) => closeCode === 4403);
    await until(areOut, "all others to be out", SOON_MS);
    // 195 viewers with 39 logins, asked for together.
    const [logins = 0, facts = 0] = asked().map((now, index) => now - (each[index] ?? 0));
    expect(logins + facts).toBeLessThan(60);
  });
});
