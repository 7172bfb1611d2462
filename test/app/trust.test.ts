import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import {
  type Answer,
  call,
  PairedDevice,
  persistently,
  type Segment,
  scriptedChunks,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

const PASSWORD = "a long enough one";

/** An administrator who has no tie to any session, and what they see and may not see. */
describe("trust", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let outsider: string;

  beforeAll(async () => {
    service = await AppFixture.start();
    device = await PairedDevice.pair(service);
    await record(11);
    outsider = await addUser("outsider@example.org", "admin");
  });
  afterAll(() => service?.stop());

  async function record(count: number): Promise<void> {
    await device.start();
    const chunks = scriptedChunks(2).slice(0, count);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
  }

  async function addUser(email: string, role: string): Promise<string> {
    const user = { email, password: PASSWORD, role };
    await call(service.api, "POST", "/users", { token: device.token, body: user });
    const { body } = await call<{ token: string }>(service.api, "POST", "/auth/login", {
      body: { email, password: PASSWORD },
    });
    return body.token;
  }

  const send = (method: string, path: string, body?: unknown, token = device.token) =>
    call<Record<string, unknown>>(service.api, method, path, {
      token,
      ...(body === undefined ? {} : { body }),
    });
  const session = (path: string) => `/sessions/${device.sessionId}${path}`;
  const code = (answer: Answer): string | null => answer.headers.get("x-error-code");

  async function follow(token: string): Promise<Viewer> {
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    return viewer;
  }

  async function audio(): Promise<Map<string, Buffer>> {
    const folder = join(service.folder, "data/blobs", device.sessionId);
    const names = await readdir(folder);
    const files = names.map(async (name) => [name, await readFile(join(folder, name))] as const);
    return new Map(await Promise.all(files));
  }

  it("an admin without ties sees content under an elevation only, live view included", async () => {
    const refused = await send("GET", session("/transcript"), undefined, outsider);
    expect([refused.status, code(refused)]).toEqual([403, "elevation_required"]);
    const shut = await follow(outsider);
    expect(await shut.closed()).toBe(4403);
    expect(
      (await send("POST", "/admin/content-elevate", { reason: "short" }, outsider)).status,
    ).toBe(400);
    const wish = { reason: "Complaint 4711, what was said", session_id: device.sessionId };
    const elevated = await send("POST", "/admin/content-elevate", wish, outsider);
    expect(elevated.status).toBe(200);
    expect((await send("GET", session("/transcript"), undefined, outsider)).status).toBe(200);
    const open = await follow(outsider);
    await open.received("Snapshot");
    const path = `/admin/content-elevate/${elevated.body.elevation_id}`;
    expect((await send("DELETE", path)).status).toBe(200);
    await until(() => open.closeCode === 4403, "the live view to close", 5_000);
    const log = await send("GET", `/admin/audit?session_id=${device.sessionId}&limit=100`);
    const kinds = (log.body.items as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toEqual([
      "content_elevation_ended",
      "content_read",
      "content_read",
      "content_elevated",
    ]);
    const verdict = await send("GET", "/admin/audit/verify");
    expect(verdict.body).toMatchObject({ valid: true, protected: true });
  });

  it("a redacted span is gone from text, sound and live view, and a redo does not bring it back", async () => {
    const [first, second] = (await device.segments()) as [Segment, Segment];
    const viewer = await follow(device.token);
    await viewer.received("Snapshot");
    const before = await audio();
    const span = { start_ms: first.start_ms + 100, end_ms: first.end_ms - 100 };
    const redacted = await send("POST", session("/redactions"), span);
    expect(redacted.body).toMatchObject({ success: true, segment_ids: [first.id] });
    expect(await viewer.received("Redacted")).toMatchObject({ segment_ids: [first.id] });
    viewer.socket.close();
    const [gone, kept] = (await device.segments()) as [Segment, Segment];
    expect([gone.text, kept.text]).toEqual(["[redacted-span]", second.text]);
    await until(async () => {
      const [name] = [...before.keys()].filter((each) => before.get(each)?.length === 64_000);
      const now = await audio();
      return (
        name !== undefined && [...now].some(([each, bytes]) => differs(before.get(each), bytes))
      );
    }, "the audio to be silenced");
    const { body } = await device.get<{ transcription_job_id: string }>("");
    const job = `/admin/jobs/transcriptions/${body.transcription_job_id}`;
    expect((await send("GET", job)).body).toMatchObject({
      content_visible: false,
      elevation_required: false,
    });
    expect((await send("POST", `${job}/redo`, {})).status).toBe(200);
    await until(
      async () => (await send("GET", job)).body.status === "completed",
      "the redo to complete",
      120_000,
    );
    expect((await device.segments()).map(({ text }) => text).join(" ")).not.toContain("hello");
    for (const wrong of [{}, { start_ms: 5 }, { start_ms: 5, end_ms: 5 }, { speaker_label: "X" }]) {
      expect((await send("POST", session("/redactions"), wrong)).status).toBe(400);
    }
    const unknown = await send("POST", session("/redactions"), { speaker_label: "S99" });
    expect(unknown.status).toBe(404);
  });

  it("a redacted speaker is silent from then on, the others are not", async () => {
    const redacted = await send("POST", session("/redactions"), { speaker_label: "S2" });
    expect(redacted.status).toBe(201);
    const left = (await device.segments()).filter(({ speaker_label }) => speaker_label === "S2");
    expect(left.length).toBeGreaterThan(0);
    expect(left.every(({ text }) => text === "[redacted-span]")).toBe(true);
    const others = (await device.segments()).filter(({ speaker_label }) => speaker_label === "S1");
    expect(others.some(({ text }) => text !== "[redacted-span]")).toBe(true);
  });

  it("a session deleted while it records is gone within 5 s for everyone", async () => {
    await device.start();
    const chunks = scriptedChunks(2).slice(0, 4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    const viewer = await follow(device.token);
    await viewer.received("Snapshot");
    const { body } = await device.get<{ transcription_job_id: string }>("");
    const deleted = await send("DELETE", session(""));
    expect(deleted.body).toMatchObject({
      kind: "session_deleted_by_owner",
      audio_erased: true,
      removed: { audio_chunks: 4 },
    });
    await until(() => viewer.closeCode !== undefined, "the viewer's socket to close", 5_000);
    expect(viewer.closeCode).toBe(4404);
    const late = await call(service.api, "POST", session("/upload-audio"), {
      key: device.key,
      bytes: scriptedChunks(2)[5] as Buffer,
      headers: {
        "content-type": "audio/pcm;rate=16000;channels=1;encoding=s16le",
        "x-chunk-sequence": "4",
      },
    });
    expect(late.status).toBe(404);
    const job = `/admin/jobs/transcriptions/${body.transcription_job_id}`;
    await until(async () => (await send("GET", job)).status === 200, "the job");
    expect((await send("GET", job)).body).toMatchObject({
      session_was_deleted: true,
      deletion_event_kind: "session_deleted_by_owner",
      transcription_text: "[redacted-session-deleted]",
    });
    // The device can start anew at once.
    expect(await device.start()).toMatch(/^[0-9a-f-]{36}$/);
    await send("DELETE", session(""));
  });

  it("an erased account can do nothing more, and its sockets close", async () => {
    const token = await addUser("gone@example.org", "participant");
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    expect((await send("DELETE", "/users/me", undefined, token)).status).toBe(200);
    await until(() => viewer.closeCode === 4401, "the socket to close", 5_000);
    expect((await send("GET", "/auth/me", undefined, token)).status).toBe(401);
    const again = await persistently(service, "POST", "/auth/login", {
      body: { email: "gone@example.org", password: PASSWORD },
    });
    expect(again.status).toBe(401);
    // The only administrator left besides the outsider may go; the last one may not.
    expect((await send("DELETE", "/users/me", undefined, outsider)).status).toBe(200);
    expect((await send("DELETE", "/users/me")).status).toBe(409);
  });
});

function differs(before: Buffer | undefined, after: Buffer): boolean {
  return before !== undefined && Buffer.compare(before, after) !== 0;
}
