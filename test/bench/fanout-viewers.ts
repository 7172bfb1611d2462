/** Viewers in a process of their own, as cheap as can be; tells servers when all have a burst. */
import { connect, type Socket } from "node:net";
import { answerParent, sharedMicros } from "./answer-parent.ts";
import { type BroadcasterName, SESSION } from "./fanout-broadcasters.ts";
import { RawViewer } from "./raw-viewer.ts";

export type ViewersQuestion =
  | { kind: "open"; server: BroadcasterName; port: number; pacer: number; viewers: number }
  | { kind: "count"; server: BroadcasterName; burst: number }
  | { kind: "time"; server: BroadcasterName }
  | { kind: "times"; server: BroadcasterName; frames: number }
  | { kind: "close"; server: BroadcasterName };

const AT_ONCE = 100;
const MARK = 0x40;

class Audience {
  readonly viewers: RawViewer[] = [];
  readonly #pacer: Socket;
  #mode: "count" | "time" = "count";
  #received = 0;
  #acknowledgedAt = 0;
  #perBurst = Number.POSITIVE_INFINITY;
  #delays: number[] = [];
  #lost = 0;

  constructor(pacer: number) {
    this.#pacer = connect({ host: "127.0.0.1", port: pacer, noDelay: true });
    this.#pacer.on("error", () => {});
  }

  async open(kind: BroadcasterName, port: number, count: number): Promise<void> {
    const take = (chunk: Buffer, start: number, end: number) => this.#take(chunk, start, end);
    while (this.viewers.length < count) {
      const missing = Math.min(AT_ONCE, count - this.viewers.length);
      const opening = Array.from({ length: missing }, () =>
        RawViewer.open(kind, port, SESSION, take),
      );
      this.viewers.push(...(await Promise.all(opening)));
    }
  }

  count(burst: number): void {
    this.#mode = "count";
    this.#received = 0;
    this.#acknowledgedAt = 0;
    this.#perBurst = burst * this.viewers.length;
  }

  time(): void {
    this.#mode = "time";
    this.#delays = [];
    this.#lost = 0;
  }

  /** Waits until every viewer has `frames` of them; milliseconds from publishing to here. */
  async times(frames: number): Promise<Float64Array> {
    const deadline = performance.now() + 30_000;
    while (this.#delays.length + this.#lost < frames * this.viewers.length) {
      if (performance.now() > deadline) throw new Error("frames are missing");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return Float64Array.from(this.#delays);
  }

  close(): void {
    for (const viewer of this.viewers) viewer.close();
    this.#pacer.destroy();
  }

  #take(chunk: Buffer, start: number, end: number): void {
    if (this.#mode === "time") return this.#measure(chunk, start, end);
    this.#received += 1;
    while (this.#received - this.#acknowledgedAt >= this.#perBurst) {
      this.#acknowledgedAt += this.#perBurst;
      this.#pacer.write("x");
    }
  }

  /** The frame says when it was published; one that came in two pieces is left out. */
  #measure(chunk: Buffer, start: number, end: number): void {
    const from = chunk.indexOf(MARK, start);
    const to = chunk.indexOf(MARK, from + 1);
    if (from < 0 || to < 0 || to >= end) {
      this.#lost += 1;
      return;
    }
    const published = Number(chunk.toString("latin1", from + 1, to));
    this.#delays.push((sharedMicros() - published) / 1000);
  }
}

const audiences = new Map<BroadcasterName, Audience>();

answerParent<ViewersQuestion>(async (question) => {
  if (question.kind === "open") {
    const audience = audiences.get(question.server) ?? new Audience(question.pacer);
    audiences.set(question.server, audience);
    return audience.open(question.server, question.port, question.viewers);
  }
  const audience = audiences.get(question.server);
  if (audience === undefined) throw new Error(`nobody watches ${question.server}`);
  if (question.kind === "count") return audience.count(question.burst);
  if (question.kind === "time") return audience.time();
  if (question.kind === "times") return audience.times(question.frames);
  audience.close();
  audiences.delete(question.server);
  return undefined;
});
