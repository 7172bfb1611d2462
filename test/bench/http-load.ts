/** HTTP clients in a process of their own: one request under way on each connection. */
import { answerParent } from "./answer-parent.ts";
import { HttpConnection } from "./http-connection.ts";
import { quantile } from "./statistics.ts";

export interface UploadingDevice {
  key: string;
  sessionId: string;
}

export type LoadQuestion = { port: number; ms: number } & (
  | {
      kind: "repeat";
      /** Whole requests; each connection goes through them from a place of its own. */
      requests: readonly string[];
      connections: number;
    }
  | { kind: "upload"; devices: readonly UploadingDevice[]; bytes: number }
);

export interface LoadResult {
  perSecond: number;
  p50: number;
  p99: number;
}

const sequences = new Map<string, number>();

answerParent<LoadQuestion>(async (question): Promise<LoadResult> => {
  const delays: number[] = [];
  const start = performance.now();
  const open = sources(question).map((next) => new HttpConnection(question.port, next, delays));
  await new Promise((resolve) => setTimeout(resolve, question.ms));
  await Promise.all(open.map((each) => each.end()));
  const seconds = (performance.now() - start) / 1000;
  return {
    perSecond: delays.length / seconds,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
  };
});

/** What each connection sends. */
function sources(question: LoadQuestion): (() => Buffer)[] {
  if (question.kind === "upload") {
    const audio = Buffer.alloc(question.bytes);
    return question.devices.map((device) => () => upload(device, audio));
  }
  const bytes = question.requests.map((request) => Buffer.from(request));
  return Array.from({ length: question.connections }, (_, index) => {
    let next = index * 7;
    return () => bytes[next++ % bytes.length] ?? Buffer.alloc(0);
  });
}

/** The device's next chunk. */
function upload({ key, sessionId }: UploadingDevice, audio: Buffer): Buffer {
  const sequence = sequences.get(sessionId) ?? 0;
  sequences.set(sessionId, sequence + 1);
  // No two chunks alike.
  audio.writeUInt32LE(sequence, 0);
  const head = [
    `POST /api/sessions/${sessionId}/upload-audio HTTP/1.1`,
    "Host: 127.0.0.1",
    `X-API-Key: ${key}`,
    `X-Chunk-Sequence: ${sequence}`,
    "Content-Type: audio/pcm;rate=16000;channels=1;encoding=s16le",
    `Content-Length: ${audio.byteLength}`,
    "\r\n",
  ];
  return Buffer.concat([Buffer.from(head.join("\r\n")), audio]);
}
