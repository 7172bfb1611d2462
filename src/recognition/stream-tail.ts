import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type {
  LiveAudio,
  LiveFinalize,
  LivePiece,
} from "../conversations/recording/stream-finalizer.ts";
import type { AudioSource } from "./audio-source.ts";

/** Most pieces kept in memory for a reading that is behind; others are read from the store. */
const MAX_PIECES = 256;
const FETCH = 64;

type TailSource = Pick<AudioSource, "pieces">;

/**
 * Port: receives the streamed audio of one session as it becomes durable, at most once and in
 * order.
 */
interface LiveAudioFeed {
  /** Returns a function that stops it. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void;
}

/**
 * The streamed audio of a session that is no chunk yet: pieces as they are received, and from the
 * store those that were not received or not kept.
 */
export class StreamTail {
  readonly #sessionId: string;
  readonly #feed: LiveAudioFeed;
  readonly #source: TailSource;
  #stopFollowing: (() => void) | undefined;
  #pieces: LivePiece[] = [];
  /** The store may hold pieces that were not received. */
  #isUnsure = true;
  #finalize: LiveFinalize | undefined;
  /** Undefined until the store was read or a piece was received. */
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
    // A piece that was received meanwhile has the newer setting.
    if (told === this.#told) this.#interim = interim;
  }

  /** Starts to receive audio. `onAudio` is called whenever there may be something new. */
  start(onAudio: () => void): void {
    this.#stopFollowing ??= this.#feed.follow(this.#sessionId, (audio) => {
      this.#take(audio);
      onAudio();
    });
  }

  /** The number of pieces that wait for the reading. */
  get kept(): number {
    return this.#pieces.length;
  }

  stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#pieces = [];
  }

  /** Must be called when a reading begins again: earlier pieces may be requested again. */
  rewind(): void {
    this.#isUnsure = true;
  }

  /**
   * Piece `piece` of chunk `sequence`; undefined when it is not there yet, or is stored as a chunk
   * already.
   */
  async next(sequence: number, piece: number): Promise<LivePiece | undefined> {
    const known = this.#drop(sequence, piece);
    if (known !== undefined) return known;
    // When only later pieces were received, those between were lost on their way or are chunks by
    // now.
    if (!this.#isUnsure && this.#pieces.length === 0) return undefined;
    this.#isUnsure = false;
    const stored = await this.#source.pieces(this.#sessionId, sequence, piece, FETCH);
    if (stored.length === FETCH) this.#isUnsure = true;
    this.#merge(stored);
    return this.#drop(sequence, piece);
  }

  /** True once for each requested end of an utterance, when all audio before it was returned. */
  takeFinalize(sequence: number, piece: number): boolean {
    const mark = this.#finalize;
    if (mark === undefined) return false;
    const isPast = mark.sequence < sequence || (mark.sequence === sequence && mark.piece <= piece);
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
    this.#pieces.push(audio);
    if (this.#pieces.length <= MAX_PIECES) return;
    this.#pieces.shift();
    this.#isUnsure = true;
  }

  /**
   * Drops earlier pieces, and removes and returns the requested one when it is the next one kept.
   */
  #drop(sequence: number, piece: number): LivePiece | undefined {
    const from = this.#pieces.findIndex(
      (each) => each.sequence > sequence || (each.sequence === sequence && each.piece >= piece),
    );
    this.#pieces.splice(0, from < 0 ? this.#pieces.length : from);
    const [first] = this.#pieces;
    if (first?.sequence !== sequence || first.piece !== piece) return undefined;
    return this.#pieces.shift();
  }

  /** Puts stored pieces before received ones, each piece once. */
  #merge(stored: LivePiece[]): void {
    const last = stored.at(-1);
    if (last === undefined) return;
    const later = this.#pieces.filter(
      (each) =>
        each.sequence > last.sequence ||
        (each.sequence === last.sequence && each.piece > last.piece),
    );
    this.#pieces = [...stored, ...later];
  }
}

/** The tails of the sessions of this process. */
export class StreamTails implements QueueOwner {
  readonly #feed: LiveAudioFeed;
  readonly #source: Pick<AudioSource, "pieces">;
  readonly #tails = new Set<StreamTail>();

  constructor(feed: LiveAudioFeed, source: Pick<AudioSource, "pieces">) {
    this.#feed = feed;
    this.#source = source;
  }

  /** A page from the store may precede the received pieces. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#tails].map(({ kept }) => kept));
    return [{ queue: "stream_pieces_held", length, limit: MAX_PIECES + FETCH, refused: 0 }];
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
