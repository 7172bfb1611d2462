import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import {
  CandidateStore,
  expiredCandidates,
} from "../../src/conversations/transcript/candidates-store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import type { CandidateText } from "../../src/session/write.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;

describe("candidates of redos", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  let sessionId: string;
  let jobId: string;
  let story: SessionStory;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  beforeEach(async () => {
    ({ device, owner } = await fixture.ownDevice());
    sessionId = await fixture.start(device);
    jobId = String((await call("getSession")).body.transcription_job_id);
    story = await SessionStory.open(fixture, sessionId);
    await start(1, "first engine");
    await story.say("S1", 0, "please ask mary saul");
    await story.say("S2", 2 * SECOND, "who is that");
    await propose();
  });

  async function call(id: string, overrides: Call = {}) {
    const params = { session_id: sessionId };
    const reply = await callRoute(fixture.routes, id, { principal: owner, params, ...overrides });
    return { status: reply.status, body: jsonBody(reply) };
  }

  function start(attempt: number, engine: string) {
    const read = { diarisationModelVersion: "d", detectedLanguage: "en" };
    return story.tell([{ type: "JobStarted", jobId, attempt, engine, ...read }]);
  }

  const candidateSegments = () => [
    { ...story.spoken("S1", 0, "please ask Marisol", 2), type: "CandidateText" as const },
    { ...story.spoken("S1", 2 * SECOND, "who is that", 2), type: "CandidateText" as const },
  ];

  async function propose(): Promise<void> {
    const byUserId = owner.id;
    await story.tell([{ type: "RedoRequested", jobId, attempt: 2, byUserId, review: true }]);
    await start(2, "other engine");
    const written: CandidateText[] = candidateSegments();
    const segments = written.map(({ segmentId, start: from, end, label }) => {
      return { segmentId, start: from, end, label, cluster: -1 };
    });
    const length = { segmentCount: 2, speakerCount: 2, durationMs: 3_000 };
    await story.tell(
      [
        { type: "RedoProposed", jobId, attempt: 2, segments, kept: [] },
        { type: "JobCompleted", jobId, attempt: 2, ...length },
      ],
      written,
    );
  }

  const waiting = () =>
    fixture.sql<{ label: string; text: string; words: unknown[] }>(
      "select label, text, words from candidate_segments where session_id = $1 order by start_sample",
      [sessionId],
    );
  const engine = async () => {
    const [job] = await fixture.sql<{ engine: string; attempt: number }>(
      "select engine, attempt from jobs where id = $1",
      [jobId],
    );
    return [job?.engine, job?.attempt];
  };
  const reviewed = (outcome: "accepted" | "discarded") =>
    ({ type: "RedoReviewed", jobId, attempt: 2, outcome, byUserId: owner.id }) as const;

  it("candidates: are compared by words and speakers, and the job goes on telling of the text that stands", async () => {
    expect(await engine()).toEqual(["first engine", 1]);
    const { body } = await call("compareTranscription");
    expect(body).toMatchObject({
      job_id: jobId,
      engine: "other engine",
      edits_replaced: 0,
      counts: { same: 2, replaced: 1, added: 0, removed: 1, speaker_changed: 3 },
      speakers: [{ current: "S2", candidate: "S1", words: 3 }],
      parts: [
        { kind: "same", start: 0, end: 0.5 },
        { kind: "replaced", current: { text: "mary saul", speakers: ["S1"] } },
        { kind: "speaker", candidate: { text: "who is that", speakers: ["S1"] } },
      ],
    });
    const texts = await fixture.sql("select text from segments where session_id = $1", [sessionId]);
    expect(texts).toHaveLength(2);
  });

  it("candidates: the choice is the actor's, with the attempt that waits", async () => {
    const asked: unknown[] = [];
    fixture.ask = async (_id, command) => asked.push(command);
    expect((await call("acceptTranscription")).body.outcome).toBe("accepted");
    expect((await call("discardTranscription")).body.outcome).toBe("discarded");
    const command = { type: "ReviewRedo", attempt: 2, byUserId: owner.id };
    expect(asked).toEqual([
      { ...command, choice: "accepted" },
      { ...command, choice: "discarded" },
    ]);
    const body = { transcription_id: sessionId };
    expect(await codeOf(call("acceptTranscription", { body }))).toBe("conflict");
  });

  it("candidates: accepted ones become the session's words, redacted ones as a placeholder", async () => {
    const added = candidateSegments().map(({ segmentId, start: from, end, label }) => {
      return { segmentId, start: from, end, label, cluster: -1 };
    });
    const removed = [0, 2 * SECOND].map((from) => {
      return { segmentId: story.segmentId(from), start: from };
    });
    const ids = added.map(({ segmentId }) => segmentId);
    const span = { from: 0, to: 3 * SECOND, sequences: [], editsReplaced: 0 };
    await story.tell(
      [
        { type: "TranscriptReplaced", jobId, attempt: 2, ...span, removed, added },
        reviewed("accepted"),
      ],
      [{ type: "CandidateTaken", segmentIds: ids, redacted: ids.slice(1) }],
    );
    const rows = await fixture.sql(
      "select text, redacted from segments where session_id = $1 order by start_sample",
      [sessionId],
    );
    expect(rows).toEqual([
      { text: "please ask Marisol", redacted: false },
      { text: "[redacted-span]", redacted: true },
    ]);
    expect(await waiting()).toEqual([]);
    expect(await engine()).toEqual(["other engine", 2]);
    expect(await codeOf(call("compareTranscription"))).toBe("not_found");
  });

  it("candidates: discarded ones leave no word", async () => {
    await story.tell([reviewed("discarded")]);
    expect(await waiting()).toEqual([]);
    expect(await engine()).toEqual(["first engine", 1]);
    const entries = await fixture.sql(
      "select actor_id, detail from audit_log where kind = 'transcription_reviewed' and session_id = $1",
      [sessionId],
    );
    const detail = { attempt: 2, outcome: "discarded" };
    expect(entries).toEqual([{ actor_id: owner.id, detail }]);
  });

  it("candidates: follow redactions and merges", async () => {
    const [, second] = candidateSegments();
    const redaction = { redactionId: jobId, from: 2 * SECOND, to: 3 * SECOND, byUserId: owner.id };
    const candidateIds = [second?.segmentId ?? ""];
    await story.tell([{ type: "SpanRedacted", ...redaction, segmentIds: [], candidateIds }]);
    const merges = [{ from: "S1", into: "S2" }];
    await story.tell([{ type: "SpeakersRevised", revisions: [], merges, finalPass: false }]);
    const [first, hidden] = await waiting();
    expect(first).toMatchObject({ label: "S2", text: "please ask Marisol" });
    expect(hidden).toEqual({ label: "S2", text: "[redacted-span]", words: [] });
  });

  it("candidates: go with the session's words", async () => {
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    await deletion.erase(sessionId, "session_deleted_by_owner", { kind: "user", id: owner.id });
    expect(await waiting()).toEqual([]);
    expect(await codeOf(call("compareTranscription"))).toBe("not_found");
  });

  it("candidates: another redo takes their place", async () => {
    await story.tell([{ type: "RedoRequested", jobId, attempt: 3, byUserId: owner.id }]);
    expect(await waiting()).toEqual([]);
    expect(await codeOf(call("acceptTranscription"))).toBe("not_found");
  });

  it("candidates: those that wait for more than seven days are dropped by their session's actor", async () => {
    const asked: unknown[] = [];
    const actors = { ask: async (id: string, command: unknown) => asked.push([id, command]) };
    const store = new CandidateStore(fixture.pool);
    const age = (days: number) =>
      fixture.sql(
        "update redo_candidates set at = now() - make_interval(days => $2) where session_id = $1",
        [sessionId, days],
      );
    await fixture.sql("delete from redo_candidates where session_id <> $1", [sessionId]);
    await age(6);
    const list = expiredCandidates({
      candidates: store,
      actors,
      clock: systemClock,
      log: silentLog,
    });
    expect(await list.run()).toEqual({ done: 0, more: false });
    await age(8);
    expect(await list.run()).toEqual({ done: 1, more: false });
    const command = { type: "ReviewRedo", attempt: 2, choice: "expired", byUserId: "" };
    expect(asked).toEqual([[sessionId, command]]);
  });
});
