import { isPartMediaType } from "../base/codecs/sound-types.ts";
import { type AppError, toAppError } from "../base/errors.ts";
import type { TranscriptionStream } from "../inference/transcription-stream.ts";
import { resumePoint } from "../session/resume-points.ts";
import { AUDIO_DAMAGED } from "../session/status.ts";
import { type Gap, positionOf, SAMPLE_RATE } from "../session/timeline.ts";
import type { PlacedChunk } from "./audio-source.ts";
import { reaches } from "./finalize-answers.ts";
import { type Fed, mayBeTheAudio } from "./poison-detector.ts";
import { readStoredSound } from "./stored-sound.ts";
import { StretchedTime } from "./stretched-time.ts";
import type { TranscriptionRunOptions } from "./transcription-run-options.ts";

/** Most samples that one reading may be ahead of the worker. */
const MAX_AHEAD = 120 * SAMPLE_RATE;
const FETCH = 16;
/** The worker reports its progress about once per second of sound, samples. */
const UNTOLD = SAMPLE_RATE;
/**
 * Places of chunks derive from all frames before them, so a chunk's length and its sound may differ
 * by this many samples.
 */
const ROUNDING = 2;

/**
 * One reading of a session's audio by a worker, from a checkpoint on: feeds placed chunks, in
 * order, as fast as the worker takes them, and passes on the worker's messages. It ends with
 * `onEnd` and is then replaced by a new one.
 */
export class TranscriptionRun {
  /** The time of all positions to and from the worker. */
  readonly time = new StretchedTime();
  readonly #options: TranscriptionRunOptions;
  #from = 0;
  /** Positions at which sound broke off. */
  readonly #breaks: number[] = [];
  #stream: TranscriptionStream | undefined;
  #sequence = 0;
  #fedTo = 0;
  #processedTo = 0;
  /** Where a client ended the utterance in hand; undefined once all before it is read. */
  #finalizeAt: number | undefined;
  #feeding = false;
  #again = false;
  #full = false;
  /** It is open once the worker said so, and finished once the worker knows that nothing follows. */
  #phase: "opening" | "open" | "finished" | "closed" = "opening";
  #fetched: PlacedChunk[] = [];
  /** The part of chunk `sequence` that was fed while the chunk was being streamed. */
  #part: FedPart = { sequence: -1, fragments: 0, bytes: 0, end: 0 };

  constructor(options: TranscriptionRunOptions) {
    this.#options = options;
  }

  get finalizeAt(): number | undefined {
    return this.#finalizeAt;
  }

  /** End of the audio that was fed. */
  get fedTo(): number {
    return this.#fedTo;
  }

  /** True when all present audio was fed and, as far as reported, read. */
  get isIdle(): boolean {
    const isFed = this.#sequence >= this.#options.timeline().next && !this.#feeding && !this.#full;
    const isOpened = this.#phase === "open" || this.#phase === "finished";
    return isOpened && isFed && this.#fedTo - this.#processedTo <= UNTOLD;
  }

  /**
   * True when sound broke off at this position or soon after: the utterance that ended may continue
   * in the missing audio.
   */
  isCutAt(position: number): boolean {
    return this.#breaks.some((end) => resumePoint(end) < position && position <= end);
  }

