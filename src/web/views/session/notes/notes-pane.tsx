import { Sparkles } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId } from "preact/hooks";
import { wordedText } from "../../../../wire/language-model.ts";
import { account } from "../../../api/account.ts";
import type { NoteSection, Summary } from "../../../api/records.ts";
import { useDeed } from "../../../parts/deed.ts";
import { Failure, Loading } from "../../../parts/states.tsx";
import { momentOf } from "../../../parts/times.ts";
import { kindOf, wordedBy } from "../model/note-words.ts";
import type { SessionModel } from "../model/session-model.ts";
import { ActionItems } from "./action-items.tsx";
import { NoteSentences } from "./note-sentences.tsx";
import { TemplateField } from "./template-field.tsx";
import "./notes.css";

type Kind = Summary["summary_type"];

/** What is said where nothing of a kind was found. */
const NONE: Readonly<Record<Kind, string>> = {
  brief: "Too little was said to sum it up.",
  action_items: "Nobody said what they will do.",
  decisions: "No decision was found.",
  open_questions: "No question was left open.",
  topics: "No topic stood out.",
  detailed: "Too little was said.",
  custom_sections: "Nothing was found for this.",
  speakers: "Nobody was heard.",
};

/** Long, or looked at rarely: opened by a press. */
const FOLDED: ReadonlySet<Kind> = new Set<Kind>(["topics", "detailed", "speakers"]);

/** Their cues are English: of other languages they find little, which is no sign that there was none. */
const ENGLISH_ONLY: ReadonlySet<Kind> = new Set<Kind>([
  "action_items",
  "decisions",
  "open_questions",
]);

interface NotesProps {
  model: SessionModel;
  onJump: () => void;
}

/** What the service notes of the session by itself; each sentence leads to its moment. */
export function NotesPane({ model, onJump }: NotesProps): VNode {
  const { notes } = model;
  const isGuest = account.value?.kind === "guest";
  useEffect(() => {
    if (!isGuest) notes.open();
  }, [notes, isGuest]);
  if (isGuest) return <p class="soft small">Notes are for the members of the session.</p>;
  if (notes.page.value === undefined) {
    const { value: error } = notes.failure;
    return error === undefined ? (
      <Loading what="notes" lines={5} />
    ) : (
      <Failure error={error} retry={() => void notes.load()} />
    );
  }
  const isAny = notes.kinds.value.some((kind) => notes.of(kind) !== undefined);
  return (
    <div class="stack notes">
      <Status model={model} />
      {model.mayEdit && <TemplateField model={model} />}
      {isAny &&
        notes.sections.value.map((section) => (
          <Section
            key={section.title}
            {...{ model, onJump, title: section.title, kind: kindOf(section) }}
          />
        ))}
      {isAny && <Section {...{ model, onJump, title: "By speaker", kind: "speakers" }} />}
    </div>
  );
}

/** Whether they are there and current, and the button that has them made. */
function Status({ model }: { model: SessionModel }): VNode {
  const { notes } = model;
  const { isBusy, run } = useDeed();
  const kinds = notes.kinds.value;
  const found = kinds.flatMap((kind) => notes.of(kind) ?? []);
  const { wanted } = notes;
  const isStale = found.some(({ stale }) => stale);
  const newest = found
    .map((each) => each.created_at)
    .sort()
    .at(-1);
  const making = kinds.flatMap((kind) => notes.progressOf(kind) ?? []);
  return (
    <div class="notes-standing stack">
      <div role="status">
        {making.length > 0 && <p class="small">{makingWords(making.length, kinds.length)}</p>}
        {making.length === 0 && found.length === 0 && <NoNotes model={model} />}
        {making.length === 0 && newest !== undefined && (
          <p class="soft small">
            {isStale ? (
              <>
                <span class="chip" data-tone="warn">
                  Out of date
                </span>{" "}
                {staleWords(model.isLive)}
              </>
            ) : (
              `Made ${momentOf(newest)}`
            )}
          </p>
        )}
      </div>
      {making.length > 0 && (
        <progress
          class="bar"
          aria-label="Notes being made"
          max={kinds.length}
          value={kinds.length - making.length + making.reduce((sum, each) => sum + each, 0)}
        />
      )}
      {making.length === 0 && wanted.length > 0 && model.lines.value.length > 0 && (
        <div>
          <button
            type="button"
            class="button"
            aria-disabled={isBusy}
            onClick={() => void run(() => notes.make(wanted))}
          >
            <Sparkles size={16} aria-hidden="true" />
            {found.length === 0 ? "Make the notes now" : "Make them again"}
          </button>
        </div>
      )}
    </div>
  );
}

