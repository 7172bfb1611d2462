import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import {
  call,
  PairedDevice,
  persistently,
  type Segment,
  scriptedChunks,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { newOwner } from "../support/workspace-owner.ts";

describe("afterwards", () => {
  let service: AppFixture;
  let device: PairedDevice;
  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    await device.start();
    const chunks = scriptedChunks(2).slice(0, 11);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
  });

  const send = (method: string, path: string, body?: unknown) =>
    call<Record<string, unknown>>(service.api, method, path, {
      token: device.token,
      ...(body === undefined ? {} : { body }),
    });
  const session = (path: string) => `/sessions/${device.sessionId}${path}`;

  async function job(): Promise<Record<string, unknown>> {
    const { body } = await device.get<{ transcription_job_id: string }>("");
    const path = `/admin/jobs/transcriptions/${body.transcription_job_id}`;
    return (await persistently(service, "GET", path, { token: device.token })).body;
  }

  it("afterwards: the transcript comes as captions, Markdown and text", async () => {
    const claim = { speaker_label: "S1", source: "self_claim" };
    expect((await send("POST", session("/speaker-claims"), claim)).status).toBe(200);
    const text = async (format: string): Promise<string> =>
      String((await device.get<string>(`/transcript?format=${format}`)).body);
    expect(await text("vtt")).toMatch(
      /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n<v Olga>Hello/,
    );
    expect(await text("srt")).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nOlga: Hello/);
    expect(await text("md")).toMatch(
      /^# Test\n\n\d{4}-\d\d-\d\d .* Olga, .*\n\n\*\*Olga\*\* \(00:00\): Hello/,
    );
    for (const line of (await text("srt")).split("\n")) expect(line.length).toBeLessThan(100);
    expect((await send("DELETE", session("/speaker-claims/S1"))).status).toBe(200);
    expect(await text("txt")).toContain("Speaker 1: Hello");
  });

  it("afterwards: a redo reads the stored audio again and changes no word of it", async () => {
    const before = await device.said();
    const { id } = await job();
    const path = `/admin/jobs/transcriptions/${id}/redo`;
    expect((await send("POST", path, { engine: "nonsense" })).status).toBe(400);
    expect((await send("POST", path, { forced_language: "de" })).status).toBe(422);
    const ids = (await device.segments()).map((segment) => segment.id);
    const accepted = await send("POST", path, { forced_language: "en-GB" });
    expect(accepted.body).toMatchObject({ success: true });
    expect((await send("POST", path)).status).toBe(409);
    await until(async () => (await job()).status === "completed", "the redo to complete", 60_000);
    expect(await job()).toMatchObject({ id, progress: 1, forced_language: "en-GB" });
    expect(await device.said()).toEqual(before);
    const now = (await device.segments()).map((segment) => segment.id);
    expect(now.some((each) => ids.includes(each))).toBe(false);
  });

  it("afterwards: closing guest access ends guests' tokens and sockets within 5 s", async () => {
    const guest = await call<{ token: string }>(service.api, "POST", "/auth/guest", {
      body: { session_id: device.sessionId, display_name: "Gus" },
    });
    const { token } = guest.body;
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    await viewer.received("Snapshot");
    const closed = await send("PATCH", session(""), { title: "New", guest_access: "closed" });
    expect(closed.body).toMatchObject({ title: "New", guest_access: "closed" });
    await until(() => viewer.closeCode !== undefined, "the guest's socket to close", 5_000);
    expect([4401, 4403]).toContain(viewer.closeCode);
    const answer = await call(service.api, "GET", session("/segments"), { token });
    expect([401, 403]).toContain(answer.status);
    expect((await send("PATCH", session(""), { visibility: "everybody" })).status).toBe(400);
  });

  it("afterwards: people correct words and voices", async () => {
    const segments = await device.segments();
    const first = segments[0] as Segment;
    const second = segments.find((each) => each.speaker_label !== first.speaker_label) as Segment;
    const edited = await send("PATCH", session(`/segments/${first.id}`), { text: "Hello  there" });
    expect(edited.body).toMatchObject({ id: first.id, text: "Hello there" });
    expect((await device.segments())[0]?.text).toBe("Hello there");
    expect((await send("PATCH", session(`/segments/${first.id}`), {})).status).toBe(400);
    expect((await send("PATCH", session("/segments/nonsense"), { text: "x" })).status).toBe(404);
    const unknown = { speaker: "S9" };
    expect((await send("PATCH", session(`/segments/${first.id}`), unknown)).status).toBe(404);
    const labels = [first.speaker_label, second.speaker_label];
    expect(labels).toEqual(["S1", "S2"]);
    const merged = await send("POST", session("/speakers/merge"), { from: "S1", into: "S2" });
    expect(merged.body).toEqual({ from: "S2", into: "S1" });
    const after = (await device.segments()).map((segment) => segment.speaker_label);
    expect(after).not.toContain("S2");
  });
});
