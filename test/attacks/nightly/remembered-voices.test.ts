import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Encryption } from "../../../src/access/encryption.ts";
import { voiceOwner } from "../../../src/conversations/voices/suggester.ts";
import type { Person } from "../../support/attacked-service.ts";
import { VoiceHouse } from "../../support/voice-house.ts";
import { ANNA, ANNA_LATER, BEN_LATER, VoiceMeeting } from "../../support/voice-meeting.ts";

let house: VoiceHouse;
let meeting: VoiceMeeting;
let owner: Person;
let anna: Person;
let ben: Person;
let workspace: string;
let first: string;

beforeAll(async () => {
  house = await VoiceHouse.open();
});
afterAll(() => house?.close());

beforeEach(async () => {
  meeting = await VoiceMeeting.held(house);
  ({ owner, anna, ben, workspace, first } = meeting);
});

describe("remembered voices", () => {
  it("suggest a person for a voice like theirs, to the owner and to themselves, and assign nobody", async () => {
    const put = await meeting.remember(anna, "S1");
    expect(put.status, put.text).toBe(200);
    expect(put.body).toMatchObject({ workspace_id: workspace, session_id: first, label: "S1" });
    expect(put.body).not.toHaveProperty("print");
    expect(Number(put.body.speech_ms)).toBeGreaterThan(10_000);
    const later = await meeting.heard(BEN_LATER, ANNA_LATER);
    const path = `/sessions/${later}/speakers`;
    await meeting.becomes(later, owner.headers, { S2: [anna.id] });
    const { items } = await house.service.done("GET", path, owner.headers);
    expect(items).toMatchObject([
      { speaker_label: "S1" },
      { speaker_label: "S2", suggestions: [{ user_id: anna.id, display_name: "Anna" }] },
    ]);
    expect((items as object[])[0]).not.toHaveProperty("suggestions");
    for (const speaker of items as object[]) expect(speaker).not.toHaveProperty("claimed_user_id");
    await meeting.becomes(later, anna.headers, { S2: [anna.id] });
    expect(await meeting.suggested(first, owner.headers)).toEqual({});
    await meeting.assign(later, "S2", anna);
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
    expect(await meeting.audited("voice_suggestion_accepted", anna)).toMatchObject([
      { actor_id: owner.id, detail: { label: "S2" } },
    ]);
    expect(await meeting.audited("voice_remembered", anna)).toMatchObject([
      { actor_id: anna.id, detail: { label: "S1", consent: true } },
    ]);
  });

  it("are made with consent only, of one's own claim, where one may read, from enough speech", async () => {
    for (const consent of [undefined, false, "true", 1, null]) {
      const refused = await meeting.remember(anna, "S1", { consent });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("consent: true");
    }
    expect((await meeting.remember(anna, "S2")).status, "another's label").toBe(409);
    expect((await meeting.remember(anna, "S7")).status, "no such label").toBe(409);
    const stranger = await house.service.addUser();
    expect((await meeting.remember(stranger, "S1")).status).toBe(404);
    const admin = await house.service.addUser("admin");
    const reason = { reason: "to see whether voices open", session_id: first };
    await house.service.done("POST", "/admin/content-elevate", admin.headers, reason);
    expect((await meeting.remember(admin, "S1")).status).toBe(404);
    const elsewhere = await house.service.addWorkspace(anna.id);
    const wrong = await meeting.remember(anna, "S1", { workspace_id: elsewhere });
    expect(wrong.status, "a session of another workspace").toBe(404);
    const short = await meeting.heard(ANNA.subarray(0, 4 * 16_000));
    await meeting.confirmed(short, "S1", anna);
    const little = await meeting.remember(anna, "S1", { session_id: short });
    expect(little.status).toBe(409);
    expect(little.text).toMatch(/only 4\.0 s of speech of S1 .* 10 s are needed/);
    await house.service.sql("update sessions set visibility = 'private' where id = $1", [first]);
    expect((await meeting.remember(anna, "S1")).status, "no longer shared").toBe(404);
    expect(await meeting.remembered(anna)).toEqual([]);
    expect(
      await house.service.sql("select from remembered_voices where user_id = $1", [anna.id]),
    ).toEqual([]);
  });

  it("are no business of guests, of strangers' members, of keys and of administrators", async () => {
    await meeting.remember(anna, "S1");
    const later = await meeting.heard(ANNA_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id] });
    const body = { session_id: later, display_name: "Gus" };
    const entered = await house.service.done("POST", "/auth/guest", {}, body);
    const guest = { authorization: `Bearer ${entered.token}` };
    expect(await meeting.suggested(later, guest)).toEqual({});
    expect(await meeting.suggested(later, ben.headers), "another member").toEqual({});
    const invited = await house.service.addUser();
    await house.service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [later, invited.id],
    );
    expect(await meeting.suggested(later, invited.headers), "not of the workspace").toEqual({});
    const admin = await house.service.addUser("admin");
    expect(await meeting.suggested(later, admin.headers)).toEqual({});
    for (const headers of [guest, {}]) {
      const answer = await house.service.call("GET", "/users/me/voice", headers);
      expect(answer.status).toBe(headers === guest ? 403 : 401);
    }
    expect(await meeting.remembered(ben)).toEqual([]);
  });

  it("stay within their workspace", async () => {
    await meeting.remember(anna, "S1");
    const other = await house.service.addWorkspace(owner.id);
    await house.service.join(other, anna.id, "member");
    const session = await house.addHeard(other, owner.id, [{ label: "S1", sound: ANNA_LATER }]);
    expect(await meeting.suggested(session, owner.headers)).toEqual({});
  });

  it("are forgotten when their person says so, with all suggestions, and leave the service nowhere", async () => {
    const put = await meeting.remember(anna, "S1");
    await meeting.remember(ben, "S2");
    const later = await meeting.heard(ANNA_LATER, BEN_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id], S2: [ben.id] });
    const { service } = house;
    const got = await service.call("GET", "/users/me/voice?include=print", anna.headers);
    for (const { text } of [put, got]) expect(text).not.toMatch(/print|[A-Za-z0-9+/]{64}/);
    await service.done("DELETE", `/users/me/voice?workspace_id=${workspace}`, anna.headers);
    await service.done("DELETE", "/users/me/voice", anna.headers);
    expect(await meeting.remembered(anna)).toEqual([]);
    await meeting.becomes(later, owner.headers, { S2: [ben.id] });
    expect(await meeting.remembered(ben)).toHaveLength(1);
    expect(await meeting.audited("voice_forgotten", anna)).toMatchObject([{ actor_id: anna.id }]);
  });

  it("are in no table once they are forgotten: audit log and ledger of erasures say that they were", async () => {
    await meeting.remember(anna, "S1");
    const later = await meeting.heard(ANNA_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id] });
    const { service } = house;
    const [voice] = await service.sql<{ id: string; print: string }>(
      "select id, encode(sealed, 'hex') as print from remembered_voices where user_id = $1",
      [anna.id],
    );
    const { id = "", print = "" } = voice ?? {};
    expect(print.length).toBeGreaterThan(700);
    const tables = await service.sql<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by 1",
    );
    const holding = async (text: string) => {
      const found: string[] = [];
      for (const { name } of tables) {
        const [row] = await service.sql<{ is: boolean }>(
          `select exists (select from "${name}" t where strpos(t::text, $1) > 0) as is`,
          [text],
        );
        if (row?.is === true) found.push(name);
      }
      return found;
    };
    expect(await holding(print)).toEqual(["remembered_voices"]);
    expect(await holding(id)).toEqual(["remembered_voices", "voice_suggestions"]);
    await service.done("DELETE", `/users/me/voice?workspace_id=${workspace}`, anna.headers);
    expect(await holding(print)).toEqual([]);
    expect(await holding(id)).toEqual(["erasures"]);
    expect(await meeting.audited("voice_forgotten", anna)).toHaveLength(1);
    // Nothing that a process keeps brings it back.
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
  });

  it("do not come back from a comparison that began before they were forgotten", async () => {
    await meeting.remember(anna, "S1");
    const later = await meeting.heard(ANNA_LATER);
    const asked = meeting.suggested(later, owner.headers);
    await house.service.done("DELETE", "/users/me/voice", anna.headers);
    await asked;
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
    expect(
      await house.service.sql("select from voice_suggestions where session_id = $1", [later]),
    ).toEqual([]);
  });

  it("go with the membership, the account, and a claim that was not theirs", async () => {
    const left = await house.service.addWorkspace(owner.id);
    await house.service.join(left, anna.id, "member");
    await meeting.remember(anna, "S1");
    await meeting.remember(ben, "S2");
    const later = await meeting.heard(ANNA_LATER, BEN_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id], S2: [ben.id] });
    const member = `/workspaces/${workspace}/members/${anna.id}`;
    await house.service.done("DELETE", member, owner.headers);
    await meeting.becomes(later, owner.headers, { S2: [ben.id] });
    await house.service.join(workspace, anna.id, "member");
    expect(await meeting.remembered(anna), "not with the next membership either").toEqual([]);
    await meeting.assign(first, "S2", anna);
    expect(await meeting.remembered(ben), "the label was not Ben's").toEqual([]);
    expect(await meeting.audited("voice_forgotten", ben)).toMatchObject([
      { actor_id: owner.id, detail: { claim_ended: true } },
    ]);
    await meeting.remember(anna, "S1");
    expect(await meeting.remembered(anna)).toHaveLength(1);
    await house.service.done("DELETE", "/users/me", anna.headers);
    expect(
      await house.service.sql("select from remembered_voices where user_id = $1", [anna.id]),
    ).toEqual([]);
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
  });

  it("stand in no event, no outbox, no answer that is kept and no audit entry", async () => {
    await meeting.remember(anna, "S1", {});
    const later = await meeting.heard(ANNA_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id] });
    await meeting.assign(later, "S1", anna);
    const [voice] = await house.service.sql<{ sealed: Buffer }>(
      "select sealed from remembered_voices where user_id = $1",
      [anna.id],
    );
    const encryption = new Encryption(house.service.voiceKey);
    const print = encryption.decrypt(
      voiceOwner(workspace, anna.id),
      voice?.sealed ?? Buffer.alloc(0),
    );
    expect(print.length).toBeGreaterThan(300);
    expect(voice?.sealed.includes(print.subarray(16, 64))).toBe(false);
    const start = print.toString("base64").slice(24, 48);
    for (const table of ["events", "outbox", "command_outcomes", "audit_log", "idempotency_keys"]) {
      const rows = await house.service.sql(`select from ${table} t where strpos(t::text, $1) > 0`, [
        start,
      ]);
      expect(rows, table).toEqual([]);
    }
  });

  it("of somebody who has claimed a label are suggested for no other of that session", async () => {
    await meeting.remember(anna, "S1");
    const later = await meeting.heard(ANNA, BEN_LATER, ANNA_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id], S3: [anna.id] });
    await meeting.claim(later, "S1", anna);
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
  });

  it("of somebody who is disabled are suggested to nobody", async () => {
    await meeting.remember(anna, "S1");
    const later = await meeting.heard(ANNA_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id] });
    const admin = await house.service.addUser("admin");
    await house.service.done("POST", `/users/${anna.id}/disable`, admin.headers);
    expect(await meeting.suggested(later, owner.headers)).toEqual({});
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
    await meeting.remember(anna, "S1");
    await service.done("DELETE", `/users/me/voice?workspace_id=${workspace}`, ben.headers);
    for (const who of [anna, ben]) expect(await lapsed(who)).toEqual([]);
  });
});
