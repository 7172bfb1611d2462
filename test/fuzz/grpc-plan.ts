import { fileURLToPath } from "node:url";
import { loadSync, type MessageTypeDefinition, type MethodDefinition } from "@grpc/proto-loader";
import fc, { type Arbitrary } from "fast-check";
import { protoPath as healthProto } from "grpc-health-check";
import { bytesOf, oddBytes } from "./odd-bytes.ts";
import { known } from "./schema-arbitrary.ts";

const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));
const DEFINITION = loadSync(["voice/v1/sessions.proto", healthProto], {
  includeDirs: [PROTO_ROOT],
  keepCase: true,
});

interface Field {
  name: string;
  type: string;
  typeName: string;
  label: string;
}

type Method = MethodDefinition<object, object>;

/** Methods of the services, by path. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  ["voice.v1.SessionService", "grpc.health.v1.Health"].flatMap((service) =>
    Object.values((DEFINITION[service] ?? {}) as Record<string, Method>).map(
      (method): [string, Method] => [method.path, method],
    ),
  ),
);

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/** Bytes of a message that are changed before it is sent. */
interface Change {
  how: "flip" | "cut" | "insert" | "repeat";
  at: number;
  byte: number;
}

export interface MessagePlan {
  /** As protobufjs takes it: bytes in base64. */
  value: object;
  changes: Change[];
  /** The byte before the length: 0 is right, 1 says "compressed". */
  flag: number;
  /** Added to the true length in the prefix; a fixed length where it is a text. */
  length: number | "huge" | "limit" | "beyond limit";
  /** Bytes of the whole that are left out at its end. */
  missing: number;
}

export interface CallPlan {
  path: string;
  verb: string;
  headers: Record<string, string>;
  key: "right" | "right" | "none" | "bad" | "user";
  messages: MessagePlan[];
  /** Sizes of the pieces in which it is sent; one piece when empty. */
  pieces: number[];
  end: "end" | "reset" | "leave" | "cut";
}

/** Bytes on a connection without HTTP/2's rules. */
export interface WirePlan {
  wire: string[];
}

export type GrpcPlan = CallPlan | WirePlan;

/** The message's value: ids of real things mostly, numbers at their edges, texts of any kind. */
function messages(typeName: string, depth = 0): Arbitrary<object> {
  const name = typeName.replace(/^\./, "");
  const definition = (DEFINITION[name] ?? DEFINITION[`voice.v1.${name}`]) as
    | MessageTypeDefinition<object, object>
    | undefined;
  const fields = ((definition?.type as { field?: Field[] } | undefined)?.field ?? []).filter(
    ({ type }) => depth < 3 || type !== "TYPE_MESSAGE",
  );
  const members = fields.map((field): [string, Arbitrary<unknown>] => {
    const one = fieldValue(field, depth);
    const isList = field.label === "LABEL_REPEATED";
    return [field.name, isList ? fc.array(one, { maxLength: 3 }) : one];
  });
  return fc.record<Record<string, unknown>, string>(Object.fromEntries(members), {
    requiredKeys: [],
  });
}

const EDGES = [0, 1, 2, 50, 500, 501, 8_000, 16_000, 48_000, 2 ** 31 - 1, 2 ** 32 - 1];
const WIDE = ["0", "1", "9007199254740993", "9223372036854775807", "18446744073709551615"];
const WORDS = ["", " ", "pcm_s16le", "mulaw", "opus", "packet", "length_prefixed", "\u0000", "💥"];

function fieldValue({ name, type, typeName }: Field, depth: number): Arbitrary<unknown> {
  switch (type) {
    case "TYPE_MESSAGE":
      return messages(typeName, depth + 1);
    case "TYPE_BOOL":
      return fc.boolean();
    case "TYPE_BYTES":
      return oddBytes([0, 1, 3, 640, 3_200, 262_144, 262_145]).map((bytes) =>
        bytesOf(bytes).toString("base64"),
      );
    case "TYPE_STRING": {
      const free = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: "grapheme" }));
      const right = name.endsWith("_id") ? fc.constant(known(name)) : free;
      const long = fc.constantFrom("x".repeat(2_001), "'".repeat(50_000), "-- ; drop");
      return fc.oneof(
        { weight: 6, arbitrary: right },
        { weight: 1, arbitrary: free },
        { weight: 1, arbitrary: long },
      );
    }
    case "TYPE_UINT32":
      return fc.constantFrom(...EDGES);
    default:
      return fc.constantFrom(...WIDE);
  }
}

const change: Arbitrary<Change> = fc.record({
  how: fc.constantFrom("flip", "cut", "insert", "repeat"),
  at: fc.nat(400),
  byte: fc.nat(255),
});

function often<T>(usual: T, odd: Arbitrary<T>, weight = 8): Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd });
}

