import { useComputed } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { speakerColour } from "../../parts/speaker-colour.ts";
import { theme } from "../../parts/theme.ts";
import type { Chapter } from "./chapters.ts";
import type { SessionModel } from "./model/session-model.ts";
import { PART_SECONDS } from "./model/sound-parts.ts";
import type { Line } from "./model/transcript-state.ts";
import { PEAKS_PER_SECOND } from "./model/wav-sound.ts";

const BAR_PX = 3;
const STEP_SECONDS = 5;

interface WaveformProps {
  model: SessionModel;
  chapters: readonly Chapter[];
}

/** The sound as bars in the colours of who speaks; a slider that goes to any moment. */
export function Waveform({ model, chapters }: WaveformProps): VNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { player } = model;
  const time = useComputed(() => Math.floor(player.time.value)).value;
  const length = player.length.value;
  const lines = model.lines.value;
  const missing = model.missing.value;
  const measured = player.measured.value;
  const hits = model.search.byLine.value;
  const marks = model.marks.list.value;
  const look = theme.value;
  useEffect(() => {
    const box = canvas.current;
    if (box === null) return undefined;
    const draw = () => drawWaveform(box, model, chapters);
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(box);
    // The system's look may change while one reads, as in the evening.
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", draw);
    };
  }, [model, chapters, length, lines, missing, hits, marks, measured, look]);
  const goTo = (event: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || event.buttons === 0) return;
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    if (event.type === "pointerdown") model.jumpTo(share * length * 1_000);
    else player.seek(share * length);
  };
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: player.time.value - STEP_SECONDS,
      ArrowRight: player.time.value + STEP_SECONDS,
      PageDown: player.time.value + 60,
      PageUp: player.time.value - 60,
      Home: 0,
      End: length,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    model.jumpTo(Math.max(0, to) * 1_000);
  };
  return (
    <div
      class="waveform"
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={0}
      aria-valuemax={Math.round(length)}
      aria-valuenow={time}
      aria-valuetext={`${clockTime(time)} of ${clockTime(length)}`}
      onPointerDown={goTo}
      onPointerMove={goTo}
      onKeyDown={press}
    >
      <canvas ref={canvas} />
      <Ahead model={model} />
    </div>
  );
}

/** What was not heard yet, paler, from the moment that is heard; the bars are not drawn anew for it. */
function Ahead({ model }: { model: SessionModel }): VNode {
  const { time, length } = model.player;
  const share = length.value === 0 ? 0 : time.value / length.value;
  return <div class="waveform-ahead" style={{ left: `${share * 100}%` }} />;
}

function drawWaveform(
  canvas: HTMLCanvasElement,
  model: SessionModel,
  chapters: readonly Chapter[],
): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  const { length, parts } = model.player;
  if (context === null || length.value === 0) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colour = (token: string) => {
    const known = colours.get(token);
    if (known !== undefined) return known;
    const found = resolved(canvas, style.getPropertyValue(token));
    colours.set(token, found);
    return found;
  };
  const bars = Math.max(1, Math.floor(width / BAR_PX));
  const span = length.value / bars;
  let line = 0;
  for (let bar = 0; bar < bars; bar += 1) {
    const from = bar * span;
    while (hasEnded(model.lines.value[line], from)) line += 1;
    const now = model.lines.value[line];
    const isSpoken = now !== undefined && now.start <= from + span;
    const loud = loudness(parts, from, from + span);
    const share = loud ?? (isSpoken ? 0.35 : 0.04);
    const tall = Math.max(2, share * height);
    context.fillStyle = colour(isSpoken ? speakerColour(now.speaker) : "--line-strong");
    context.fillRect(bar * BAR_PX, (height - tall) / 2, BAR_PX - 1, tall);
  }
  context.globalAlpha = 0.35;
  context.fillStyle = colour("--danger");
  for (const { start_ms: start, end_ms: end } of model.missing.value) {
    const scale = width / length.value / 1_000;
    context.fillRect(start * scale, 0, Math.max(2, (end - start) * scale), height);
  }
  context.globalAlpha = 1;
  context.fillStyle = colour("--line-strong");
  for (const { startMs } of chapters.slice(1)) {
    context.fillRect((startMs / 1_000 / length.value) * width, 0, 1, height);
  }
  context.fillStyle = colour("--warn");
  for (const { atMs } of model.marks.list.value) {
    const x = Math.min(1, atMs / 1_000 / length.value) * width;
    context.fillRect(x - 1, 0, 2, height);
    context.fillRect(x - 4, 0, 8, 5);
  }
  context.fillStyle = colour("--accent");
  for (const at of hitMoments(model)) {
    context.fillRect((at / length.value) * width - 1, 0, 2, height);
  }
}

/** Seconds at which the words stand that somebody looks for. */
function hitMoments({ search, lines }: SessionModel): number[] {
  const byLine = search.byLine.value;
  if (byLine.size === 0) return [];
  return lines.value.flatMap((line) =>
    (byLine.get(line.id) ?? []).map(({ first }) => line.words?.[first]?.start ?? line.start),
  );
}

function hasEnded(line: Line | undefined, at: number): boolean {
  return line !== undefined && line.end < at;
}

type Parts = SessionModel["player"]["parts"];

/** The loudest value in the span; undefined where the sound was not fetched yet. */
function loudness(parts: Parts, from: number, to: number): number | undefined {
  const peaks = parts.peaks(Math.floor(from / PART_SECONDS));
  if (peaks === undefined) return undefined;
  const first = Math.floor((from % PART_SECONDS) * PEAKS_PER_SECOND);
  const last = Math.max(first + 1, first + Math.ceil((to - from) * PEAKS_PER_SECOND));
  return peaks.slice(first, last).reduce((most, each) => Math.max(most, each), 0);
}

/** A canvas takes colours only as they come out for the element, not as `light-dark()`. */
function resolved(element: HTMLElement, value: string): string {
  const before = element.style.color;
  element.style.color = value;
  const found = getComputedStyle(element).color;
  element.style.color = before;
  return found;
}
