import { randomBytes } from "node:crypto";
import fc, { type Arbitrary } from "fast-check";
import { CLOSE } from "../../src/wire/close-codes.ts";
import { ApiClient } from "../support/api-client.ts";
import { type AsyncApi, FrameCheck } from "../support/frame-check.ts";
import { until } from "../support/until.ts";
import { malformedBytes } from "./malformed-frames.ts";
import { OPCODE, RawSocket, type Refusal } from "./raw-socket.ts";
import type { Resolve, Schema } from "./schema-arbitrary.ts";
import { audioOf, hugeAudio, type SocketPlan, type Step, socketPlans } from "./socket-plan.ts";
import type { Target } from "./target.ts";
import { type FuzzWorld, fillIn } from "./world.ts";

const HANG_MS = 20_000;
/** How long a client listens before it goes on. */
const LISTEN_MS = 300;
const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(CLOSE));
/** Those of the transport, which answers malformed frames itself. */
const TRANSPORT_CODES: ReadonlySet<number> = new Set([1002, 1005, 1007, 1009]);

interface Channel {
  name: "live" | "device";
  path: string;
  operations: { receive: string; send: string };
  usual: Arbitrary<Step[]>;
  /** The header with the credential that the channel takes. */
  credential(world: FuzzWorld): Record<string, string>;
}

const say = (frame: object): Step => ({ do: "text", text: JSON.stringify(frame) });
const LISTEN: Step = { do: "listen" };

const LIVE: Channel = {
  name: "live",
  path: "/live",
  operations: { receive: "receiveFromViewer", send: "sendToViewer" },
  usual: fc.constantFrom(undefined, 0, 2, 99_999).map((from_seq) => {
    const session_id = "known:session_id";
    return [
      say({ type: "Subscribe", session_id, ...(from_seq === undefined ? {} : { from_seq }) }),
      LISTEN,
      say({ type: "KeepAlive" }),
      say({ type: "Unsubscribe", session_id }),
    ];
  }),
  credential: ({ callers }) => callers.user,
};

const CONFIGURATIONS = [
  { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 },
  { encoding: "pcm_s16le", sample_rate: 48_000, channels: 2 },
  { encoding: "mulaw", sample_rate: 8_000, channels: 1 },
  { encoding: "opus", sample_rate: 16_000, channels: 1 },
  { encoding: "opus", sample_rate: 16_000, channels: 2, framing: "length_prefixed" },
];

