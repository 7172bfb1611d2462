import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wavHeader } from "../../src/base/audio/wav.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { startWorker } from "../../workers/worker.ts";
import { AttackedService, PAUSE } from "./attacked-service.ts";
import { WORKER_KEY } from "./worker-key.ts";

const ENTRY = new URL("./scripted-thread-entry.ts", import.meta.url);
/** The whole service with a worker that compares voices, and sessions in which real voices speak. */
export class VoiceHouse {
  readonly service: AttackedService;
  readonly #worker: Awaited<ReturnType<typeof startWorker>>;

  private constructor(service: AttackedService, worker: Awaited<ReturnType<typeof startWorker>>) {
    this.service = service;
    this.#worker = worker;
  }

  static async open(): Promise<VoiceHouse> {
    const service = await AttackedService.open();
    const { url, token } = service.nats;
    const worker = await startWorker({
      settings: {
        ...{ workerId: "voices", host: "127.0.0.1", port: 0, advertise: undefined },
        ...{ threads: 1, sessionsPerThread: 2, natsUrl: url, natsLogin: { token } },
        inferenceThreads: 1,
        ...{ tls: undefined, key: WORKER_KEY, opsHost: "127.0.0.1", opsPort: undefined },
        ...{ logLevel: "silent" },
      },
      entry: ENTRY,
      version: "0.0.0",
      log: silentLog,
      // A busy machine is no silent thread.
      silenceMs: 60_000,
    });
    return new VoiceHouse(service, worker);
  }

  async close(): Promise<void> {
    await this.#worker.stop();
    await this.service.close();
  }

  /** A session that is over, in which these labels speak one after the other, with its sound. */
  async addHeard(
    workspaceId: string,
    ownerId: string,
    spoken: readonly { label: string; sound: Int16Array }[],
  ): Promise<string> {
    const segments = spoken.map(({ label, sound }) => {
      return { label, text: `${label} speaks`, samples: sound.length };
    });
    const id = await this.service.addTold(workspaceId, ownerId, segments);
    const length = spoken.reduce((sum, { sound }) => sum + sound.length + PAUSE, 0);
    const pcm = new Int16Array(length);
    let at = 0;
    for (const { sound } of spoken) {
      pcm.set(sound, at);
      at += sound.length + PAUSE;
    }
    const bytes = Buffer.concat([wavHeader(pcm.length), Buffer.from(pcm.buffer)]);
    const sha256 = createHash("sha256").update(bytes).digest();
    const folder = join(this.service.folder, "blobs", id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, sha256.toString("hex")), bytes);
    await this.service.sql(
      `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
         duration_seconds, status, start_sample, length_samples)
       values ($1, 0, $2, 'audio/wav', $3, $4, $5::int8, 16000, $5::int8 / 16000.0, 'completed', 0, $5::int8)`,
      [id, newId(), bytes.length, sha256, pcm.length],
    );
    return id;
  }
}
