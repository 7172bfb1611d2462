import { once } from "node:events";
import { WebSocket } from "ws";
import { createDeferred, type Deferred, delay, withTimeout } from "../../src/base/deferred.ts";
import { type GrowthFixture, Refusal } from "./growth-fixture.ts";
import { CHUNK_FRAMES, CHUNK_SECONDS, SOUND } from "./growth-script.ts";

/** A byte for each of its frames. */
const CHUNK_BYTES = CHUNK_FRAMES;
const SILENCE = 0xff;
/** Chunks under way while a session is fed as fast as it goes. */
const TOGETHER = 6;
/** Refused as the session is busy, or too much waits: said again after so long, so often. */
const AGAIN_MS = 200;
const TRIES = 100;
const WAIT_MS = 180_000;
const FED_MS = 900_000;

interface Frame {
  type: string;
  seq?: number;
  is_final?: boolean;
  start?: number;
}

/** A device with a session that it records, by the public interface alone. */
export class GrowthDevice {
  readonly id: string;
  readonly sessionId: string;
  readonly #fixture: GrowthFixture;
  readonly #key: string;
  #viewer: FinalsViewer | undefined;
  /** Chunks that were sent. */
  chunks = 0;

  private constructor(
    fixture: GrowthFixture,
    ids: { device: string; session: string; key: string },
  ) {
    this.#fixture = fixture;
    this.id = ids.device;
    this.sessionId = ids.session;
    this.#key = ids.key;
  }

  static async start(fixture: GrowthFixture): Promise<GrowthDevice> {
    const wish = { workspace_id: fixture.user.workspaceId, name: "Bench" };
    const made = await fixture.call("POST", "/devices", fixture.bearer, wish);
    const [device, key] = [made.device_id ?? "", made.api_key ?? ""];
    const path = `/devices/${device}/session/start`;
    const { session_id = "" } = await fixture.call("POST", path, { "x-api-key": key }, {});
    return new GrowthDevice(fixture, { device, key, session: session_id });
  }

  /** Returns when the chunk is acknowledged, which means stored. */
  async upload(): Promise<number> {
    const sequence = this.chunks;
    this.chunks += 1;
    const audio = Buffer.alloc(CHUNK_BYTES, SILENCE);
    // No two chunks alike.
    audio.writeUInt32LE(sequence, 0);
    const headers = {
      "x-api-key": this.#key,
      "content-type": SOUND.mediaType,
      "x-chunk-sequence": String(sequence),
    };
    const path = `/sessions/${this.sessionId}/upload-audio`;
    for (let tried = 1; ; tried += 1) {
      try {
        await this.#fixture.call("POST", path, headers, audio);
        return sequence;
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 503 || tried >= TRIES) throw error;
        await delay(AGAIN_MS);
      }
    }
  }

  /** So many chunks as fast as they are taken, until the finals of all are durable. */
  async feed(chunks: number): Promise<void> {
    const end = this.chunks + chunks;
    const lane = async () => {
      while (this.chunks < end) await this.upload();
    };
    await Promise.all(Array.from({ length: TOGETHER }, lane));
    await this.#fixture.allFinal([this.sessionId], end, FED_MS);
  }

  /** A viewer follows from now on. */
  async follow(): Promise<void> {
    this.#viewer ??= await FinalsViewer.open(this.#fixture, this.sessionId);
  }

  unfollow(): void {
    this.#viewer?.close();
    this.#viewer = undefined;
  }

  /** One chunk after the other, each when the final of the one before was seen; milliseconds from stored to seen. */
  async speak(chunks: number): Promise<number[]> {
    await this.follow();
    const delays: number[] = [];
    for (let n = 0; n < chunks; n += 1) delays.push(await this.say());
    return delays;
  }

  async say(): Promise<number> {
    await this.follow();
    const seen = this.#viewer?.final(this.chunks);
    await this.upload();
    const stored = performance.now();
    // A final may overtake the answer to the upload.
    return Math.max(0, ((await seen) ?? stored) - stored);
  }
}

/** A live socket that tells when a chunk's final came: after the append, so it is durable. */
export class FinalsViewer {
  readonly #socket: WebSocket;
  readonly #finals = new Map<number, Deferred<number>>();
  readonly #first = createDeferred<void>();
  readonly #reached = new Map<number, Deferred<void>>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("message", (data) => this.#take(JSON.parse(data.toString()) as Frame));
  }

  /** From now on with a snapshot first, or from an event on. */
  static async open(fixture: GrowthFixture, sessionId: string, fromSeq?: number) {
    const url = `ws://127.0.0.1:${fixture.main.port}/api/live`;
    const socket = new WebSocket(url, { headers: fixture.bearer });
    const viewer = new FinalsViewer(socket);
    await withTimeout(once(socket, "open"), WAIT_MS, "Opening a viewer's socket");
    const from = fromSeq === undefined ? {} : { from_seq: fromSeq };
    socket.send(JSON.stringify({ type: "Subscribe", session_id: sessionId, ...from }));
    if (fromSeq === undefined) {
      await withTimeout(viewer.#first.promise, WAIT_MS, "A viewer's snapshot");
    }
    return viewer;
  }

  close(): void {
    this.#socket.terminate();
  }

  /** When the final of a chunk came. */
  final(chunk: number): Promise<number> {
    const seen = createDeferred<number>();
    this.#finals.set(chunk, seen);
    return withTimeout(seen.promise, WAIT_MS, `The final of chunk ${chunk}`);
  }

  /** When the event with that seq was seen. */
  reached(seq: number): Promise<void> {
    const seen = createDeferred<void>();
    this.#reached.set(seq, seen);
    return withTimeout(seen.promise, WAIT_MS, `The event ${seq}`);
  }

  #take(frame: Frame): void {
    const at = performance.now();
    if (frame.type === "Snapshot") this.#first.resolve();
    if (frame.seq !== undefined && frame.type !== "Heartbeat" && frame.type !== "Snapshot") {
      this.#reached.get(frame.seq)?.resolve();
    }
    if (frame.type !== "Results" || frame.is_final !== true) return;
    const chunk = Math.floor((frame.start ?? 0) / CHUNK_SECONDS);
    this.#finals.get(chunk)?.resolve(at);
    this.#finals.delete(chunk);
  }
}
