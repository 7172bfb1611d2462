/**
 * The bytes of a stream that are not stored yet. Everything is kept until it is acknowledged, so that
 * after a break nothing is lost or doubled.
 */
export class UnstoredSound {
  #pieces: Uint8Array[] = [];
  /** Offset in the stream of the first byte that is kept. */
  #from = 0;
  #bytes = 0;

  /** @param from offset in the stream of the first byte that will be pushed */
  constructor(from = 0) {
    this.#from = from;
  }

  /** Offset of the first byte that is kept. */
  get from(): number {
    return this.#from;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get end(): number {
    return this.#from + this.#bytes;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.byteLength;
  }

  /** False when the service wants bytes that are gone or not there yet. */
  reaches(offset: number): boolean {
    return offset >= this.#from && offset <= this.end;
  }

  /** Everything before this offset is stored. */
  forget(offset: number): void {
    while (this.#from < offset) {
      const [first] = this.#pieces;
      if (first === undefined) return;
      const part = Math.min(first.byteLength, offset - this.#from);
      if (part === first.byteLength) this.#pieces.shift();
      else this.#pieces[0] = first.subarray(part);
      this.#from += part;
      this.#bytes -= part;
    }
  }

  /** At most `most` bytes from this offset on; empty at the end. */
  read(offset: number, most: number): Uint8Array {
    let skip = offset - this.#from;
    for (const piece of this.#pieces) {
      if (skip < piece.byteLength) return piece.subarray(skip, skip + most);
      skip -= piece.byteLength;
    }
    return new Uint8Array();
  }
}
