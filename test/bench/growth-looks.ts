import { FinalsViewer } from "./growth-device.ts";
import type { GrowthFigures } from "./growth-figures.ts";
import type { GrowthFixture } from "./growth-fixture.ts";
import type { Cost } from "./growth-meter.ts";
import type { BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const LOOKS = 40;
const LOOKS_QUICK = 10;
const PAGE = 50;
/** As many as there are at the smallest size. */
const LISTED = 10;
/** Events that a viewer missed who comes back. */
const MISSED = 200;

export interface LookedAt {
  fixture: GrowthFixture;
  size: string;
  sessionId: string;
  /** Of the last whole page of segments; the first page when absent. */
  cursor: string | undefined;
  /** Seq of its newest event. */
  seq: number;
  /** What the house costs by itself, where that is more than a little. */
  idle: Cost | undefined;
}

interface Page {
  items: unknown[];
  next_cursor: string | null;
}

/** Walks to the last whole page of segments, as somebody does who scrolled down. */
export async function lookedAt(
  fixture: GrowthFixture,
  size: string,
  sessionId: string,
  idle?: Cost,
): Promise<LookedAt> {
  let cursor: string | undefined;
  for (let next = cursor; ; ) {
    const page = await fixture.call<Page>("GET", pagePath(sessionId, next), fixture.bearer);
    // A page of fewer would cost less.
    if (page.items.length === PAGE) cursor = next;
    if (page.next_cursor === null) break;
    next = page.next_cursor;
  }
  const { rows } = await fixture.fixture.owner.query<{ seq: number }>(
    "select seq::int as seq from sessions where id = $1",
    [sessionId],
  );
  return { fixture, size, sessionId, cursor, seq: rows[0]?.seq ?? 0, idle };
}

function pagePath(sessionId: string, cursor: string | undefined): string {
  const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return `/sessions/${sessionId}/segments?limit=${PAGE}${after}`;
}

const LOOK: Readonly<Record<string, (at: LookedAt) => Promise<void>>> = {
  "look, the session": async ({ fixture, sessionId }) => {
    await fixture.call("GET", `/sessions/${sessionId}`, fixture.bearer);
  },
  "look, first page of segments": async ({ fixture, sessionId }) => {
    await fixture.call("GET", pagePath(sessionId, undefined), fixture.bearer);
  },
  "look, last whole page of segments": async ({ fixture, sessionId, cursor }) => {
    await fixture.call("GET", pagePath(sessionId, cursor), fixture.bearer);
  },
  "look, list of sessions": async ({ fixture }) => {
    await fixture.call("GET", `/sessions?limit=${LISTED}`, fixture.bearer);
  },
  "look, live with a snapshot": async ({ fixture, sessionId }) => {
    const viewer = await FinalsViewer.open(fixture, sessionId);
    viewer.close();
  },
  [`look, live with ${MISSED} missed events`]: async ({ fixture, sessionId, seq }) => {
    const viewer = await FinalsViewer.open(fixture, sessionId, Math.max(0, seq - MISSED));
    await viewer.reached(seq);
    viewer.close();
  },
};

/** Round after round each kind of look at each of them, in turn. */
export async function lookRounds(
  figures: GrowthFigures,
  all: readonly LookedAt[],
  rounds: number,
  { size }: BenchScale,
): Promise<void> {
  const looks = size < 1 ? LOOKS_QUICK : LOOKS;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, look] of Object.entries(LOOK)) {
      for (const at of all) {
        const delays: number[] = [];
        const cost = await at.fixture.meter.measure(async () => {
          for (let n = 0; n < looks; n += 1) {
            const begun = performance.now();
            await look(at);
            delays.push(performance.now() - begun);
          }
        });
        if (round === 0) continue;
        figures.add(`${name}: time`, "ms", at.size, median(delays));
        figures.addCost(name, at.size, cost, looks, at.idle);
      }
    }
  }
}
