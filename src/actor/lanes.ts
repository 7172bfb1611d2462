/** Works that go on side by side: a bounded number, and never two under one key. */
export class Lanes {
  readonly #width: number;
  readonly #works = new Map<string, Promise<void>>();

  constructor(width: number) {
    this.#width = width;
  }

  /** Begins as soon as a lane is free. Does nothing while work under the key goes on. */
  async begin(key: string, work: () => Promise<void>): Promise<void> {
    while (this.#works.size >= this.#width && !this.#works.has(key)) {
      await Promise.race(this.#works.values());
    }
    if (this.#works.has(key)) return;
    const done = work().finally(() => this.#works.delete(key));
    this.#works.set(key, done);
  }

  /** Settles when all that was begun has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#works.values());
  }
}
