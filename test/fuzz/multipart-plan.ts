import fc, { type Arbitrary } from "fast-check";
import { bytesOf, type OddBytes, oddBytes } from "./odd-bytes.ts";

interface Part {
  headers: string[];
  content: { text: string } | { bytes: OddBytes };
  /** The bytes between head and content; a right part has an empty line there. */
  gap: string;
}

export interface UploadPlan {
  contentType: string;
  sequence: string | undefined;
  /** The delimiter that stands in the body. */
  delimiter: string;
  parts: Part[];
  /** After the last part; a right body has its end there. */
  tail: string;
  /** Before the first part. */
  preamble: string;
  /** How often the parts are repeated. */
  times: number;
  /** How it is sent: with its length, in chunks of this size, or cut off after a share of it. */
  sent: { whole: true } | { chunk: number } | { cutAt: number };
  caller: "device" | "device" | "user" | "none";
}

const SEQUENCES = [
  ..."0123456789".split(""),
  "00",
  "+1",
  "-1",
  "1.0",
  "1e3",
  " 4 ",
  "0x10",
  "2147483647",
  "2147483648",
  "9007199254740993",
  "NaN",
  "",
  "٣",
  "1\u0000",
  "9".repeat(5_000),
];

const sequenceText = fc.constantFrom(...SEQUENCES);

const TYPES = [
  "audio/wav",
  "audio/wav",
  "audio/pcm;rate=16000;channels=1;encoding=s16le",
  "application/octet-stream",
  "multipart/mixed; boundary=inner",
  "text/plain; charset=utf-16",
  "",
  "x".repeat(3_000),
];

const NAMES = [
  "file",
  "file",
  "chunk_sequence",
  "started_at",
  "FILE",
  "",
  "__proto__",
  "constructor",
  "file[]",
  "a".repeat(500),
  "\u00fc",
];

const FILENAMES = [
  undefined,
  "a.wav",
  "../../etc/passwd",
  "a\u0000.wav",
  '"',
  "\u202egpj.wav",
  "x".repeat(5_000),
  "C:\\x\\y.wav",
  "",
];

const disposition = fc
  .record({
    type: fc.constantFrom("form-data", "form-data", "form-data", "attachment", "file", ""),
    name: fc.constantFrom(...NAMES),
    filename: fc.constantFrom(...FILENAMES),
    star: fc.constantFrom("", "", "; filename*=UTF-8''%00%ff", "; filename*=utf-16'x'%zz"),
  })
  .map(({ type, name, filename, star }) => {
    const named = filename === undefined ? "" : `; filename="${filename}"`;
    return `Content-Disposition: ${type}; name="${name}"${named}${star}`;
  });

const headerLine = fc.oneof(
  { weight: 4, arbitrary: disposition },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...TYPES).map((type) => `Content-Type: ${type}`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "Content-Transfer-Encoding: base64",
      "Content-Transfer-Encoding: quoted-printable",
      "Content-Transfer-Encoding: 7bit",
      "Content-Transfer-Encoding: x-nothing",
      "Content-Length: 99999999999",
      "Content-Disposition: form-data; name=file; name=chunk_sequence",
      "no colon at all",
      ": no name",
      " folded: onto nothing",
      `X-Long: ${"y".repeat(20_000)}`,
      "X-Raw: \u00ff\u0001",
    ),
  },
);

const content: Arbitrary<Part["content"]> = fc.oneof(
  oddBytes([0, 1, 44, 640, 4_000, 300_000]).map((bytes) => ({ bytes })),
  sequenceText.map((text) => ({ text })),
  fc
    .constantFrom("2026-01-01T00:00:00.000Z", "now", "", "\r\n--", "z".repeat(5_000))
    .map((text) => ({
      text,
    })),
);

const oddPart: Arbitrary<Part> = fc.record({
  headers: fc.array(headerLine, { maxLength: 6 }),
  content,
  gap: fc.constantFrom("\r\n\r\n", "\r\n\r\n", "\n\n", "\r\n", ""),
});

const filePart: Arbitrary<Part> = oddBytes([640, 4_000]).map((bytes) => ({
  headers: [
    'Content-Disposition: form-data; name="file"; filename="a.wav"',
    "Content-Type: audio/wav",
  ],
  content: { bytes: { ...bytes, kind: "wav" } },
  gap: "\r\n\r\n",
}));

const sequencePart: Arbitrary<Part> = sequenceText.map((text) => ({
  headers: ['Content-Disposition: form-data; name="chunk_sequence"'],
  content: { text },
  gap: "\r\n\r\n",
}));

const parts: Arbitrary<Part[]> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(sequencePart, filePart) },
  { weight: 1, arbitrary: fc.tuple(filePart, sequencePart) },
  { weight: 2, arbitrary: fc.tuple(sequencePart, filePart, oddPart) },
  { weight: 1, arbitrary: fc.tuple(oddPart, filePart, filePart, sequencePart) },
  { weight: 2, arbitrary: fc.array(oddPart, { maxLength: 5 }) },
);

