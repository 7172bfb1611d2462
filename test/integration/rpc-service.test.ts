import { Client, credentials, status } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import type { AskRequest, SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import { callUnary, GrpcFixture } from "../support/grpc-fixture.ts";
import type { Told } from "../support/question-fixture.ts";

const LINES = [
  ["S1", "we need to see the final report by wednesday"],
  ["S2", "the price should stay below one hundred dollars"],
  ["S1", "thank you all for your time"],
] as const;
const UNKNOWN_KEY = "vk_svc_0000000000000000000000000000000000";

describe("gRPC: records and questions", () => {
  let fixture: GrpcFixture;
  let client: SessionServiceClient;
  let owner: UserPrincipal;
  let workspaceId: string;
  let told: Told;
  let key: string;

  beforeAll(async () => {
    fixture = await GrpcFixture.open();
    client = fixture.client();
    await fixture.query.work();
    owner = await fixture.query.fixture.user("participant", "Olga Owner");
    workspaceId = await fixture.query.fixture.workspace(owner.id);
    told = await fixture.query.tell(workspaceId, owner, LINES);
    key = (await fixture.key(owner, workspaceId)).secret;
  });
  afterAll(() => fixture.close());

  const getSession = (sessionId: string, secret: string | undefined) =>
    callUnary(client, client.getSession, { sessionId }, secret);

  function listSegments(request: Record<string, unknown> = {}, secret = key) {
    const { sessionId } = told;
    const whole = { sessionId, pageSize: 0, pageToken: "", words: false, ...request };
    return callUnary(client, client.listSegments, whole, secret);
  }

  function ask(about: AskRequest["about"], query: string, secret = key) {
    fixture.query.heard();
    return callUnary(client, client.ask, { about, query }, secret);
  }

  const aboutSession = () => ({ $case: "sessionId", value: told.sessionId }) as const;

  it("segments: words tell which of them are unclear", async () => {
    const lines = [["S1", "we fly to [tunisia?] today"]] as const;
    const { sessionId } = await fixture.query.tell(workspaceId, owner, lines);
    const { segments } = await listSegments({ sessionId, words: true });
    expect(segments[0]?.text).toBe("we fly to tunisia today");
    expect(segments[0]?.words.map(({ unclear }) => unclear)).toEqual([
      undefined,
      undefined,
      undefined,
      true,
      undefined,
    ]);
  });

  it("session: its record, absent members absent", async () => {
    const session = await getSession(told.sessionId, key);
    expect(session).toMatchObject({ id: told.sessionId, workspaceId, ownerId: owner.id });
    expect(session).toMatchObject({ status: "recording", visibility: "private", language: "en" });
    expect(session.startedAtMs).toBeGreaterThan(1_700_000_000_000);
    expect(session.stoppedAtMs).toBeUndefined();
    expect(session.workshopId).toBeUndefined();
  });

  it.each([
    ["none", undefined, "unauthorized"],
    ["an unknown one", UNKNOWN_KEY, "invalid_api_key"],
    ["no key at all", "hello", "invalid_api_key"],
  ])("key: %s is refused", async (_what, secret, code) => {
    await expect(getSession(told.sessionId, secret)).rejects.toMatchObject({
      status: status.UNAUTHENTICATED,
      code,
    });
  });

  it("key: sessions of another workspace, unknown ones and malformed ids are not found", async () => {
    const other = await fixture.query.fixture.user();
    const elsewhere = await fixture.query.fixture.workspace(other.id);
    const foreign = await fixture.key(other, elsewhere);
    const gone = { status: status.NOT_FOUND, code: "not_found" };
    await expect(getSession(told.sessionId, foreign.secret)).rejects.toMatchObject(gone);
    await expect(getSession(newId(), key)).rejects.toMatchObject(gone);
    await expect(getSession("nonsense", key)).rejects.toMatchObject(gone);
  });

  it("key: without the scope a call is refused, and at once when it was revoked", async () => {
    const { secret, record } = await fixture.key(owner, workspaceId, ["query"]);
    const forbidden = { status: status.PERMISSION_DENIED, code: "forbidden" };
    await expect(getSession(told.sessionId, secret)).rejects.toMatchObject(forbidden);
    await expect(listSegments({}, secret)).rejects.toMatchObject(forbidden);
    expect((await ask(aboutSession(), "What about the report?", secret)).answer).not.toBe("");
    await fixture.keys.revoke(owner, record);
    await expect(ask(aboutSession(), "And now?", secret)).rejects.toMatchObject({
      status: status.UNAUTHENTICATED,
    });
    const reader = await fixture.key(owner, workspaceId, ["sessions:read"]);
    await expect(ask(aboutSession(), "What?", reader.secret)).rejects.toMatchObject(forbidden);
  });

  it("segments: in order, page by page, with words when asked for", async () => {
    const whole = await listSegments();
    expect(whole.segments.map(({ id }) => id)).toEqual(told.segmentIds);
    expect(whole.segments[0]).toMatchObject({
      startMs: 0,
      endMs: 2_250,
      speakerLabel: "S1",
      text: LINES[0][1],
      words: [],
    });
    expect(whole.nextPageToken).toBe("");
    const first = await listSegments({ pageSize: 2, words: true });
    expect(first.segments[0]?.words[1]).toEqual({
      text: "need",
      startMs: 250,
      endMs: 500,
      confidence: 0.75,
    });
    const rest = await listSegments({ pageSize: 2, pageToken: first.nextPageToken });
    const ids = [...first.segments, ...rest.segments].map(({ id }) => id);
    expect(ids).toEqual(told.segmentIds);
    expect(rest.nextPageToken).toBe("");
  });

  it("segments: a page size or token that is none is an invalid argument", async () => {
    const invalid = { status: status.INVALID_ARGUMENT };
    await expect(listSegments({ pageSize: 501 })).rejects.toMatchObject(invalid);
    await expect(listSegments({ pageToken: "x" })).rejects.toMatchObject(invalid);
  });

  it("a request that is no message is an invalid argument, to a known caller only", async () => {
    const bytes = (text: Buffer) => text;
    const send = (secret: string | undefined) =>
      callUnary<Buffer, Buffer>(
        client,
        (request, metadata, options, done) =>
          client.makeUnaryRequest(
            "/voice.v1.SessionService/GetSession",
            bytes,
            bytes,
            request,
            metadata,
            options,
            (error, answer) => done(error, answer ?? Buffer.alloc(0)),
          ),
        Buffer.from([0x0a, 0xff]),
        secret,
      );
    await expect(send(key)).rejects.toMatchObject({ code: "invalid_body" });
    await expect(send(undefined)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("ask: one session and the workspace, with citations; nothing invented", async () => {
    const answer = await ask(aboutSession(), "What should the price stay below?");
    expect(answer.answer).toContain("one hundred dollars");
    expect(answer.citations[0]).toMatchObject({
      sessionId: told.sessionId,
      segmentId: told.segmentIds[1],
      startMs: 5_000,
      speakerLabel: "S2",
      text: LINES[1][1],
    });
    const across = { $case: "workspaceId", value: workspaceId } as const;
    const found = await ask(across, "Which sessions speak of the price?");
    expect(found.citations.map(({ sessionId }) => sessionId)).toEqual([told.sessionId]);
    expect(found.toolsUsed).toContain("list_sessions");
    expect((await ask(aboutSession(), "What did they say about elephants?")).citations).toEqual([]);
  });

  it.each([
    ["an empty question", () => aboutSession(), " "],
    ["a question that is too long", () => aboutSession(), "x".repeat(2_001)],
    ["a question about nothing", () => undefined, "What?"],
    ["a question that holds U+0000", () => aboutSession(), "What\u0000?"],
  ])("ask: %s is an invalid argument", async (_what, about, query) => {
    await expect(ask(about(), query)).rejects.toMatchObject({
      status: status.INVALID_ARGUMENT,
      code: "invalid_body",
    });
  });

  it("health answers for the service, and needs no key", async () => {
    expect(await health("")).toMatchObject({ status: "SERVING" });
    expect(await health("voice.v1.SessionService")).toMatchObject({ status: "SERVING" });
    expect(await health("voice.v1.Nothing")).toMatchObject({ code: status.NOT_FOUND });
  });

  function health(service: string): Promise<unknown> {
    const { Check: check } = healthService;
    if (check === undefined) throw new Error("The health service has no Check.");
    const { path, requestSerialize, responseDeserialize } = check;
    const probe = new Client(fixture.address, credentials.createInsecure());
    return new Promise((resolve) => {
      const done = (error: Error | null, answer: unknown) => {
        probe.close();
        resolve(error ?? answer);
      };
      probe.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service }, done);
    });
  }
});
