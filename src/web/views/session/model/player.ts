import { signal } from "@preact/signals";
import { ApiError } from "../../../../client/errors.ts";
import { messageOf } from "../../../api/client.ts";
import { PART_SECONDS, SoundParts } from "./sound-parts.ts";

/** Loudness is measured without being asked for up to this length, seconds. */
const MEASURED_SECONDS = 15 * 60;

/** Plays a session's sound from any moment of it, a part at a time. */
export class Player {
  /** `none`: not asked for yet; `hidden`: not for this person. */
  readonly state = signal<"none" | "ready" | "hidden" | "failed">("none");
  readonly error = signal("");
  /** Seconds. */
  readonly length = signal(0);
  readonly time = signal(0);
  readonly isPlaying = signal(false);
  readonly rate = signal(1);
  /** Rises when more of the loudness is known. */
  readonly measured = signal(0);
  readonly parts: SoundParts;

  readonly #audio = new Audio();
  #part = -1;
  #wish = 0;
  #frame = 0;
  #isOpening = false;
  #isClosed = false;

  constructor(sessionId: string) {
    this.parts = new SoundParts(sessionId);
    this.#audio.preservesPitch = true;
    this.#audio.addEventListener("ended", () => void this.#goTo((this.#part + 1) * PART_SECONDS));
  }

  /** Finds out whether there is sound for this person, and how much. */
  async open(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    try {
      this.length.value = await this.parts.length();
      this.state.value = this.length.value > 0 ? "ready" : "none";
      this.error.value = "";
      if (this.length.value <= MEASURED_SECONDS) await this.#measure();
    } catch (error) {
      if (this.#isClosed) return;
      const status = error instanceof ApiError ? error.status : 0;
      this.state.value = status === 403 || status === 404 ? "hidden" : "failed";
      this.error.value = messageOf(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** Puts it there; plays on when it plays. Does nothing where there is no sound. */
  seek(seconds: number): void {
    if (this.state.value !== "ready") return;
    const at = Math.min(Math.max(0, seconds), Math.max(0, this.length.value - 0.05));
    this.time.value = at;
    if (this.isPlaying.value) void this.#goTo(at);
    else this.#part = -1;
  }

  playFrom(seconds: number): void {
    if (this.state.value !== "ready") return;
    this.isPlaying.value = true;
    this.seek(seconds);
  }

  toggle(): void {
    if (this.state.value !== "ready") return;
    if (this.isPlaying.value) return this.pause();
    const isOver = this.time.value >= this.length.value - 0.1;
    this.playFrom(isOver ? 0 : this.time.value);
  }

  pause(): void {
    this.isPlaying.value = false;
    this.#wish += 1;
    this.#audio.pause();
    cancelAnimationFrame(this.#frame);
  }

  setRate(rate: number): void {
    this.rate.value = rate;
    this.#audio.playbackRate = rate;
  }

  close(): void {
    this.#isClosed = true;
    this.pause();
    this.#audio.removeAttribute("src");
    this.parts.close();
  }

  async #goTo(seconds: number): Promise<void> {
    if (!this.isPlaying.value) return;
    if (seconds >= this.length.value - 0.05) {
      this.time.value = this.length.value;
      return this.pause();
    }
    this.#wish += 1;
    const wish = this.#wish;
    const part = Math.floor(seconds / PART_SECONDS);
    try {
      if (part !== this.#part) {
        const url = await this.parts.url(part);
        if (wish !== this.#wish) return;
        this.#audio.src = url;
        this.#part = part;
        this.measured.value += 1;
      }
      this.#audio.currentTime = seconds - part * PART_SECONDS;
      this.#audio.playbackRate = this.rate.value;
      await this.#audio.play();
      if (wish !== this.#wish) return;
      this.error.value = "";
      this.#follow();
      const isLast = (part + 1) * PART_SECONDS >= this.length.value;
      if (!isLast) await this.parts.url(part + 1).catch(() => undefined);
    } catch (error) {
      if (wish !== this.#wish || this.#isClosed) return;
      this.error.value = messageOf(error);
      this.pause();
    }
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const look = () => {
      if (!this.isPlaying.value) return;
      this.time.value = this.#part * PART_SECONDS + this.#audio.currentTime;
      this.#frame = requestAnimationFrame(look);
    };
    look();
  }

  async #measure(): Promise<void> {
    const count = Math.ceil(this.length.value / PART_SECONDS);
    for (let part = 0; part < count && !this.#isClosed; part += 1) {
      await this.parts.measure(part);
      this.measured.value += 1;
    }
  }
}
