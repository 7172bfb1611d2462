import { AppError } from "../base/errors.ts";
import { SUPPORTED_AUDIO } from "../conversations/recording/audio-container.ts";
import { defineRoute, type Route, type Upload } from "../rest/route.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { deepgramAnswer } from "./deepgram-answers.ts";
import { DEEPGRAM_ERRORS } from "./deepgram-errors.ts";
import { type DeepgramOrder, deepgramQuery, isRaw, readDeepgramQuery } from "./deepgram-query.ts";
import { CALL_TIMEOUT_MS, type FileCalls } from "./file-calls.ts";
import { heldOpen, WHITE_SPACE } from "./held-answer.ts";
import { type CompatOrder, requireService } from "./sessions.ts";

interface DeepgramRouteOptions {
  calls: FileCalls;
  engines: () => readonly SpeechEngine[];
}

const TITLE = "Transcription";

/** What is the same of both ways to send audio. */
export function orderOf(order: DeepgramOrder): CompatOrder {
  const { engine, language, vocabulary, multichannel, store } = order;
  const wanted = { engine, language, vocabulary, multichannel, store };
  return { interface: "deepgram", title: TITLE, ...wanted };
}

/** What Deepgram's clients call with a recording: POST listen. */
export function deepgramRoutes({ calls, engines }: DeepgramRouteOptions): Route[] {
  const listen = defineRoute({
    method: "post",
    path: "/compat/deepgram/v1/listen",
    id: "listenDeepgram",
    tag: "Compat",
    summary: "Transcribe a recording, as the clients of Deepgram ask for it",
    description: `With \`/api/compat/deepgram\` as their base address and a service key of the scope \`transcribe\` as their API key (\`Authorization: Token …\`), these clients work unchanged. The body is the recording itself; an address (\`{"url"}\`) is refused, as nothing is fetched from elsewhere. ${SUPPORTED_AUDIO} Raw audio is also told by \`encoding\`, \`sample_rate\` and \`channels\`. Recordings of any length are taken, up to the size of an upload. Each call is a session of the key's workspace, marked \`compat\`, and is kept as the workspace's retention says; with \`store=false\` it is deleted once it is answered, or its caller has gone. Parameters that take words out or send the answer elsewhere (\`redact\`, \`profanity_filter\`, \`callback\`) are refused; others are ignored, and named in the \`Warning\` header. An answer that takes longer than 20 s begins with white space. As a WebSocket (GET) the same address takes live audio, with Deepgram's messages: KeepAlive, Finalize and CloseStream are understood; Results, UtteranceEnd (with \`utterance_end_ms\`), SpeechStarted (with \`vad_events\`) and Metadata are told. There \`interim_results\` and \`endpointing=false\` have an effect too, and audio is raw (\`linear16\`, \`mulaw\`, \`alaw\`, \`opus\` packets), WAV of 16 bits, or Opus in Ogg or WebM.`,
    auth: ["compat_key"],
    dialect: DEEPGRAM_ERRORS,
    timeoutMs: CALL_TIMEOUT_MS,
    query: deepgramQuery,
    body: { kind: "upload" },
    responses: { 200: { description: "What was said", schema: deepgramAnswer } },
    errors: ["not_audio", "quota_exceeded", "conflict", "not_found", "language_unsupported"],
    refusesUpload(head, mediaType, { query }) {
      if (isAddress(mediaType)) return addressRefusal();
      return isRaw(query) ? undefined : calls.refusalByHead(head, mediaType);
    },
    async handle({ principal, upload, query, signal }) {
      const caller = requireService(principal);
      const createdAt = Date.now();
      const order = readDeepgramQuery(query, engines(), false);
      const file = audioOf(upload, order);
      const call = await calls.begin(caller, file, orderOf(order), signal);
      const about = { sha256: file.sha256, createdAt };
      const contentType = "application/json; charset=utf-8";
      const { warning, writing, diarize, paragraphs, utterances } = order;
      const wanted = { writing, diarize, paragraphs, utterances };
      const form = { dialect: "deepgram", about, ...wanted } as const;
      const reply = await heldOpen(call, { contentType, lead: WHITE_SPACE, form }, signal);
      if (warning !== undefined) reply.headers = { ...reply.headers, warning };
      return reply;
    },
  });
  return [listen];
}

function audioOf(upload: Upload | undefined, { raw }: DeepgramOrder): Upload {
  if (upload === undefined) {
    throw new AppError("invalid_body", "Send the recording as the body of the request.");
  }
  if (isAddress(upload.mediaType)) throw addressRefusal();
  if (raw === undefined || raw.encoding === "opus") return upload;
  const { encoding, sampleRate, channels } = raw;
  const mediaType = `audio/pcm;rate=${sampleRate};channels=${channels};encoding=${encoding}`;
  return { ...upload, mediaType };
}

/** Where the recording may be fetched, instead of itself. */
function isAddress(mediaType: string): boolean {
  return /^application\/json\b/.test(mediaType);
}

function addressRefusal(): AppError {
  const message =
    "Nothing is fetched from other addresses here: send the recording itself as the body, with transcribeFile instead of transcribeUrl.";
  return new AppError("invalid_body", message);
}
