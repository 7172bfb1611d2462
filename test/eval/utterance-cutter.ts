import { ACTIVITY_FRAME, SpeechActivity } from "../../workers/audio/speech-activity.ts";

/** An utterance ends after this much without speech (0.4 s), in frames. */
const PAUSE_FRAMES = 12;
/** Samples kept before and after, as end-pointers do (0.1 s). */
const PADDING = 1600;
const SPEECH = 0.5;
/** Speech shorter than this is a click. */
const LEAST_FRAMES = 2;
const LONGEST_FRAMES = 625;

/** Samples [start, end) of the utterances of a recording: speech between pauses of 0.4 s. */
export function cutUtterances(pcm: Int16Array): { start: number; end: number }[] {
  const activity = new SpeechActivity();
  const utterances: { start: number; end: number }[] = [];
  let first = -1;
  let last = -1;
  const close = () => {
    if (first >= 0 && last - first >= LEAST_FRAMES) {
      utterances.push({
        start: Math.max(0, first * ACTIVITY_FRAME - PADDING),
        end: Math.min(pcm.length, (last + 1) * ACTIVITY_FRAME + PADDING),
      });
    }
    first = -1;
  };
  for (let i = 0; (i + 1) * ACTIVITY_FRAME <= pcm.length; i++) {
    const frame = pcm.subarray(i * ACTIVITY_FRAME, (i + 1) * ACTIVITY_FRAME);
    const isSpeech = activity.take(frame).probability >= SPEECH;
    if (first >= 0 && (i - last > PAUSE_FRAMES || i - first > LONGEST_FRAMES)) close();
    if (!isSpeech) continue;
    if (first < 0) first = i;
    last = i;
  }
  close();
  return utterances;
}
