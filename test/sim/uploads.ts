import { createHash } from "node:crypto";
import { toAppError } from "../../src/base/errors.ts";
import { request } from "./request.ts";
import type { Scene } from "./scene.ts";
import type { Sound } from "./speech.ts";

const REQUEST_MS = 10_000;

/** In which order a device sends what waits. */
export type Order = "in order" | "newest first" | "shuffled";

export interface UploadPlan {
  order: Order;
  /** Uploads at once. */
  parallel: number;
  /** It sends again what was acknowledged long ago. */
  repeats: boolean;
  /** Share of chunks that stay behind for some time while others go. */
  heldBack: number;
}

/** The device that uploads. */
export interface Uploading {
  readonly sessionId: string;
  readonly isOnline: boolean;
  readonly isGone: boolean;
  /** There is no such session any more. */
  end(): void;
}

/** The chunks of a device: it keeps each until somebody has acknowledged it. */
export class Uploads {
  /** What was recorded so far, by name. */
  readonly recorded: Sound[] = [];
  /** By name: what the service said that it has. */
  readonly acknowledged = new Set<number>();
  /** What the service said that it will not take. */
  readonly refused = new Map<number, string>();
  /** Only this gives numbers away: else each that is free is to be found. */
  isAlone: boolean;
  readonly #world: Scene;
  readonly #device: Uploading;
  readonly #plan: UploadPlan;
  readonly #underWay = new Set<number>();
  /** Until when a chunk stays behind. */
  readonly #heldUntil = new Map<number, number>();
  /** The first number that may be free. */
  #free = 0;
  #isFreeKnown: boolean;

  constructor(world: Scene, device: Uploading, plan: UploadPlan, isAlone: boolean) {
    this.#world = world;
    this.#device = device;
    this.#plan = plan;
    this.isAlone = isAlone;
    this.#isFreeKnown = isAlone;
  }

  get left(): Sound[] {
    return this.recorded.filter(
      ({ name }) => !this.acknowledged.has(name) && !this.refused.has(name),
    );
  }

  /** The highest number that is given away; undefined when more are to be found. */
  get last(): number | undefined {
    if (this.left.some(({ sequence }) => sequence === undefined) || !this.#isFreeKnown) {
      return undefined;
    }
    return this.#free - 1;
  }

  add(sound: Sound): void {
    const { kernel } = this.#world;
    this.recorded.push(sound);
    if (kernel.random.chance(this.#plan.heldBack)) {
      this.#heldUntil.set(sound.name, kernel.now + 12_000 + kernel.random.next() * 40_000);
    }
    this.#number();
  }

  /** Where nobody else gives numbers away, all that wait can have theirs. */
  #number(): void {
    if (!this.isAlone || !this.#isFreeKnown) return;
    for (const sound of this.recorded) {
      if (sound.sequence !== undefined) continue;
      sound.sequence = this.#free;
      this.#free += 1;
    }
  }

  /** Sends what it may at this moment. */
  send(): void {
    if (this.#device.isGone || !this.#device.isOnline) return;
    for (const sound of this.#inOrder()) {
      const most = this.#isFreeKnown && this.isAlone ? this.#plan.parallel : 1;
      if (this.#underWay.size >= most) return;
      void this.#upload(sound);
    }
  }

  #inOrder(): Sound[] {
    const { now, random } = this.#world.kernel;
    const left = this.left.filter(
      ({ name }) => !this.#underWay.has(name) && (this.#heldUntil.get(name) ?? 0) <= now,
    );
    const seeking = left.find(({ sequence }) => sequence !== undefined);
    if (!(this.#isFreeKnown && this.isAlone))
      return left.length === 0 ? [] : [seeking ?? left[0]].filter((each) => each !== undefined);
    const { order } = this.#plan;
    if (order === "newest first") return left.reverse();
    if (order === "in order") return left;
    return left
      .map((sound) => ({ sound, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ sound }) => sound);
  }

  async #upload(sound: Sound): Promise<void> {
    const { kernel, story } = this.#world;
    const { name } = sound;
    this.#underWay.add(name);
    const isSought = !(this.#isFreeKnown && this.isAlone);
    sound.sequence ??= this.#free;
    try {
      await this.#once(sound);
      this.acknowledged.add(name);
      story.tell(this.#device.sessionId, `chunk ${sound.sequence} was acknowledged`);
      if (isSought) this.#found(sound.sequence + 1);
      if (this.#plan.repeats) this.#repeat(sound);
    } catch (error) {
      this.#failed(sound, toAppError(error), isSought);
    }
    this.#underWay.delete(name);
    const rest = this.acknowledged.has(name) ? 1 : 500 + kernel.random.next() * 2_000;
    kernel.plan(rest, () => this.send());
  }

  /** While others give numbers away this is only where to look next. */
  #found(free: number): void {
    this.#free = Math.max(this.#free, free);
    this.#isFreeKnown = this.isAlone;
    this.#number();
  }

  #failed(
    sound: Sound,
    { code, retryable }: ReturnType<typeof toAppError>,
    isSought: boolean,
  ): void {
    if (code === "chunk_conflict" && isSought && sound.sequence !== undefined) {
      this.#world.count("chunk found its number taken");
      this.#free = sound.sequence + 1;
      sound.sequence = undefined;
      return;
    }
    if (!retryable && code !== "timeout" && code !== "internal") {
      this.refused.set(sound.name, code);
    }
    if (code === "session_deleted" || code === "not_found") this.#device.end();
  }

  #repeat(sound: Sound): void {
    const { kernel } = this.#world;
    kernel.plan(5_000 + kernel.random.next() * 60_000, () => {
      if (!this.#device.isGone) this.#once(sound).catch(() => {});
    });
  }

  #once({ sequence = 0, data, mediaType, frames, sampleRate }: Sound): Promise<void> {
    const sha256 = createHash("sha256").update(data).digest("hex");
    const chunk = {
      id: this.#world.newId(),
      sessionId: this.#device.sessionId,
      sequence,
      mediaType,
      filename: "",
      bytes: data.length,
      sha256,
      frames,
      sampleRate,
      durationSeconds: frames / sampleRate,
      recordedAt: undefined,
    };
    return request(this.#world, REQUEST_MS, (host) => host.upload(chunk, data));
  }
}
