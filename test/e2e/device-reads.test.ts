import { beforeAll, describe, expect, inject, it } from "vitest";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const WORDS = [
  "Results",
  "SegmentRevised",
  "TranscriptReplaced",
  "SpeakerRevision",
  "Redacted",
  "Snapshot",
  "SpeakerClaimed",
  "SpeakerNamed",
];

describe("devices that read", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service, "admin");
  });

  const set = (device: PairedDevice, body: object, token = device.token) =>
    call(service.api, "PATCH", `/devices/${device.id}`, { token, body });

  async function connect(device: PairedDevice, wish: object): Promise<Viewer> {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const socket = await new Viewer(url, { "x-api-key": device.key }).opened();
    socket.send({ type: "Configure", session_id: device.sessionId, ...PCM, ...wish });
    return socket;
  }

  async function send(socket: Viewer, parts: Buffer[]): Promise<void> {
    let offset = Number((await socket.received("Begin")).audio_offset_bytes);
    for (const frame of socket.frames) {
      if (frame.type === "AudioAck") offset = Math.max(offset, Number(frame.audio_offset_bytes));
    }
    for (const part of parts) {
      socket.socket.send(part);
      offset += part.byteLength;
      const isStored = () => socket.frames.some((frame) => frame.audio_offset_bytes === offset);
      await until(isStored, "the part to be stored", 30_000);
    }
  }

  const words = ({ frames }: Viewer) => frames.filter(({ type }) => WORDS.includes(String(type)));
  const finals = (socket: Viewer) => words(socket).filter(({ is_final }) => is_final === true);

  it("devices that read: none does unless its owner lets it, and is told so; the sound is kept", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const socket = await connect(device, { transcript: true });
    expect(await socket.received("Begin")).toMatchObject({ configuration: { transcript: false } });
    expect(await socket.received("Error")).toMatchObject({ code: "forbidden", retryable: false });
    await send(socket, cut(2).slice(0, 6));
    socket.send({ type: "Finalize" });
    await until(async () => (await device.segments()).length > 0, "words", 60_000);
    expect(words(socket)).toEqual([]);
    socket.send({ type: "CloseStream" });
    expect(await socket.closed()).toBe(1000);
    await device.stop(0);
  });

  it("devices that read: the owner's device gets hypotheses and finals of its session, from a cut on each once", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    expect((await set(device, { may_read: true })).body).toMatchObject({ may_read: true });
    const parts = cut(2.5);
    const first = await connect(device, { transcript: true });
    expect(await first.received("Begin")).toMatchObject({ configuration: { transcript: true } });
    // No hypotheses are made while more sound waits to be read.
    await send(first, parts.slice(0, 1));
    const isHypothesis = () => words(first).some(({ is_final }) => is_final === false);
    await until(isHypothesis, "a hypothesis", 60_000);
    await send(first, parts.slice(1, 6));
    await until(() => finals(first).length > 0, "a final", 60_000);
    // Cut in the middle: words come while nobody listens.
    first.socket.terminate();
    const known = finals(first);
    const seq = Number(known.at(-1)?.seq);
    const second = await connect(device, { transcript: true, from_seq: seq });
    await send(second, parts.slice(6, 11));
    second.send({ type: "Finalize" });
    const isAll = async () => {
      const heard = [...known, ...finals(second)].map(({ segment_id }) => segment_id);
      const stored = (await device.segments()).map(({ id }) => id);
      return stored.length > known.length && stored.every((id) => heard.includes(id));
    };
    await until(isAll, "every final", 60_000);
    const seqs = [...known, ...finals(second)].map((frame) => Number(frame.seq));
    expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
    for (const final of finals(second)) expect(final.speaker).toMatch(/^(S\d+|UU)$/);

    await set(device, { may_read: false });
    const told = await second.received("Error");
    expect(told).toMatchObject({ code: "forbidden" });
    const after = words(second).length;
    const before = (await device.segments()).length;
    await send(second, parts.slice(11, 15));
    second.send({ type: "Finalize" });
    await until(async () => (await device.segments()).length > before, "more words", 60_000);
    expect(words(second).length).toBe(after);
    await device.stop(0);
    // What a stopped session takes is another test's; the device is told of the end.
    await second.received("SessionStatus");
    await second.closed();
  });

  it("devices that read: only the owner says so, it is audited, and an empty or stale change is refused", async () => {
    const device = await PairedDevice.pair(service, owner);
    const email = `${crypto.randomUUID()}@example.org`;
    const password = "correct horse battery staple";
    await call(service.api, "POST", "/users", {
      token: device.token,
      body: { email, name: "Else", role: "admin", password },
    });
    const { body } = await call(service.api, "POST", "/auth/login", { body: { email, password } });
    const other = String(body.token);
    expect((await set(device, { may_read: true }, other)).status).toBe(403);
    expect((await set(device, { name: "Kitchen" }, other)).status).toBe(200);
    expect((await set(device, {})).status).toBe(400);
    expect((await set(device, { may_read: "yes" })).status).toBe(400);
    const got = await call(service.api, "GET", `/devices/${device.id}`, { token: device.token });
    expect(got.body).toMatchObject({ may_read: false, name: "Kitchen" });
    const ifMatch = { "if-match": String(got.headers.get("etag")) };
    const path = `/devices/${device.id}`;
    const change = { token: device.token, body: { may_read: true }, headers: ifMatch };
    expect((await call(service.api, "PATCH", path, change)).status).toBe(200);
    expect((await call(service.api, "PATCH", path, change)).status).toBe(412);
    const audit = await call<{ items: { detail: object }[] }>(
      service.api,
      "GET",
      `/admin/audit?kind=device_reading_changed&subject_id=${device.id}`,
      { token: device.token },
    );
    expect(audit.body.items.map(({ detail }) => detail)).toEqual([{ may_read: true }]);
  });
});
