import { Type } from "@sinclair/typebox";
import { shown } from "../base/errors.ts";
import { effectless } from "../rest/effectless.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { refuseReliedOn, toEngine, toLanguage, toSwitch, wrong } from "./parameters.ts";

const RESPONSE_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;

export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

/** The models that OpenAI's clients name: any of them stands for the workspace's own engine. */
export const OPENAI_MODELS = [
  "whisper-1",
  "gpt-4o-transcribe",
  "gpt-4o-mini-transcribe",
  "gpt-4o-transcribe-diarize",
] as const;

const THEIRS =
  /^(whisper-[\w.-]{1,40}|gpt-4o(-mini)?-transcribe(-diarize)?(-\d{4}-\d\d-\d\d|-latest)?)$/;

/** The fields of the form besides the file, as the document shows them. */
export const openAiForm = Type.Object(
  {
    model: Type.String({
      description:
        "A model of OpenAI's (`whisper-1`, `gpt-4o-transcribe`, …), which stands for the workspace's own engine, or the name of an engine of this installation",
      examples: ["whisper-1"],
    }),
    language: Type.Optional(
      Type.String({ description: "BCP 47; the workspace's preferred language by default" }),
    ),
    response_format: Type.Optional(
      Type.Unsafe<ResponseFormat>({
        type: "string",
        enum: [...RESPONSE_FORMATS],
        description: "`json` by default",
        examples: ["verbose_json"],
      }),
    ),
    "timestamp_granularities[]": Type.Optional(
      Type.Array(Type.Unsafe<"word" | "segment">({ type: "string", enum: ["word", "segment"] }), {
        description: "What `verbose_json` lists; segments by default",
        examples: [["word", "segment"]],
      }),
    ),
    stream: Type.Optional(
      Type.Boolean({ description: "Tell the text as it comes, as server-sent events" }),
    ),
    store: Type.Optional(
      Type.Boolean({
        description:
          "False: the session is deleted at its end, its audio and words with it. By default it is kept as the workspace's retention says",
        examples: [false],
      }),
    ),
  },
  {
    description:
      "Fields that take words out or send the answer elsewhere are refused; others are ignored, and named in the `Warning` header of the answer",
  },
);

const KNOWN: ReadonlySet<string> = new Set(Object.keys(openAiForm.properties));

/** What a caller wants of one transcription. */
export interface OpenAiOrder {
  engine: string | undefined;
  language: string | undefined;
  format: ResponseFormat;
  granularities: ReadonlySet<string>;
  stream: boolean;
  store: boolean;
  /** The `Warning` header, if there is something to warn of. */
  warning: string | undefined;
}

type Fields = Readonly<Record<string, string>>;

function toFormat(text: string | undefined): ResponseFormat {
  if (text === undefined || text === "") return "json";
  const format = RESPONSE_FORMATS.find((each) => each === text);
  if (format !== undefined) return format;
  throw wrong("response_format", `"${shown(text)}" is not one of ${RESPONSE_FORMATS.join(", ")}.`);
}

function toGranularities(text: string | undefined): ReadonlySet<string> {
  const given = (text ?? "segment").split(",").map((each) => each.trim());
  const odd = given.find((each) => each !== "word" && each !== "segment");
  if (odd === undefined) return new Set(given);
  const name = "timestamp_granularities[]";
  throw wrong(name, `"${shown(odd)}" is neither word nor segment.`);
}

/** Reads the form. Throws `invalid_parameter`, and `not_found` for a model that is none. */
export function readOpenAiForm(fields: Fields, engines: readonly SpeechEngine[]): OpenAiOrder {
  refuseReliedOn(fields);
  const { model = "" } = fields;
  if (model === "") throw wrong("model", "you must provide a model, for example whisper-1.");
  const format = toFormat(fields.response_format);
  const stream = toSwitch("stream", fields.stream, false);
  const without = Object.keys(fields).filter((name) => !KNOWN.has(name));
  const isVerbose = format === "verbose_json" && !stream;
  const name = "timestamp_granularities[]";
  if (fields[name] !== undefined && !isVerbose) without.push(name);
  return {
    engine: toEngine(model, engines, (each) => THEIRS.test(each)),
    language: toLanguage(fields.language),
    format,
    granularities: toGranularities(fields[name]),
    stream,
    store: toSwitch("store", fields.store, true),
    warning: effectless(without),
  };
}
