import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { DATABASE, postgresUrl, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { openChromium } from "../support/chromium.ts";
import { recordForLong } from "../support/long-session.ts";
import { PairedDevice } from "../support/paired-device.ts";
import { CHUNK_SAMPLES } from "../support/plan-population.ts";
import { WholeService } from "../support/whole-service.ts";
import { type Frames, recordFrames, summariseFrames } from "./page-frames.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const HOURS = 3;
const WORDS = 20_000;
const OPEN_MARK_MS = 1_000;
/** Two frames of a screen with 60 a second: what is later is seen as a jerk. */
const FRAME_MARK_MS = 34;
const WHEEL_PX = 400;
const WHEELS = 120;
const TEXT =
  "today we will talk about the launch of the new system and the price that it should have".split(
    " ",
  );

/**
 * A live transcript of three hours in Chromium: how long it takes from the press in the list until
 * words are drawn, and until all of them are there; and how smoothly it scrolls.
 */
export async function measurePage(scale: BenchScale): Promise<BenchRow[]> {
  const chunks = Math.round((HOURS * 3_600 * 16_000 * scale.size) / CHUNK_SAMPLES);
  const words = Math.round(WORDS * scale.size);
  const service = await WholeService.start();
  let browser: Browser | undefined;
  try {
    await longRecording(service, chunks, words);
    browser = await openChromium();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(60_000);
    await signIn(page, service);
    const opens: number[] = [];
    const fills: number[] = [];
    for (let round = 0; round < scale.rounds; round += 1) {
      const { open, full } = await openOnce(page, chunks - 1);
      opens.push(open);
      fills.push(full);
      if (round < scale.rounds - 1)
        await page.getByRole("link", { name: "Sessions", exact: true }).click();
    }
    const size = `${words} words in ${chunks - 1} lines; median of ${scale.rounds}`;
    return [
      {
        figure: "page: words of 3 h are drawn after the press",
        unit: "ms",
        ours: median(opens),
        mark: `< ${OPEN_MARK_MS} ms`,
        met: median(opens) < OPEN_MARK_MS,
        detail: `${size}; slowest ${Math.max(...opens).toFixed(0)}`,
      },
      {
        figure: "page: all of them are there",
        unit: "ms",
        ours: median(fills),
        mark: "",
        detail: `${size}; slowest ${Math.max(...fills).toFixed(0)}`,
      },
      ...scrollRows(await scrollThrough(page)),
    ];
  } finally {
    await browser?.close();
    await service.stop();
  }
}

/** A session that a device has recorded for hours, and still does, with its words in the database. */
async function longRecording(service: WholeService, chunks: number, words: number): Promise<void> {
  const device = await PairedDevice.pair(service);
  const adminUrl = adminUrlOf(service);
  const [owner] = await withClient(adminUrl, async (client) => {
    const { rows } = await client.query(
      'select owner_id as "ownerId", workspace_id as "workspaceId" from devices where id = $1',
      [device.id],
    );
    return rows as { ownerId: string; workspaceId: string }[];
  });
  if (owner === undefined) throw new Error("The device is not in the database.");
  device.sessionId = await recordForLong(adminUrl, { id: device.id, ...owner }, chunks);
  const perLine = words / (chunks - 1);
  await withClient(adminUrl, async (client) => {
    await client.query("update sessions set title = 'Three hours' where id = $1", [
      device.sessionId,
    ]);
    const { rows } = await client.query(
      "select id, start_sample from segments where session_id = $1 order by start_sample",
      [device.sessionId],
    );
    const texts = rows.map(({ id, start_sample: start }, n) => {
      const count = Math.round((n + 1) * perLine) - Math.round(n * perLine);
      const step = Math.floor(CHUNK_SAMPLES / Math.max(1, count));
      const said = Array.from({ length: count }, (_, word) => ({
        text: TEXT[(n * 7 + word) % TEXT.length],
        start: Number(start) + word * step,
        end: Number(start) + (word + 1) * step,
        confidence: 0.9,
      }));
      return { id, label: `S${(Math.floor(n / 3) % 3) + 1}`, words: said };
    });
    await client.query(
      `update segments g set label = t.label, words = t.words, text = (
         select string_agg(w ->> 'text', ' ' order by n)
         from jsonb_array_elements(t.words) with ordinality as each (w, n))
       from jsonb_to_recordset($2::jsonb) as t (id uuid, label text, words jsonb)
       where g.session_id = $1 and g.id = t.id`,
      [device.sessionId, JSON.stringify(texts)],
    );
  });
}

function adminUrlOf({ folder }: WholeService): string {
  const secrets = JSON.parse(readFileSync(join(folder, "data/secrets.json"), "utf8"));
  const { postgres } = JSON.parse(readFileSync(join(folder, "data/ports.json"), "utf8"));
  return postgresUrl("postgres", secrets.postgresPassword, postgres, DATABASE);
}

async function signIn(page: Page, { ready }: WholeService): Promise<void> {
  await page.goto(`${ready.base_url}/`);
  await page.getByLabel("E-mail").fill(ready.admin.email);
  await page.getByLabel("Password").fill(ready.admin.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("link", { name: /^Three hours/ }).waitFor();
}

/** From the press until the first words are drawn, and until the last line is; by the page's clock. */
async function openOnce(page: Page, lines: number): Promise<{ open: number; full: number }> {
  // Without `void` the promise itself would be waited for.
  await page.evaluate(`void (window.opened = new Promise((resolve) => {
    const from = performance.now();
    let open;
    const look = () => {
      const now = performance.now() - from;
      if (document.querySelector("article .line-words") !== null) open ??= now;
      const rows = [...document.querySelectorAll(".transcript-row")];
      const last = Math.max(-1, ...rows.map((row) => Number(row.dataset.index)));
      if (last >= ${lines - 1}) resolve({ open, full: now });
      else requestAnimationFrame(look);
    };
    addEventListener("click", () => requestAnimationFrame(look), { once: true, capture: true });
  }))`);
  await page.getByRole("link", { name: /^Three hours/ }).click();
  return (await page.evaluate("window.opened")) as { open: number; full: number };
}

/** With the wheel from the end towards the beginning, as fast as the page takes it, and back. */
async function scrollThrough(page: Page): Promise<Frames> {
  await page.mouse.move(400, 400);
  const stop = await recordFrames(page);
  for (const direction of [-1, 1]) {
    for (let n = 0; n < WHEELS; n += 1) await page.mouse.wheel(0, direction * WHEEL_PX);
  }
  return stop();
}

function scrollRows(frames: Frames): BenchRow[] {
  const { p95, longest, count, late, rows } = summariseFrames(frames, FRAME_MARK_MS);
  return [
    {
      figure: "page: a frame while 3 h are scrolled, 95th percentile",
      unit: "ms",
      ours: p95,
      mark: `<= ${FRAME_MARK_MS} ms`,
      met: p95 <= FRAME_MARK_MS,
      detail: `${count} frames, ${late} longer than that, longest ${longest.toFixed(0)} ms; at most ${rows} lines in the document`,
    },
  ];
}
