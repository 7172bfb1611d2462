import type { SpeakerTracker } from "../../workers/speakers/speaker-tracker.ts";

/** What a tracker cost: processor time in milliseconds, and its largest state in bytes. */
export class TrackerMeter {
  onlineMs = 0;
  finalMs = 0;
  slowestMs = 0;
  checkpointBytes = 0;

  /** The tracker, with each of its calls measured; the networks work elsewhere. */
  readonly metered = (tracker: SpeakerTracker): SpeakerTracker =>
    new Proxy(tracker, {
      get: (tracker, name) => {
        const member: unknown = Reflect.get(tracker, name, tracker);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          const begun = process.cpuUsage();
          const result: unknown = member.apply(tracker, args);
          const { user, system } = process.cpuUsage(begun);
          this.#note(name, (user + system) / 1_000, result);
          return result;
        };
      },
    });

  #note(name: string | symbol, took: number, result: unknown): void {
    if (name === "finalPass") {
      this.finalMs += took;
      return;
    }
    this.onlineMs += took;
    this.slowestMs = Math.max(this.slowestMs, took);
    if (name === "checkpoint" && result instanceof Uint8Array) {
      this.checkpointBytes = Math.max(this.checkpointBytes, result.length);
    }
  }
}
