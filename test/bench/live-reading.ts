import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import type { ServiceAddress } from "../eval/running-service.ts";

/** PCM of 16 kHz, mono, 16 bit. */
const BYTES_PER_SECOND = 32_000;
const SETTLE_MS = 3_000;
/** All of the audio is to be read; a machine that others use may need long for it. */
const READ_MS = 180_000;
const LAG_MS = 500;
/** Seconds. */
const NEAR = 0.6;

export interface LiveDelays {
  /** Milliseconds from a word's last frame leaving the device to its first sight at a viewer. */
  interim: number[];
  /** From an utterance's last voiced frame leaving the device to its final result at a viewer. */
  final: number[];
  /** The same from the frame that ended the utterance, less what `engineMs` gives. */
  own: number[];
  /** From the last voiced frame to the one that ended the utterance. */
  wait: number[];
  engine: number[];
  /** The longest lag that the session told while audio was sent, ms. */
  longestLag: number;
}

/** Of a session's utterances, in seconds of its audio; `engineMs` from the ending frame's arrival. */
export interface EngineTime {
  end: number;
  /** End of the audio that told that the utterance had ended. */
  needed: number;
  engineMs: number;
}

interface Word {
  word: string;
  start: number;
  end: number;
}

interface Results {
  type: string;
  is_final?: boolean;
  words?: Word[];
  /** Of heartbeats. */
  lag_ms?: number;
  /** Of the end of an utterance, in seconds. */
  end?: number;
}

interface Seen extends Word {
  at: number;
}

/** One device that streams and one viewer that watches, both as clients of a running service. */
export class LiveReading {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #workspaceId: string;

  private constructor(base: string, token: string, workspaceId: string) {
    this.#base = base;
    this.#headers = { authorization: `Bearer ${token}` };
    this.#workspaceId = workspaceId;
  }

  static async connect({ base_url, admin }: ServiceAddress): Promise<LiveReading> {
    const base = `${base_url}/api`;
    const { token = "" } = await post(`${base}/auth/login`, {}, { ...admin });
    const name = { name: "Bench" };
    const workspace = await post(`${base}/workspaces`, { authorization: `Bearer ${token}` }, name);
    return new LiveReading(base, token, workspace.id ?? "");
  }

  /**
   * Streams the audio in real time, in frames of `frameMs`. `engineTimes` is asked afterwards for
   * what the service noted of the session.
   */
  async measure(
    audio: Buffer,
    frameMs: number,
    engineTimes: (session: string) => EngineTime[] = () => [],
  ): Promise<LiveDelays> {
    const wish = { workspace_id: this.#workspaceId, name: "Bench" };
    const { device_id, api_key: key = "" } = await post(
      `${this.#base}/devices`,
      this.#headers,
      wish,
    );
    const start = `${this.#base}/devices/${device_id}/session/start`;
    const { session_id: session = "" } = await post(start, { "x-api-key": key }, {});
    const ws = this.#base.replace(/^http/, "ws");
    const viewer = new WebSocket(`${ws}/live`, { headers: this.#headers });
    await once(viewer, "open");
    const watch = new Watch(viewer);
    viewer.send(JSON.stringify({ type: "Subscribe", session_id: session }));
    const device = new WebSocket(`${ws}/devices/${device_id}/stream`, {
      headers: { "x-api-key": key },
    });
    await once(device, "open");
    const begun = message(device, "Begin");
    const format = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };
    device.send(JSON.stringify({ type: "Configure", session_id: session, ...format }));
    await begun;
    const sentAt = await stream(device, audio, frameMs);
    await watch.allRead();
    await delay(SETTLE_MS);
    device.close();
    viewer.close();
    await post(`${this.#base}/devices/${device_id}/session/stop`, { "x-api-key": key }, {});
    const delays = watch.delays(sentAt, engineTimes(session));
    if (delays.final.length === 0) throw new Error("The viewer saw no final result.");
    return delays;
  }
}

/** What a viewer saw, with the time of its arrival. */
class Watch {
  #lag = { at: 0, ms: 0 };
  #longestLag = 0;
  readonly #firstSeen: Seen[] = [];
  /** Of the utterances that are over, in seconds. */
  readonly #ends: number[] = [];
  readonly #finals: { at: number; words: readonly Word[] }[] = [];

  constructor(viewer: WebSocket) {
    viewer.on("message", (data) => {
      const at = performance.now();
      const frame = JSON.parse(data.toString()) as Results;
      if (frame.type === "Results") this.#take(frame, at);
      if (frame.type === "UtteranceEnd") this.#ends.push(frame.end ?? 0);
      if (frame.type !== "Heartbeat") return;
      this.#lag = { at, ms: frame.lag_ms ?? 0 };
      this.#longestLag = Math.max(this.#longestLag, this.#lag.ms);
    });
  }

  /** What was sent so far has been read, as the session itself says. */
  async allRead(): Promise<void> {
    const sent = performance.now();
    while (this.#lag.at < sent || this.#lag.ms > LAG_MS) {
      if (performance.now() - sent > READ_MS) throw new Error("The audio was not read in time.");
      await delay(100);
    }
  }

  #take({ is_final, words = [] }: Results, at: number): void {
    for (const word of words) {
      if (!this.#firstSeen.some((seen) => isSame(seen, word))) {
        this.#firstSeen.push({ ...word, at });
      }
    }
    if (is_final && words.length > 0) this.#finals.push({ at, words });
  }

  /** One for each utterance, which is a final for each of those who speak in it, all at once. */
  #utterances(times: readonly EngineTime[]): SeenFinal[] {
    const seen = new Map<number, SeenFinal>();
    for (const { at, words } of this.#finals) {
      const end = lastEnd(words);
      const over = this.#ends.find((each) => each >= end) ?? end;
      const time = times.find((each) => each.end >= end);
      const last = Math.max(end, seen.get(over)?.end ?? 0);
      seen.set(over, { at, end: last, ...(time === undefined ? {} : { time }) });
    }
    return [...seen.values()];
  }

