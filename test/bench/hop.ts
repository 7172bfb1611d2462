import { Client, credentials } from "@grpc/grpc-js";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import type { AudioChunk, Progress } from "../../src/wire/gen/voice/v1/worker.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";
import { WORKER_KEY } from "../support/worker-key.ts";
import { ChildTask } from "./child-task.ts";
import { unaryPieces } from "./hop-unary.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const MARK = 20;
const STREAMS = 8;
const UNARY_AT_ONCE = 64;
/** 40 ms of audio, what a device stream makes a piece of. */
const SAMPLES = 640;
const DATA = Buffer.alloc(SAMPLES * 2, 1);

/** Pieces of audio to a thread of the worker and its results back, against a unary call for each. */
export async function measureHop(scale: BenchScale): Promise<BenchRow[]> {
  const server = new ChildTask("hop-server.ts");
  const client = new WorkerClient();
  try {
    const { ours, unary } = await server.ask<{ ours: number; unary: number }>({});
    const plain = new Client(`127.0.0.1:${unary}`, credentials.createInsecure());
    const figures = await interleave(scale.rounds, {
      ours: () => throughStreams(client, `127.0.0.1:${ours}`, scale.roundMs),
      unary: () => throughCalls(plain, scale.roundMs),
    });
    plain.close();
    const ratio = medianRatio(figures.ours, figures.unary);
    return [
      {
        figure: "worker hop",
        unit: "pieces/s",
        ours: median(figures.ours),
        peer: { name: "unary grpc-js", value: median(figures.unary) },
        ratio,
        mark: `>= ${MARK}x`,
        met: ratio >= MARK,
        detail: `pieces of 40 ms on ${STREAMS} streams, through the worker's main thread to a thread that reads without an engine; the peer decodes and answers in its main thread, ${UNARY_AT_ONCE} calls at once`,
      },
    ];
  } finally {
    client.close();
    await server.stop();
  }
}

async function throughStreams(client: WorkerClient, address: string, ms: number): Promise<number> {
  const start = performance.now();
  const counts = await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const probe = new TranscribeProbe(client.openTranscription(address, { key: WORKER_KEY }));
      probe.open();
      let sent = 0;
      for (; performance.now() - start < ms; sent += 1) {
        if (!probe.chunk(sent, sent * SAMPLES, SAMPLES, "test/audio", DATA)) await drained(probe);
        if (sent % 32 === 31) await new Promise(setImmediate);
      }
      probe.finish();
      const error = await probe.end();
      if (error !== undefined) throw error;
      return sent;
    }),
  );
  const sum = counts.reduce((one, other) => one + other, 0);
  return (sum * 1000) / (performance.now() - start);
}

function drained(probe: TranscribeProbe): Promise<void> {
  return new Promise((resolve) => probe.stream.onDrain(resolve));
}

async function throughCalls(client: Client, ms: number): Promise<number> {
  const start = performance.now();
  let answered = 0;
  await Promise.all(
    Array.from({ length: UNARY_AT_ONCE }, async () => {
      for (let sequence = 0; performance.now() - start < ms; sequence += 1) {
        await read(client, { sequence, start: 0, length: SAMPLES, mediaType: "a", data: DATA });
        answered += 1;
      }
    }),
  );
  return (answered * 1000) / (performance.now() - start);
}

function read(client: Client, piece: AudioChunk): Promise<Progress> {
  const { path, requestSerialize, responseDeserialize } = unaryPieces.read;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, piece, (error, value) => {
      if (error === null && value !== undefined) resolve(value);
      else reject(error ?? new Error("no answer"));
    });
  });
}
