import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import type { PairedDevice } from "../support/paired-device.ts";

/** Where hungry clients come from: not from where their neighbours do. */
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const DRIBBLED_BODIES = 150;
const HALF_UPLOADS = 60;
const STALLED_DOWNLOADS = 24;
const DEAF_SOCKETS = 60;
const FLOOD_MS = 8;
const DRIP_MS = 1_000;

export interface HungryCounts {
  opened: number;
  refused: number;
  late: number;
}

/**
 * Slow and hungry clients of one installation, until stopped: bodies that dribble, uploads that stop
 * half-way, downloads and sockets that are not read, and strangers who ask as often as they may.
 * Bounded in number; those that are refused or ended come again.
 */
export class HungryClients {
  readonly #greedy: PairedDevice;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #webSockets = new Set<WebSocket>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly counts: HungryCounts = { opened: 0, refused: 0, late: 0 };
  #stopped = false;

  /** @param greedy a device with a recorded session, whose key and owner's token are misused */
  constructor(greedy: PairedDevice) {
    this.#greedy = greedy;
    this.#port = Number(new URL(greedy.service.api).port);
  }

  start(): void {
    const { key, token, sessionId } = this.#greedy;
    const path = `/api/sessions/${sessionId}`;
    const upload = `POST ${path}/upload-audio HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nX-Chunk-Sequence: 900\r\nContent-Type: audio/wav\r\nContent-Length: 4000000\r\n\r\n`;
    const login =
      "POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{";
    const audio = `GET ${path}/audio HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    for (let n = 0; n < DRIBBLED_BODIES; n += 1) this.#hold(login, n, "drip");
    for (let n = 0; n < HALF_UPLOADS; n += 1) this.#hold(upload + "x".repeat(4_000), n, "drip");
    for (let n = 0; n < STALLED_DOWNLOADS; n += 1) this.#hold(audio, n, "deaf");
    for (let n = 0; n < DEAF_SOCKETS; n += 1) this.#listen(n);
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
    const { token, sessionId } = this.#greedy;
    const socket = new WebSocket(this.#greedy.service.ready.live_url, {
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
