import { toAppError } from "../../src/base/errors.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import { PEOPLE } from "./cast.ts";
import { request } from "./request.ts";
import type { Scene } from "./scene.ts";
import type { Wish } from "./wish.ts";

const ASK_MS = 15_000;

const KINDS = [
  "claim",
  "claim",
  "unclaim",
  "edit",
  "edit",
  "edit",
  "edit",
  "merge",
  "redact",
  "redo",
  "redo",
  "cancel",
  "summary",
  "summary",
] as const;

/** One in so many wishes is asked for again, at most so much later. */
const REPEATS = 4;
const LATEST_REPEAT_MS = 40_000;

/** Of those who do something, so many take the whole session away. */
const DELETES = 0.02;

/** Who hears these does not know whether it was done, and asks again. */
const IN_THE_DARK: ReadonlySet<string> = new Set(["timeout", "internal", "outcome_unknown"]);

/** People at a session, who do whatever comes to their minds. */
export class People {
  readonly wishes: Wish[] = [];
  readonly #world: Scene;
  readonly #sessionId: string;
  #acting = 0;

  constructor(world: Scene, sessionId: string) {
    this.#world = world;
    this.#sessionId = sessionId;
  }

  get isActing(): boolean {
    return this.#acting > 0;
  }

  /** One of them does something now; resolves when he has heard, or given up. */
  async act(): Promise<void> {
    this.#acting += 1;
    await this.#act();
    this.#acting -= 1;
  }

  /** One of them has all of it read again. */
  async readAgain(): Promise<void> {
    this.#acting += 1;
    await this.#carryOut(this.#wishFor({ type: "Redo", byUserId: PEOPLE[0] ?? "" }));
    this.#acting -= 1;
  }

  async #act(): Promise<void> {
    if (this.#world.kernel.random.chance(DELETES)) return this.#delete();
    const wish = await this.#wish();
    if (wish !== undefined) await this.#carryOut(wish);
  }

  #wishFor(command: OutsideCommand): Wish {
    const { now } = this.#world.kernel;
    return { sessionId: this.#sessionId, command, at: now, outcome: "unknown", asked: [] };
  }

