import { CLOSE } from "../../src/wire/close-codes.ts";
import type { DeviceServerFrame } from "../../src/wire/device-frames.ts";
import { DeviceLine } from "./device-line.ts";
import type { Scene } from "./scene.ts";
import { FRAME_BYTES, recordTrack, TRACK_RATE, type Track } from "./track.ts";

export interface StreamPlan {
  /** Of sound. */
  seconds: number;
  /** Milliseconds between two messages. */
  messageMs: number;
  /** Share of the sound that is streamed; the rest is uploaded. */
  share: number;
  /** Longest way of a message, milliseconds. */
  way: number;
  /** Milliseconds between breaks of its connections, about; none when absent. */
  breaks: number | undefined;
  /** Both ends notice a break at once. */
  isTold: boolean;
  /** It connects anew although it is connected. */
  doubts: number;
  /** It cannot keep all that was not acknowledged. */
  drops: boolean;
  /** It takes the stream up with what the connection before said. */
  resumes: boolean;
  interim: boolean;
  /** It says when somebody has finished. */
  finalizes: boolean;
  /** There is sound in it that ends whoever reads it. */
  isPoisonous: boolean;
  /** Chunks that it uploads while it streams. */
  alongside: number;
}

/** The device that streams. */
export interface Streaming {
  readonly sessionId: string;
  readonly deviceId: string;
  readonly isOnline: boolean;
  /** It will never do anything any more. */
  readonly isGone: boolean;
}

/** Bytes in one message. */
const MESSAGE_BYTES = 16 * 1024;
const BYTES_PER_MS = (TRACK_RATE * FRAME_BYTES) / 1_000;

/** What a device streams: it keeps everything until it is acknowledged, whatever becomes of its connections. */
export class Streamer {
  readonly track: Track;
  /** Bytes of which the service said that it has them. */
  acknowledged = 0;
  /** Bytes that it could not keep. */
  readonly dropped: { from: number; to: number }[] = [];
  readonly #world: Scene;
  readonly #device: Streaming;
  readonly #plan: StreamPlan;
  readonly #beganAt: number;
  /** What of the track is streamed, in bytes. */
  readonly #end: number;
  readonly #onDone: (isClean: boolean) => void;
  #line: DeviceLine | undefined;
  /** Each connection is another. */
  #generation = 0;
  #phase: "away" | "opening" | "open" | "closing" | "done" = "away";
  #isConfigured = false;
  #retryAt = 0;
  #sentTo = 0;
  #mostSent = 0;

  constructor(
    world: Scene,
    device: Streaming,
    plan: StreamPlan,
    onDone: (isClean: boolean) => void,
  ) {
    this.#world = world;
    this.#device = device;
    this.#plan = plan;
    this.#onDone = onDone;
    const { kernel } = world;
    this.#beganAt = kernel.now;
    this.track = recordTrack(kernel.random, plan.seconds, plan.isPoisonous);
    const frames = Math.floor((this.track.data.length * plan.share) / FRAME_BYTES);
    this.#end = frames * FRAME_BYTES;
  }

  get isDone(): boolean {
    return this.#phase === "done";
  }

  get isRecorded(): boolean {
    return this.#recordedTo === this.#end;
  }

  get #recordedTo(): number {
    const ms = this.#world.kernel.now - this.#beganAt;
    return Math.min(this.#end, Math.floor(ms * BYTES_PER_MS));
  }

