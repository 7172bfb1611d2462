import { once } from "node:events";
import { WebSocket } from "ws";
import { frameProblem } from "./frame-check.ts";
import { until } from "./until.ts";

export type Frame = { type: string; seq?: number; code?: string } & Record<string, unknown>;

/** A WebSocket client that keeps what it gets. */
export class Viewer {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  /** Frames that the AsyncAPI document does not describe so. */
  readonly problems: string[] = [];
  closeCode: number | undefined;
  /** The refusal's status and body when there was no upgrade. */
  refused: { status: number; body: string } | undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.socket.on("message", (data) => this.#take(JSON.parse(data.toString()) as Frame));
    this.socket.on("close", (code) => {
      this.closeCode = code;
    });
    this.socket.on("error", () => {});
    this.socket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (data) => {
        body += data;
      });
      response.on("end", () => {
        this.refused = { status: response.statusCode ?? 0, body };
      });
    });
  }

  #take(frame: Frame): void {
    this.frames.push(frame);
    const problem = frameProblem(frame);
    if (problem !== undefined) this.problems.push(problem);
  }

  async opened(): Promise<this> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, "open");
    return this;
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  seqs(): number[] {
    return this.frames.flatMap(({ at, seq }) =>
      at === undefined || seq === undefined ? [] : [seq],
    );
  }

  /** Every wait ends here: a frame off the AsyncAPI document fails the test. */
  #check(): void {
    if (this.problems.length > 0) throw new Error(this.problems.slice(0, 3).join("\n"));
  }

  async received(type: string): Promise<Frame> {
    await until(() => this.frames.some((frame) => frame.type === type), `a ${type} frame`);
    this.#check();
    return this.frames.find((frame) => frame.type === type) as Frame;
  }

  async reached(seq: number): Promise<void> {
    await until(() => (this.seqs().at(-1) ?? 0) >= seq, `seq ${seq}`);
    this.#check();
  }

  async closed(): Promise<number> {
    await until(() => this.closeCode !== undefined, "the close");
    this.#check();
    return this.closeCode ?? 0;
  }
}