  async #carryOut(wish: Wish): Promise<void> {
    const { kernel, story } = this.#world;
    this.wishes.push(wish);
    const id = this.#world.newId();
    const { command, sessionId } = wish;
    story.tell(sessionId, `somebody asks for ${JSON.stringify(command)}`);
    for (let tries = 0; tries < 4 && wish.outcome === "unknown"; tries += 1) {
      const at = kernel.now;
      const asked: Wish["asked"][number] = { at, begunAt: at, heardAt: Infinity, code: undefined };
      wish.asked.push(asked);
      try {
        wish.reply = await request(this.#world, ASK_MS, (host) => {
          asked.begunAt = kernel.now;
          return host.ask(wish, id);
        });
        wish.outcome = "done";
        wish.doneAt = kernel.now;
      } catch (error) {
        const { code, retryable } = toAppError(error);
        asked.heardAt = kernel.now;
        asked.code = code;
        if (!retryable && !IN_THE_DARK.has(code)) wish.outcome = "refused";
        if (wish.outcome === "refused") story.tell(sessionId, `refused: ${code}`);
      }
      await new Promise<void>((resolve) => {
        kernel.plan(200 + kernel.random.next() * 3_000, resolve);
      });
    }
    story.tell(sessionId, `${command.type} was ${wish.outcome}`);
    const number = Number.parseInt(id.slice(-4), 16);
    if (wish.outcome !== "done" || number % REPEATS !== 0) return;
    kernel.plan(number % LATEST_REPEAT_MS, () => void this.#repeat(wish, id));
  }

  /** His client has forgotten that it was answered, and asks again under the same id. */
  async #repeat(wish: Wish, id: string): Promise<void> {
    this.#acting += 1;
    this.#world.count("wishes repeated");
    // Whatever it hears: it does not happen again.
    await request(this.#world, ASK_MS, (host) => host.ask(wish, id)).catch(() => undefined);
    this.#acting -= 1;
  }

  async #delete(): Promise<void> {
    const { kernel, story } = this.#world;
    const sessionId = this.#sessionId;
    story.tell(sessionId, "somebody deletes it");
    this.#world.deleted.add(sessionId);
    for (;;) {
      try {
        await request(this.#world, ASK_MS, (host) => host.erase(sessionId));
        break;
      } catch {
        await new Promise<void>((resolve) => {
          kernel.plan(1_000, resolve);
        });
      }
    }
    this.#world.erased.add(sessionId);
    story.tell(sessionId, "it is deleted");
  }

  /** The segment before a chunk that is missing, now and then. */
  async #besideGap<S extends { end_sample: number }>(
    segments: readonly S[],
  ): Promise<S | undefined> {
    const { kernel, record } = this.#world;
    if (kernel.random.chance(0.3)) return undefined;
    const chunks = await record.rows("chunks", this.#sessionId);
    const known = new Set(chunks.map(({ sequence }) => sequence));
    const edge = chunks.find(({ sequence, start_sample: start }) => {
      return start !== null && !known.has(sequence + 1);
    });
    const end = (edge?.start_sample ?? 0) + (edge?.length_samples ?? 0);
    return segments.findLast((segment) => edge !== undefined && segment.end_sample <= end);
  }

  /** Every other one takes the merge before it back, if that was told to be done. */
  #merge(from: string, other: string, byUserId: string): OutsideCommand {
    const before = this.wishes.findLast(({ command }) => /MergeSpeakers$/i.test(command.type));
    const command = before?.command;
    if (before?.outcome !== "done" || command?.type !== "MergeSpeakers") {
      return { type: "MergeSpeakers", from, into: other, byUserId };
    }
    const [into = "", gone = ""] = [command.from, command.into].sort();
    return { type: "UnmergeSpeakers", from: gone, into, byUserId };
  }

  async #wish(): Promise<Wish | undefined> {
    const { kernel, record } = this.#world;
    const { random } = kernel;
    const sessionId = this.#sessionId;
    const segments = await record.rows("segments", sessionId);
    segments.sort((a, b) => a.start_sample - b.start_sample || (a.id < b.id ? -1 : 1));
    const byUserId = random.pick(PEOPLE);
    const labels = [...new Set(segments.map(({ label }) => label))].filter((l) => /^S\d+$/.test(l));
    const label = labels.length === 0 ? "S1" : random.pick(labels);
    const before = this.wishes.findLast(({ span }) => span !== undefined)?.span;
    const again = segments.find(({ start_sample: start }) => start === before?.start);
    const segment =
      segments.length === 0
        ? undefined
        : again !== undefined && random.chance(0.4)
          ? again
          : ((await this.#besideGap(segments)) ?? random.pick(segments));
    const wish = (command: OutsideCommand): Wish => this.#wishFor(command);
    switch (random.pick(KINDS)) {
      case "claim": {
        const source = random.pick(["self_claim", "moderator_assignment"] as const);
        const byOwner = source === "moderator_assignment";
        return wish({ type: "Claim", label, source, claimedUserId: byUserId, byUserId, byOwner });
      }
      case "unclaim":
        return wish({ type: "Unclaim", label, byUserId, byOwner: random.chance(0.5) });
      case "edit": {
        if (segment === undefined) return undefined;
        const isText = random.chance(0.7);
        const text = `edited ${this.wishes.length}`;
        const editId = isText ? this.#world.newId() : "";
        const { id: segmentId, start_sample: start, end_sample: end } = segment;
        return {
          ...wish({ type: "EditSegment", segmentId, editId, label: isText ? "" : label, byUserId }),
          span: { start, end },
          ...(isText && { text }),
        };
      }
      case "merge":
        return wish(this.#merge(label, `S${1 + random.below(3)}`, byUserId));
      case "redact": {
        const last = segments.at(-1)?.end_sample ?? 160_000;
        const from = random.below(last + 80_000);
        const to = from + 1 + random.below(80_000);
        const redactionId = this.#world.newId();
        return wish({ type: "Redact", redactionId, from, to, label: "", byUserId });
      }
      case "redo":
        return wish({ type: "Redo", byUserId });
      case "cancel":
        return wish({ type: "CancelRedo", byUserId });
      case "summary": {
        const id = this.#world.newId();
        return wish(
          Number.parseInt(id.slice(-1), 16) % 2 === 0
            ? { type: "SummaryStored", jobId: id, summaryType: "brief" }
            : { type: "GuestStored", guestId: id },
        );
      }
    }
  }
}
