import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import { ERROR_CODES } from "../../src/base/errors.ts";
import { until } from "../support/until.ts";
import {
  type CallPlan,
  type GrpcPlan,
  grpcPlans,
  METHODS,
  type MessagePlan,
  type WirePlan,
} from "./grpc-plan.ts";
import type { Target } from "./target.ts";
import { type FuzzWorld, fillIn } from "./world.ts";

/** Longer than the longest deadline that a call gets by itself. */
const HANG_MS = 45_000;
/** How long a stream that need not end is listened to. */
const LISTEN_MS = 300;
/** Methods that answer until their caller has heard enough. */
const ENDLESS: ReadonlySet<string> = new Set([
  "/voice.v1.SessionService/WatchTranscript",
  "/grpc.health.v1.Health/Watch",
]);
const LIMIT_BYTES = 1024 * 1024;

/** What grpc-js itself answers with INTERNAL, though the fault is the client's. */
const OF_TRANSPORT =
  /^(Invalid grpc-timeout|Failed to decompress|Error deserializing request|Received RST)/;

/** The public session service, called over bare HTTP/2. */
export function grpcTarget(address: string): Target<GrpcPlan> {
  return {
    name: "grpc",
    lanes: 3,
    plans: grpcPlans,
    play: (plan, world) =>
      "wire" in plan ? playWire(plan, address) : new Call(plan, world).play(address),
  };
}

/** Bytes that no client sends: whatever comes back, the service lives on. */
async function playWire({ wire }: WirePlan, address: string): Promise<string> {
  const { hostname, port } = new URL(`http://${address}`);
  const socket = connect(Number(port), hostname);
  let isOver = false;
  socket.on("close", () => {
    isOver = true;
  });
  socket.on("error", () => {});
  socket.resume();
  for (const piece of wire) socket.write(Buffer.from(piece, "base64"));
  await until(() => isOver, "an end", LISTEN_MS).catch(() => {});
  socket.destroy();
  return isOver ? "wire, cut" : "wire, left open";
}

class Call {
  readonly #plan: CallPlan;
  readonly #world: FuzzWorld;
  #answered: IncomingHttpHeaders = {};
  #trailers: IncomingHttpHeaders = {};
  #isOver = false;
  #bytes: Buffer[] = [];
  #resetBy: number | undefined;

  constructor(plan: CallPlan, world: FuzzWorld) {
    this.#plan = plan;
    this.#world = world;
  }

  async play(address: string): Promise<string> {
    const session = http2.connect(`http://${address}`);
    session.on("error", () => {});
    try {
      return await this.#playOn(session);
    } finally {
      session.destroy();
    }
  }

