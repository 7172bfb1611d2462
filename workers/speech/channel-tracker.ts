import type { SpeakerProposal, SpeakerTracker, SpeakerTurn } from "../speakers/speaker-tracker.ts";

/**
 * The tracker where channels are speakers: nothing is to be told apart, as a channel's number is its
 * cluster. One of each channel says whose its audio is, and one of the session which there are.
 */
export class ChannelTracker implements SpeakerTracker {
  readonly modelVersion = "channels-1";
  readonly #channels: number;
  readonly #channel: number;

  /** @param channel the one that it is about */
  constructor(channels: number, channel = -1) {
    this.#channels = channels;
    this.#channel = channel;
  }

  push(): void {}

  currentCluster(): number {
    return this.#channel;
  }

  turns(start: number, end: number): SpeakerTurn[] {
    return [{ start, end, cluster: this.#channel, confidence: 1 }];
  }

  commit(): void {}

  revisions(): SpeakerProposal {
    return { segments: [], merges: [] };
  }

  finalPass(): SpeakerProposal {
    return { segments: [], merges: [] };
  }

  clusters(): number[] {
    return Array.from({ length: this.#channels }, (_, channel) => channel);
  }

  checkpoint(): Uint8Array {
    return new Uint8Array(0);
  }
}
