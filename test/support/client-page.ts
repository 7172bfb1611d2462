import {
  type Frame,
  streamAudio,
  viewSession,
} from "../../deploy/clients/typescript/voice-client.ts";

/** What a tab is there for, and where the service is. */
export type Orders = { base: string; headers: Record<string, string> } & (
  | { role: "device"; deviceId: string; speed: number }
  | { role: "viewer"; sessionId: string }
);

export type News =
  | { kind: "session"; id: string }
  | { kind: "retry"; reason: string; takenBytes: number }
  | { kind: "frame"; frame: Frame }
  | { kind: "end"; how: string };

// The test gives both to the page.
declare const takeOrders: () => Promise<Orders>;
declare const tell: (news: News) => Promise<void>;

/** The program of somebody's own page: in a browser what `main.ts` is in a terminal. */
async function run(orders: Orders): Promise<string> {
  const { base, headers } = orders;
  let takenBytes = 0;
  const onRetry = (reason: string) => void tell({ kind: "retry", reason, takenBytes });
  const onFrame = (frame: Frame) => void tell({ kind: "frame", frame });
  const access = { base, headers, onRetry };
  if (orders.role === "viewer") {
    return viewSession(access, { sessionId: orders.sessionId, onFrame });
  }
  const { deviceId, speed } = orders;
  const sound = await fetch("conversation.pcm");
  const pcm = new Uint8Array(await sound.arrayBuffer());
  const { bytes } = await streamAudio(access, {
    deviceId,
    configuration: { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1, transcript: true },
    speed,
    read: async (size) => {
      const piece = pcm.subarray(takenBytes, takenBytes + size);
      takenBytes += piece.length;
      return piece;
    },
    onSession: (id) => void tell({ kind: "session", id }),
    onFrame,
  });
  return `${bytes} bytes`;
}

const how = await run(await takeOrders()).catch((error: Error) => `error: ${error.message}`);
await tell({ kind: "end", how });
