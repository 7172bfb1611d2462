import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Headers, Person } from "../../support/attacked-service.ts";
import { halfOf } from "../../support/demo-voices.ts";
import { until } from "../../support/until.ts";
import { VoiceHouse } from "../../support/voice-house.ts";

interface Speaker {
  speaker_label: string;
  suggestions?: { user_id: string; display_name?: string; likelihood: number }[];
}

const ANNA = halfOf("Anna", 0);
const ANNA_LATER = halfOf("Anna", 1);
const BEN = halfOf("Ben", 0);
const BEN_LATER = halfOf("Ben", 1);

let house: VoiceHouse;
let owner: Person;
let anna: Person;
let ben: Person;
let workspace: string;
/** Anna has claimed S1 here, Ben S2. */
let first: string;

beforeAll(async () => {
  house = await VoiceHouse.open();
});
afterAll(() => house?.close());

beforeEach(async () => {
  const { service } = house;
  [owner, anna, ben] = await Promise.all([service.addUser(), service.addUser(), service.addUser()]);
  workspace = await service.addWorkspace(owner.id);
  await service.join(workspace, anna.id, "member");
  await service.join(workspace, ben.id, "member");
  await service.sql("update users set name = 'Anna' where id = $1", [anna.id]);
  first = await heard(ANNA, BEN);
  await claim(first, "S1", anna);
  await claim(first, "S2", ben);
});

/** A session of the owner in the workspace, shared with its members. */
async function heard(...sounds: Int16Array[]): Promise<string> {
  const spoken = sounds.map((sound, n) => ({ label: `S${n + 1}`, sound }));
  const id = await house.addHeard(workspace, owner.id, spoken);
  await house.service.sql("update sessions set visibility = 'workspace' where id = $1", [id]);
  return id;
}

function claim(session: string, label: string, { headers }: Pick<Person, "headers">) {
  const body = { speaker_label: label, source: "self_claim" };
  return house.service.done("POST", `/sessions/${session}/speaker-claims`, headers, body);
}

function assign(session: string, label: string, { id }: Person) {
  const body = { speaker_label: label, source: "moderator_assignment", assigned_user_id: id };
  return house.service.done("POST", `/sessions/${session}/speaker-claims`, owner.headers, body);
}

function remember(who: Person, label: string, more: object = {}) {
  const body = { workspace_id: workspace, session_id: first, label, consent: true, ...more };
  return house.service.call("PUT", "/users/me/voice", who.headers, body);
}

async function remembered(who: Person, query = ""): Promise<Record<string, unknown>[]> {
  const { items } = await house.service.done("GET", `/users/me/voice${query}`, who.headers);
  return items as Record<string, unknown>[];
}

/** The ids of whom each label is suggested to be. */
async function suggested(session: string, headers: Headers): Promise<Record<string, string[]>> {
  const { items } = await house.service.done("GET", `/sessions/${session}/speakers`, headers);
  const speakers = (items as Speaker[]).filter(({ suggestions }) => suggestions !== undefined);
  return Object.fromEntries(
    speakers.map(({ speaker_label: label, suggestions = [] }) => [
      label,
      suggestions.map(({ user_id: id }) => id),
    ]),
  );
}

/** Waits until the suggestions are these: the first to ask may have to ask again. */
function becomes(session: string, headers: Headers, expected: Record<string, string[]>) {
  return until(
    async () => isDeepStrictEqual(await suggested(session, headers), expected),
    `suggestions ${JSON.stringify(expected)}`,
  );
}

function audited(kind: string, subject: Person) {
  return house.service.sql<{ actor_id: string | null; detail: Record<string, unknown> }>(
    "select actor_id, detail from audit_log where kind = $1 and subject_id = $2 order by seq",
    [kind, subject.id],
  );
}