  /** Looks after its connection, and sends what there is. */
  tick(): void {
    if (this.isDone) return;
    const { kernel } = this.#world;
    const { messageMs } = this.#plan;
    kernel.plan(messageMs * (0.5 + kernel.random.next()), () => this.tick());
    if (this.#device.isGone) return this.#finish(false);
    if (!this.#device.isOnline) return this.#leave();
    this.#stumble();
    if (this.#phase === "away" && kernel.now >= this.#retryAt) this.#connect();
    if (this.#phase === "open") this.#send();
  }

  /** What can happen to a connection at any moment. */
  #stumble(): void {
    const { random } = this.#world.kernel;
    const { breaks, doubts, messageMs } = this.#plan;
    if (this.#line === undefined) return;
    if (breaks !== undefined && random.chance(messageMs / breaks)) return this.#leave();
    if (this.#phase === "closing" || !random.chance(doubts)) return;
    this.#world.count("stream: second connection");
    this.#giveUp(this.#line, this.#phase === "open" ? random.below(12) : 0);
    this.#line = undefined;
    this.#phase = "away";
  }

  /** What it was told to send it goes on sending for some messages, beside the next one. */
  #giveUp(line: DeviceLine, messages: number, from = this.#sentTo): void {
    const { kernel } = this.#world;
    kernel.plan(this.#plan.messageMs, () => {
      if (messages === 0) return line.cut();
      const to = Math.max(from, this.#recordedTo);
      this.#mostSent = Math.max(this.#mostSent, to);
      if (to > from) line.sendAudio(this.track.data.subarray(from, to));
      this.#giveUp(line, messages - 1, to);
    });
  }

  #leave(): void {
    this.#line?.cut();
    this.#lost();
  }

  #lost(): void {
    if (this.isDone) return;
    const { kernel } = this.#world;
    this.#line = undefined;
    this.#phase = "away";
    this.#retryAt = kernel.now + 200 + kernel.random.next() * 3_000;
  }

  #connect(): void {
    const { kernel, hosts } = this.#world;
    const up = hosts.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    const { way, isTold } = this.#plan;
    this.#generation += 1;
    const generation = this.#generation;
    const isNow = () => generation === this.#generation && this.#line !== undefined;
    this.#phase = "opening";
    this.#line = new DeviceLine(
      kernel.random.pick(up),
      this.#device.deviceId,
      { way, isTold },
      {
        onFrame: (frame) => isNow() && this.#hear(frame),
        onClose: (code) => isNow() && this.#closed(code),
      },
    );
    this.#open(this.#line);
    kernel.plan(20_000, () => {
      if (isNow() && this.#phase === "opening") this.#leave();
    });
  }

  #open(line: DeviceLine): void {
    const { sessionId: session_id } = this.#device;
    const { resumes, interim } = this.#plan;
    const isResume = this.#isConfigured && (resumes || this.#drop());
    if (isResume) {
      return line.send({ type: "Resume", session_id, audio_offset_bytes: this.#oldest });
    }
    line.send({
      type: "Configure",
      session_id,
      encoding: "pcm_s16le",
      sample_rate: TRACK_RATE,
      channels: 1,
      interim_results: interim,
    });
  }

  /** The oldest byte that it still has. */
  get #oldest(): number {
    return Math.max(this.acknowledged, this.dropped.at(-1)?.to ?? 0);
  }

  /** True when something is lost. */
  #drop(): boolean {
    const { random } = this.#world.kernel;
    const from = this.#oldest;
    const frames = Math.floor((this.#recordedTo - from) / FRAME_BYTES);
    if (this.#plan.drops && frames > TRACK_RATE && random.chance(0.3)) {
      this.#world.count("stream: sound dropped");
      this.dropped.push({ from, to: from + random.below(frames) * FRAME_BYTES });
    }
    return this.dropped.length > 0;
  }

  #hear(frame: DeviceServerFrame): void {
    if (frame.type === "Begin") return this.#begin(frame.audio_offset_bytes);
    if (frame.type === "AudioAck") return this.#acknowledge(frame.audio_offset_bytes);
    if (frame.type !== "Error") return;
    const { code } = frame;
    this.#world.count(`stream: ${code}`);
    if (["session_ended", "session_deleted", "not_found"].includes(code)) this.#finish(false);
    else if (code === "conflict") this.#isConfigured = false;
    else if (code === "bad_request") this.#fail(`was told: ${frame.message}`);
  }

  #begin(offset: number): void {
    this.#phase = "open";
    this.#isConfigured = true;
    this.#world.count("stream: opened");
    this.#world.story.tell(this.#device.sessionId, `the device streams from byte ${offset} on`);
    if (offset < this.acknowledged) {
      this.#fail(`is to go on at ${offset}, and ${this.acknowledged} were acknowledged`);
    }
    if (offset > Math.max(this.#mostSent, this.#oldest)) {
      this.#fail(`is to go on at ${offset}, and sent ${this.#mostSent}`);
    }
    this.#sentTo = offset;
  }

  #acknowledge(offset: number): void {
    if (offset > Math.max(this.#mostSent, this.#oldest)) {
      this.#fail(`sent ${this.#mostSent} bytes, of which ${offset} were acknowledged`);
    }
    this.acknowledged = Math.max(this.acknowledged, offset);
  }

  #fail(what: string): void {
    this.#world.fail(this.#device.sessionId, `a device that streams ${what}`);
  }

  #send(): void {
    const { random } = this.#world.kernel;
    const to = this.#recordedTo;
    while (this.#sentTo < to) {
      const from = this.#sentTo;
      this.#sentTo = Math.min(to, from + MESSAGE_BYTES);
      this.#line?.sendAudio(this.track.data.subarray(from, this.#sentTo));
    }
    this.#mostSent = Math.max(this.#mostSent, this.#sentTo);
    if (this.#plan.finalizes && random.chance(0.02)) this.#line?.send({ type: "Finalize" });
    if (this.#sentTo < this.#end) return;
    this.#phase = "closing";
    this.#line?.send({ type: "CloseStream" });
  }

  #closed(code: number | undefined): void {
    const isClean = code === CLOSE.done && this.#phase === "closing";
    if (isClean && this.acknowledged >= this.#end) this.#finish(true);
    else this.#lost();
  }

  #finish(isClean: boolean): void {
    if (this.isDone) return;
    this.#line?.cut();
    this.#line = undefined;
    this.#phase = "done";
    this.#world.story.tell(
      this.#device.sessionId,
      `the device streams no more, ${this.acknowledged} bytes are stored`,
    );
    this.#onDone(isClean);
  }
}
