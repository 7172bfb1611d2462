import { AppError } from "../../base/errors.ts";

/** One that cannot be read counts as much as so many that can. */
const BROKEN_WEIGHT = 3;
/** Ten in a row, or more than a quarter for long. */
const TOO_MANY = 10 * BROKEN_WEIGHT;

/** The packets of one connection: single broken ones are borne, a stream of them is not. */
export class PacketWatch {
  #packets = 0;
  #broken = 0;
  #weight = 0;

  /** How many came that no decoder can read. */
  get broken(): number {
    return this.#broken;
  }

  /** One came that a decoder can read. */
  get isReadable(): boolean {
    return this.#packets > this.#broken;
  }

  /** Throws `not_audio` when too many of those that came lately cannot be read. */
  add(verdicts: readonly boolean[], wanted: string): void {
    for (const isPacket of verdicts) {
      this.#packets += 1;
      this.#broken += isPacket ? 0 : 1;
      this.#weight = Math.max(0, this.#weight + (isPacket ? -1 : BROKEN_WEIGHT));
    }
    if (this.#weight < TOO_MANY) return;
    throw new AppError(
      "not_audio",
      `Of ${this.#packets} messages or packets ${this.#broken} are no Opus packets (RFC 6716, 3.4). ${wanted}`,
    );
  }
}
