import { isAppError } from "../../src/base/errors.ts";
import { OWNER, WORKSPACE } from "./cast.ts";
import { request } from "./request.ts";
import type { Scene } from "./scene.ts";
import { type Kind, record, type Sound } from "./speech.ts";
import { Streamer, type StreamPlan } from "./streamer.ts";
import { cutTrack } from "./track.ts";
import { type UploadPlan, Uploads } from "./uploads.ts";

const REQUEST_MS = 10_000;

export interface DevicePlan extends UploadPlan {
  /** It streams, some of it or all. */
  stream: StreamPlan | undefined;
  /** Of one that uploads. */
  chunks: number;
  /** Seconds of one chunk. */
  chunkSeconds: number;
  /** Spells without a network: from, to; milliseconds after its start. */
  offline: [number, number][];
  /** It says that it stops before all is sent. */
  stopsFirst: boolean;
  /** It says how much there is when it stops. */
  tellsLast: boolean;
  /** Share of chunks that nobody can read, or that end whoever reads them. */
  broken: number;
  poison: number;
  /** It is never heard of again after this many milliseconds. */
  lostAt: number | undefined;
}

/** A recorder: keeps what it records until somebody has acknowledged it, whatever the network does. */
export class Device {
  readonly sessionId: string;
  readonly deviceId: string;
  readonly plan: DevicePlan;
  readonly uploads: Uploads;
  streamer: Streamer | undefined;
  isStarted = false;
  isStopped = false;
  readonly #world: Scene;
  readonly #jobId: string;
  #beganAt = 0;
  #isRecorded = false;
  #isStopping = false;
  #isOver = false;

  constructor(world: Scene, sessionId: string, jobId: string, plan: DevicePlan) {
    this.#world = world;
    this.sessionId = sessionId;
    this.#jobId = jobId;
    this.deviceId = world.newId();
    this.plan = plan;
    this.uploads = new Uploads(world, this, plan, plan.stream === undefined);
  }

  /** Everything that it has to do is done, or it will never do anything any more. */
  get isDone(): boolean {
    return this.isGone || (this.isStopped && this.#isSent);
  }

  /** It will never do anything any more. */
  get isGone(): boolean {
    const { lostAt } = this.plan;
    return this.#isOver || (lostAt !== undefined && this.#now >= lostAt);
  }

  get isOnline(): boolean {
    const now = this.#now;
    return !this.plan.offline.some(([from, to]) => now >= from && now < to);
  }

  get #now(): number {
    return this.#world.kernel.now - this.#beganAt;
  }

  get #isSent(): boolean {
    return this.#isRecorded && this.streamer?.isDone !== false && this.uploads.left.length === 0;
  }

  begin(): void {
    this.#beganAt = this.#world.kernel.now;
    void this.#start();
  }

  /** The session is deleted: there is nothing to do any more. */
  end(): void {
    this.#isOver = true;
  }

  async #start(): Promise<void> {
    const { sessionId, deviceId } = this;
    const isTaken = await this.#untilTaken(
      (host) =>
        host.begin({
          id: sessionId,
          jobId: this.#jobId,
          workspaceId: WORKSPACE,
          ownerId: OWNER,
          deviceId,
          title: "",
          language: "en",
          vocabulary: [],
          workshopId: undefined,
        }),
      ["already_recording", "internal"],
    );
    if (!isTaken) return;
    this.isStarted = true;
    this.#world.story.tell(sessionId, "the device began");
    const { stream, chunks } = this.plan;
    if (stream !== undefined) this.#stream(stream);
    this.#record(stream?.alongside ?? chunks);
    this.#beat();
  }

  #stream(plan: StreamPlan): void {
    this.streamer = new Streamer(this.#world, this, plan, (isClean) => this.#streamed(isClean));
    this.streamer.tick();
    this.#stopWhenRecorded();
  }

  /** What it did not stream becomes chunks, now that nobody else gives numbers to any. */
  #streamed(isClean: boolean): void {
    const { streamer, uploads, plan } = this;
    if (!isClean || streamer === undefined) return;
    uploads.isAlone = true;
    const rest = cutTrack(streamer.track, streamer.acknowledged, plan.chunkSeconds);
    for (const sound of rest) uploads.add({ ...sound, name: uploads.recorded.length });
    uploads.send();
  }

  #record(left: number): void {
    const { chunkSeconds, stream, stopsFirst } = this.plan;
    const { kernel } = this.#world;
    if (left === 0) {
      this.#isRecorded = true;
      if (stream !== undefined) return;
      return stopsFirst ? void this.#stop() : this.#stopWhenSent();
    }
    kernel.plan(chunkSeconds * 1_000, () => {
      if (this.isGone) return;
      this.uploads.add(this.#sound(left === 1));
      this.uploads.send();
      this.#record(left - 1);
    });
  }

  #sound(isLast: boolean): Sound {
    const { random } = this.#world.kernel;
    const { broken, poison, chunkSeconds } = this.plan;
    const kind: Kind = random.chance(broken)
      ? "broken"
      : random.chance(poison)
        ? "poison"
        : "speech";
    const cells = Math.max(1, Math.round(chunkSeconds * 10 * (isLast ? random.next() : 1)));
    return record(random, this.uploads.recorded.length, cells, kind);
  }

  /** Of one that streams: what is left when it stops first the service may not take any more. */
  #stopWhenRecorded(): void {
    if (this.isGone) return;
    const isThere = this.#isRecorded && this.streamer?.isRecorded === true;
    if (isThere && this.plan.stopsFirst && this.plan.stream?.share === 1) void this.#stop();
    else if (isThere && this.plan.stopsFirst && this.uploads.last !== undefined) void this.#stop();
    else if (this.#isSent) void this.#stop();
    else this.#world.kernel.plan(300, () => this.#stopWhenRecorded());
  }

  #stopWhenSent(): void {
    if (this.isGone) return;
    if (this.uploads.left.length === 0) void this.#stop();
    else this.#world.kernel.plan(500, () => this.#stopWhenSent());
  }

  async #stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { uploads, plan } = this;
    const last = plan.tellsLast || uploads.left.length > 0 ? uploads.last : undefined;
    const isTaken = await this.#untilTaken(
      (host) => host.stop(this.sessionId, last),
      ["not_found", "conflict"],
    );
    if (!isTaken) return;
    this.isStopped = true;
    this.#world.story.tell(this.sessionId, `the device stopped, last ${last ?? "not said"}`);
  }

  /** Signs of life, as long as it is there. */
  #beat(): void {
    this.#world.kernel.plan(5_000, () => {
      if (this.isDone) return;
      if (this.isOnline) {
        this.uploads.send();
        request(this.#world, REQUEST_MS, (host) => host.heartbeat(this.deviceId)).catch(() => {});
      }
      this.#beat();
    });
  }

  async #untilTaken(
    act: Parameters<typeof request<void>>[2],
    final: readonly Parameters<typeof isAppError>[1][],
  ): Promise<boolean> {
    const { kernel } = this.#world;
    while (!this.isGone) {
      if (this.isOnline) {
        try {
          await request(this.#world, REQUEST_MS, act);
          return true;
        } catch (error) {
          if (final.some((code) => isAppError(error, code))) return true;
        }
      }
      await new Promise<void>((resolve) => {
        kernel.plan(500 + kernel.random.next() * 2_000, resolve);
      });
    }
    return false;
  }
}