  /** Only words that stayed: those of finals. */
  delays(sentAt: (second: number) => number, times: readonly EngineTime[]): LiveDelays {
    const interim = this.#finals.flatMap(({ words }) =>
      words.flatMap((word) => {
        const seen = this.#firstSeen.find((each) => isSame(each, word));
        return seen === undefined ? [] : [seen.at - sentAt(word.end)];
      }),
    );
    const utterances = this.#utterances(times);
    const final = utterances.map(({ at, end }) => at - sentAt(end));
    const parts = utterances.flatMap(({ at, end, time }) => {
      if (time === undefined) return [];
      const ended = sentAt(time.needed);
      const { engineMs } = time;
      return [{ own: at - ended - engineMs, wait: ended - sentAt(end), engineMs }];
    });
    return {
      interim,
      final,
      own: parts.map(({ own }) => own),
      wait: parts.map(({ wait }) => wait),
      engine: parts.map(({ engineMs }) => engineMs),
      longestLag: this.#longestLag,
    };
  }
}

interface SeenFinal {
  at: number;
  /** Where its last word ends, in seconds. */
  end: number;
  time?: EngineTime;
}

function lastEnd(words: readonly Word[]): number {
  return Math.max(...words.map(({ end }) => end));
}

/** As in the evaluation of interim results: the same word at the same place, even if that moved a little. */
function isSame(one: Word, other: Word): boolean {
  return plain(one.word) === plain(other.word) && Math.abs(one.start - other.start) <= NEAR;
}

/** Without capitals and marks, which may change without anybody minding. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** Returns when the frame that holds the last sample before a second of the audio was sent. */
async function stream(
  device: WebSocket,
  audio: Buffer,
  frameMs: number,
): Promise<(second: number) => number> {
  const frameBytes = (BYTES_PER_SECOND * frameMs) / 1000;
  const times: number[] = [];
  const start = performance.now();
  for (let at = 0; at < audio.byteLength; at += frameBytes) {
    // A frame leaves when its last sample was recorded.
    const due = start + ((at + frameBytes) / BYTES_PER_SECOND) * 1000;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    device.send(audio.subarray(at, at + frameBytes));
    times.push(performance.now());
  }
  return (second) => {
    const frame = Math.ceil(Math.round(second * 1000) / frameMs) - 1;
    return times[Math.min(times.length - 1, Math.max(0, frame))] ?? Number.NaN;
  };
}

async function message(socket: WebSocket, type: string): Promise<void> {
  while (true) {
    const [data] = (await once(socket, "message", { signal: AbortSignal.timeout(20_000) })) as [
      Buffer,
    ];
    const frame = JSON.parse(data.toString()) as { type: string; message?: string };
    if (frame.type === type) return;
    if (frame.type === "Error") throw new Error(frame.message);
  }
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}
