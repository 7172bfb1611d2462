import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VoiceClient } from "../../../src/client/browser.ts";
import { AuthenticationError, ChannelError } from "../../../src/client/errors.ts";
import { refusal, ScriptedService } from "../../support/scripted-service.ts";

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const event = (seq: number) => ({ type: "Stub", session_id: "s", seq, at: `at ${seq}` });

/** With the WebSocket that browsers have, and Node too: it sets no header. */
describe("client in browsers", () => {
  let service: ScriptedService;
  let voice: VoiceClient;
  let tickets = 0;
  beforeEach(async () => {
    service = await ScriptedService.start();
    tickets = 0;
    service.answer = ({ path }) =>
      path === "/api/auth/live-ticket"
        ? { status: 201, body: { ticket: `t&${++tickets}` } }
        : { status: 404, body: refusal("No.") };
    voice = new VoiceClient({ baseUrl: service.url, token: "person" });
  });
  afterEach(() => service.stop());

  it("browser: each connection has a ticket of its own, and goes on where the last one broke", async () => {
    service.play = (socket, number) => {
      socket.once("message", () => {
        socket.send(JSON.stringify(event(number)));
        if (number < 3) socket.terminate();
      });
    };
    const seen: number[] = [];
    for await (const frame of voice.follow("s", { cursor: { seq: 0 }, backOff: QUICK })) {
      if ("seq" in frame) seen.push(frame.seq);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(service.upgrades.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((number) => `/api/live?ticket=t%26${number}`),
    );
    expect(service.upgrades[0]?.headers.authorization).toBeUndefined();
    expect(service.asked.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill("Bearer person"),
    );
  });

  it("browser: audio goes as it is, and what a refused connection hides is tried again", async () => {
    service.refuse = (number) => (number === 1 ? { status: 403 } : undefined);
    let came = Buffer.alloc(0);
    service.play = (socket) => {
      const tell = (frame: object) => socket.send(JSON.stringify({ session_id: "s", ...frame }));
      socket.on("message", (data: Buffer, isBinary) => {
        if (isBinary) {
          came = Buffer.concat([came, data]);
          return tell({ type: "AudioAck", audio_offset_bytes: came.length, chunk_sequence: 0 });
        }
        const { type } = JSON.parse(String(data)) as { type: string };
        if (type === "Configure") tell({ type: "Begin", audio_offset_bytes: 0, chunk_sequence: 0 });
        if (type === "CloseStream") socket.close(1000);
      });
    };
    const stream = voice.streamAsDevice("d", PCM, { backOff: QUICK });
    const sound = new Uint8Array(100_000).map((_, at) => at);
    await stream.write(sound);
    await stream.end();
    expect(came.equals(sound)).toBe(true);
    expect(service.upgrades.map(({ url }) => url?.split("?")[0])).toEqual(
      Array(2).fill("/api/devices/d/stream"),
    );
  });

  it("browser: a sign-in that is over is told, and nobody there is given up", async () => {
    const first = (follower: AsyncIterable<unknown>) => follower[Symbol.asyncIterator]().next();
    service.refuse = () => ({ status: 503 });
    await expect(first(voice.follow("s", { backOff: QUICK }))).rejects.toThrow(ChannelError);
    expect(service.upgrades).toHaveLength(QUICK.attempts);
    service.answer = () => ({ status: 401, body: refusal("Sign in.") });
    const error = await first(voice.follow("s")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "unauthorized" });
    await expect(voice.getSession("s")).rejects.toThrow(AuthenticationError);
    expect(service.upgrades).toHaveLength(QUICK.attempts);
  });
});
