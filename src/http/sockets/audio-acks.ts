import type { Runtime, Timer } from "../../base/runtime.ts";
import type { AudioStream } from "../../conversations/recording/stream.ts";
import type { DeviceServerFrame } from "../../wire/device-frames.ts";

/** Acknowledgements follow the commit within this time, milliseconds. */
const ACK_MS = 100;

type Stored = Pick<AudioStream, "sessionId" | "offset" | "nextSequence">;

/** Tells a device how much of its stream is stored, at most every `ACK_MS`. */
export class AudioAcks {
  readonly #stream: Stored;
  readonly #runtime: Pick<Runtime, "monotonic" | "after">;
  readonly #send: (frame: DeviceServerFrame) => void;
  #timer: Timer | undefined;
  #sentAt = 0;

  constructor(
    stream: Stored,
    runtime: Pick<Runtime, "monotonic" | "after">,
    send: (frame: DeviceServerFrame) => void,
  ) {
    this.#stream = stream;
    this.#runtime = runtime;
    this.#send = send;
  }

  /** Plans an acknowledgement, or sends it at once when the last one is old enough. */
  plan(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#sentAt + ACK_MS - this.#runtime.monotonic());
    if (wait === 0) return this.now();
    this.#timer = this.#runtime.after(wait, () => this.now());
  }

  now(): void {
    this.cancel();
    this.#sentAt = this.#runtime.monotonic();
    this.#send({
      type: "AudioAck",
      session_id: this.#stream.sessionId,
      audio_offset_bytes: this.#stream.offset,
      chunk_sequence: this.#stream.nextSequence,
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
