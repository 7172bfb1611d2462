import type { NamedTexts } from "./audio-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** Texts as objects of a bucket. */
export class NamedObjects implements NamedTexts {
  readonly address: string;
  readonly #bucket: S3Bucket;
  readonly #begin: string;

  /** @param begin what their keys begin with: nothing, or a name with a slash behind it */
  constructor(bucket: S3Bucket, begin: string) {
    this.#bucket = bucket;
    this.#begin = begin;
    this.address = `${bucket.address}/${begin}`.replace(/\/$/, "");
  }

  async start(): Promise<void> {}

  async list(): Promise<string[]> {
    const names: string[] = [];
    for await (const page of this.#bucket.list(this.#begin)) {
      names.push(...page.map(({ key }) => key.slice(this.#begin.length)));
    }
    return names;
  }

  async has(name: string): Promise<boolean> {
    return (await this.#bucket.head(this.#begin + name)) !== undefined;
  }

  async read(name: string, most: number): Promise<string | undefined> {
    const key = this.#begin + name;
    const found = await this.#bucket.head(key);
    if (found === undefined) return undefined;
    if (found.bytes > most) return "too long";
    return (await this.#bucket.read(key)).toString("utf8");
  }

  async writeOnce(name: string, text: string): Promise<boolean> {
    const key = this.#begin + name;
    if (await this.#bucket.put(key, Buffer.from(text), { once: true })) return true;
    // Ours all the same, when the answer to the first of several tries was lost.
    return (await this.#bucket.read(key)).toString("utf8") === text;
  }

  remove(name: string): Promise<void> {
    return this.#bucket.remove(this.#begin + name);
  }

  commandToWrite(name: string, text: string): string {
    return `echo ${text} | aws s3 cp - ${this.address}/${name}`;
  }
}
