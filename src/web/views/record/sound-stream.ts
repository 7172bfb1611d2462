import { Access } from "../../../client/access.ts";
import { AudioSender } from "../../../client/audio-sender.ts";
import { openWithTicket } from "../../../client/browser-socket.ts";
import { ChannelError } from "../../../client/errors.ts";
import { apiOf } from "../../api/client.ts";
import type { UnsentAudio } from "./saved-audio.ts";

interface StreamOptions {
  readonly deviceId: string;
  readonly key: string;
  readonly sessionId: string;
  readonly sampleRate: number;
  /** Sound of a recording that was cut off: it is sent first. */
  readonly rest?: UnsentAudio | undefined;
  /** Called with the offset before which everything is stored. */
  readonly onStored?: (offset: number) => void;
  /** Called when the connection breaks and when it is back. */
  readonly onLink: (isThere: boolean) => void;
}

/** What is recorded is kept however long the service is away. */
const BACK_OFF = { attempts: Number.POSITIVE_INFINITY, firstMs: 250, longestMs: 5_000 };
const BEAT_SECONDS = 15;

/** The service takes no more of the recording, with its error code; "" where it told none. */
export class StreamRefused extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Streams 16-bit sound into a session as a device does, over as many connections as it takes. */
export class SoundStream {
  readonly #sender: AudioSender;
  #isEnding = false;
  /**
   * Resolves to the offset at which new sound follows, once the service has said what it has of a
   * recording that was cut off. Until then nothing may be pushed to such a stream.
   */
  readonly begun: Promise<number>;

  constructor({ deviceId, key, sessionId, sampleRate, rest, onStored, onLink }: StreamOptions) {
    let tellBegun: (end: number) => void = () => undefined;
    this.begun = new Promise((resolve) => {
      tellBegun = resolve;
    });
    this.#sender = new AudioSender({
      open: openWithTicket(apiOf(new Access({ apiKey: key }))),
      path: `/devices/${deviceId}/stream`,
      configuration: {
        ...{ session_id: sessionId, encoding: "pcm_s16le" },
        ...{ sample_rate: sampleRate, channels: 1 },
      },
      kept: rest && { bytes: new Uint8Array(rest.bytes), offset: rest.from },
      heartbeat: { recording: true, period_seconds: BEAT_SECONDS },
      backOff: BACK_OFF,
      onStored,
      onBegin: () => {
        tellBegun(this.#sender.position);
        onLink(true);
      },
      onReconnect: () => onLink(false),
    });
  }

  /** What the service has not stored yet. */
  get rest(): UnsentAudio {
    const { bytes, offset: from } = this.#sender.rest;
    return { from, bytes };
  }

  /** What comes after `end`, as the last message of a microphone's thread may, is dropped. */
  push(samples: ArrayBuffer): void {
    if (!this.#isEnding) this.#sender.push(new Uint8Array(samples));
  }

  /** No more sound follows; `run` ends when all of it is stored. */
  end(): void {
    this.#isEnding = true;
    this.#sender.end();
  }

  /** Resolves when everything is stored; throws what the service refuses for good. */
  async run(): Promise<void> {
    try {
      await this.#sender.run();
    } catch (error) {
      // The microphone's thread may bring more.
      this.#isEnding = true;
      if (!(error instanceof ChannelError)) throw error;
      const { closeCode, code, message, said } = error;
      const closed = `The service closed the recording (${closeCode}).`;
      throw new StreamRefused(said || (closeCode === undefined ? message : closed), code);
    }
  }
}
