/** Media types of stored files that say of themselves what they hold. */
export const SOUND_FILE_TYPES: ReadonlySet<string> = new Set([
  "audio/mpeg",
  "audio/flac",
  "audio/ogg",
  "audio/webm",
]);

/** Marks a file that is a later piece of a stream, before which the stream's head belongs. */
const PIECE = ";piece";

export function toPieceMediaType(mediaType: string): string {
  return `${mediaType}${PIECE}`;
}

export function isPieceMediaType(mediaType: string): boolean {
  return mediaType.endsWith(PIECE);
}