function makingWords(left: number, all: number): string {
  return left === all
    ? "The notes are being made …"
    : `The notes are being made: ${all - left} of ${all} are there …`;
}

function staleWords(isLive: boolean): string {
  return isLive
    ? "More was said since. They are made again every few minutes, and at the end."
    : "Words or names have changed since.";
}

function NoNotes({ model }: { model: SessionModel }): VNode {
  if (model.isLive) {
    return (
      <p class="soft small">
        Notes appear here by themselves: every few minutes while it records, and at the end.
      </p>
    );
  }
  if (model.session.value?.status === "processing") {
    return <p class="soft small">Notes appear here by themselves once the words are read.</p>;
  }
  return (
    <p class="soft small">
      {model.lines.value.length === 0
        ? "Nothing was said, so there is nothing to note."
        : "There are no notes of this session yet."}
    </p>
  );
}

interface SectionProps extends NotesProps {
  title: NoteSection["title"];
  kind: Kind;
}

function Section({ model, title, kind, onJump }: SectionProps): VNode {
  const id = useId();
  const summary = model.notes.of(kind);
  const count = kind === "action_items" ? leftWords(summary) : "";
  const heading = (
    <h2 id={id}>
      {title} {count !== "" && <span class="soft small">{count}</span>}
    </h2>
  );
  return (
    <Part label={id} isFolded={FOLDED.has(kind)} heading={heading}>
      <Content {...{ model, title, kind, summary, onJump }} />
    </Part>
  );
}

function leftWords(summary: Summary | undefined): string {
  const { items = [] } = summary ?? {};
  const done = items.filter((item) => item.done === true).length;
  return done === 0 ? "" : `${done} of ${items.length} done`;
}

interface PartProps {
  label: string;
  isFolded: boolean;
  heading: VNode;
  children: ComponentChildren;
}

function Part({ label, isFolded, heading, children }: PartProps): VNode {
  if (!isFolded) {
    return (
      <section aria-labelledby={label}>
        {heading}
        {children}
      </section>
    );
  }
  return (
    <details>
      <summary>{heading}</summary>
      {children}
    </details>
  );
}

interface ContentProps extends SectionProps {
  summary: Summary | undefined;
}

function Content({ model, title, kind, summary, onJump }: ContentProps): VNode {
  if (summary === undefined) return <NotMade model={model} kind={kind} />;
  const isCustom = kind === "custom_sections";
  const text = isCustom ? "" : summary.text;
  const writer = wordedBy(summary);
  const own = isCustom ? itemsUnder(summary, title) : summary.items;
  const items =
    writer === ""
      ? own
      : own.map((item) => ({
          ...item,
          text: wordedText(item.text, (label) => model.nameOf(label)),
        }));
  if (items.length === 0) {
    const { language = "" } = model.session.value ?? {};
    const isForeign = ENGLISH_ONLY.has(kind) && !language.startsWith("en");
    return (
      <p class="soft small">
        {isForeign ? "These are found in English conversations alone so far." : text || NONE[kind]}
      </p>
    );
  }
  const Items = kind === "action_items" ? ActionItems : NoteSentences;
  return (
    <>
      <Items model={model} items={items} onJump={onJump} />
      {writer !== "" && <p class="soft small">{writer}</p>}
    </>
  );
}

/** What stands under a heading of the template. */
function itemsUnder({ items }: Summary, title: string): Summary["items"] {
  return items.flatMap(({ section, ...item }) => (section === title ? [item] : []));
}

function NotMade({ model, kind }: { model: SessionModel; kind: Kind }): VNode {
  const { isBusy, run } = useDeed();
  if (model.notes.progressOf(kind) !== undefined) return <p class="soft small">Being made …</p>;
  return (
    <button
      type="button"
      class="button"
      aria-disabled={isBusy}
      onClick={() => void run(() => model.notes.make([kind]))}
    >
      <Sparkles size={16} aria-hidden="true" /> Make it
    </button>
  );
}
