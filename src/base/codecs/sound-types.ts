/** What files may be, for people; a sentence's object. */
export const READABLE_FILES =
  "WAV (PCM of 8 to 32 bits, float, µ-law or A-law), FLAC (16 or 24 bits), MP3, Ogg (Opus or Vorbis) or WebM (Opus), of 8 to 96 kHz and 1 to 8 channels; and by FFmpeg, which the usual installation brings, M4A, MP4, MOV and 3GP (AAC, ALAC), CAF, AIFF, AMR, WMA, AU and others";

/** Media types of stored files that say of themselves what they hold. */
export const SOUND_FILE_TYPES: ReadonlySet<string> = new Set([
  "audio/mpeg",
  "audio/flac",
  "audio/ogg",
  "audio/webm",
]);

/** Marks a file that is a later part of a stream, before which the stream's head belongs. */
const PART = ";piece";

export function toPartMediaType(mediaType: string): string {
  return `${mediaType}${PART}`;
}

export function isPartMediaType(mediaType: string): boolean {
  return mediaType.endsWith(PART);
}
