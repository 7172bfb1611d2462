import { VoiceClient } from "../../src/client/browser.ts";
import type { ServerFrame, StreamServerFrame } from "../../src/client/frames.ts";

/** What a tab is there for, and where the service is. */
export type Orders =
  | { base: string; key: string; role: "device"; deviceId: string; speed: number }
  | { base: string; token: string; role: "viewer"; sessionId: string };

export type News =
  | { kind: "session"; id: string }
  | { kind: "retry"; reason: string; takenBytes: number }
  | { kind: "frame"; frame: ServerFrame | StreamServerFrame }
  | { kind: "end"; how: string };

// The test gives both to the page.
declare const takeOrders: () => Promise<Orders>;
declare const tell: (news: News) => Promise<void>;

/** Of 16-bit samples at 16 kHz. */
const BYTES_PER_MS = 32;
const PIECE = 3_200;
const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1, transcript: true } as const;
/** A browser tells of nothing but silence when its page is refused: it is not asked for long. */
const BRISK = { attempts: 3, firstMs: 200, longestMs: 500 };

/** The program of somebody's own page. */
function run(orders: Orders): Promise<string> {
  return orders.role === "viewer" ? view(orders) : record(orders);
}

async function view({ base, token, sessionId }: Orders & { role: "viewer" }): Promise<string> {
  const voice = new VoiceClient({ baseUrl: base, token, backOff: BRISK });
  const onReconnect = (reason: string) => void tell({ kind: "retry", reason, takenBytes: 0 });
  for await (const frame of voice.follow(sessionId, { cursor: { seq: 0 }, onReconnect })) {
    if (frame.type === "SessionEnded") return frame.status;
    void tell({ kind: "frame", frame });
  }
  return "left";
}

async function record({
  base,
  key,
  deviceId,
  speed,
}: Orders & { role: "device" }): Promise<string> {
  const voice = new VoiceClient({ baseUrl: base, apiKey: key });
  const sound = await fetch("conversation.pcm");
  const pcm = new Uint8Array(await sound.arrayBuffer());
  let takenBytes = 0;
  const stream = voice.streamAsDevice(deviceId, PCM, {
    onBegin: (id) => void tell({ kind: "session", id }),
    onReconnect: (reason) => void tell({ kind: "retry", reason, takenBytes }),
    onFrame: (frame) => void tell({ kind: "frame", frame }),
  });
  while (takenBytes < pcm.length) {
    await stream.write(pcm.subarray(takenBytes, takenBytes + PIECE));
    takenBytes = Math.min(pcm.length, takenBytes + PIECE);
    await new Promise((wake) => setTimeout(wake, PIECE / BYTES_PER_MS / speed));
  }
  await stream.end();
  const params = { path: { device_id: deviceId } };
  await voice.call((api) => api.POST("/devices/{device_id}/session/stop", { params, body: {} }));
  return `${stream.stored} bytes`;
}

const how = await run(await takeOrders()).catch((error: Error) => `error: ${error.message}`);
await tell({ kind: "end", how });