  /** Opens the stream at the newest checkpoint that is not after `position`. */
  async start(position: number): Promise<void> {
    const { source, sessionId, detector } = this.#options;
    try {
      const { attempt, checkpointAttempt } = this.#options;
      const asked = source.opening({ sessionId, attempt, checkpointAttempt, position });
      const [opening] = await Promise.all([asked, this.#options.tail?.learnInterim(asked)]);
      const { checkpoint, sequence, vocabulary, speakerChannels } = opening;
      detector.load(opening.suspects);
      const from = checkpoint?.position ?? 0;
      this.#options.onBegin?.(checkpoint);
      if (this.#isClosed()) return;
      const engineRequest = opening.engineRequest ?? {
        language: this.#options.language,
        mayLeave: false,
      };
      const { transcribers, onRoom } = this.#options;
      const asker = onRoom && { id: sessionId, wake: onRoom };
      const stream = transcribers.open(engineRequest, asker);
      this.#stream = stream;
      this.#options.tail?.rewind();
      // The worker drops what lies before the checkpoint.
      this.#sequence = sequence;
      this.#from = from;
      this.#fedTo = from;
      this.#processedTo = from;
      detector.begin(this.#sequence);
      this.#listen(stream);
      const { interim } = this.#options;
      const { language } = engineRequest;
      stream.send({
        $case: "open",
        value: {
          sessionId,
          attempt,
          language,
          vocabulary,
          speakerChannels,
          checkpoint,
          interimResults: interim,
          tellWhenRead: detector.isCareful,
          sparseCheckpoints: true,
        },
      });
    } catch (error) {
      this.#end(toAppError(error));
    }
  }

  /** Feeds more audio, if there is any. */
  feed(): void {
    if (this.#feeding) {
      this.#again = true;
      return;
    }
    // A reading that ends before it was opened has received no audio, so no audio is to blame.
    if (this.#stream === undefined || this.#phase !== "open") return;
    this.#feeding = true;
    this.#feedAll(this.#stream)
      .catch((error: unknown) => this.#end(toAppError(error)))
      .finally(() => {
        this.#feeding = false;
        if (!this.#again) return;
        this.#again = false;
        this.feed();
      });
  }

  /**
   * Makes the current utterance end with the audio that was fed, if that ends in a pause: a word
   * that broke off in the middle goes on when the stream does.
   */
  endUtterance(): void {
    if (this.#phase !== "opening" && this.#phase !== "open") return;
    this.#stream?.send({ $case: "finalize", value: { unlessSpeaking: true } });
  }

  /** Ends the reading; no callback is called afterwards. */
  close(): void {
    if (this.#isClosed()) return;
    this.#phase = "closed";
    this.#stream?.cancel();
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }

  #listen(stream: TranscriptionStream): void {
    stream.onMessage((message) => {
      if (this.#isClosed()) return;
      if (message.$case === "opened") this.#begin();
      else if (message.$case === "progress") this.#readTo(message.value.processedTo);
      else if (message.$case === "utterance") this.#readTo(message.value.end);
      this.#options.onMessage(message);
      const asked = this.#finalizeAt;
      if (asked === undefined || !reaches(this.#processedTo, asked)) return;
      this.#finalizeAt = undefined;
      this.#options.onFinalized?.(asked);
    });
    stream.onDrain(() => {
      this.#full = false;
      this.feed();
    });
    stream.onEnd((error) => this.#end(error));
  }

  #begin(): void {
    this.#phase = "open";
    this.feed();
  }

  #readTo(position: number): void {
    this.#processedTo = Math.max(this.#processedTo, position);
    this.#options.detector.read(this.#processedTo);
    this.feed();
  }

  #end(error: AppError | undefined): void {
    if (this.#isClosed()) return;
    this.close();
    const { detector, onSuspects, onEnd } = this.#options;
    if (mayBeTheAudio(error)) {
      const suspects = detector.broke(this.#processedTo);
      if (suspects !== undefined) onSuspects(suspects);
    }
    onEnd(error);
  }

  async #feedAll(stream: TranscriptionStream): Promise<void> {
    const { detector } = this.#options;
    while (!this.#isClosed() && !this.#full && detector.mayFeed) {
      if (this.#fedTo - this.#processedTo >= MAX_AHEAD) return;
      const timeline = this.#options.timeline();
      // A gap at the end was reopened and its chunks will be placed again, or the record is ahead
      // because another activation took over.
      if (this.#sequence > timeline.next) return;
      if (this.#options.tail?.takeFinalize(this.#sequence, this.#fedFragments())) {
        this.#finalizeAt = this.#fedTo;
        stream.send({ $case: "finalize", value: {} });
      }
      if (this.#sequence >= timeline.next) {
        if (await this.#feedFragment(stream)) continue;
        // The last chunk may have come while this waited, even if there was nothing to wait for.
        if (this.#sequence < this.#options.timeline().next) continue;
        this.#finishIfAll(stream);
        return;
      }
      if (!this.#mayFeed()) return;
      const gap = timeline.gaps.find((g) => g.sequence === this.#sequence);
      if (gap !== undefined && !(this.#options.readFilled && gap.chunkId !== undefined)) {
        this.#feedGap(stream, gap.start, gap.length);
        this.#noteFed(gap.sequence, "gap");
      } else if (!(await this.#feedChunk(stream, gap))) {
        return;
      }
      this.#sequence += 1;
    }
  }

  #mayFeed(): boolean {
    const fedTo = this.time.placeOf(this.#fedTo).position;
    return this.#options.mayFeed?.(fedTo, this.#fedTo - this.#processedTo) ?? true;
  }

  /** @param at on the timeline */
  #feedGap(stream: TranscriptionStream, at: number, length: number): void {
    const start = at + this.time.shift;
    this.#breaks.push(this.#fedTo);
    this.#full = !stream.send({ $case: "gap", value: { start, length } });
    this.#fedTo = Math.max(this.#fedTo, start + length);
  }

  async #feedChunk(stream: TranscriptionStream, gap: Gap | undefined): Promise<boolean> {
    const chunk = await this.#fetch();
    if (chunk === undefined) return false;
    const { source, sessionId, detector, onSuspects, runtime } = this.#options;
    if (detector.isUnreadable(chunk.sequence)) {
      this.#leaveOut(stream, chunk);
      // A chunk that was given up while it was streamed had no place at which it could be failed.
      onSuspects(detector.suspects);
      return true;
    }
    const { sequence, mediaType } = chunk;
    // A part of a stream in which no packet ends.
    if (chunk.length === 0 && chunk.samples === 0) {
      if (gap !== undefined) this.#options.onLate?.(gap);
      this.#noteFed(sequence, "chunk");
      return true;
    }
    const { sha256, digests } = chunk;
    const laterPart = isPartMediaType(mediaType) ? sequence : undefined;
    const asked = { sessionId, sha256, digests, part: laterPart };
    const read = await readStoredSound(
      { source, runtime, isWanted: () => !this.#isClosed() },
      asked,
    );
    if (this.#isClosed() || read === undefined) return false;
    if ("damaged" in read) {
      this.#leaveOut(stream, chunk);
      const failed = { sequence, code: AUDIO_DAMAGED, message: read.damaged };
      this.#options.onMessage({ $case: "chunkFailed", value: failed });
      return true;
    }
    const { data } = read;
    this.#closeUp(chunk);
    const shift = this.time.shift;
    const end = chunk.start + chunk.length + shift + this.#excess(chunk);
    if (gap !== undefined) this.#options.onLate?.(gap);
    // The part that was fed while it was streamed is not fed again.
    const part = this.#part.sequence === sequence ? this.#part : undefined;
    const start = part?.end ?? chunk.start + shift;
    if (end > start || part === undefined) {
      this.#full = !stream.send({
        $case: "chunk",
        value: {
          sequence,
          start,
          length: end - start,
          mediaType,
          data: part === undefined ? data : data.subarray(part.bytes),
        },
      });
    }
    this.#fedTo = Math.max(this.#fedTo, end);
    this.#noteFed(sequence, "chunk");
    return true;
  }

  /** In the chunk's place a gap is read. */
  #leaveOut(stream: TranscriptionStream, { sequence, start, length }: PlacedChunk): void {
    this.#feedGap(stream, start, length);
    this.#noteFed(sequence, "gap");
    this.#options.onUnread?.({ start, end: start + length });
  }

  /**
   * A late chunk before it may be shorter than the span that was kept for it: the sound of this
   * chunk follows it directly.
   */
  #closeUp({ start }: PlacedChunk): void {
    const end = this.time.placeOf(this.#fedTo).position;
    if (this.#options.readFilled && start - end > ROUNDING) this.time.stretch(end, end - start);
  }

  /** How many samples its sound is longer than its place; all of it is read. */
  #excess({ start, length, samples }: PlacedChunk): number {
    const excess = samples - length;
    if (!this.#options.readFilled || excess <= ROUNDING || start + length <= this.#from) return 0;
    this.time.stretch(start + length, excess);
    return excess;
  }

  #noteFed(sequence: number, kind: Fed["kind"]): void {
    const { detector } = this.#options;
    detector.fed({ sequence, end: this.#fedTo, kind });
    detector.read(this.#processedTo);
  }

  #fedFragments(): number {
    return this.#part.sequence === this.#sequence ? this.#part.fragments : 0;
  }

  /** Feeds the next fragment of a chunk that has no place yet; false when there is none. */
  async #feedFragment(stream: TranscriptionStream): Promise<boolean> {
    const { tail, timeline, detector } = this.#options;
    const sequence = this.#sequence;
    if (tail === undefined || detector.isUnreadable(sequence)) return false;
    const fragment = await tail.next(sequence, this.#fedFragments());
    // The chunk was placed meanwhile: the rest of it is fed with the chunk.
    if (this.#isClosed() || timeline().next !== sequence) return !this.#isClosed();
    if (fragment === undefined) return false;
    const { format, startFrame, startByte, frames, data } = fragment;
    const start = positionOf(timeline(), format.sampleRate, startFrame);
    const end = positionOf(timeline(), format.sampleRate, startFrame + frames);
    this.#full = !stream.send({
      $case: "chunk",
      value: {
        sequence,
        start,
        length: end - start,
        mediaType: format.mediaType,
        data: Buffer.from(data.buffer, data.byteOffset, data.byteLength),
      },
    });
    this.#part = {
      sequence,
      fragments: fragment.index + 1,
      bytes: startByte + data.byteLength,
      end,
    };
    this.#fedTo = Math.max(this.#fedTo, end);
    this.#noteFed(sequence, "fragment");
    return true;
  }

  async #fetch(): Promise<PlacedChunk | undefined> {
    const { source, sessionId } = this.#options;
    if (this.#fetched[0]?.sequence !== this.#sequence) {
      this.#fetched = await source.placed(sessionId, this.#sequence, FETCH);
    }
    const chunk = this.#fetched.shift();
    return chunk?.sequence === this.#sequence ? chunk : undefined;
  }

  #finishIfAll(stream: TranscriptionStream): void {
    if (this.#phase !== "open" || !this.#options.complete()) return;
    this.#phase = "finished";
    this.#breaks.push(this.#fedTo);
    stream.send({ $case: "finish", value: {} });
    stream.finish();
  }
}

/** `end` is a position on the timeline. */
type FedPart = Record<"sequence" | "fragments" | "bytes" | "end", number>;
