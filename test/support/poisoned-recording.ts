import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Mishap, poisoned } from "./poison-reader.ts";
import { ReadingFixture } from "./reading-fixture.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

/** A second of audio at 16 kHz. */
export const BYTES = 32_000;
const POISONED = 3;
const CHUNKS = 6;

/** What becomes of the chunks of `PoisonedRecording.chunks`. */
export const OUTCOME = Array.from({ length: CHUNKS }, (_, n) =>
  n === POISONED ? "failed" : "completed",
);

/** Sessions of which one has a chunk that breaks whoever reads it, and the count of who tried. */
export class PoisonedRecording {
  readonly bench: ReadingFixture;
  readonly tries: string;
  readonly #folder: string;

  private constructor(bench: ReadingFixture, folder: string) {
    this.bench = bench;
    this.#folder = folder;
    this.tries = join(folder, "tries");
  }

  static async open(): Promise<PoisonedRecording> {
    return new PoisonedRecording(await ReadingFixture.open(), makeScratchFolder("poison"));
  }

  async close(): Promise<void> {
    await this.bench.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Chunks of which one is poisoned; all others differ, so that none is taken for another. */
  chunks(mishap: Mishap): Buffer[] {
    return Array.from({ length: CHUNKS }, (_, sequence) =>
      sequence === POISONED ? poisoned(mishap, this.tries, BYTES) : innocent(sequence),
    );
  }

  /** As many of which none is. */
  static calm(): Buffer[] {
    return Array.from({ length: CHUNKS }, (_, sequence) => innocent(sequence));
  }

  get triesMade(): number {
    return existsSync(this.tries) ? readFileSync(this.tries, "utf8").length : 0;
  }
}

export function innocent(sequence: number): Buffer {
  return Buffer.alloc(BYTES, sequence + 1);
}
