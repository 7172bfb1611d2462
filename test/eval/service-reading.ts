import { setTimeout as delay } from "node:timers/promises";
import { chooseWorkspace } from "../../src/cli/client/flags.ts";
import { baseUrlOf, logIn, UserSession } from "../../src/cli/client/user-session.ts";
import { cutIntoChunks } from "../../src/cli/device/audio-chunks.ts";
import { streamChunks } from "../../src/cli/device/device-stream.ts";
import { streamRecordings } from "../../src/cli/device/stream-audio.ts";
import { VirtualDevice } from "../../src/cli/device/virtual-device.ts";
import { durationSeconds, type WaveAudio } from "../../src/cli/device/wave-file.ts";
import { ApiClient } from "../../src/client/api-client.ts";
import type { operations } from "../../src/client/gen/api-schema.ts";
import { type Delivery, nameOf } from "./delivery.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { encodedSound } from "./encoded-sound.ts";
import { normaliseWords } from "./normalise-words.ts";
import type { ServiceAddress } from "./running-service.ts";
import type { TimedWord } from "./word-times.ts";

/** What the service made of a recording. */
export interface ServiceReading {
  readonly session_id: string;
  readonly words: readonly string[];
  readonly timedWords: readonly TimedWord[];
  readonly turns: readonly SpokenTurn[];
  readonly speakers: readonly string[];
  /** From the first upload to the completed transcript. */
  readonly seconds: number;
}

const POLL_MS = 100;
const MOST_PAGES = 1_000;
const PATIENCE_S = 60;
const PATIENCE_PER_AUDIO_SECOND = 3;

/** A device of its own on a running service, for one session after another. */
export class ServiceReader {
  readonly #user: UserSession;
  readonly #device: VirtualDevice;

  private constructor(user: UserSession, device: VirtualDevice) {
    this.#user = user;
    this.#device = device;
  }

  static async connect({ base_url, admin }: ServiceAddress): Promise<ServiceReader> {
    const api = new ApiClient(baseUrlOf({ baseUrl: base_url }, {}));
    const login = await logIn(api, admin.email, admin.password);
    const user = new UserSession(api, login, () => undefined);
    const { id: workspaceId } = await chooseWorkspace(user);
    return new ServiceReader(user, await VirtualDevice.pair(user, { name: "Eval", workspaceId }));
  }

  /**
   * Uploads a recording as fast as it goes, or streams it in real time; waits for its transcript
   * and reads it.
   */
  async read(audio: WaveAudio, delivery: Delivery): Promise<ServiceReading> {
    const start = performance.now();
    const id = await this.#device.startSession({ title: `Eval, ${nameOf(delivery)}` });
    await this.#device.stopSession(id, (await this.#send(id, audio, delivery)) - 1);
    await this.#completed(id, PATIENCE_S + PATIENCE_PER_AUDIO_SECOND * durationSeconds(audio));
    const seconds = (performance.now() - start) / 1000;
    const segments = await this.#segments(id);
    const turns = segments.map(turnOf);
    return {
      session_id: id,
      words: normaliseWords(segments.map(({ text }) => text).join(" ")),
      timedWords: segments.flatMap(({ words = [] }) => words.flatMap(timedWord)),
      turns,
      speakers: [...new Set(turns.map((turn) => turn.speaker))].filter((label) => label !== "UU"),
      seconds,
    };
  }

  /** How many chunks the stop has to name; 0 for a stream, whose chunks the service cuts. */
  async #send(id: string, audio: WaveAudio, delivery: Delivery): Promise<number> {
    const { signal } = new AbortController();
    if (delivery === "stream") {
      await streamRecordings(this.#device, id, [audio], { speed: 1, loss: 0, signal });
      return 0;
    }
    const seconds = durationSeconds(audio);
    const pieces =
      typeof delivery === "number"
        ? cutIntoChunks([audio], delivery, "wav")
        : [{ sequence: 0, seconds, recordedAt: seconds, ...encodedSound(audio, delivery) }];
    const options = { speed: Number.POSITIVE_INFINITY, loss: 0, signal };
    return (await streamChunks(this.#device, id, pieces, options)).chunks;
  }

  async #segments(id: string): Promise<Segment[]> {
    const segments: Segment[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const params = { path: { session_id: id }, query: { words: true, limit: 100, cursor } };
      const page = await this.#user.call((client) =>
        client.GET("/sessions/{session_id}/segments", { params }),
      );
      segments.push(...page.items);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    return segments;
  }

  async #completed(id: string, limitSeconds: number): Promise<void> {
    const deadline = performance.now() + limitSeconds * 1000;
    const params = { path: { session_id: id } };
    let status = "";
    while (performance.now() < deadline) {
      const session = await this.#user.call((client) =>
        client.GET("/sessions/{session_id}", { params }),
      );
      status = session.status;
      if (status === "completed") return;
      if (status === "failed") throw new Error(`session ${id} failed`);
      await delay(POLL_MS);
    }
    throw new Error(`session ${id} is still ${status} after ${Math.round(limitSeconds)} s`);
  }
}

type Segment =
  operations["listSegments"]["responses"]["200"]["content"]["application/json"]["items"][number];

interface Times {
  start_ms: number;
  end_ms: number;
}

function turnOf({
  speaker_label,
  start_ms,
  end_ms,
}: Times & { speaker_label?: string }): SpokenTurn {
  return { speaker: speaker_label ?? "UU", start: start_ms / 1000, end: end_ms / 1000 };
}

function timedWord({ word, start_ms, end_ms }: Times & { word: string }): TimedWord[] {
  const times = { start: start_ms / 1000, end: end_ms / 1000 };
  return normaliseWords(word).map((name) => ({ word: name, ...times }));
}
