import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type {
  LiveAudio,
  LiveFinalize,
  LiveFragment,
} from "../conversations/recording/chunk-assembler.ts";
import type { AudioSource } from "./audio-source.ts";

/** Most fragments kept in memory for a reading that is behind; others are read from the store. */
const MAX_FRAGMENTS = 256;
const FETCH = 64;

type TailSource = Pick<AudioSource, "fragments">;

/**
 * Port: receives the streamed audio of one session as it becomes durable, at most once and in
 * order.
 */
interface LiveAudioFeed {
  /** Returns a function that stops it. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void;
}

/**
 * The streamed audio of a session that is no chunk yet: fragments as they are received, and from the
 * store those that were not received or not kept.
 */
export class StreamTail {
  readonly #sessionId: string;
  readonly #feed: LiveAudioFeed;
  readonly #source: TailSource;
  #stopFollowing: (() => void) | undefined;
  #fragments: LiveFragment[] = [];
  /** The store may hold fragments that were not received. */
  #isUnsure = true;
  #finalize: LiveFinalize | undefined;
  /** Undefined until the store was read or a fragment was received. */
  #interim: boolean | undefined;
  #told = 0;

  constructor(sessionId: string, feed: LiveAudioFeed, source: TailSource) {
    this.#sessionId = sessionId;
    this.#feed = feed;
    this.#source = source;
  }

  /** Whether hypotheses are wanted, for streamed and uploaded audio. */
  get interim(): boolean {
    return this.#interim ?? false;
  }

  /**
   * Takes the setting of the newest connection from the store; must be called before anything is
   * read.
   */
  async learnInterim(asked: Promise<{ interim: boolean }>): Promise<void> {
    const told = this.#told;
    const { interim } = await asked;
    // A fragment that was received meanwhile has the newer setting.
    if (told === this.#told) this.#interim = interim;
  }

  /** Starts to receive audio. `onAudio` is called whenever there may be something new. */
  start(onAudio: () => void): void {
    this.#stopFollowing ??= this.#feed.follow(this.#sessionId, (audio) => {
      this.#take(audio);
      onAudio();
    });
  }

  /** The number of fragments that wait for the reading. */
  get kept(): number {
    return this.#fragments.length;
  }

  stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#fragments = [];
  }

  /** Must be called when a reading begins again: earlier fragments may be requested again. */
  rewind(): void {
    this.#isUnsure = true;
  }

  /**
   * Fragment `index` of chunk `sequence`; undefined when it is not there yet, or is stored as a chunk
   * already.
   */
  async next(sequence: number, index: number): Promise<LiveFragment | undefined> {
    const known = this.#drop(sequence, index);
    if (known !== undefined) return known;
    // When only later fragments were received, those between were lost on their way or are chunks by
    // now.
    if (!this.#isUnsure && this.#fragments.length === 0) return undefined;
    this.#isUnsure = false;
    const stored = await this.#source.fragments(this.#sessionId, sequence, index, FETCH);
    if (stored.length === FETCH) this.#isUnsure = true;
    this.#merge(stored);
    return this.#drop(sequence, index);
  }

  /** True once for each requested end of an utterance, when all audio before it was returned. */
  takeFinalize(sequence: number, index: number): boolean {
    const mark = this.#finalize;
    if (mark === undefined) return false;
    const isPast = mark.sequence < sequence || (mark.sequence === sequence && mark.index <= index);
    if (isPast) this.#finalize = undefined;
    return isPast;
  }

  #take(audio: LiveAudio): void {
    if (audio.kind === "finalize") {
      this.#finalize = audio;
      return;
    }
    this.#interim = audio.interim;
    this.#told += 1;
    this.#fragments.push(audio);
    if (this.#fragments.length <= MAX_FRAGMENTS) return;
    this.#fragments.shift();
    this.#isUnsure = true;
  }

  /**
   * Drops earlier fragments, and removes and returns the requested one when it is the next one kept.
   */
  #drop(sequence: number, index: number): LiveFragment | undefined {
    const from = this.#fragments.findIndex(
      (each) => each.sequence > sequence || (each.sequence === sequence && each.index >= index),
    );
    this.#fragments.splice(0, from < 0 ? this.#fragments.length : from);
    const [first] = this.#fragments;
    if (first?.sequence !== sequence || first.index !== index) return undefined;
    return this.#fragments.shift();
  }

  /** Puts stored fragments before received ones, each fragment once. */
  #merge(stored: LiveFragment[]): void {
    const last = stored.at(-1);
    if (last === undefined) return;
    const later = this.#fragments.filter(
      (each) =>
        each.sequence > last.sequence ||
        (each.sequence === last.sequence && each.index > last.index),
    );
    this.#fragments = [...stored, ...later];
  }
}

/** The tails of the sessions of this process. */
export class StreamTails implements QueueOwner {
  readonly #feed: LiveAudioFeed;
  readonly #source: Pick<AudioSource, "fragments">;
  readonly #tails = new Set<StreamTail>();

  constructor(feed: LiveAudioFeed, source: Pick<AudioSource, "fragments">) {
    this.#feed = feed;
    this.#source = source;
  }

  /** A page from the store may precede the received fragments. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#tails].map(({ kept }) => kept));
    return [{ queue: "stream_pieces_held", length, limit: MAX_FRAGMENTS + FETCH, refused: 0 }];
  }

  /** Opens a tail, which must be closed with `close`. */
  open(sessionId: string): StreamTail {
    const tail = new StreamTail(sessionId, this.#feed, this.#source);
    this.#tails.add(tail);
    return tail;
  }

  close(tail: StreamTail): void {
    tail.stop();
    this.#tails.delete(tail);
  }
}
