import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { LiveAudio, LiveFinalize, LivePiece } from "../features/recording/stream-finalizer.ts";
import type { AudioSource } from "./audio-source.ts";

/** Pieces kept for a reading that is behind; what does not fit is read from the store. */
const MAX_PIECES = 256;
const FETCH = 64;

type TailSource = Pick<AudioSource, "pieces">;

/** Port: streamed audio of one session as it becomes durable. At most once, in order. */
interface LiveAudioFeed {
  /** Returns how to stop. */
  follow(sessionId: string, listener: (audio: LiveAudio) => void): () => void;
}

/**
 * The streamed audio of a session that is no chunk yet: pieces as they are
 * told, and from the store whatever was not told or not kept.
 */
export class StreamTail {
  readonly #sessionId: string;
  readonly #feed: LiveAudioFeed;
  readonly #source: TailSource;
  #stopFollowing: (() => void) | undefined;
  #pieces: LivePiece[] = [];
  /** The store may hold pieces that were not told. */
  #isUnsure = true;
  #finalize: LiveFinalize | undefined;
  /** Unknown until the store was asked or a piece was told. */
  #interim: boolean | undefined;
  #told = 0;

  constructor(sessionId: string, feed: LiveAudioFeed, source: TailSource) {
    this.#sessionId = sessionId;
    this.#feed = feed;
    this.#source = source;
  }

  /** Whether hypotheses are wanted: of all that the session holds, streamed or not. */
  get interim(): boolean {
    return this.#interim ?? false;
  }

  /** Learns what the newest connection wanted, as the store is being asked; before anything is read. */
  async learnInterim(asked: Promise<{ interim: boolean }>): Promise<void> {
    const told = this.#told;
    const { interim } = await asked;
    // A piece that was told meanwhile knows better.
    if (told === this.#told) this.#interim = interim;
  }

  /** `onAudio` is called whenever there may be something new. */
  start(onAudio: () => void): void {
    this.#stopFollowing ??= this.#feed.follow(this.#sessionId, (audio) => {
      this.#take(audio);
      onAudio();
    });
  }

  /** Pieces that wait for the reading. */
  get kept(): number {
    return this.#pieces.length;
  }

  stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#pieces = [];
  }

  /** A reading begins anew: what was handed out may be asked for again. */
  rewind(): void {
    this.#isUnsure = true;
  }

  /** Piece `piece` of chunk `sequence`; undefined when it is not there yet, or the chunk is sealed. */
  async next(sequence: number, piece: number): Promise<LivePiece | undefined> {
    const known = this.#drop(sequence, piece);
    if (known !== undefined) return known;
    // Something later was told: what lies between was lost on its way, or is sealed by now.
    if (!this.#isUnsure && this.#pieces.length === 0) return undefined;
    this.#isUnsure = false;
    const stored = await this.#source.pieces(this.#sessionId, sequence, piece, FETCH);
    if (stored.length === FETCH) this.#isUnsure = true;
    this.#merge(stored);
    return this.#drop(sequence, piece);
  }

  /** True once, when everything before the wanted end of an utterance was handed out. */
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

  /** Forgets what lies before; the piece itself when it is the next one kept. */
  #drop(sequence: number, piece: number): LivePiece | undefined {
    const from = this.#pieces.findIndex(
      (each) => each.sequence > sequence || (each.sequence === sequence && each.piece >= piece),
    );
    this.#pieces.splice(0, from < 0 ? this.#pieces.length : from);
    const [first] = this.#pieces;
    if (first?.sequence !== sequence || first.piece !== piece) return undefined;
    return this.#pieces.shift();
  }

  /** What came from the store goes before what was told, each piece once. */
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

  /** One page of the store may stand before the pieces that were told. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#tails].map(({ kept }) => kept));
    return [{ queue: "stream_pieces_held", length, limit: MAX_PIECES + FETCH, refused: 0 }];
  }

  /** To be given back with `close`. */
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
