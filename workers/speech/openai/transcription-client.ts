import { wavHeader } from "../../../src/base/audio/wav.ts";
import { backOff } from "../../../src/base/back-off.ts";
import { delay } from "../../../src/base/deferred.ts";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { OpenAiSettings } from "../engine-schemas.ts";
import type { RecognisedWord } from "../recogniser.ts";
import { AnswerError, wordsOfAnswer } from "./transcription-answer.ts";

/** One utterance to be transcribed. */
interface Utterance {
  pcm: Int16Array;
  /** Where it begins on the session's timeline, samples. */
  start: number;
  language: string;
  /** Text before it, and names that may be in it. */
  prompt: string;
}

/**
 * What servers can answer, the best first: words with times, segments with times, text in JSON,
 * plain text. The first one that the server takes is found once and then used for all requests.
 */
const FORMATS = [
  { format: "verbose_json", granularities: ["word", "segment"] },
  { format: "verbose_json", granularities: [] },
  { format: "json", granularities: [] },
  { format: "text", granularities: [] },
] as const;

const DEFAULTS = { tryMs: 30_000, utteranceMs: 60_000, retries: 3, requests: 4 };
const WAITS = { firstMs: 500, mostMs: 8_000, spreadMs: 250 };
/** Refusals of a request as it is; a simpler format may be taken. */
const REFUSED = new Set([400, 413, 415, 422]);
const WORTH_A_RETRY = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
const MOST_BYTES = 4 * 1024 * 1024;

/** A failure after which the same request may succeed, with the server's word on when. */
class TryAgain extends Error {
  readonly afterMs: number | undefined;

  constructor(message: string, afterMs?: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/**
 * The client of one server with the protocol of OpenAI's `/v1/audio/transcriptions`, as speaches,
 * vLLM, whisper.cpp and OpenAI serve it; shared by the sessions of a thread.
 *
 * Every try has a time limit, and an utterance has one for all its tries together. No more than
 * `requests` are under way; others wait for their turn, each session with one at most.
 */
export class TranscriptionClient {
  readonly #settings: OpenAiSettings;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #level = 0;
  /** True once the server has answered in the format in use. */
  #isProved = false;

  constructor(settings: OpenAiSettings) {
    this.#settings = settings;
  }

  /**
   * The words of an utterance. Rejects with AppError: `engine_unavailable` when the server gives no
   * answer in time or refuses us, `bad_request` when it refuses this utterance alone.
   */
  async transcribe(utterance: Utterance, signal: AbortSignal): Promise<RecognisedWord[]> {
    await this.#turn();
    try {
      return await this.#tries(utterance, signal);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    const { requests = DEFAULTS.requests } = this.#settings;
    if (this.#running >= requests) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.#running += 1;
  }

  async #tries(utterance: Utterance, signal: AbortSignal): Promise<RecognisedWord[]> {
    const { retries = DEFAULTS.retries, utterance_ms = DEFAULTS.utteranceMs } = this.#settings;
    const until = performance.now() + utterance_ms;
    for (let failures = 0; ; ) {
      const left = until - performance.now();
      try {
        return await this.#once(utterance, left, signal);
      } catch (error) {
        if (error instanceof AppError) throw error;
        failures += 1;
        const told = error instanceof TryAgain ? error.afterMs : undefined;
        const wait = told ?? backOff(failures, WAITS, Math.random);
        const isLate = performance.now() + wait >= until;
        if (failures > retries || isLate || signal.aborted) throw this.#away(errorMessage(error));
        await delay(wait, signal);
      }
    }
  }

  async #once(utterance: Utterance, leftMs: number, signal: AbortSignal) {
    const { try_ms = DEFAULTS.tryMs } = this.#settings;
    const limit = AbortSignal.timeout(Math.max(1, Math.min(try_ms, leftMs)));
    for (;;) {
      const level = this.#level;
      const { status, headers, body } = await this.#post(
        utterance,
        level,
        AbortSignal.any([signal, limit]),
      );
      if (status === 200) {
        const { start, pcm } = utterance;
        const isJson = FORMATS[level]?.format !== "text";
        const words = wordsOfAnswer(body, isJson, { start, end: start + pcm.length });
        this.#isProved = true;
        return words;
      }
      if (WORTH_A_RETRY.has(status)) throw new TryAgain(`it answers ${status}`, afterOf(headers));
      if (!REFUSED.has(status)) throw this.#refusedUs(status);
      if (this.#isProved) throw this.#refusedThis(status);
      // Another request may have found a simpler format meanwhile.
      if (this.#level === level) this.#level += 1;
      if (this.#level >= FORMATS.length) {
        this.#level = 0;
        throw this.#refusedUs(status);
      }
    }
  }

  async #post({ pcm, language, prompt }: Utterance, level: number, signal: AbortSignal) {
    const { url, model, key } = this.#settings;
    const { format, granularities } = FORMATS[level] ?? FORMATS[0];
    const form = new FormData();
    const sound = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice();
    form.set("file", new Blob([new Uint8Array(wavHeader(pcm.length)), sound]), "utterance.wav");
    form.set("model", model);
    form.set("language", language);
    form.set("response_format", format);
    form.set("temperature", "0");
    if (prompt !== "") form.set("prompt", prompt);
    for (const each of granularities) form.append("timestamp_granularities[]", each);
    const headers: Record<string, string> =
      key === undefined ? {} : { authorization: `Bearer ${key}` };
    try {
      const response = await fetch(`${url.replace(/\/+$/, "")}/audio/transcriptions`, {
        method: "POST",
        body: form,
        headers,
        signal,
        redirect: "error",
      });
      const { status } = response;
      return { status, headers: response.headers, body: await bounded(response) };
    } catch (error) {
      throw new TryAgain(reasonOf(error));
    }
  }

  #away(reason: string): AppError {
    const { name } = this.#settings;
    return new AppError(
      "engine_unavailable",
      `The engine "${name}" does not answer (${reason}); the audio is kept and is read later.`,
    );
  }

  #refusedUs(status: number): AppError {
    const { name, model } = this.#settings;
    const why =
      status === 401 || status === 403
        ? "its server refuses our key"
        : `its server answers ${status} for the model ${model}`;
    return new AppError(
      "engine_unavailable",
      `The engine "${name}" cannot be used: ${why}. The audio is kept and is read later.`,
    );
  }

  #refusedThis(status: number): AppError {
    const { name } = this.#settings;
    return new AppError(
      "bad_request",
      `The engine "${name}" refuses this utterance with ${status}.`,
    );
  }
}

/** The body as text; an endless one is given up. */
async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MOST_BYTES) throw new AnswerError("its answer is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function reasonOf(error: unknown): string {
  if (error instanceof AnswerError) return error.message;
  if (error instanceof Error && error.name === "TimeoutError") return "no answer in time";
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "the connection broke off";
}

/** `Retry-After` in seconds or as a date, milliseconds from now. */
function afterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
