import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  call,
  conversationPcm,
  cut,
  PairedDevice,
  type Segment,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const SECONDS = 24;
const CHUNK = 2;
const chunks = cut(CHUNK, conversationPcm().subarray(0, SECONDS * 32_000));
const last = chunks.length - 1;

interface Transcript {
  gaps: { chunk_sequence: number }[];
}

describe("late audio", () => {
  let service: WholeService;
  /** What is heard when every chunk comes in its turn. */
  let spoken: string;

  beforeAll(async () => {
    service = await WholeService.start({ LATE_AUDIO_SILENCE: "2" });
    const device = await begun();
    await upload(device, [...chunks.keys()]);
    await device.stop(last);
    await device.completed();
    spoken = await words(device);
  });
  afterAll(() => service?.stop());

  async function begun(): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service);
    await device.start();
    return device;
  }

  async function upload(device: PairedDevice, sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) {
      const { status } = await device.upload(sequence, chunks[sequence] ?? Buffer.alloc(0));
      expect(status).toBe(201);
    }
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
    await device.completed();
    expect(await gaps(device)).toEqual(missing);
    return device;
  }

  /** Nothing waits to be read any more, wherever one looks. */
  async function settled(device: PairedDevice): Promise<void> {
    await until(
      async () => {
        const { body } = await device.get<{ complete: boolean }>("/completeness");
        return body.complete;
      },
      "every chunk to be read",
      60_000,
    );
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

  it.each([
    ["in order", [...chunks.keys()]],
    ["newest first", [...chunks.keys()].reverse()],
  ])(
    "late audio: a device that stops first and uploads afterwards loses no word, %s",
    async (_name, order) => {
      const device = await begun();
      await device.stop(last);
      await until(async () => (await gaps(device)).length > 0, "the wait to end", 60_000);
      await upload(device, order);
      await settled(device);
      expect(await words(device)).toBe(spoken);
    },
  );

  it("late audio: a segment that a person edited keeps its text", async () => {
    const device = await lacking([3]);
    const edited = await edit(device, await nextTo(device, 3 * CHUNK * 1_000));
    await upload(device, [3]);
    await settled(device);
    const found = (await device.segments()).filter(({ text }) => text === edited);
    expect(found).toHaveLength(1);
  });

  it("late audio: a redo asked while late audio is read loses no word", async () => {
    const device = await lacking([3]);
    await upload(device, [3]);
    const { body: session } = await device.get<{ transcription_job_id: string }>("");
    const { token } = device;
    const job = session.transcription_job_id;
    const asked = await call(service.api, "POST", `/admin/jobs/transcriptions/${job}/redo`, {
      token,
      body: {},
    });
    expect(asked.status).toBe(200);
    const isDone = async () => {
      const { body } = await call<{ status: string }>(service.api, "GET", `/jobs/${job}`, {
        token,
      });
      return body.status === "completed";
    };
    await until(isDone, "the redo", 60_000);
    await settled(device);
    expect(await words(device)).toBe(spoken);
  });

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
