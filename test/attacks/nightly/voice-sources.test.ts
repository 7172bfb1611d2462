import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Headers, Person } from "../../support/attacked-service.ts";
import { VoiceHouse } from "../../support/voice-house.ts";
import { ANNA, ANNA_LATER, BEN, BEN_LATER, VoiceMeeting } from "../../support/voice-meeting.ts";

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

/** What a voice is remembered of, and that it does not outlive that. */
describe("sources of remembered voices", () => {
  it("follow their label through a merge, and end with one that gives it to another", async () => {
    const session = await meeting.heard(ANNA, BEN, BEN_LATER);
    await meeting.confirmed(session, "S2", ben);
    const again = { session_id: session };
    expect((await meeting.remember(ben, "S2", again)).status).toBe(200);
    const merge = (from: string, into: string) =>
      house.service.done("POST", `/sessions/${session}/speakers/merge`, owner.headers, {
        from,
        into,
      });
    await merge("S3", "S2");
    expect(await meeting.remembered(ben)).toMatchObject([{ label: "S2" }]);
    await meeting.claim(session, "S1", anna);
    await merge("S2", "S1");
    expect(await meeting.remembered(ben), "one voice, and it is Anna's").toEqual([]);
  });

  it("are made of no claim that nobody confirmed", async () => {
    const session = await meeting.heard(ANNA, BEN);
    const taking = () => meeting.remember(anna, "S2", { session_id: session });
    await meeting.claim(session, "S2", anna);
    const refused = await taking();
    expect(refused.status, "Ben's voice").toBe(409);
    expect(refused.text).toMatch(/Ask the session's owner to confirm .* assigning S2 to you/);
    await meeting.assign(session, "S2", anna);
    expect((await taking()).status, "the owner says so").toBe(200);
    await meeting.takeBack(session, "S2", anna);
    expect(await meeting.remembered(anna)).toEqual([]);
    await meeting.claim(session, "S2", anna);
    expect((await taking()).status, "not confirmed again").toBe(409);
  });

  it("of a session of one's own are made where nobody else speaks", async () => {
    const shared = await meeting.heard(ANNA, BEN);
    const memo = await meeting.heard(ANNA);
    for (const session of [shared, memo]) await meeting.claim(session, "S1", owner);
    const refused = await meeting.remember(owner, "S1", { session_id: shared });
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/others speak .* record yourself alone/i);
    await meeting.assign(shared, "S1", owner);
    expect((await meeting.remember(owner, "S1", { session_id: shared })).status, "by oneself").toBe(
      409,
    );
    expect((await meeting.remember(owner, "S1", { session_id: memo })).status).toBe(200);
  });

  it("are forgotten when somebody else says that the voice is theirs, until that is settled", async () => {
    await meeting.remember(anna, "S1");
    const body = { session_id: first, display_name: "Gus" };
    const { token } = await house.service.done("POST", "/auth/guest", {}, body);
    const guest = { authorization: `Bearer ${token}` };
    const contest = (headers: Headers) => meeting.saysMine(first, "S1", headers);
    expect((await contest(guest)).status).toBe(409);
    expect(await meeting.remembered(anna), "guests have no account to answer for it").toHaveLength(
      1,
    );
    expect((await contest(ben.headers)).status).toBe(409);
    expect(await meeting.remembered(anna)).toEqual([]);
    expect(await meeting.audited("voice_forgotten", anna)).toMatchObject([
      { actor_id: ben.id, detail: { claim_contested: true } },
    ]);
    const refused = await meeting.remember(anna, "S1");
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("Somebody else has said that S1 is theirs");
    const { items } = await house.service.done("GET", `/sessions/${first}/speakers`, owner.headers);
    expect(items).toMatchObject([{ speaker_label: "S1", contested: true }, {}]);
    await meeting.takeBack(first, "S1", owner);
    await meeting.assign(first, "S1", anna);
    expect((await meeting.remember(anna, "S1")).status).toBe(200);
  });

  it("are shown to the owner of the session that they were made of, who can end them", async () => {
    await meeting.remember(anna, "S1", { keep_after_deletion: true });
    const shown = async ({ headers }: Person) => {
      const { items } = await house.service.done("GET", `/sessions/${first}/speakers`, headers);
      return (items as object[]).map((item) => "voice_remembered_at" in item);
    };
    expect(await shown(owner)).toEqual([true, false]);
    expect(await shown(anna)).toEqual([true, false]);
    expect(await shown(ben)).toEqual([false, false]);
    await meeting.takeBack(first, "S1", owner);
    expect(await shown(owner)).toEqual([false, false]);
    expect(await meeting.remembered(anna)).toEqual([]);
  });

  it("go with the session that they were made of, unless their person said otherwise", async () => {
    await meeting.remember(anna, "S1");
    const kept = await meeting.remember(ben, "S2", { keep_after_deletion: true });
    expect(kept.body).toMatchObject({ keep_after_deletion: true });
    const later = await meeting.heard(ANNA_LATER, BEN_LATER);
    await meeting.becomes(later, owner.headers, { S1: [anna.id], S2: [ben.id] });
    await house.service.done("DELETE", `/sessions/${first}`, owner.headers);
    expect(await meeting.remembered(anna)).toEqual([]);
    expect(await meeting.remembered(ben)).toMatchObject([
      { session_id: first, keep_after_deletion: true },
    ]);
    expect(await meeting.audited("voice_forgotten", anna)).toMatchObject([
      { actor_id: owner.id, detail: { source_deleted: true } },
    ]);
    await meeting.becomes(later, owner.headers, { S2: [ben.id] });
    await house.service.done("DELETE", `/sessions/${later}`, owner.headers);
    for (const table of ["voice_suggestions", "voice_comparisons"]) {
      expect(
        await house.service.sql(`select from ${table} where session_id = $1`, [later]),
      ).toEqual([]);
    }
    expect((await meeting.remember(anna, "S1")).status).toBe(404);
  });

  it("go with the account of the session's owner", async () => {
    await meeting.remember(anna, "S1");
    await house.service.sql(
      "update workspace_members set role = 'owner' where workspace_id = $1 and user_id = $2",
      [workspace, ben.id],
    );
    await house.service.done("DELETE", "/users/me", owner.headers);
    expect(await meeting.remembered(anna)).toEqual([]);
  });

  it("go with the redaction of their speaker or of a span of theirs, and with no other", async () => {
    const redact = (session: string, what: object) =>
      house.service.done("POST", `/sessions/${session}/redactions`, owner.headers, what);
    await meeting.remember(anna, "S1");
    await meeting.remember(ben, "S2");
    await redact(first, { speaker_label: "S1" });
    expect(await meeting.remembered(anna)).toEqual([]);
    expect(await meeting.remembered(ben)).toHaveLength(1);
    const annas = Math.round(ANNA.length / 16);
    const second = await meeting.heard(ANNA, BEN);
    await meeting.confirmed(second, "S1", anna);
    expect((await meeting.remember(anna, "S1", { session_id: second })).status).toBe(200);
    await redact(first, { start_ms: annas + 3_000, end_ms: annas + 4_000 });
    expect(await meeting.remembered(ben)).toEqual([]);
    await redact(second, { start_ms: annas + 3_000, end_ms: annas + 4_000 });
    expect(await meeting.remembered(anna)).toHaveLength(1);
  });

  it("are not made of what was redacted", async () => {
    const path = `/sessions/${first}/redactions`;
    await house.service.done("POST", path, owner.headers, { speaker_label: "S1" });
    expect((await meeting.remember(anna, "S1")).status).toBe(409);
  });
});
