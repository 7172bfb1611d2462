import { computed, type Signal, signal } from "@preact/signals";
import type { HeartbeatFrame, ServerFrame } from "../../../../wire/live-frames.ts";
import { account } from "../../../api/account.ts";
import { call, isPassing, messageOf } from "../../../api/client.ts";
import { LiveChannel } from "../../../api/live-channel.ts";
import type { Completeness, Segment, Session } from "../../../api/records.ts";
import { showToast } from "../../../parts/toasts.tsx";
import type { Hit } from "./find-words.ts";
import { LineEditing } from "./line-editing.ts";
import { Player } from "./player.ts";
import { SessionMarks } from "./session-marks.ts";
import { SessionNotes } from "./session-notes.ts";
import {
  type Line,
  type Names,
  nameOf,
  type Readable,
  readableWords,
  type Share,
  sharesOf,
  TranscriptState,
} from "./transcript-state.ts";
import { VoiceEditing } from "./voice-editing.ts";
import { WordSearch } from "./word-search.ts";

const PAGE = 100;
const RETRY_MS = 2_000;

/** False for what may be over in a moment; everything else is thrown again. */
function isLasting(error: unknown): boolean {
  if (isPassing(error)) return false;
  throw error;
}

/** After these the notes of a session that is over are made again. */
const OUTDATES_NOTES: ReadonlySet<ServerFrame["type"]> = new Set<ServerFrame["type"]>([
  "SegmentRevised",
  "SpeakerRevision",
  "SpeakerClaimed",
  "SpeakerNamed",
  "TranscriptReplaced",
]);

