import {
  type Container,
  MOST_HEAD_BYTES,
  markedContainer,
} from "../../base/audio/container-marks.ts";
import { splitOpusPackets } from "../../base/audio/opus-packets.ts";
import {
  isAudioFormatError,
  type PcmFormat,
  parseStreamedWavHeader,
} from "../../base/audio/wav.ts";
import { AppError } from "../../base/errors.ts";
import type { StreamSettings } from "./stream-records.ts";

const LENGTH_BYTES = 2;
/** `RIFF`, a length and `WAVE`. */
const WAV_FORM_BYTES = 12;
/**
 * A packet that begins with this many letters is text; about one Opus packet in ten thousand
 * million looks like that.
 */
const TEXT_BYTES = 24;
/** PCM needs more bytes, and different ones: a constant or a square wave may look like letters. */
const PCM_TEXT = { bytes: 64, different: 8 };

/** Container names for messages, with their article. */
const NAMES: Readonly<Record<Container, string>> = {
  Ogg: "an Ogg file",
  WebM: "a WebM or Matroska file",
  WAV: "a WAV file",
  FLAC: "a FLAC file",
  MP4: "an MP4 or M4A file",
  MP3: "an MP3 file",
};

/**
 * Holds back the first messages of a session's stream until it is clear that they are bare audio
 * and not a file. For nearly all audio nothing is held back. A WAV header before samples of the
 * stream's own format is left out.
 */
export class StreamHead {
  readonly #settings: StreamSettings;
  #messages: Uint8Array[] = [];
  #held = 0;
  #skipped = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
  }

  /** Number of bytes held back. */
  get held(): number {
    return this.#held;
  }

  /** Length of the header that was left out of what `take` returned, bytes. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Returns the messages that can be passed on now, in order; undefined while more bytes are
   * needed. Throws `unsupported_media_type` for a file and `not_audio` for text, and then keeps
   * nothing.
   */
  take(message: Uint8Array): Uint8Array[] | undefined {
    this.#messages.push(Uint8Array.from(message));
    this.#held += message.byteLength;
    const head = Buffer.concat(this.#messages).subarray(0, MOST_HEAD_BYTES + LENGTH_BYTES);
    const isPrefixed = this.#isOpus && this.#settings.framing === "length_prefixed";
    const marks = [markedContainer(head)];
    if (isPrefixed) marks.push(markedContainer(head.subarray(LENGTH_BYTES)));
    if (marks[0] === "WAV" && !this.#isOpus) return this.#takeWav(head);
    for (const mark of marks) {
      if (mark === "none" || mark === "more") continue;
      this.release();
      throw new AppError("unsupported_media_type", fileSentence(mark, this.#settings));
    }
    const [first] = isPrefixed ? splitOpusPackets(head) : this.#messages;
    if (first !== undefined && this.#isText(first)) {
      this.release();
      throw new AppError("not_audio", textSentence(this.#settings));
    }
    return marks.includes("more") ? undefined : this.release();
  }

  /** The samples behind a WAV header; throws where they are others than the stream's. */
  #takeWav(head: Uint8Array): Uint8Array[] | undefined {
    const isAll = this.#held >= MOST_HEAD_BYTES;
    const wav = head.byteLength < WAV_FORM_BYTES ? undefined : parseStreamedWavHeader(head);
    if (wav === undefined && !isAll) return undefined;
    const messages = this.release();
    if (wav === undefined || isAudioFormatError(wav)) {
      throw new AppError("unsupported_media_type", fileSentence("WAV", this.#settings));
    }
    if (!isOf(this.#settings, wav)) {
      throw new AppError("unsupported_media_type", otherFormat(wav, this.#settings));
    }
    this.#skipped = wav.dataOffset;
    const samples = Buffer.concat(messages).subarray(wav.dataOffset);
    return samples.byteLength === 0 ? [] : [samples];
  }

  /** Returns all messages that were held back, because the stream ends or pauses. */
  release(): Uint8Array[] {
    this.#held = 0;
    return this.#messages.splice(0);
  }

  /** Never true for µ-law, whose quiet samples may all be letters. */
  #isText(bytes: Uint8Array): boolean {
    const { encoding } = this.#settings;
    if (encoding === "opus") return isText(bytes, TEXT_BYTES);
    const head = bytes.subarray(0, 4 * PCM_TEXT.bytes);
    return (
      encoding === "pcm_s16le" &&
      isText(head, PCM_TEXT.bytes) &&
      new Set(head).size >= PCM_TEXT.different
    );
  }

  get #isOpus(): boolean {
    return this.#settings.encoding === "opus";
  }
}

function isOf({ encoding, sampleRate, channels }: StreamSettings, wav: PcmFormat): boolean {
  const wanted = encoding === "mulaw" ? "mulaw" : "s16le";
  return wav.encoding === wanted && wav.sampleRate === sampleRate && wav.channels === channels;
}

function otherFormat(wav: PcmFormat, { encoding, sampleRate, channels }: StreamSettings): string {
  const found = `${wav.encoding}, ${wav.sampleRate} Hz, ${wav.channels} channels`;
  return `The stream begins with a WAV header of another format (${found}) than its Configure (${encoding}, ${sampleRate} Hz, ${channels} channels).`;
}

function isText(bytes: Uint8Array, least: number): boolean {
  if (bytes.byteLength < least) return false;
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
}

function fileSentence(container: Container, settings: StreamSettings): string {
  const wanted = wantedSentence(settings);
  return `This looks like ${NAMES[container]}, not like ${bareName(settings)}: a stream takes no files. ${wanted}`;
}

function textSentence(settings: StreamSettings): string {
  return `This looks like text (JSON or base64?), not like ${bareName(settings)}. ${wantedSentence(settings)}`;
}

function bareName({ encoding }: StreamSettings): string {
  if (encoding === "opus") return "bare Opus packets";
  return encoding === "mulaw" ? "bare µ-law samples" : "bare PCM samples";
}

/** A sentence that says what to send with these settings. */
export function wantedSentence({ encoding, framing }: StreamSettings): string {
  if (encoding === "mulaw") return "Send µ-law samples of one byte each, without any header.";
  if (encoding === "pcm_s16le") {
    return "Send 16-bit little-endian samples without any header (of a WAV file what follows its data mark, mostly byte 44).";
  }
  return framing === "packet"
    ? "Send the packets as the encoder gives them, each as one binary message."
    : "Send the packets as the encoder gives them, each after its length as two bytes, the higher one first.";
}