function messagePlan(values: Arbitrary<object>): Arbitrary<MessagePlan> {
  return fc.record({
    value: values,
    changes: often<Change[]>([], fc.array(change, { minLength: 1, maxLength: 4 }), 3),
    flag: often(0, fc.constantFrom(1, 2, 255)),
    length: often<MessagePlan["length"]>(
      0,
      fc.constantFrom<MessagePlan["length"][]>(
        1,
        -1,
        5,
        -5,
        1_000,
        "huge",
        "limit",
        "beyond limit",
      ),
    ),
    missing: often(0, fc.constantFrom(1, 3, 5, 20)),
  });
}

/** Right headers with some in the place of others. */
const HEADERS: Arbitrary<Record<string, string>> = often<Record<string, string>>(
  {},
  fc.constantFrom<Record<string, string>>(
    { "content-type": "application/json" },
    { "content-type": "application/grpc+json" },
    { "content-type": "application/grpc-web+proto" },
    { "content-type": "text/plain; x=y" },
    { "content-type": "" },
    { te: "" },
    { "grpc-encoding": "gzip" },
    { "grpc-encoding": "deflate" },
    { "grpc-encoding": "snappy" },
    { "grpc-accept-encoding": "x,y,z" },
    { "grpc-timeout": "1n" },
    { "grpc-timeout": "1m" },
    { "grpc-timeout": "200m" },
    { "grpc-timeout": "99999999H" },
    { "grpc-timeout": "-5S" },
    { "grpc-timeout": "x" },
    { "user-agent": "a".repeat(8_000) },
    { "x-odd-bin": "!!!" },
    { "x-many": "b".repeat(12_000) },
  ),
  4,
);

const OTHER_PATHS = [
  "/voice.v1.SessionService/Nothing",
  "/voice.v1.WorkerService/Transcribe",
  "/voice.v1.SessionService/",
  "/",
  "/../../etc/passwd",
  `/${"a".repeat(4_000)}`,
  "/grpc.health.v1.Health/check",
];

function callPlan(path: string, values: Arbitrary<object>): Arbitrary<CallPlan> {
  return fc.record({
    path: fc.constant(path),
    verb: often("POST", fc.constantFrom("GET", "PUT", "OPTIONS")),
    headers: HEADERS,
    key: often<CallPlan["key"]>("right", fc.constantFrom("none", "bad", "user"), 5),
    messages: fc.oneof(
      { weight: 5, arbitrary: fc.tuple(messagePlan(values)) },
      { weight: 2, arbitrary: fc.array(messagePlan(values), { maxLength: 5 }) },
    ),
    pieces: often<number[]>([], fc.array(fc.constantFrom(1, 3, 5, 17, 1_000), { maxLength: 8 }), 3),
    end: often<CallPlan["end"]>("end", fc.constantFrom("reset", "leave", "cut"), 4),
  });
}

const CONFIGURE = {
  session_id: known("session_id"),
  encoding: "pcm_s16le",
  sample_rate: 16_000,
  channels: 1,
};

/** A stream of audio as it should be, now and then with something in it. */
const ingest: Arbitrary<CallPlan> = fc
  .record({
    plan: callPlan("/voice.v1.SessionService/IngestAudio", messages("IngestAudioRequest")),
    audio: fc.array(oddBytes([640, 3_200]), { maxLength: 4 }),
  })
  .map(({ plan, audio }) => {
    const right = [
      { configure: CONFIGURE },
      ...audio.map((bytes) => ({ audio: bytesOf(bytes).toString("base64") })),
      { finalize: {} },
    ].map((value) => ({ value, changes: [], flag: 0, length: 0, missing: 0 }));
    return { ...plan, messages: [...right, ...plan.messages.slice(1)] };
  });

/** HTTP/2 frames: nine bytes of head, then what they say, or not. */
const h2Frame: Arbitrary<string> = fc
  .record({
    length: fc.constantFrom(0, 1, 8, 16_384, 0xff_ffff),
    type: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200),
    flags: fc.constantFrom(0, 1, 4, 5, 8, 255),
    stream: fc.constantFrom(0, 1, 2, 3, 2 ** 31 - 1),
    payload: fc.uint8Array({ maxLength: 60 }),
  })
  .map(({ length, type, flags, stream, payload }) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]).toString("base64");
  });

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

const wire: Arbitrary<WirePlan> = fc
  .tuple(
    fc.constantFrom(
      PREFACE,
      PREFACE,
      Buffer.from("GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
      Buffer.of(),
    ),
    fc.array(h2Frame, { maxLength: 8 }),
  )
  .map(([preface, frames]) => ({ wire: [preface.toString("base64"), ...frames] }));

const declared = [...METHODS].map(([path, { requestType }]) =>
  callPlan(path, messages((requestType.type as { name: string }).name)),
);

export const grpcPlans: Arbitrary<GrpcPlan> = fc.oneof(
  { weight: 10, arbitrary: fc.oneof(...declared) },
  { weight: 3, arbitrary: ingest },
  { weight: 1, arbitrary: callPlan(REFLECTION, fc.constant({})) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...OTHER_PATHS).chain((path) => callPlan(path, fc.constant({}))),
  },
  { weight: 1, arbitrary: wire },
);
