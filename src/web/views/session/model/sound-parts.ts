import { fetchFrom } from "../../../api/client.ts";
import { BYTES_PER_SECOND, HEADER_BYTES, peaksOf, wavHeader } from "./wav-sound.ts";

/** So much is fetched and played at once. */
export const PART_SECONDS = 60;
const PART_BYTES = PART_SECONDS * BYTES_PER_SECOND;
const KEPT_PARTS = 4;

/** Parts of a session's sound, fetched with the caller's token and kept while they are near. */
export class SoundParts {
  readonly #sessionId: string;
  readonly #urls = new Map<number, string>();
  readonly #peaks = new Map<number, Float32Array>();
  readonly #stop = new AbortController();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Seconds of sound. */
  async length(): Promise<number> {
    const response = await this.#fetch(0, HEADER_BYTES);
    const total = Number(response.headers.get("content-range")?.split("/")[1] ?? 0);
    return Math.max(0, total - HEADER_BYTES) / BYTES_PER_SECOND;
  }

  /** The address of a part, which a player takes. */
  async url(part: number): Promise<string> {
    const known = this.#urls.get(part);
    if (known !== undefined) return known;
    const samples = await this.#samples(part);
    const url = URL.createObjectURL(new Blob([wavHeader(samples.byteLength), samples]));
    this.#urls.set(part, url);
    for (const [other, address] of this.#urls) {
      if (this.#urls.size <= KEPT_PARTS) break;
      if (Math.abs(other - part) <= 1) continue;
      URL.revokeObjectURL(address);
      this.#urls.delete(other);
    }
    return url;
  }

  /** Loudness of a part, ten values a second from 0 to 1; undefined until it was fetched. */
  peaks(part: number): Float32Array | undefined {
    return this.#peaks.get(part);
  }

  async measure(part: number): Promise<void> {
    if (!this.#peaks.has(part)) await this.#samples(part);
  }

  close(): void {
    this.#stop.abort();
    for (const url of this.#urls.values()) URL.revokeObjectURL(url);
    this.#urls.clear();
  }

  async #samples(part: number): Promise<ArrayBuffer> {
    const from = HEADER_BYTES + part * PART_BYTES;
    const response = await this.#fetch(from, from + PART_BYTES);
    const samples = await response.arrayBuffer();
    this.#peaks.set(part, peaksOf(new Int16Array(samples, 0, samples.byteLength >> 1)));
    return samples;
  }

  #fetch(from: number, to: number): Promise<Response> {
    const headers = { range: `bytes=${from}-${to - 1}` };
    return fetchFrom(`/sessions/${this.#sessionId}/audio`, { headers, signal: this.#stop.signal });
  }
}
