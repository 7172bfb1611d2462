import fc, { type Arbitrary } from "fast-check";
import { type Malformed, malformed } from "./malformed-frames.ts";
import { bytesOf, type OddBytes, oddBytes } from "./odd-bytes.ts";
import { oddText } from "./odd-text.ts";
import { nearlyValid, type Resolve, type Schema, valid } from "./schema-arbitrary.ts";

/** What a client does on its socket, in order. */
export type Step =
  | { do: "text"; text: string }
  | { do: "bytes"; bytes: OddBytes }
  /** A message in fragments, each so many bytes long, with pings between them. */
  | { do: "fragments"; text: string; cuts: number[]; pings: boolean }
  | { do: "malformed"; malformed: Malformed }
  /** Waits until the service has said something, or for a moment. */
  | { do: "listen" }
  | { do: "close"; code: number; reason: string }
  /** The connection is cut. */
  | { do: "drop" };

export interface SocketPlan {
  credential: "right" | "ticket" | "none" | "bad" | "other" | "spent ticket";
  /** Added to those of an upgrade, or in their place. */
  headers: Record<string, string>;
  steps: Step[];
}

const CREDENTIALS: Arbitrary<SocketPlan["credential"]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant("right" as const) },
  { weight: 4, arbitrary: fc.constant("ticket" as const) },
  { weight: 1, arbitrary: fc.constantFrom("none", "bad", "other", "spent ticket") },
);

const HEADER = fc.constantFrom<Record<string, string>>(
  { "sec-websocket-key": "" },
  { "sec-websocket-key": "x".repeat(3_000) },
  { "sec-websocket-version": "12" },
  { "sec-websocket-version": "x" },
  { "sec-websocket-protocol": "a, b, c" },
  { "sec-websocket-protocol": "\u00ff" },
  { "sec-websocket-extensions": "permessage-deflate; client_max_window_bits=99" },
  { "sec-websocket-extensions": "x-unknown;;;,," },
  { origin: "null" },
  { origin: "https://evil.example" },
  { connection: "keep-alive" },
  { upgrade: "h2c" },
  { authorization: "Bearer " },
  { authorization: `Basic ${"A".repeat(2_000)}` },
  { "content-length": "5" },
);

const HEADERS: Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: HEADER },
);

/** Cases of a channel whose clients send frames of these schemas, and audio if `hears`. */
export function socketPlans(
  schemas: readonly Schema[],
  resolve: Resolve,
  { hears, usual }: { hears: boolean; usual: Arbitrary<Step[]> },
): Arbitrary<SocketPlan> {
  const text = frameTexts(schemas, resolve).map((each): Step => ({ do: "text", text: each }));
  const step: Arbitrary<Step> = fc.oneof(
    { weight: 10, arbitrary: text },
    { weight: hears ? 5 : 1, arbitrary: audio },
    { weight: 2, arbitrary: fragments(frameTexts(schemas, resolve)) },
    { weight: 2, arbitrary: fc.constant<Step>({ do: "listen" }) },
    { weight: 1, arbitrary: malformed.map((each): Step => ({ do: "malformed", malformed: each })) },
    { weight: 1, arbitrary: ending },
  );
  const wild = fc.array(step, { minLength: 1, maxLength: 12 });
  const permuted = usual.chain((steps) =>
    fc.shuffledSubarray([...steps, ...steps.slice(0, 2)], { minLength: 1 }),
  );
  const disturbed = fc
    .tuple(usual, step, fc.nat())
    .map(([steps, odd, at]) => steps.toSpliced(at % (steps.length + 1), 0, odd));
  return fc.record({
    credential: CREDENTIALS,
    headers: HEADERS,
    steps: fc.oneof(
      { weight: 3, arbitrary: wild },
      { weight: 1, arbitrary: usual },
      { weight: 2, arbitrary: permuted },
      { weight: 3, arbitrary: disturbed },
    ),
  });
}

const audio: Arbitrary<Step> = oddBytes([0, 1, 2, 3, 640, 641, 3_200, 32_000]).map((bytes) => ({
  do: "bytes",
  bytes,
}));

/** Larger than the largest message, on this side of the transport's own limit and beyond it. */
const HUGE = [64 * 1024, 64 * 1024 + 1, 200_000, 256 * 1024 + 1, 1024 * 1024 + 1, 1280 * 1024 + 1];

export const hugeAudio: Arbitrary<Step> = fc
  .constantFrom(...HUGE)
  .map((size) => ({ do: "bytes", bytes: { kind: "noise", size, seed: 1 } }));

const ending: Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ do: "drop" }),
  fc.record({
    do: fc.constant("close" as const),
    code: fc.constantFrom(1000, 1001, 1002, 1011, 3000, 4000, 4400, 4999),
    reason: fc.constantFrom("", "bye", "x".repeat(123)),
  }),
);

function fragments(texts: Arbitrary<string>): Arbitrary<Step> {
  return fc.record({
    do: fc.constant("fragments" as const),
    text: texts,
    cuts: fc.array(fc.constantFrom(0, 1, 2, 7, 40, 125, 126), { minLength: 1, maxLength: 6 }),
    pings: fc.boolean(),
  });
}

/** Text messages: right, nearly right, and nonsense. */
function frameTexts(schemas: readonly Schema[], resolve: Resolve): Arbitrary<string> {
  const json = (value: unknown) => JSON.stringify(value) ?? "";
  const right = fc.oneof(...schemas.map((schema) => valid(schema, resolve))).map(json);
  const near = fc.oneof(...schemas.map((schema) => nearlyValid(schema, resolve))).map(json);
  return fc.oneof(
    { weight: 6, arbitrary: right },
    { weight: 4, arbitrary: near },
    { weight: 3, arbitrary: oddText(right) },
  );
}

/** The bytes of a step's message. */
export function audioOf(step: Extract<Step, { do: "bytes" }>): Buffer {
  return bytesOf(step.bytes);
}
