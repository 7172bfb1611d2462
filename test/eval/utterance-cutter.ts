import fvad from "@echogarden/fvad-wasm";

const FRAME = 320;
const RATE = 16000;
/** An utterance ends after this much without speech (0.4 s). */
const PAUSE_FRAMES = 20;
/** Samples kept before and after, as end-pointers do (0.1 s). */
const PADDING = 1600;
/** Frames this far under the decaying peak are taken for background. */
const BELOW_PEAK_DB = 30;
const DECAY_DB = 0.1;
/** Speech shorter than this is a click. */
const LEAST_FRAMES = 3;
const LONGEST_FRAMES = 1000;

/** Samples [start, end) of the utterances of a recording: speech between pauses of 0.4 s. */
export async function cutUtterances(pcm: Int16Array): Promise<{ start: number; end: number }[]> {
  const near = nearPeak(pcm);
  const voiced = (await voiceActivity(pcm)).map((speech, i) => speech && near[i] === true);
  const utterances: { start: number; end: number }[] = [];
  let first = -1;
  let last = -1;
  const close = () => {
    if (first >= 0 && last - first >= LEAST_FRAMES) {
      utterances.push({
        start: Math.max(0, first * FRAME - PADDING),
        end: Math.min(pcm.length, (last + 1) * FRAME + PADDING),
      });
    }
    first = -1;
  };
  voiced.forEach((speech, i) => {
    if (first >= 0 && (i - last > PAUSE_FRAMES || i - first > LONGEST_FRAMES)) close();
    if (!speech) return;
    if (first < 0) first = i;
    last = i;
  });
  close();
  return utterances;
}

/** Whether each 20 ms frame holds speech, by WebRTC's voice activity detector (mode 2). */
async function voiceActivity(pcm: Int16Array): Promise<boolean[]> {
  const engine = await fvad();
  const handle = engine._fvad_new();
  const memory = engine._malloc(2 * FRAME);
  try {
    engine._fvad_set_sample_rate(handle, RATE);
    engine._fvad_set_mode(handle, 2);
    const voiced: boolean[] = [];
    for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
      engine.HEAP16.set(pcm.subarray(at, at + FRAME), memory / 2);
      voiced.push(engine._fvad_process(handle, memory, FRAME) === 1);
    }
    return voiced;
  } finally {
    engine._free(memory);
    engine._fvad_free(handle);
  }
}

/** Whether each 20 ms frame is within 30 dB of a slowly decaying peak. */
function nearPeak(pcm: Int16Array): boolean[] {
  const near: boolean[] = [];
  let peak = 0;
  for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
    let power = 1;
    for (const sample of pcm.subarray(at, at + FRAME)) power += (sample * sample) / FRAME;
    const db = 10 * Math.log10(power);
    peak = Math.max(db, peak - DECAY_DB);
    near.push(db > peak - BELOW_PEAK_DB);
  }
  return near;
}