  async #playOn(session: ClientHttp2Session): Promise<string> {
    const { end, path } = this.#plan;
    const stream = session.request(this.#headers(), { endStream: false });
    stream.on("response", (headers) => {
      this.#answered = headers;
    });
    stream.on("trailers", (headers) => {
      this.#trailers = headers;
    });
    stream.on("data", (bytes: Buffer) => this.#bytes.push(bytes));
    stream.on("error", () => {});
    stream.on("close", () => {
      this.#isOver = true;
      this.#resetBy = stream.rstCode;
    });
    for (const piece of this.#pieces()) stream.write(piece);
    if (end === "cut") {
      session.destroy();
      return "cut";
    }
    if (end === "end") stream.end();
    const mustEnd = end === "end" && !ENDLESS.has(path);
    const over = until(() => this.#isOver, "the end of the call", mustEnd ? HANG_MS : LISTEN_MS);
    await over.catch((error: unknown) => {
      if (mustEnd) throw error;
    });
    const outcome = this.#judge();
    if (end === "reset") stream.close(http2.constants.NGHTTP2_CANCEL);
    return outcome;
  }

  #headers(): Record<string, string> {
    const { path, verb, headers, key } = this.#plan;
    const keys: Record<CallPlan["key"], Record<string, string>> = {
      right: { "x-api-key": this.#world.serviceKey },
      none: {},
      bad: { "x-api-key": "vk_svc_nothing" },
      user: { ...this.#world.callers.user },
    };
    const sent = {
      ":method": verb,
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...keys[key],
      ...headers,
    };
    return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ""));
  }

  #pieces(): Buffer[] {
    const { messages, path, pieces } = this.#plan;
    const whole = Buffer.concat(messages.map((each) => framed(each, path, this.#world)));
    const parts: Buffer[] = [];
    let at = 0;
    for (const size of pieces) {
      parts.push(whole.subarray(at, at + size));
      at += size;
    }
    return [...parts, whole.subarray(at)].filter((part) => part.length > 0);
  }

  #judge(): string {
    const http = this.#answered[":status"] === undefined ? 0 : Number(this.#answered[":status"]);
    if (![0, 200, 415].includes(http)) throw new Error(`answered ${http}`);
    if (http === 415) return "http 415";
    const told = { ...this.#answered, ...this.#trailers };
    const code = told["grpc-status"];
    this.#checkMessages();
    if (code === undefined) {
      if (!this.#isOver) return "left open";
      if (this.#resetBy === 0) throw new Error("ended without a grpc-status");
      return `reset ${this.#resetBy}`;
    }
    return checkStatus(Number(code), told);
  }

  /** Whole messages that decode, one after another. */
  #checkMessages(): void {
    const method = METHODS.get(this.#plan.path);
    const all = Buffer.concat(this.#bytes);
    let at = 0;
    while (method !== undefined && all.length >= at + 5) {
      const length = all.readUInt32BE(at + 1);
      if (all[at] !== 0) throw new Error(`a message begins with ${all[at]}`);
      if (all.length < at + 5 + length) break;
      method.responseDeserialize(all.subarray(at + 5, at + 5 + length));
      at += 5 + length;
    }
    const isDone = this.#isOver && this.#trailers["grpc-status"] === "0";
    if (method !== undefined && isDone && at !== all.length) {
      throw new Error("the last message is half there");
    }
  }
}

const KNOWN_CODES: ReadonlySet<string> = new Set(ERROR_CODES);

function checkStatus(code: number, told: IncomingHttpHeaders): string {
  const name = status[code];
  const details = decodeURIComponent(String(told["grpc-message"] ?? ""));
  const error = told["x-error-code"];
  if (name === undefined) throw new Error(`ended with the status ${code}`);
  if (typeof error === "string" && !KNOWN_CODES.has(error)) {
    throw new Error(`ended with the code ${error}, which is not in the list`);
  }
  const isFault = code === status.INTERNAL || code === status.UNKNOWN || code === status.DATA_LOSS;
  if (isFault && !OF_TRANSPORT.test(details)) throw new Error(`ended with ${name}: ${details}`);
  return name;
}

/** A message as it goes over the wire: flag, length, bytes. */
function framed(plan: MessagePlan, path: string, world: FuzzWorld): Buffer {
  const value = JSON.parse(fillIn(world, JSON.stringify(plan.value))) as object;
  const method = METHODS.get(path);
  let bytes = method === undefined ? Buffer.from("\x0a\x01x") : method.requestSerialize(value);
  for (const each of plan.changes) bytes = changed(bytes, each);
  const head = Buffer.alloc(5);
  head.writeUInt8(plan.flag, 0);
  head.writeUInt32BE(lengthOf(plan, bytes.length), 1);
  const whole = Buffer.concat([head, bytes]);
  return whole.subarray(0, Math.max(0, whole.length - plan.missing));
}

function lengthOf({ length }: MessagePlan, real: number): number {
  if (length === "huge") return 2 ** 32 - 1;
  if (length === "limit") return LIMIT_BYTES;
  if (length === "beyond limit") return LIMIT_BYTES + 1;
  return Math.max(0, real + length);
}

function changed(bytes: Buffer, { how, at, byte }: MessagePlan["changes"][number]): Buffer {
  const place = bytes.length === 0 ? 0 : at % bytes.length;
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  if (how === "cut") return before;
  if (how === "insert") return Buffer.concat([before, Buffer.of(byte), after]);
  if (how === "repeat") return Buffer.concat([before, after, after]);
  return Buffer.concat([before, Buffer.of((after[0] ?? 0) ^ (byte | 1)), after.subarray(1)]);
}