const DEVICE: Channel = {
  name: "device",
  path: "/devices/known:device_id/stream",
  operations: { receive: "receiveFromDevice", send: "sendToDevice" },
  usual: fc
    .record({
      configuration: fc.constantFrom(...CONFIGURATIONS),
      named: fc.boolean(),
      audio: fc.array(
        fc.record({
          do: fc.constant("bytes" as const),
          bytes: fc.record({
            kind: fc.constantFrom("zeros", "noise", "packets"),
            size: fc.constantFrom(640, 3_200, 6_401),
            seed: fc.nat(),
          }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      huge: fc.oneof({ weight: 15, arbitrary: fc.constant([]) }, fc.tuple(hugeAudio)),
    })
    .map(({ configuration, named, audio, huge }) => [
      say({
        type: "Configure",
        ...(named ? { session_id: "known:session_id" } : {}),
        ...configuration,
      }),
      LISTEN,
      ...(audio as Step[]),
      ...huge,
      say({ type: "Heartbeat", battery_percent: 50, recording: true }),
      say({ type: "Finalize" }),
      say({ type: "Resume", session_id: "known:session_id", audio_offset_bytes: 0 }),
      LISTEN,
      say({ type: "CloseStream" }),
    ]),
  credential: ({ callers }) => callers.device,
};

/** A WebSocket channel: frames from the service's AsyncAPI document, their mutations, raw bytes. */
export async function socketTarget(
  api: string,
  name: "live" | "device",
): Promise<Target<SocketPlan>> {
  const channel = name === "live" ? LIVE : DEVICE;
  const document = (await (await fetch(`${api}/asyncapi.json`)).json()) as AsyncApi;
  const resolve: Resolve = () => ({});
  const { messages } = document.operations[channel.operations.receive] ?? { messages: [] };
  const schemas = messages
    .map(({ $ref }) => document.components.messages[$ref.split("/").at(-1) ?? ""]?.payload)
    .filter((payload): payload is Schema & { properties: object } => {
      return payload !== undefined && "properties" in payload;
    });
  const game = new SocketGame(
    api,
    channel,
    await ApiClient.connect(api),
    new FrameCheck(document, [channel.operations.send]),
  );
  return {
    name,
    lanes: 3,
    plans: socketPlans(schemas, resolve, { hears: name === "device", usual: channel.usual }),
    play: (plan, world) => game.play(plan, world),
  };
}

/** Plays cases on sockets of a channel. */
class SocketGame {
  readonly #api: string;
  readonly #channel: Channel;
  readonly #client: ApiClient;
  readonly #check: FrameCheck;

  constructor(api: string, channel: Channel, client: ApiClient, check: FrameCheck) {
    this.#api = api;
    this.#channel = channel;
    this.#client = client;
    this.#check = check;
  }

  async play(plan: SocketPlan, world: FuzzWorld): Promise<string> {
    const { url, headers } = await this.#address(plan, world);
    const socket = RawSocket.open(url, headers);
    try {
      await inTime(() => socket.isAnswered, "an answer to the upgrade");
      if (socket.refusal !== undefined) return checkRefusal(socket.refusal);
      if (!socket.isOpen && isOddUpgrade(plan)) return "not upgraded";
      if (!socket.isOpen) throw new Error("the upgrade was not answered, the connection ended");
      await perform(socket, plan.steps, world);
      const outcome = await endOf(socket, plan.steps);
      this.#checkFrames(socket);
      return outcome;
    } finally {
      socket.destroy();
    }
  }

  async #address(
    { credential, headers }: SocketPlan,
    world: FuzzWorld,
  ): Promise<{ url: URL; headers: Record<string, string> }> {
    const url = new URL(`${this.#api}${fillIn(world, this.#channel.path)}`);
    const own = this.#channel.credential(world);
    let sent: Record<string, string> = {};
    if (credential === "right") sent = own;
    if (credential === "bad") sent = { authorization: "Bearer x", "x-api-key": "vk_dev_x" };
    if (credential === "other") sent = { ...world.callers.disabled };
    if (credential.endsWith("ticket")) {
      const answer = await this.#client.call("POST", "/auth/live-ticket", { headers: { ...own } });
      url.searchParams.set("ticket", String(answer.body.ticket));
    }
    if (credential === "spent ticket") {
      const first = RawSocket.open(url, upgradeHeaders());
      await inTime(() => first.isAnswered, "an answer to the upgrade");
      first.destroy();
    }
    return { url, headers: { ...upgradeHeaders(), ...sent, ...headers } };
  }

  /** Every message of the service is a frame as the document says, also its last one. */
  #checkFrames({ texts, problem }: RawSocket): void {
    if (problem !== undefined) throw new Error(problem);
    for (const text of texts) {
      const wrong = this.#check.problem(JSON.parse(text) as { type: string });
      if (wrong !== undefined) throw new Error(wrong);
    }
  }
}

function upgradeHeaders(): Record<string, string> {
  return {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": randomBytes(16).toString("base64"),
    "sec-websocket-version": "13",
  };
}

/** The transport does not answer an upgrade that is none. */
function isOddUpgrade({ headers }: SocketPlan): boolean {
  return Object.keys(headers).length > 0;
}

const REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 404, 426, 429]);

function checkRefusal({ status, headers, body }: Refusal): string {
  if (!REFUSED.has(status)) throw new Error(`the upgrade was answered with ${status}: ${body}`);
  const { success, message } = JSON.parse(body) as Record<string, unknown>;
  if (success !== false || typeof message !== "string" || !headers.has("x-error-code")) {
    throw new Error(`the upgrade was refused off the document: ${status} ${body}`);
  }
  return `refused ${status}`;
}

