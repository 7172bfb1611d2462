import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { ArrowDown } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { Empty, Loading } from "../../parts/states.tsx";
import { lengthOf } from "../../parts/times.ts";
import { CorrectAll } from "./edit/correct-all.tsx";
import { FailedSession, ReadAgain } from "./failed-session.tsx";
import { FindBar } from "./find/find-bar.tsx";
import type { SessionModel } from "./model/session-model.ts";
import { TranscriptLine } from "./transcript-line.tsx";
import { type Row, rowAt, rowsOf } from "./transcript-rows.ts";

const NEAR_END_PX = 90;

/** The words. Whoever is at the end follows them; whoever has scrolled up is left alone. */
export function TranscriptPane({ model }: { model: SessionModel }): VNode {
  const lines = model.lines.value;
  const missing = model.missing.value;
  const hasFailed = model.session.value?.status === "failed";
  // Of a session without words its reason says more than the spans that are missing.
  const rows = useMemo(
    () => (hasFailed ? [] : rowsOf(lines, missing)),
    [lines, missing, hasFailed],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const [shown, setShown] = useState(-1);
  const virtual = useVirtual({
    count: rows.length,
    keyOf: (index) => rows[index]?.key ?? String(index),
    scroller: () => scroller.current,
    estimate: 58,
  });
  const isLive = model.isLive;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (isLive && isFollowing && box !== null) box.scrollTop = box.scrollHeight;
  });
  const jump = model.jump.value;
  useEffect(() => {
    if (jump === undefined || rows.length === 0) return;
    const at = Math.max(0, rowAt(rows, jump.ms / 1_000));
    setFollowing(false);
    setShown(at);
    virtual.scrollToIndex(at, { align: "center" });
    // Only when somebody asks, and once the first rows are there.
  }, [jump, rows.length === 0]);
  useFollowPlayback(model, rows, (at) => virtual.scrollToIndex(at, { align: "auto" }));
  const onScroll = () => {
    const box = scroller.current;
    if (box === null) return;
    setFollowing(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX);
  };
  if (!model.isOpen.value) return <Loading what="the words" lines={7} />;
  return (
    <div class="transcript">
      <FindBar search={model.search} />
      <CorrectAll editing={model.editing} />
      <section
        class="transcript-scroll"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        tabIndex={0}
        aria-label="Transcript"
        onScroll={onScroll}
      >
        {hasFailed && <FailedSession model={model} />}
        {rows.length === 0 && !hasFailed && <NoWords model={model} />}
        <Rows model={model} rows={rows} virtual={virtual} shown={shown} />
      </section>
      {isLive && !isFollowing && (
        <button
          type="button"
          class="button primary jump-live"
          onClick={() => {
            setFollowing(true);
            setShown(-1);
            const box = scroller.current;
            if (box !== null) box.scrollTop = box.scrollHeight;
          }}
        >
          <ArrowDown size={16} aria-hidden="true" /> Jump to live
        </button>
      )}
    </div>
  );
}

interface RowsProps {
  model: SessionModel;
  rows: readonly Row[];
  virtual: ReturnType<typeof useVirtual>;
  /** The row that was jumped to; -1 for none. */
  shown: number;
}

function Rows({ model, rows, virtual, shown }: RowsProps): VNode {
  return (
    <div class="transcript-rows" style={{ height: `${virtual.getTotalSize()}px` }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        return (
          row && (
            <div
              key={String(key)}
              ref={(element) => virtual.measureElement(element)}
              data-index={index}
              class="transcript-row"
              data-shown={index === shown}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row.kind === "line" ? (
                <TranscriptLine model={model} line={row.line} isTurn={row.isTurn} />
              ) : (
                <Gap row={row} />
              )}
            </div>
          )
        );
      })}
    </div>
  );
}

/** Brings the line that is heard into sight, unless the person has scrolled elsewhere since. */
function useFollowPlayback(
  model: SessionModel,
  rows: readonly Row[],
  show: (index: number) => void,
): void {
  const isPlaying = model.player.isPlaying.value;
  const last = useRef(-1);
  useEffect(() => {
    if (!isPlaying) return undefined;
    return model.player.time.subscribe((time) => {
      const at = rowAt(rows, time);
      if (at === last.current) return;
      last.current = at;
      if (at >= 0) show(at);
    });
  }, [isPlaying, rows]);
}

function NoWords({ model }: { model: SessionModel }): VNode {
  if (model.isLive) {
    return (
      <Empty title="Listening" next="comes by itself">
        <p>The first words appear here as soon as somebody speaks.</p>
      </Empty>
    );
  }
  if (model.session.value?.status === "processing") {
    return (
      <Empty title="Being read" next="comes by itself">
        <p>The words appear here as they are read.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No words" next={<ReadAgain model={model} />}>
      <p>Nobody was heard in this session.</p>
    </Empty>
  );
}

const REASONS = {
  missing: "Sound is missing",
  undecodable: "Sound could not be read",
  damaged: "The stored sound was damaged",
  late: "Sound came late and is being read",
} as const;

function Gap({ row }: { row: Extract<Row, { kind: "gap" }> }): VNode {
  const { start_ms: start, end_ms: end, reason, awaited } = row.gap;
  return (
    <p class="gap small">
      {`${clockTime(start / 1_000)} · ${REASONS[reason]}, ${lengthOf(end - start)}`}
      {awaited === true && " (it may still come)"}
    </p>
  );
}

interface VirtualOptions {
  count: number;
  keyOf: (index: number) => string;
  scroller: () => HTMLElement | null;
  /** Height that a row has until it was measured, pixels. */
  estimate: number;
}

/** Which rows of a long list are to be drawn, and where; measured as they appear. */
function useVirtual(options: VirtualOptions): Virtualizer<HTMLElement, HTMLElement> {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const given = () => ({
    count: options.count,
    getItemKey: options.keyOf,
    getScrollElement: options.scroller,
    estimateSize: () => options.estimate,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    measureElement,
    onChange: () => redraw(0),
  });
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(given()));
  virtual.setOptions(given());
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
