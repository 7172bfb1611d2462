/** Largest message, bytes. */
const MESSAGE_BYTES = 32 * 1024;

/** The bytes of a stream that are not acknowledged yet, as the messages in which they go. */
export class UnacknowledgedAudio {
  readonly #mayCut: boolean;
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #from = 0;
  #to = 0;
  /** So many of the parts are under way. */
  #sent = 0;
  #sentTo = 0;

  /** `mayCut`: false where each fragment is a message of its own. */
  constructor(mayCut: boolean) {
    this.#mayCut = mayCut;
  }

  /** Offset of the first byte that is kept. */
  get from(): number {
    return this.#from;
  }

  /** Offset behind the last byte. */
  get to(): number {
    return this.#to;
  }

  get bytes(): number {
    return this.#to - this.#from;
  }

  /** Bytes that were sent and are not acknowledged. */
  get ahead(): number {
    return this.#sentTo - this.#from;
  }

  get isUnderWay(): boolean {
    return this.#sent > 0;
  }

  /** The message that is to be sent next. */
  get next(): Uint8Array<ArrayBuffer> | undefined {
    return this.#parts[this.#sent];
  }

  /** Takes bytes, which the caller may use again, at the end. */
  push(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    const copy = new Uint8Array(bytes);
    const step = this.#mayCut ? MESSAGE_BYTES : copy.byteLength;
    for (let at = 0; at < copy.byteLength; at += step) {
      this.#parts.push(copy.subarray(at, at + step));
    }
    this.#to += copy.byteLength;
  }

  /** Tells that `next` went. */
  sent(): void {
    this.#sentTo += this.next?.byteLength ?? 0;
    this.#sent += 1;
  }

  /** Nothing is kept, and what is pushed follows this offset of the stream. */
  startAt(offset: number): void {
    this.#parts = [];
    this.#sent = 0;
    this.#to = this.#from;
    this.moveTo(offset);
  }

  /** What is kept begins at this offset of the stream. */
  moveTo(offset: number): void {
    this.#to += offset - this.#from;
    this.#from = offset;
    this.#sentTo = offset;
  }

  /** After a break: what is kept goes from this offset on, once it has forgotten what lies before. */
  sendFrom(offset: number): void {
    this.#sent = 0;
    this.#sentTo = Math.max(offset, this.#from);
  }

  /** Drops what lies before an offset; false when there was nothing. */
  forget(offset: number): boolean {
    if (offset <= this.#from) return false;
    for (let first = this.#parts[0]; first !== undefined; first = this.#parts[0]) {
      const part = Math.min(offset - this.#from, first.byteLength);
      this.#from += part;
      if (part < first.byteLength) {
        this.#parts[0] = first.subarray(part);
        break;
      }
      this.#parts.shift();
      this.#sent = Math.max(0, this.#sent - 1);
      if (this.#from >= offset) break;
    }
    return true;
  }

  all(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.byteLength;
    }
    return whole;
  }
}