async function perform(socket: RawSocket, steps: readonly Step[], world: FuzzWorld): Promise<void> {
  for (const step of steps) {
    if (socket.ended || socket.closeCode !== undefined) return;
    await take(socket, step, world);
  }
}

async function take(socket: RawSocket, step: Step, world: FuzzWorld): Promise<void> {
  switch (step.do) {
    case "text":
      return socket.send({ opcode: OPCODE.text, payload: Buffer.from(fillIn(world, step.text)) });
    case "bytes":
      return socket.send({ opcode: OPCODE.binary, payload: audioOf(step) });
    case "fragments":
      return sendFragments(socket, Buffer.from(fillIn(world, step.text)), step);
    case "malformed":
      return socket.write(malformedBytes(step.malformed));
    case "close":
      return socket.send({ opcode: OPCODE.close, payload: closePayload(step.code, step.reason) });
    case "drop":
      return socket.destroy();
    case "listen": {
      const heard = socket.texts.length;
      const isHeard = () => socket.texts.length > heard || socket.ended;
      await until(isHeard, "a frame", LISTEN_MS).catch(() => {});
    }
  }
}

function closePayload(code: number, reason: string): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, Buffer.from(reason)]);
}

function sendFragments(
  socket: RawSocket,
  message: Buffer,
  { cuts, pings }: Extract<Step, { do: "fragments" }>,
): void {
  let at = 0;
  for (const [index, size] of cuts.entries()) {
    const opcode = index === 0 ? OPCODE.text : OPCODE.continuation;
    socket.send({ opcode, payload: message.subarray(at, at + size), fin: false });
    at += size;
    if (pings) socket.send({ opcode: OPCODE.ping, payload: Buffer.from("between") });
  }
  socket.send({ opcode: OPCODE.continuation, payload: message.subarray(at) });
}

/** Waits for the end of a socket that has done all its steps, or sees that it lives and ends it. */
async function endOf(socket: RawSocket, steps: readonly Step[]): Promise<string> {
  const isWrong = steps.some((step) => step.do === "malformed");
  const isOver = () => socket.ended || socket.closeCode !== undefined;
  if (steps.some((step) => step.do === "drop")) return "dropped";
  if (isWrong) {
    // After half a frame nothing more can be said, and nothing need be answered.
    await until(isOver, "an end", LISTEN_MS).catch(() => {});
    if (!isOver()) return "malformed, left open";
  } else {
    const { pongs } = socket;
    socket.send({ opcode: OPCODE.ping, payload: Buffer.from("alive?") });
    await inTime(() => isOver() || socket.pongs > pongs, "an answer to a ping");
    socket.send({ opcode: OPCODE.close, payload: closePayload(CLOSE.done, "") });
    await inTime(isOver, "the close");
  }
  await inTime(() => socket.ended, "the end of the connection after its close");
  return judgeEnd(socket.closeCode, steps, isWrong);
}

function judgeEnd(code: number | undefined, steps: readonly Step[], isWrong: boolean): string {
  const own = steps.flatMap((step) => (step.do === "close" ? [step.code] : []));
  if (code === undefined) {
    if (isWrong) return "malformed, cut";
    // Above the transport's own limit it reads no further.
    if (steps.some(isBeyondTransport)) return "too large, cut";
    throw new Error("the connection ended without a close frame");
  }
  // uWebSockets.js repeats the code of a close, but none beside the longest reason.
  const isEchoed = own.includes(code) || (own.length > 0 && code === 1005);
  const isKnown = KNOWN_CODES.has(code) || isEchoed;
  if (isKnown || (isWrong && TRANSPORT_CODES.has(code))) return `closed ${code}`;
  throw new Error(`closed with ${code}, which is not in the list`);
}

function isBeyondTransport(step: Step): boolean {
  if (step.do === "bytes") return step.bytes.size > 256 * 1024;
  return (step.do === "text" || step.do === "fragments") && step.text.length > 200_000;
}

async function inTime(condition: () => boolean, what: string): Promise<void> {
  await until(condition, what, HANG_MS).catch(() => {
    throw new Error(`no sign of ${what} within ${HANG_MS / 1_000} s`);
  });
}
