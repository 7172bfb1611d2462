import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { RawGrpc } from "../support/raw-grpc.ts";
import { answerParent } from "./answer-parent.ts";

/** Where hungry clients come from: not from where their neighbours do. */
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const DRIBBLED_BODIES = 150;
const HALF_UPLOADS = 60;
const STALLED_DOWNLOADS = 24;
const DEAF_SOCKETS = 60;
const GRPC_CONNECTIONS = 12;
const HALF_MESSAGES = 8;
const FLOOD_MS = 8;
const DRIP_MS = 1_000;
const HALF_MESSAGE_PATHS = ["/grpc.health.v1.Health/Check", "/voice.v1.SessionService/GetSession"];

/** What hungry clients know: the addresses of an installation, and rights that they misuse. */
export interface HungryTarget {
  api: string;
  live: string;
  /** Of the gRPC port, without a scheme. */
  grpc: string;
  key: string;
  token: string;
  /** A recorded session that key and token may read. */
  sessionId: string;
}

export type HungryQuestion = { kind: "start"; target: HungryTarget } | { kind: "stop" };

export interface HungryCounts {
  opened: number;
  refused: number;
  late: number;
}

/**
 * Slow and hungry clients of one installation, until stopped: bodies that dribble, uploads that stop
 * half-way, downloads and sockets that are not read, halves of gRPC messages, and strangers who ask
 * as often as they may.
 * Bounded in number; those that are refused or ended come again.
 */
class HungryClients {
  readonly #target: HungryTarget;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #webSockets = new Set<WebSocket>();
  readonly #grpc = new Set<RawGrpc>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly counts: HungryCounts = { opened: 0, refused: 0, late: 0 };
  #stopped = false;

  constructor(target: HungryTarget) {
    this.#target = target;
    this.#port = Number(new URL(target.api).port);
  }

  start(): void {
    const { key, token, sessionId } = this.#target;
    const path = `/api/sessions/${sessionId}`;
    const upload = `POST ${path}/upload-audio HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nX-Chunk-Sequence: 900\r\nContent-Type: audio/wav\r\nContent-Length: 4000000\r\n\r\n`;
    const login =
      "POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{";
    const audio = `GET ${path}/audio HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    for (let n = 0; n < DRIBBLED_BODIES; n += 1) this.#hold(login, n, "drip");
    for (let n = 0; n < HALF_UPLOADS; n += 1) this.#hold(upload + "x".repeat(4_000), n, "drip");
    for (let n = 0; n < STALLED_DOWNLOADS; n += 1) this.#hold(audio, n, "deaf");
    for (let n = 0; n < DEAF_SOCKETS; n += 1) this.#listen(n);
    for (let n = 0; n < GRPC_CONNECTIONS; n += 1) void this.#halve();
    this.#every(FLOOD_MS, () => this.#ask());
    this.#every(DRIP_MS, () => {
      for (const socket of this.#sockets) if (!socket.isPaused()) socket.write("x");
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
    for (const socket of this.#webSockets) socket.terminate();
    for (const raw of this.#grpc) raw.close();
  }

  #every(ms: number, work: () => void): void {
    this.#timers.push(setInterval(work, ms));
  }

  /** A connection that keeps its place for as long as it may, and comes again after that. */
  #hold(text: string, n: number, how: "drip" | "deaf"): void {
    if (this.#stopped) return;
    const socket = this.#dial(n);
    this.#sockets.add(socket);
    this.counts.opened += 1;
    socket.write(text);
    socket.on("data", (data) => {
      const head = data.subarray(0, 12).toString("latin1");
      if (head === "HTTP/1.1 408") this.counts.late += 1;
      if (/^HTTP\/1\.1 (429|503)$/.test(head)) this.counts.refused += 1;
      if (how === "deaf" && head === "HTTP/1.1 200") socket.pause();
      else socket.destroy();
    });
    socket.on("close", () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#hold(text, n, how), DRIP_MS).unref();
    });
  }

  /** A viewer that asks for the whole record again and again and reads nothing of it. */
  #listen(n: number): void {
    const { live, token, sessionId } = this.#target;
    const socket = new WebSocket(live, {
      headers: { authorization: `Bearer ${token}` },
      localAddress: ADDRESSES[n % ADDRESSES.length],
    });
    this.#webSockets.add(socket);
    this.counts.opened += 1;
    socket.on("error", () => {});
    socket.on("unexpected-response", () => {
      this.counts.refused += 1;
    });
    socket.on("open", () => {
      socket.pause();
      const frame = JSON.stringify({ type: "Subscribe", session_id: sessionId, from_seq: 0 });
      for (let again = 0; again < 20; again += 1) socket.send(frame);
    });
  }

  /** A gRPC connection with calls whose messages never end; it comes again when it is ended. */
  async #halve(): Promise<void> {
    if (this.#stopped) return;
    const raw = await RawGrpc.open(this.#target.grpc);
    this.#grpc.add(raw);
    this.counts.opened += 1;
    if (raw.isClosed) this.counts.refused += 1;
    for (let n = 0; n < HALF_MESSAGES && !raw.isClosed; n += 1) {
      const path = HALF_MESSAGE_PATHS[n % HALF_MESSAGE_PATHS.length] ?? "";
      raw.call(path, { "x-api-key": this.#target.key }).beginMessage(1_000);
    }
    const again = () => {
      this.#grpc.delete(raw);
      setTimeout(() => void this.#halve(), DRIP_MS).unref();
    };
    if (raw.isClosed) again();
    else raw.session.on("close", again);
  }

  /** A request without a name, below the address's limit. */
  #ask(): void {
    const socket = this.#dial(Math.floor(Math.random() * ADDRESSES.length));
    socket.end("GET /api/auth/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    socket.resume();
  }

  #dial(n: number): Socket {
    const localAddress = ADDRESSES[n % ADDRESSES.length];
    const socket = connect({ port: this.#port, host: "127.0.0.1", localAddress });
    return socket.on("error", () => {});
  }
}

let clients: HungryClients | undefined;

answerParent<HungryQuestion>(async (question) => {
  if (question.kind === "start") {
    clients = new HungryClients(question.target);
    clients.start();
    return undefined;
  }
  clients?.stop();
  return clients?.counts;
});
