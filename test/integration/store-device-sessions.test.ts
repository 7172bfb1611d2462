import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { makeWav } from "../support/make-wav.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

describe("device sessions", () => {
  let fixture: SessionFixture;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  it("start: makes session, job and command together and names the stream", async () => {
    const { device, owner } = await fixture.ownDevice();
    const reply = await callRoute(fixture.routes, "startDeviceSession", {
      principal: device,
      params: { device_id: device.id },
      headers: { host: "voice.test:8080" },
      body: { title: "Standup", vocabulary: ["kubernetes"] },
    });
    const body = jsonBody(reply);
    expect(reply.status).toBe(201);
    expect(body).toEqual({
      success: true,
      session_id: expect.any(String),
      started_at: expect.stringMatching(/Z$/),
      stream_url: `ws://voice.test:8080/api/devices/${device.id}/stream`,
    });
    const [session] = await fixture.sql("select * from sessions where id = $1", [body.session_id]);
    expect(session).toMatchObject({
      owner_id: owner.id,
      workspace_id: device.workspaceId,
      status: "recording",
      title: "Standup",
      language: "en",
      vocabulary: ["kubernetes"],
    });
    const [job] = await fixture.sql("select * from jobs where id = $1", [session?.job_id]);
    expect(job).toMatchObject({ kind: "transcription", status: "queued", session_id: session?.id });
    const outbox = await fixture.sql("select command from outbox where session_id = $1", [
      session?.id,
    ]);
    expect(outbox).toEqual([{ command: { type: "Start", jobId: job?.id, language: "en" } }]);
  });

  it("start: of parallel starts one wins, the others are told its id", async () => {
    const { device } = await fixture.ownDevice();
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => fixture.start(device)),
    );
    const won = attempts.filter((attempt) => attempt.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === "fulfilled") continue;
      expect(attempt.reason.code).toBe("already_recording");
      expect(attempt.reason.message).toContain(won[0]?.value);
    }
    const jobs = await fixture.sql("select 1 from jobs where workspace_id = $1", [
      device.workspaceId,
    ]);
    expect(jobs).toHaveLength(1);
  });

  it("start: another device is 403, an unknown one 404, a foreign workspace 403 or 404", async () => {
    const { device } = await fixture.ownDevice();
    const other = await fixture.ownDevice();
    const start = (device_id: string, body?: unknown): Promise<unknown> =>
      callRoute(fixture.routes, "startDeviceSession", {
        principal: device,
        params: { device_id },
        body,
      });
    expect(await codeOf(start(other.device.id))).toBe("forbidden");
    expect(await codeOf(start(newId()))).toBe("not_found");
    expect(await codeOf(start("x"))).toBe("not_found");
    expect(await codeOf(start(device.id, { workspace_id: newId() }))).toBe("not_found");
    const foreign = { workspace_id: other.device.workspaceId };
    expect(await codeOf(start(device.id, foreign))).toBe("forbidden");
  });

  it("stop: an end below a stored chunk is that chunk's, whenever it is told", async () => {
    const { device } = await fixture.ownDevice();
    const session_id = await fixture.start(device);
    await fixture.upload(device, session_id, 2, makeWav({ frames: 16_000 }));
    const told = { session_id, last_chunk_sequence: 0 };
    expect((await fixture.stop(device, told)).status).toBe("processing");
    expect((await fixture.stop(device, told)).status).toBe("processing");
    const end = "select last_chunk_sequence from sessions where id = $1";
    expect(await fixture.sql(end, [session_id])).toEqual([{ last_chunk_sequence: 2 }]);
    const beyond = { session_id, last_chunk_sequence: 3 };
    expect(await codeOf(fixture.stop(device, beyond))).toBe("conflict");
    // Between the two nothing is too late.
    expect((await fixture.upload(device, session_id, 1, makeWav({ frames: 16_000 }))).status).toBe(
      201,
    );
  });

  it("stop: ends the recording once, with the last sequence, and is idempotent", async () => {
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    await fixture.upload(device, id, 4, makeWav({ frames: 1_600, seed: 1 }));
    const first = await fixture.stop(device, { session_id: id });
    expect(first).toEqual({ success: true, session_id: id, status: "processing" });
    expect(await fixture.stop(device)).toEqual(first);
    const stops = await fixture.sql(
      "select command from outbox where session_id = $1 and command ->> 'type' = 'Stop'",
      [id],
    );
    expect(stops).toEqual([{ command: { type: "Stop", lastSequence: 4 } }]);
    const [row] = await fixture.sql("select stopped_at from sessions where id = $1", [id]);
    expect(row?.stopped_at).toBeInstanceOf(Date);
  });

  it("stop: without any chunk the last sequence is -1; then a new session can start", async () => {
    const { device } = await fixture.ownDevice();
    const first = await fixture.start(device);
    await fixture.stop(device);
    const [stop] = await fixture.sql(
      "select command from outbox where session_id = $1 and command ->> 'type' = 'Stop'",
      [first],
    );
    expect(stop?.command.lastSequence).toBe(-1);
    const second = await fixture.start(device);
    expect((await fixture.stop(device)).session_id).toBe(second);
  });

  it("stop: parallel stops write one command", async () => {
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    await Promise.all(Array.from({ length: 6 }, () => fixture.stop(device)));
    const stops = await fixture.sql(
      "select 1 from outbox where session_id = $1 and command ->> 'type' = 'Stop'",
      [id],
    );
    expect(stops).toHaveLength(1);
  });

  it("stop: no session is 404, another's is 404, another last sequence 409", async () => {
    const { device } = await fixture.ownDevice();
    const other = await fixture.ownDevice();
    expect(await codeOf(fixture.stop(device))).toBe("not_found");
    const foreign = await fixture.start(other.device);
    expect(await codeOf(fixture.stop(device, { session_id: foreign }))).toBe("not_found");
    await fixture.start(device);
    await fixture.stop(device, { last_chunk_sequence: 3 });
    expect(await codeOf(fixture.stop(device, { last_chunk_sequence: 5 }))).toBe("conflict");
    expect((await fixture.stop(device, { last_chunk_sequence: 3 })).status).toBe("processing");
  });
});
