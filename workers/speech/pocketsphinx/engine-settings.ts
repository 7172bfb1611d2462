/**
 * Settings of the decoder, as `pocketsphinx_continuous` takes them, so that the bare engine
 * can be run with the very same ones for comparison. Without the second pass (`-fwdflat no`)
 * words are fewer wrong at these beams, and a final comes 100 to 200 ms sooner.
 */
export const ENGINE_SETTINGS: readonly string[] = [
  "-maxhmmpf",
  "3000",
  "-maxwpf",
  "5",
  "-topn",
  "2",
  "-pl_window",
  "5",
  "-fwdflat",
  "no",
];

/**
 * Endpoints are found before the engine, so its own removal of silence is off: every frame is
 * decoded, and a frame's number is its time. The bare engine keeps its own (it needs it to
 * find ends), which is why this is no part of ENGINE_SETTINGS.
 */
export const FRONT_END_SETTINGS: readonly string[] = ["-remove_silence", "no"];

/** Frames per second of the engine's front end (`-frate`). */
export const FRAME_RATE = 100;