const BOUNDARIES = [
  "x",
  "----WebKitFormBoundary7MA4YWxkTrZu0gW",
  "b".repeat(70),
  "b".repeat(71),
  "b".repeat(5_000),
  "with space",
  "a'()+_,-./:=?",
  "",
  "-",
  "--",
  "\r",
];

function header(boundary: string): Arbitrary<string> {
  return fc.constantFrom(
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary="${boundary}"`,
    `Multipart/Form-Data;BOUNDARY=${boundary}`,
    `multipart/form-data; boundary=${boundary}; boundary=other`,
    `multipart/form-data; charset=utf-16; boundary=${boundary}`,
    "multipart/form-data",
    "multipart/form-data; boundary=",
    `multipart/mixed; boundary=${boundary}`,
    `multipart/form-datax; boundary=${boundary}`,
  );
}

const sent: Arbitrary<UploadPlan["sent"]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ whole: true } as const) },
  { weight: 2, arbitrary: fc.record({ chunk: fc.constantFrom(1_000, 4_001, 65_536) }) },
  { weight: 1, arbitrary: fc.record({ cutAt: fc.double({ min: 0, max: 1, noNaN: true }) }) },
);

const caller = fc.constantFrom<UploadPlan["caller"]>(
  ...Array.from({ length: 12 }, () => "device" as const),
  "user",
  "none",
);

const multipart: Arbitrary<UploadPlan> = fc.constantFrom(...BOUNDARIES).chain((boundary) =>
  fc.record({
    contentType: header(boundary).map((text) => text.replaceAll(/[\r\n]/g, " ")),
    sequence: fc.constantFrom(undefined, undefined, undefined, "3"),
    delimiter: fc.constantFrom(boundary, boundary, boundary, boundary, "other"),
    parts,
    tail: fc.constantFrom(
      "end",
      "end",
      "end",
      "end",
      "",
      "--",
      "\r\n",
      "end\r\nmore",
      "end".repeat(3),
    ),
    preamble: fc.constantFrom("", "", "", "\r\n", "words before\r\n", "\r\n".repeat(2_000)),
    times: fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 41, 3_000),
    sent,
    caller,
  }),
);

const RATES = ["16000", "8000", "48000", "0", "-1", "1e9", "", "x", "16000.5", "999999999999"];
const ENCODINGS = ["s16le", "s16be", "u8", "f32le", "s24le", "S16LE", "", "mulaw", "x".repeat(500)];
const SEPARATORS = [";", "; ", " ; ", ",", ";;"];

/** Raw bodies, of which the Content-Type says how to read them. */
const raw: Arbitrary<UploadPlan> = fc
  .record({
    rate: fc.constantFrom(...RATES),
    channels: fc.constantFrom("1", "2", "0", "3", "-1", "99999", "", "one"),
    encoding: fc.constantFrom(...ENCODINGS),
    separator: fc.constantFrom(...SEPARATORS),
    order: fc.shuffledSubarray(["rate", "channels", "encoding", "rate"], { minLength: 0 }),
    base: fc.constantFrom(
      "audio/pcm",
      "audio/pcm",
      "Audio/PCM",
      "audio/wav",
      "audio/l16",
      "x/y",
      "",
    ),
    bytes: oddBytes([0, 1, 2, 3, 640, 4_001, 300_000]),
    sequence: fc.oneof({ weight: 8, arbitrary: sequenceText }, fc.constant(undefined)),
    sent,
    caller,
  })
  .map(({ base, order, separator, bytes, sequence, sent, caller, ...values }) => ({
    contentType: [base, ...order.map((name) => `${name}=${values[name as "rate"]}`)].join(
      separator,
    ),
    sequence: sequence?.replaceAll(/[^\x20-\x7e]/g, "?").trim(),
    delimiter: "",
    parts: [{ headers: [], content: { bytes }, gap: "" }],
    tail: "",
    preamble: "",
    times: 1,
    sent,
    caller,
  }));

export const uploadPlans: Arbitrary<UploadPlan> = fc.oneof(
  { weight: 3, arbitrary: multipart },
  { weight: 1, arbitrary: raw },
);

/** Most bytes of a case; below what the service takes, above what it keeps in memory. */
const MOST_BYTES = 3_000_000;

/** The body as bytes. */
export function bodyOf({
  delimiter,
  parts,
  tail,
  preamble,
  times,
  contentType,
}: UploadPlan): Buffer {
  const isRaw = !/^multipart\//i.test(contentType) && delimiter === "";
  const pieces: Buffer[] = [Buffer.from(preamble)];
  let size = 0;
  for (let n = 0; n < times && size < MOST_BYTES; n += 1) {
    for (const { headers, content: inside, gap } of parts) {
      const bytes = "text" in inside ? Buffer.from(inside.text) : bytesOf(inside.bytes);
      const head = isRaw ? "" : `--${delimiter}\r\n${headers.join("\r\n")}${gap}`;
      const piece = Buffer.concat([Buffer.from(head), bytes, Buffer.from(isRaw ? "" : "\r\n")]);
      pieces.push(piece);
      size += piece.length;
    }
  }
  return Buffer.concat([...pieces, Buffer.from(tail.replaceAll("end", `--${delimiter}--\r\n`))]);
}