/** One open session: its record, its words as they come, its sound. Ends with its view. */
export class SessionModel {
  readonly id: string;
  readonly session = signal<Session | undefined>(undefined);
  readonly lines = signal<readonly Line[]>([]);
  readonly speakers = signal<readonly string[]>([]);
  /** True once the first snapshot is there. */
  readonly isOpen = signal(false);
  readonly heartbeat = signal<HeartbeatFrame | undefined>(undefined);
  /** What the service warns of, until the next good sign. */
  readonly warning = signal("");
  readonly missing = signal<Completeness["missing"]>([]);
  /** Rises when a summary or a concern has changed. */
  readonly summaryNews = signal(0);
  readonly concernNews = signal(0);
  /** Finals that came while the view is open, for those who listen instead of reading. */
  readonly spoken = signal<readonly Line[]>([]);
  /** The line to show, and how often it was asked for. */
  readonly jump = signal<{ readonly ms: number; readonly n: number } | undefined>(undefined);
  /** Capitals and sentence marks of lines, by id, once the session is over. */
  readonly readable = signal<ReadonlyMap<string, Readable>>(new Map());
  readonly player: Player;
  readonly search: WordSearch;
  readonly editing: LineEditing;
  readonly voices: VoiceEditing;
  readonly marks: SessionMarks;
  readonly notes: SessionNotes;
  readonly link = computed(() => this.#channel.value.state.value);

  readonly #channel: Signal<LiveChannel>;
  readonly #transcript = new TranscriptState();
  readonly #names = signal<Names>(new Map());
  #isLoading = false;
  #mustLoad = false;
  #isClosed = false;

  constructor(id: string) {
    this.id = id;
    this.player = new Player(id);
    const shown = computed(() =>
      this.lines.value.map((line) => ({ id: line.id, words: this.wordsOf(line) })),
    );
    this.search = new WordSearch(shown, (hit) => this.#showHit(hit));
    this.editing = new LineEditing({
      id,
      lines: () => this.#transcript.lines,
      textOf: (line) => this.wordsOf(line).join(" "),
      show: ({ start }) => this.jumpTo(start * 1_000),
    });
    this.voices = new VoiceEditing(
      {
        id,
        workspaceId: () => this.session.value?.workspace_id ?? "",
        nameOf: (label) => this.nameOf(label),
        me: () => account.value?.id ?? "",
      },
      (change, said) => this.editing.keep(change, said),
    );
    this.marks = new SessionMarks(id);
    this.notes = new SessionNotes({
      id,
      keep: (change, said) => this.editing.keep(change, said),
    });
    this.#channel = signal(this.#open());
  }

  get isOwner(): boolean {
    const who = account.value;
    return who?.kind === "user" && this.session.value?.owner_id === who.id;
  }

  /** The owner corrects lines, and merges and splits voices. */
  get mayEdit(): boolean {
    return this.isOwner;
  }

  /** Moderators, too, give voices names. */
  get mayName(): boolean {
    const who = account.value;
    return this.isOwner || (who?.kind === "user" && who.role === "moderator");
  }

  /** Guests read what others marked. */
  get mayMark(): boolean {
    return account.value?.kind === "user";
  }

  get isLive(): boolean {
    return this.session.value?.status === "recording";
  }

  /** The moment that one would mark now: what is heard, or live the newest sound; milliseconds. */
  get momentMs(): number {
    const newest = this.lines.value.at(-1)?.end ?? 0;
    if (!this.isLive) return this.player.time.value * 1_000;
    return Math.max(this.heartbeat.value?.audio_received ?? 0, newest) * 1_000;
  }

  start(): void {
    this.#channel.value.start();
    void this.marks.load();
    void this.refresh();
  }

  close(): void {
    this.#isClosed = true;
    this.#channel.value.stop();
    this.player.close();
    this.marks.close();
    this.notes.close();
  }

  /** Connects at once instead of waiting. */
  retry(): void {
    this.#channel.value.retry();
  }

  /** Begins anew after a refusal, such as when content was opened. */
  reopen(): void {
    this.#channel.value.stop();
    this.#channel.value = this.#open();
    this.#channel.value.start();
    void this.refresh();
    void this.marks.load();
  }

  nameOf(label: string): string {
    return nameOf(this.#names.value, label);
  }

  /** Names of those who speak within the line besides its speaker. */
  besides(line: Line): string[] {
    const labels = this.#transcript.overlapsOf(line).map(({ label }) => label);
    return [...new Set(labels)].map((label) => this.nameOf(label));
  }

  /** How much of the talk was whose. */
  get shares(): Share[] {
    return sharesOf(this.lines.value, (line) => this.#transcript.overlapsOf(line));
  }

  claimedBy(label: string): string | undefined {
    return this.#names.value.get(label)?.claimedBy;
  }

  /** The line's words as they are shown. */
  wordsOf({ id, text }: Line): readonly string[] {
    const readable = this.readable.value.get(id);
    return readable?.raw === text ? readable.words : text.split(" ");
  }

  /** A segment's text with capitals and sentence marks, where they are known for it as it is. */
  readableOf(segmentId: string, text: string): string {
    const found = this.readable.value.get(segmentId);
    return found?.raw === text ? found.words.join(" ") : text;
  }

  /** Shows the moment in the text, and puts the sound there. */
  jumpTo(ms: number): void {
    this.jump.value = { ms, n: (this.jump.value?.n ?? 0) + 1 };
    this.player.seek(ms / 1_000);
  }

  /** Shows the next line, or the one before, from the moment that is heard or was shown last. */
  stepLine(by: 1 | -1): void {
    const seconds = this.player.isPlaying.value
      ? this.player.time.value
      : (this.jump.value?.ms ?? -1) / 1_000;
    const starts = this.lines.value.filter(({ isFinal }) => isFinal).map(({ start }) => start);
    const here = starts.findLastIndex((start) => start <= seconds + 0.001);
    const start = starts[Math.max(0, here + by)];
    if (start !== undefined) this.jumpTo(start * 1_000);
  }

  #showHit({ lineId, first }: Hit): void {
    const line = this.lines.value.find(({ id }) => id === lineId);
    if (line === undefined) return;
    this.jumpTo(line.start * 1_000);
    const isTimed = line.words?.length === this.wordsOf(line).length;
    if (isTimed) this.player.seek(line.words?.[first]?.start ?? line.start);
  }

  /** Asks for the session's record and its missing sound. */
  async refresh(): Promise<void> {
    const params = { path: { session_id: this.id } };
    try {
      this.session.value = await call((api) => api.GET("/sessions/{session_id}", { params }));
      const { missing } = await call((api) =>
        api.GET("/sessions/{session_id}/completeness", { params }),
      );
      this.missing.value = missing;
    } catch (error) {
      // What is lasting the live channel, which asks for the same, says.
      if (isPassing(error) && !this.#isClosed) setTimeout(() => void this.refresh(), RETRY_MS);
      return;
    }
    if (!this.isLive && !this.#isClosed) void this.player.open();
  }

  #open(): LiveChannel {
    return new LiveChannel(this.id, (frames) => this.#take(frames));
  }

  #take(frames: readonly ServerFrame[]): void {
    let isChanged = false;
    const fresh: Line[] = [];
    for (const frame of frames) {
      const outcome = this.#transcript.apply(frame);
      isChanged ||= outcome !== "same";
      if (outcome === "stale" || frame.type === "Snapshot") void this.#load();
      if (frame.type === "Results" && frame.is_final) fresh.push(this.#lineOf(frame.segment_id));
      this.#notice(frame);
    }
    if (fresh.length > 0) this.spoken.value = [...this.spoken.value, ...fresh].slice(-6);
    if (isChanged) this.#show();
  }

  #lineOf(id: string): Line {
    const found = this.#transcript.lines.find((line) => line.id === id);
    if (found === undefined) throw new Error("A line that was taken is there.");
    return found;
  }

  #notice(frame: ServerFrame): void {
    switch (frame.type) {
      case "Snapshot":
        this.isOpen.value = true;
        break;
      case "Heartbeat":
        this.heartbeat.value = frame;
        break;
      case "Warning":
        this.warning.value = frame.message;
        break;
      case "SessionStatus":
        this.warning.value = "";
        void this.refresh();
        break;
      case "SessionEnded":
        this.warning.value = "";
        void this.refresh().then(() => this.#polishLater());
        this.notes.news();
        break;
      case "ChunkStatus":
        if (frame.missing === true) void this.refresh();
        break;
      case "SummaryUpdated":
        this.summaryNews.value += 1;
        this.notes.news();
        break;
      case "AnnotationChanged":
        if (frame.annotation_type === "mark") void this.marks.load();
        else this.notes.news();
        break;
      case "Redacted":
        void this.marks.load();
        this.notes.news();
        break;
      case "ConcernRaised":
        this.concernNews.value += 1;
        break;
      case "GuestJoined":
        showToast(`${frame.display_name} reads along as a guest.`);
        break;
      default:
        if (frame.type === "Results") this.warning.value = "";
        else if (OUTDATES_NOTES.has(frame.type) && !this.isLive) this.notes.news();
    }
  }

  #show(): void {
    this.lines.value = this.#transcript.lines;
    this.speakers.value = this.#transcript.speakers;
    this.#names.value = this.#transcript.names;
  }

  /** Brings all segments with their words, page by page; what has come live meanwhile stays. */
  async #load(): Promise<void> {
    this.#mustLoad = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      while (this.#mustLoad && !this.#isClosed) {
        this.#mustLoad = false;
        if (await this.#loadOnce().then(() => true, isLasting)) continue;
        // The network is away, or the service is: the live channel says so meanwhile.
        this.#mustLoad = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    } catch (error) {
      if (!this.#isClosed)
        showToast(`The text could not be brought up to date. ${messageOf(error)}`);
    } finally {
      this.#isLoading = false;
    }
  }

  async #loadOnce(): Promise<void> {
    const before = new Set(this.#transcript.finalIds);
    const there = new Set<string>();
    let cursor: string | undefined;
    do {
      const query = { limit: PAGE, words: true, cursor };
      const params = { path: { session_id: this.id }, query };
      const page: { items: Segment[]; next_cursor: string | null } = await call((api) =>
        api.GET("/sessions/{session_id}/segments", { params }),
      );
      if (this.#isClosed) return;
      this.#transcript.merge(page.items);
      for (const { id } of page.items) there.add(id);
      cursor = page.next_cursor ?? undefined;
      this.#show();
    } while (cursor !== undefined);
    const since = this.#transcript.finalIds.filter((id) => !before.has(id));
    this.#transcript.keepOnly(new Set([...there, ...since]));
    this.#show();
    if (!this.isLive && there.size > 0) await this.#polish();
  }

  /** A load that is under way does it at its end; without a network the words stay as they were heard. */
  async #polishLater(): Promise<void> {
    if (!this.#isLoading && !this.#isClosed) await this.#polish().catch(() => undefined);
  }

  async #polish(): Promise<void> {
    const query = { format: "json", style: "readable", numbers: "words" } as const;
    const params = { path: { session_id: this.id }, query };
    // Of the formats of this address it is the one that was asked for.
    const { segments } = (await call((api) =>
      api.GET("/sessions/{session_id}/transcript", { params }),
    )) as { segments: { id: string; text: string; readable_text?: string }[] };
    const found = new Map<string, Readable>();
    for (const { id, text, readable_text: readable = "" } of segments) {
      const words = readableWords(text, readable);
      if (words !== undefined) found.set(id, words);
    }
    this.readable.value = found;
  }
}
