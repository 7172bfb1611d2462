import { newId } from "../../src/base/ids.ts";
import { startFront, type TestFront, type TestFrontOptions } from "./front.ts";
import { Viewer } from "./viewer.ts";

/** A front and the viewers of one test; `close` ends them all. */
export class LiveFixture {
  #front: TestFront | undefined;
  readonly #viewers: Viewer[] = [];

  async start(options: Partial<TestFrontOptions> = {}): Promise<TestFront> {
    this.#front = await startFront({ routes: [], ...options });
    return this.#front;
  }

  view(
    { port }: TestFront,
    headers: Record<string, string> = { authorization: "Bearer user-bob" },
    query = "",
  ): Viewer {
    const viewer = new Viewer(`ws://127.0.0.1:${port}/api/live${query}`, headers);
    this.#viewers.push(viewer);
    return viewer;
  }

  async close(): Promise<void> {
    for (const viewer of this.#viewers.splice(0)) viewer.socket.terminate();
    await this.#front?.stop();
    this.#front = undefined;
  }
}

/** A session that the test policy knows: one whose id does not end in 0. */
export function knownSessionId(): string {
  return `${newId().slice(0, -1)}1`;
}

/** Every seq after `from`, up to `to`. */
export function upTo(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}
