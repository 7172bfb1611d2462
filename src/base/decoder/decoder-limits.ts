/** What one conversion may take. */
export interface DecoderLimits {
  /** Bytes of 16-bit samples that it may write. */
  outputBytes: number;
  /** Bytes of memory that the bundled decoder may grow to; at most 2 GiB. */
  memoryBytes: number;
}

/** How the bundled decoder's process ends when a limit is met. */
export const DECODER_EXIT = { tooLong: 9, tooLarge: 10 } as const;

/**
 * Containers that are opened, by FFmpeg's names: sound files, and none that name other files
 * (playlists, lists of parts), pictures or subtitles.
 */
const DECODED_FORMATS =
  "aac,ac3,aiff,amr,amrnb,amrwb,asf,au,avi,caf,eac3,flac,flv,gsm,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp2,mp3,mpeg,mpegts,ogg,w64,wav,wv,tta,ape";

/**
 * Arguments of FFmpeg: the first stream of sound in `input`, as WAV of 16 bits at 16 kHz with one or
 * two channels to `output`. Silence that a codec leaves out (AMR) is filled in.
 */
export function decoderArguments(input: string, output: string): string[] {
  return [
    ...["-nostdin", "-v", "error", "-threads", "1"],
    ...["-protocol_whitelist", "file", "-format_whitelist", DECODED_FORMATS],
    ...["-i", input, "-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"],
    "-af",
    "aresample=16000:async=1:first_pts=0,aformat=sample_fmts=s16:channel_layouts=mono|stereo",
    ...["-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "wav", output],
  ];
}
