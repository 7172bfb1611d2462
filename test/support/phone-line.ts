import { once } from "node:events";
import WebSocket from "ws";

export type Direction = "inbound" | "outbound";

/** 20 ms. */
const FRAME_BYTES = 160;
const STREAM = "MZ18ad3ab5a668481ce02b83e7395059f0";
const CALL = "CA27c1bcd2ad2f4ed8a5a1b0a5a3a2d7e1";

/** A telephone call as Twilio's Media Streams bring it, over a WebSocket that is open. */
export class PhoneLine {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  #sequence = 0;
  readonly #chunks: Record<Direction, number> = { inbound: 0, outbound: 0 };

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => {});
    this.closed = once(socket, "close").then(([code, reason]) => {
      return { code: Number(code), reason: String(reason) };
    });
  }

  /** Rejects when the upgrade is refused. */
  static async open(url: string, headers: Record<string, string> = {}): Promise<PhoneLine> {
    const line = new PhoneLine(new WebSocket(url, { headers }));
    await once(line.socket, "open");
    line.send({ event: "connected", protocol: "Call", version: "1.0.0" });
    return line;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  #say(event: string, members: object): void {
    this.#sequence += 1;
    this.send({ event, sequenceNumber: `${this.#sequence}`, streamSid: STREAM, ...members });
  }

  start(ticket: string | undefined, ...tracks: Direction[]): void {
    this.#say("start", {
      start: {
        ...{ accountSid: "AC0", streamSid: STREAM, callSid: CALL, tracks },
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
        customParameters: ticket === undefined ? {} : { ticket },
      },
    });
  }

  /** One message. @param at milliseconds from the beginning */
  media(track: Direction, at: number, sound: Uint8Array): void {
    this.#chunks[track] += 1;
    const payload = Buffer.from(sound).toString("base64");
    const chunk = `${this.#chunks[track]}`;
    this.#say("media", { media: { track, chunk, timestamp: `${at}`, payload } });
  }

  /** As if messages of the track had been lost. */
  lose(track: Direction, messages: number): void {
    this.#chunks[track] += messages;
  }

  /** All tracks from a time on, in messages of 20 ms that alternate. */
  speak(sounds: Partial<Record<Direction, Uint8Array>>, from = 0): void {
    const tracks = Object.entries(sounds) as [Direction, Uint8Array][];
    const longest = Math.max(...tracks.map(([, sound]) => sound.byteLength));
    for (let at = 0; at < longest; at += FRAME_BYTES) {
      for (const [track, sound] of tracks) {
        const frame = sound.subarray(at, at + FRAME_BYTES);
        if (frame.byteLength > 0) this.media(track, from + at / 8, frame);
      }
    }
  }

  stop(): void {
    this.#say("stop", { stop: { accountSid: "AC0", callSid: CALL } });
  }
}
