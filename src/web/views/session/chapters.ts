import type { Summary } from "../../api/records.ts";

/** A stretch of the talk about one thing. */
export interface Chapter {
  readonly startMs: number;
  readonly title: string;
}

/** A heading of a summary in detail begins with when: `1:02:10 report, shop, price`. */
const HEADING = /^(?:(\d+):)?(\d\d):(\d\d) (.+)$/;

/** The parts by topic of a summary in detail, in order of time. */
export function chaptersOf(summary: Pick<Summary, "items"> | undefined): Chapter[] {
  const found = new Map<string, Chapter>();
  for (const { section = "", start_ms: startMs } of summary?.items ?? []) {
    if (section === "" || found.has(section)) continue;
    const [, hours = "0", minutes, seconds, title] = HEADING.exec(section) ?? [];
    if (title === undefined) found.set(section, { startMs, title: section });
    else {
      const clock = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
      found.set(section, { startMs: clock * 1_000, title });
    }
  }
  return [...found.values()].sort((a, b) => a.startMs - b.startMs);
}

/** The chapter at this moment; -1 before the first. */
export function chapterAt(chapters: readonly Chapter[], seconds: number): number {
  return chapters.findLastIndex(({ startMs }) => startMs <= seconds * 1_000 + 1);
}