describe("remembered voices", () => {
  it("suggest a person for a voice like theirs, to the owner and to themselves, and assign nobody", async () => {
    const put = await remember(anna, "S1");
    expect(put.status, put.text).toBe(200);
    expect(put.body).toMatchObject({ workspace_id: workspace, session_id: first, label: "S1" });
    expect(put.body).not.toHaveProperty("print");
    expect(Number(put.body.speech_ms)).toBeGreaterThan(10_000);
    const later = await heard(BEN_LATER, ANNA_LATER);
    const path = `/sessions/${later}/speakers`;
    await becomes(later, owner.headers, { S2: [anna.id] });
    const { items } = await house.service.done("GET", path, owner.headers);
    expect(items).toMatchObject([
      { speaker_label: "S1" },
      { speaker_label: "S2", suggestions: [{ user_id: anna.id, display_name: "Anna" }] },
    ]);
    expect((items as Speaker[])[0]).not.toHaveProperty("suggestions");
    for (const speaker of items as object[]) expect(speaker).not.toHaveProperty("claimed_user_id");
    await becomes(later, anna.headers, { S2: [anna.id] });
    expect(await suggested(first, owner.headers)).toEqual({});
    await assign(later, "S2", anna);
    expect(await suggested(later, owner.headers)).toEqual({});
    expect(await audited("voice_suggestion_accepted", anna)).toMatchObject([
      { actor_id: owner.id, detail: { label: "S2" } },
    ]);
    expect(await audited("voice_remembered", anna)).toMatchObject([
      { actor_id: anna.id, detail: { label: "S1", consent: true } },
    ]);
  });

  it("are made with consent only, of one's own claim, where one may read, from enough speech", async () => {
    for (const consent of [undefined, false, "true", 1, null]) {
      const refused = await remember(anna, "S1", { consent });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("consent: true");
    }
    expect((await remember(anna, "S2")).status, "another's label").toBe(409);
    expect((await remember(anna, "S7")).status, "no such label").toBe(409);
    const stranger = await house.service.addUser();
    expect((await remember(stranger, "S1")).status).toBe(404);
    const admin = await house.service.addUser("admin");
    const reason = { reason: "to see whether voices open", session_id: first };
    await house.service.done("POST", "/admin/content-elevate", admin.headers, reason);
    expect((await remember(admin, "S1")).status).toBe(404);
    const elsewhere = await house.service.addWorkspace(anna.id);
    const wrong = await remember(anna, "S1", { workspace_id: elsewhere });
    expect(wrong.status, "a session of another workspace").toBe(404);
    const short = await heard(ANNA.subarray(0, 4 * 16_000));
    await claim(short, "S1", anna);
    const little = await remember(anna, "S1", { session_id: short });
    expect(little.status).toBe(409);
    expect(little.text).toMatch(/only 4\.0 s of speech of S1 .* 10 s are needed/);
    await house.service.sql("update sessions set visibility = 'private' where id = $1", [first]);
    expect((await remember(anna, "S1")).status, "no longer shared").toBe(404);
    expect(await remembered(anna)).toEqual([]);
    expect(
      await house.service.sql("select from remembered_voices where user_id = $1", [anna.id]),
    ).toEqual([]);
  });

  it("are no business of guests, of strangers' members, of keys and of administrators", async () => {
    await remember(anna, "S1");
    const later = await heard(ANNA_LATER);
    await becomes(later, owner.headers, { S1: [anna.id] });
    const body = { session_id: later, display_name: "Gus" };
    const entered = await house.service.done("POST", "/auth/guest", {}, body);
    const guest = { authorization: `Bearer ${entered.token}` };
    expect(await suggested(later, guest)).toEqual({});
    expect(await suggested(later, ben.headers), "another member").toEqual({});
    const invited = await house.service.addUser();
    await house.service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [later, invited.id],
    );
    expect(await suggested(later, invited.headers), "not of the workspace").toEqual({});
    const admin = await house.service.addUser("admin");
    expect(await suggested(later, admin.headers)).toEqual({});
    for (const headers of [guest, {}]) {
      const answer = await house.service.call("GET", "/users/me/voice", headers);
      expect(answer.status).toBe(headers === guest ? 403 : 401);
    }
    expect(await remembered(ben)).toEqual([]);
  });

  it("stay within their workspace", async () => {
    await remember(anna, "S1");
    const other = await house.service.addWorkspace(owner.id);
    await house.service.join(other, anna.id, "member");
    const session = await house.addHeard(other, owner.id, [{ label: "S1", sound: ANNA_LATER }]);
    expect(await suggested(session, owner.headers)).toEqual({});
  });

  it("are exported to their person, and forgotten when they say so, with all suggestions", async () => {
    await remember(anna, "S1");
    await remember(ben, "S2");
    const later = await heard(ANNA_LATER, BEN_LATER);
    await becomes(later, owner.headers, { S1: [anna.id], S2: [ben.id] });
    const [voice] = await remembered(anna, "?include=print");
    expect(Buffer.from(String(voice?.print), "base64").length).toBeGreaterThan(300);
    const sealed = await house.service.sql<{ sealed: Buffer }>(
      "select sealed from remembered_voices where user_id = $1",
      [anna.id],
    );
    const print = Buffer.from(String(voice?.print), "base64");
    expect(sealed[0]?.sealed.includes(print.subarray(16, 64))).toBe(false);
    await house.service.done("DELETE", `/users/me/voice?workspace_id=${workspace}`, anna.headers);
    await house.service.done("DELETE", "/users/me/voice", anna.headers);
    expect(await remembered(anna)).toEqual([]);
    await becomes(later, owner.headers, { S2: [ben.id] });
    expect(await remembered(ben)).toHaveLength(1);
    expect(await audited("voice_forgotten", anna)).toMatchObject([{ actor_id: anna.id }]);
  });

  it("do not come back from a comparison that began before they were forgotten", async () => {
    await remember(anna, "S1");
    const later = await heard(ANNA_LATER);
    const asked = suggested(later, owner.headers);
    await house.service.done("DELETE", "/users/me/voice", anna.headers);
    await asked;
    expect(await suggested(later, owner.headers)).toEqual({});
    expect(
      await house.service.sql("select from voice_suggestions where session_id = $1", [later]),
    ).toEqual([]);
  });

  it("go with the membership, the account, and a claim that was not theirs", async () => {
    const left = await house.service.addWorkspace(owner.id);
    await house.service.join(left, anna.id, "member");
    await remember(anna, "S1");
    await remember(ben, "S2");
    const later = await heard(ANNA_LATER, BEN_LATER);
    await becomes(later, owner.headers, { S1: [anna.id], S2: [ben.id] });
    const member = `/workspaces/${workspace}/members/${anna.id}`;
    await house.service.done("DELETE", member, owner.headers);
    await becomes(later, owner.headers, { S2: [ben.id] });
    await house.service.join(workspace, anna.id, "member");
    expect(await remembered(anna), "not with the next membership either").toEqual([]);
    await assign(first, "S2", anna);
    expect(await remembered(ben), "the label was not Ben's").toEqual([]);
    expect(await audited("voice_forgotten", ben)).toMatchObject([
      { actor_id: owner.id, detail: { claim_ended: true } },
    ]);
    await remember(anna, "S1");
    expect(await remembered(anna)).toHaveLength(1);
    await house.service.done("DELETE", "/users/me", anna.headers);
    expect(
      await house.service.sql("select from remembered_voices where user_id = $1", [anna.id]),
    ).toEqual([]);
    expect(await suggested(later, owner.headers)).toEqual({});
  });

  it("follow their label through a merge, and end with one that gives it to another", async () => {
    const session = await heard(ANNA, BEN, BEN_LATER);
    await claim(session, "S2", ben);
    const again = { session_id: session };
    expect((await remember(ben, "S2", again)).status).toBe(200);
    const merge = (from: string, into: string) =>
      house.service.done("POST", `/sessions/${session}/speakers/merge`, owner.headers, {
        from,
        into,
      });
    await merge("S3", "S2");
    expect(await remembered(ben)).toMatchObject([{ label: "S2" }]);
    await claim(session, "S1", anna);
    await merge("S2", "S1");
    expect(await remembered(ben), "one voice, and it is Anna's").toEqual([]);
  });

  it("of a session that is deleted stay, while its suggestions go", async () => {
    await remember(anna, "S1");
    const later = await heard(ANNA_LATER);
    await becomes(later, owner.headers, { S1: [anna.id] });
    for (const id of [first, later]) {
      await house.service.done("DELETE", `/sessions/${id}`, owner.headers);
    }
    expect(await remembered(anna)).toMatchObject([{ session_id: first }]);
    for (const table of ["voice_suggestions", "voice_comparisons"]) {
      expect(
        await house.service.sql(`select from ${table} where session_id = $1`, [later]),
      ).toEqual([]);
    }
    expect((await remember(anna, "S1")).status).toBe(404);
  });

  it("are not made of what was redacted", async () => {
    const path = `/sessions/${first}/redactions`;
    await house.service.done("POST", path, owner.headers, { speaker_label: "S1" });
    expect((await remember(anna, "S1")).status).toBe(409);
  });

  it("stand in no event, no outbox, no answer that is kept and no audit entry", async () => {
    await remember(anna, "S1", {});
    const later = await heard(ANNA_LATER);
    await becomes(later, owner.headers, { S1: [anna.id] });
    await assign(later, "S1", anna);
    const [voice] = await remembered(anna, "?include=print");
    const start = String(voice?.print).slice(24, 48);
    for (const table of ["events", "outbox", "command_outcomes", "audit_log", "idempotency_keys"]) {
      const rows = await house.service.sql(`select from ${table} t where strpos(t::text, $1) > 0`, [
        start,
      ]);
      expect(rows, table).toEqual([]);
    }
  });

  it("of somebody who has claimed a label are suggested for no other of that session", async () => {
    await remember(anna, "S1");
    const later = await heard(ANNA, BEN_LATER, ANNA_LATER);
    await becomes(later, owner.headers, { S1: [anna.id], S3: [anna.id] });
    await claim(later, "S1", anna);
    expect(await suggested(later, owner.headers)).toEqual({});
  });

  it("of somebody who is disabled are suggested to nobody", async () => {
    await remember(anna, "S1");
    const later = await heard(ANNA_LATER);
    await becomes(later, owner.headers, { S1: [anna.id] });
    const admin = await house.service.addUser("admin");
    await house.service.done("POST", `/users/${anna.id}/disable`, admin.headers);
    expect(await suggested(later, owner.headers)).toEqual({});
  });

  it("of a method that is gone are told of until a new one is given, or declined", async () => {
    const { service } = house;
    const lapse = (who: Person) =>
      service.sql("insert into lapsed_voices (workspace_id, user_id) values ($1, $2)", [
        workspace,
        who.id,
      ]);
    const lapsed = async (who: Person) =>
      (await service.done("GET", "/users/me/voice", who.headers)).lapsed;
    await Promise.all([lapse(anna), lapse(ben)]);
    expect(await lapsed(anna)).toMatchObject([{ workspace_id: workspace }]);
    expect(await lapsed(owner)).toEqual([]);
    await remember(anna, "S1");
    await service.done("DELETE", `/users/me/voice?workspace_id=${workspace}`, ben.headers);
    for (const who of [anna, ben]) expect(await lapsed(who)).toEqual([]);
  });
});
