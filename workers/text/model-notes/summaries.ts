import type {
  SummariseRequest,
  Summary,
  SummaryItem,
} from "../../../src/wire/gen/voice/v1/text.ts";
import { sectionedText } from "../language/sectioned-text.ts";
import { type KINDS, partName } from "./prompts.ts";
import type { ProvedEntry } from "./proved-notes.ts";

/** Version of the method; it changes when equal answers of a model would give another summary. */
const ENGINE = "grounded-1";
const MOST_ITEMS = 200;

const CUSTOM = "custom_sections";
const ENTRIES: ReadonlyMap<string, keyof typeof KINDS> = new Map([
  ["brief", "points"],
  ["detailed", "points"],
  ["action_items", "action_items"],
  ["decisions", "decisions"],
  ["open_questions", "open_questions"],
]);

type Asked = Pick<SummariseRequest, "summaryType" | "sections">;

/** What a summary has of a model's notes, in order; nothing when it is by rule always. */
export function kindsOf({ summaryType, sections }: Asked): string[] {
  if (summaryType === CUSTOM) return sections.map((_, at) => partName(at));
  const kind = ENTRIES.get(summaryType);
  return kind === undefined ? [] : [kind];
}

/** The summary of proved entries, in the same shape as by rule; undefined when there are too few of its kind. */
export function toSummary(
  request: Asked & Pick<SummariseRequest, "segments">,
  entries: readonly ProvedEntry[],
  byRule: Summary,
): Summary | undefined {
  const { summaryType, segments, sections } = request;
  const kinds = kindsOf(request);
  const places = new Map(segments.map(({ id }, at) => [id, at]));
  const placeOf = (id: string | undefined): number => places.get(id ?? "") ?? 0;
  const items = kinds
    .flatMap((kind, at) =>
      entries
        .filter((entry) => entry.kind === kind)
        .map((entry) => toItem(entry, placeOf, sections[at]?.title))
        .sort((a, b) => placeOf(a.segmentIds[0]) - placeOf(b.segmentIds[0])),
    )
    .slice(0, MOST_ITEMS);
  const isShort = kinds.includes("points") && items.length === 1 && byRule.items.length > 1;
  // One sentence is no note of a talk of which by rule there is more to say.
  if (items.length === 0 || isShort) return undefined;
  if (summaryType === CUSTOM)
    return { engine: ENGINE, text: sectionedText(sections, items), items };
  const titled = summaryType === "detailed" ? underHeadings(items, byRule, placeOf) : items;
  return { engine: ENGINE, text: TEXTS[summaryType]?.(titled) ?? toLines(titled), items: titled };
}

function toItem(
  { text, cited, owner, due }: ProvedEntry,
  placeOf: (id: string) => number,
  section: string | undefined,
): SummaryItem {
  const ids = cited.map(({ segmentId }) => segmentId);
  const speakers = new Set(cited.map(({ speaker }) => speaker));
  const [speaker] = speakers;
  const item: SummaryItem = { text, segmentIds: ids.sort((a, b) => placeOf(a) - placeOf(b)) };
  if (speakers.size === 1 && speaker !== undefined) item.speaker = speaker;
  if (section !== undefined) item.section = section;
  if (owner !== undefined) item.owner = owner;
  if (due !== undefined) item.due = due;
  return item;
}

/** The headings are those by rule: a model's would be words that nothing bears. */
function underHeadings(
  items: readonly SummaryItem[],
  byRule: Summary,
  placeOf: (id: string | undefined) => number,
): SummaryItem[] {
  const sections = byRule.items.flatMap(({ section, segmentIds }) =>
    section === undefined ? [] : [{ section, from: placeOf(segmentIds[0]) }],
  );
  return items.map((item) => {
    const at = placeOf(item.segmentIds[0]);
    const section = sections.findLast(({ from }) => from <= at) ?? sections[0];
    return section === undefined ? item : { ...item, section: section.section };
  });
}

const TEXTS: Readonly<Record<string, (items: readonly SummaryItem[]) => string>> = {
  brief: (items) => items.map(({ text }) => text).join(" "),
  detailed: (items) => {
    const parts = new Map<string, string[]>();
    for (const { section = "", text } of items) {
      parts.set(section, [...(parts.get(section) ?? []), text]);
    }
    return [...parts].map(([heading, texts]) => [heading, ...texts].join("\n").trim()).join("\n\n");
  },
  action_items: (items) =>
    toLines(
      items.map(({ text, owner, due, ...item }) => ({
        ...item,
        text: `${owner === undefined ? "" : `${owner}: `}${text}${due === undefined ? "" : ` (${due})`}`,
      })),
    ),
};

function toLines(items: readonly SummaryItem[]): string {
  return items.map(({ text }) => `- ${text}`).join("\n");
}
