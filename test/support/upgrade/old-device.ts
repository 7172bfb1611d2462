import { AudioSender } from "../../../src/cli/device/audio-sender.ts";
import { type Answer, type Chunk, call, PCM, type Segment } from "../paired-device.ts";
import { until } from "../until.ts";
import type { WholeService } from "../whole-service.ts";
import { OLD_INSTALLATION, type OldSession, seconds } from "./old-installation.ts";

const DONE_MS = 180_000;

/** A session of the old installation, seen by its owner and by the device that records it. */
export class OldDevice {
  readonly #service: WholeService;
  readonly #token: string;
  readonly #session: OldSession;

  constructor(service: WholeService, token: string, name: string) {
    const session = OLD_INSTALLATION.sessions[name];
    if (session === undefined) throw new Error(`There was no session "${name}".`);
    this.#service = service;
    this.#token = token;
    this.#session = session;
  }

  get id(): string {
    return this.#session.id;
  }

  get<T = Record<string, unknown>>(path = ""): Promise<Answer<T>> {
    return call<T>(this.#service.api, "GET", `/sessions/${this.id}${path}`, { token: this.#token });
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    const options = { token: this.#token, ...(body === undefined ? {} : { body }) };
    return call(this.#service.api, method, `/sessions/${this.id}${path}`, options);
  }

  /** Chunk `sequence`, which holds five seconds. */
  async upload(sequence: number): Promise<void> {
    const { status } = await call(this.#service.api, "POST", `/sessions/${this.id}/upload-audio`, {
      key: this.#session.api_key,
      bytes: seconds(sequence * 5, sequence * 5 + 5),
      headers: { "content-type": PCM, "x-chunk-sequence": String(sequence) },
    });
    if (status >= 300) throw new Error(`The upload was answered ${status}.`);
  }

  async stop(last: number): Promise<void> {
    const { device_id, api_key: key } = this.#session;
    const { status } = await call(this.#service.api, "POST", `/devices/${device_id}/session/stop`, {
      key,
      body: { last_chunk_sequence: last },
    });
    if (status >= 300) throw new Error(`The stop was answered ${status}.`);
  }

  /** Goes on with its stream, from where the service says, up to second `to`; returns from where. */
  async streamTo(to: number): Promise<number> {
    const { id, device_id, api_key: key } = this.#session;
    let storedTo = 0;
    const sender = new AudioSender({
      url: `${this.#service.ready.base_url.replace("http", "ws")}/api/devices/${device_id}/stream`,
      key,
      configuration: {
        session_id: id,
        encoding: "pcm_s16le",
        sample_rate: 16_000,
        channels: 1,
      },
      signal: new AbortController().signal,
      onStored: (offset) => {
        storedTo ||= offset;
      },
    });
    sender.push(seconds(0, to));
    sender.end();
    await sender.run();
    return storedTo;
  }

  async completed(): Promise<void> {
    const isOver = async () => (await this.get<{ status: string }>()).body.status === "completed";
    await until(isOver, "the session to complete", DONE_MS);
  }

  async segments(): Promise<Segment[]> {
    return (await this.get<{ items: Segment[] }>("/segments?limit=100")).body.items;
  }

  async chunks(): Promise<Chunk[]> {
    return (await this.get<{ chunks: Chunk[] }>("/chunks")).body.chunks;
  }

  async said(): Promise<string[]> {
    return (await this.segments()).map(({ speaker_label, text }) => `${speaker_label}: ${text}`);
  }
}
