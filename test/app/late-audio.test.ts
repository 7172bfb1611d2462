import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, cut, PairedDevice, type Segment } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until as waitUntil } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const SECONDS = 16;
const CHUNK = 2;
const chunks = cut(CHUNK, scriptedPcm().subarray(0, SECONDS * 32_000));
const last = chunks.length - 1;

/** All sessions are looked at side by side: more often would take the recogniser's time. */
const POLL_MS = 250;

function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const look = () => delay(POLL_MS).then(condition);
  return waitUntil(look, what, 240_000);
}

interface Waiting {
  chunk_sequences: number[];
  message: string;
}

interface Job {
  status: string;
  edits_replaced?: number;
}

interface Transcript {
  gaps: { chunk_sequence: number }[];
}

/** Side by side: most of their time they wait for the service to give up what they keep back. */
describe.concurrent("late audio", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  /** What is heard when every chunk comes in its turn. */
  let spoken: string;

  beforeAll(async () => {
    service = await AppFixture.start({ LATE_DEVICE_SILENCE_MS: "4000" });
    owner = await newOwner(service, "admin");
    const device = await begun();
    await upload(device, [...chunks.keys()]);
    await device.stop(last);
    await completed(device);
    spoken = await words(device);
  });
  afterAll(() => service?.stop());

  async function begun(): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    return device;
  }

  async function upload(device: PairedDevice, sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) {
      const { status } = await device.upload(sequence, chunks[sequence] ?? Buffer.alloc(0));
      expect(status).toBe(201);
    }
  }

  function completed(device: PairedDevice): Promise<void> {
    const isCompleted = async () =>
      (await device.get<{ status: string }>("")).body.status === "completed";
    return until(isCompleted, "the session to complete");
  }

  async function words(device: PairedDevice): Promise<string> {
    return (await device.segments()).map(({ text }) => text).join(" ");
  }

  async function gaps(device: PairedDevice): Promise<number[]> {
    const { body } = await device.get<Transcript>("/transcript?format=json");
    return body.gaps.map((gap) => gap.chunk_sequence);
  }

  /** A session of which `missing` were given up. */
  async function lacking(missing: readonly number[]): Promise<PairedDevice> {
    const device = await begun();
    await upload(
      device,
      [...chunks.keys()].filter((sequence) => !missing.includes(sequence)),
    );
    await device.stop(last);
    await completed(device);
    expect(await gaps(device)).toEqual(missing);
    return device;
  }

  /** Nothing waits to be read any more, wherever one looks. */
  async function settled(device: PairedDevice): Promise<void> {
    await until(async () => {
      const { body } = await device.get<{ complete: boolean }>("/completeness");
      return body.complete;
    }, "every chunk to be read");
  }

  it.each([
    ["in order", [3, 4]],
    ["newest first", [4, 3]],
  ])("late audio: two chunks of one stretch lose no word, %s", async (_name, order) => {
    const device = await lacking([3, 4]);
    expect(await words(device)).not.toBe(spoken);
    await upload(device, order);
    await settled(device);
    expect(await words(device)).toBe(spoken);
    expect(await gaps(device)).toEqual([]);
  });

  it("late audio: a device that stops first and uploads afterwards loses no word", async () => {
    const device = await begun();
    await device.stop(last);
    await until(async () => (await gaps(device)).length > 0, "the wait to end");
    await upload(device, [...chunks.keys()].reverse());
    await settled(device);
    expect(await words(device)).toBe(spoken);
  });

  it("late audio: a device that lives is waited for after the stop, and the session says so", async () => {
    const device = await begun();
    await device.stop(last);
    const stoppedAt = performance.now();
    // Longer than a chunk is waited for while a session is live.
    while (performance.now() < stoppedAt + 12_000) {
      const { status } = await call(service.api, "POST", `/devices/${device.id}/heartbeat`, {
        key: device.key,
        body: {},
      });
      expect(status).toBe(200);
      await delay(500);
    }
    const { body } = await device.get<{ status: string; waiting: Waiting }>("");
    expect(body.status).toBe("processing");
    expect(body.waiting.chunk_sequences).toEqual([...chunks.keys()]);
    expect(body.waiting.message).toMatch(/^Waiting for chunks 0 to 7, which have not come\./);
    expect(await gaps(device)).toEqual([]);
    await upload(device, [...chunks.keys()]);
    await completed(device);
    // On a slow machine the device may have seemed silent meanwhile, and is read once more.
    await settled(device);
    expect(await words(device)).toBe(spoken);
  });

  it("late audio: a segment that a person edited keeps its text until a person asks for a redo", async () => {
    const device = await lacking([3]);
    const edited = await edit(device, await nextTo(device, 3 * CHUNK * 1_000));
    await upload(device, [3]);
    await settled(device);
    const found = (await device.segments()).filter(({ text }) => text === edited);
    expect(found).toHaveLength(1);
    const { message, edits } = await redo(device);
    expect(message).toContain("1 edited segment will be replaced.");
    expect(edits).toBe(1);
    expect(await words(device)).toBe(spoken);
  });

  it("late audio: a redo asked while late audio is read loses no word", async () => {
    const device = await lacking([3]);
    await upload(device, [3]);
    expect((await redo(device)).edits).toBeUndefined();
    await settled(device);
    expect(await words(device)).toBe(spoken);
  });

  /** Asks for one and waits for its end. */
  async function redo(device: PairedDevice) {
    const { token } = device;
    const { body: session } = await device.get<{ transcription_job_id: string }>("");
    const id = session.transcription_job_id;
    const path = `/admin/jobs/transcriptions/${id}/redo`;
    const asked = await call(service.api, "POST", path, { token, body: {} });
    expect(asked.status).toBe(200);
    expect(Object.keys(asked.body).sort()).toEqual(["message", "success"]);
    let edits: number | undefined;
    await until(async () => {
      const { body } = await call<Job>(service.api, "GET", `/jobs/${id}`, { token });
      edits = body.edits_replaced;
      return body.status === "completed";
    }, "the redo");
    return { message: asked.body.message, edits };
  }

  /** The segment that ends last before `ms`. */
  async function nextTo(device: PairedDevice, ms: number): Promise<Segment> {
    const before = (await device.segments()).filter(({ end_ms }) => end_ms <= ms + 100);
    const [segment] = before.slice(-1);
    if (segment === undefined) throw new Error("nothing was said before the gap");
    return segment;
  }

  async function edit(device: PairedDevice, { id }: Segment): Promise<string> {
    const text = "A person wrote this.";
    const { status } = await call(
      service.api,
      "PATCH",
      `/sessions/${device.sessionId}/segments/${id}`,
      { token: device.token, body: { text } },
    );
    expect(status).toBe(200);
    return text;
  }
});
