import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { AttackedService } from "../support/attacked-service.ts";

type Headers = Readonly<Record<string, string>>;

interface Racer {
  id: string;
  name: string;
  headers: Headers;
}

const LABELS = ["S1", "S2", "S3", "S4"];
const GUESTS = 12;
const MEMBERS = 6;

describe("many who claim one voice at once", () => {
  let service: AttackedService;
  let owner: { id: string; headers: Headers };
  let sessionId: string;
  let racers: Racer[];

  beforeAll(async () => {
    service = await AttackedService.open();
    owner = await service.addUser();
    const workspaceId = await service.addWorkspace(owner.id);
    sessionId = await addTold(workspaceId);
    racers = [
      ...(await Promise.all(Array.from({ length: GUESTS }, (_, n) => addGuest(`Guest ${n}`)))),
      ...(await Promise.all(Array.from({ length: MEMBERS }, (_, n) => addMember(`Member ${n}`)))),
    ];
  });
  afterAll(() => service?.close());

  /** A session that is over, with a segment for each label, as its actor has recorded it. */
  async function addTold(workspaceId: string): Promise<string> {
    const jobId = newId();
    const id = await service.addTold(
      workspaceId,
      owner.id,
      LABELS.map((label) => ({ label, text: `this is what ${label} said` })),
    );
    const segments = await service.sql<{ id: string; from: string; to: string; label: string }>(
      `select id, start_sample as from, end_sample as to, label from segments
       where session_id = $1 order by start_sample`,
      [id],
    );
    const events: SessionEvent[] = [
      { type: "SessionStarted", sessionId: id, jobId, language: "en" },
      ...segments.map((segment, cluster) => ({
        type: "SegmentFinalised" as const,
        segmentId: segment.id,
        start: Number(segment.from),
        end: Number(segment.to),
        label: segment.label,
        cluster,
        checkpoint: Number(segment.to),
      })),
      { type: "SessionStopped", lastSequence: -1 },
      { type: "SessionCompleted" },
    ];
    await service.sql(
      `insert into events (session_id, seq, epoch, at, type, payload)
       select $1::uuid, n, 1, now(), e ->> 'type', e
       from jsonb_array_elements($2::jsonb) with ordinality as t (e, n)`,
      [id, JSON.stringify(events)],
    );
    await service.sql("update sessions set job_id = $2, seq = $3 where id = $1", [
      id,
      jobId,
      events.length,
    ]);
    return id;
  }

  async function addGuest(name: string): Promise<Racer> {
    const body = { session_id: sessionId, display_name: name };
    const entered = await service.call("POST", "/auth/guest", {}, body);
    expect(entered.status).toBe(201);
    const { id } = entered.body.guest as { id: string };
    return { id, name, headers: { authorization: `Bearer ${entered.body.token}` } };
  }

  async function addMember(name: string): Promise<Racer> {
    const { id, headers } = await service.addUser();
    await service.sql("update users set name = $2 where id = $1", [id, name]);
    await service.sql(
      `insert into session_members (session_id, user_id, relation)
       values ($1, $2, 'participant')`,
      [sessionId, id],
    );
    return { id, name, headers };
  }

  it.each(LABELS)(
    "%s goes to exactly one of them, and to nobody else by asking again",
    async (label) => {
      const path = `/sessions/${sessionId}/speaker-claims`;
      const claim = { speaker_label: label, source: "self_claim" };
      const race = () =>
        Promise.all(racers.map(({ headers }) => service.call("POST", path, headers, claim)));
      const answers = await race();
      const winners = racers.filter((_, n) => answers[n]?.status === 200);
      expect(winners).toHaveLength(1);
      const others = answers.filter(({ status }) => status !== 200);
      expect(new Set(others.map(({ status, code }) => `${status} ${code}`))).toEqual(
        new Set(["409 already_claimed"]),
      );
      const [winner] = winners;
      const again = await race();
      expect(racers.filter((_, n) => again[n]?.status === 200)).toEqual([winner]);

      const speakers = await service.call("GET", `/sessions/${sessionId}/speakers`, owner.headers);
      expect(speakers.body.items).toContainEqual(
        expect.objectContaining({
          speaker_label: label,
          claimed_user_id: winner?.id,
          display_name: winner?.name,
        }),
      );
      const words = `/sessions/${sessionId}/transcript?format=txt`;
      const { text } = await service.call("GET", words, owner.headers);
      const line = text.split("\n").find((each) => each.includes(`what ${label} said`));
      expect(line).toContain(`${winner?.name}`);
      const claimed = await service.sql(
        "select from events where session_id = $1 and type = 'SpeakerClaimed' and payload ->> 'label' = $2",
        [sessionId, label],
      );
      expect(claimed).toHaveLength(1);
    },
  );
});
