import type { ChatAnswer, ChatRequest } from "../../language-model/chat-client.ts";
import type { GroundRequest, GroundResponse } from "../grounding/ground-task.ts";
import { type Entry, isPlainSentence, readEntries } from "./answers.ts";
import { ALL_NOTES, type AnswerForm, briefPrompt, type Wanted } from "./prompts.ts";
import type { Utterance } from "./utterances.ts";

/** An entry of which the cited utterances were found to bear every word that matters. */
export interface ProvedEntry {
  kind: string;
  text: string;
  cited: readonly Utterance[];
  owner?: string;
  due?: string;
}

export interface ProvedNotes {
  entries: readonly ProvedEntry[];
  /** Of what kind the sentences were that were dropped. */
  dropped: readonly string[];
}

/** Thrown when a model's answers cannot be read. */
export class UnreadableError extends Error {}

/** What notes of one section are made with. */
export interface NotesTools {
  /** What is to be noted. */
  wanted: Wanted;
  /** In which form the model answers best. */
  form: AnswerForm;
  answerTokens: number;
  /** Names of all who spoke in the session. */
  speakers: readonly string[];
  ask(request: ChatRequest): Promise<ChatAnswer>;
  ground(request: GroundRequest): Promise<GroundResponse>;
}

/** The model's notes of one section. Rejects as `ask` does, and with UnreadableError. */
export async function noteSection(
  section: readonly Utterance[],
  tools: NotesTools,
): Promise<ProvedNotes> {
  const { wanted, answerTokens } = tools;
  const entries = await askFor((form) => wanted.prompt(section, form, answerTokens), tools);
  return prove(
    entries.map((entry) => ({ entry, cited: linesOf(entry, section) })),
    tools,
  );
}

/** Three to five sentences of many points. Rejects like `noteSection`. */
export async function noteBriefly(
  points: readonly ProvedEntry[],
  tools: NotesTools,
): Promise<ProvedNotes> {
  const texts = points.map(({ text }) => text);
  const { answerTokens } = tools;
  const forBrief = { ...tools, wanted: ALL_NOTES };
  const entries = await askFor((form) => briefPrompt(texts, form, answerTokens), forBrief);
  const chosen = entries.filter(({ kind }) => kind === "points");
  return prove(
    chosen.map((entry) => ({
      entry,
      cited: unique(linesOf(entry, points).flatMap(({ cited }) => cited)),
    })),
    tools,
  );
}

/** A second time in plain lines, which a model that spoilt its JSON may manage. */
async function askFor(
  promptOf: (form: AnswerForm) => ChatRequest,
  { form, ask, wanted: { kinds } }: NotesTools,
): Promise<Entry[]> {
  const forms: AnswerForm[] = form === "json" ? ["json", "lines"] : ["lines"];
  for (const each of forms) {
    const { text, isWhole } = await ask(promptOf(each));
    const entries = readEntries(isWhole ? text : wholeLines(text), kinds);
    if (entries !== undefined) return entries;
  }
  throw new UnreadableError("The language model's answers cannot be read.");
}

/** Of an answer that was cut off, all but its last line. */
function wholeLines(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf("\n")));
}

function linesOf<T>({ cites }: Entry, lines: readonly T[]): T[] {
  return [...new Set(cites)].flatMap((number) => lines[number - 1] ?? []);
}

function unique(utterances: readonly Utterance[]): Utterance[] {
  return [...new Map(utterances.map((each) => [each.segmentId, each])).values()];
}

interface Claim {
  entry: Entry;
  cited: readonly Utterance[];
}

async function prove(claims: readonly Claim[], tools: NotesTools): Promise<ProvedNotes> {
  const plain = claims.filter(
    ({ entry, cited }) => cited.length > 0 && isPlainSentence(entry.text),
  );
  const sentences = plain.map(({ entry, cited }) => ({
    text: entry.text,
    cited: cited.map(({ speaker, text, isOrder }) => ({ speaker, text, isOrder })),
  }));
  const borne =
    plain.length === 0 ? [] : await tools.ground({ speakers: tools.speakers, sentences });
  const known = new Set<string>();
  const entries = plain.flatMap(({ entry, cited }, at): ProvedEntry[] => {
    const bearing = (borne[at] ?? []).flatMap((place) => cited[place] ?? []);
    if (bearing.length === 0) return [];
    const { text } = entry;
    const kind = kindOf(entry, bearing);
    // The same once more is no falsehood; it is shown once.
    const key = `${kind} ${text.toLowerCase()}`;
    if (known.has(key)) return [];
    known.add(key);
    return [{ kind, text, cited: bearing, ...reported(entry, bearing, tools.speakers) }];
  });
  const kept = new Set(plain.filter((_, at) => (borne[at] ?? []).length > 0));
  const dropped = claims.filter((claim) => !kept.has(claim)).map(({ entry }) => entry.kind);
  return { entries, dropped };
}

/**
 * What somebody says who decides, takes on or asks, and who tells of it. Looser than the patterns of the notes by
 * rule, which find sentences among all: here a model has chosen them already. English, as all notes of a model.
 */
const SIGNS: Readonly<Record<string, RegExp>> = {
  decisions:
    /\b(?:decid|agree|settl|chose|choos|conclu|approv|accept|adopt|reject|resolv|vote|carried|cancel|postpone|moved|go(?:ing)?\s+(?:with|for|ahead)|stick|let['’]?s|let\s+us|we(?:['’]ll|\s+will)|final)/iu,
  action_items:
    /\b(?:will|shall|going\s+to|gonna|must|should|ought\s+to|(?:need|has|have|had|want|plan|promise|agree|offer|ask)\w*\s+(?:\w+\s+)?to|to\s+do|action|let\s+me|please|(?:can|could|would)\s+you)\b|\w['’]ll\b/iu,
  open_questions:
    /\?|\b(?:ask|asks|asked|question|wonder|wonders|wondered|whether|unclear|open|unknown|do(?:es)?\s?n[o'’]t\s+know|how|what|when|where|which|who|whose|why)\b/iu,
};

/** A sentence that is no decision, task or question by any word of it or of what it cites is a point. */
function kindOf({ kind, text }: Entry, cited: readonly Utterance[]): string {
  const sign = SIGNS[kind];
  const isOne = sign?.test(text) !== false || cited.some(({ text: said }) => sign.test(said));
  return isOne ? kind : "points";
}

/** Owner and due of an action item, as far as what it cites tells them. */
function reported(
  { owner, due }: Entry,
  cited: readonly Utterance[],
  speakers: readonly string[],
): Pick<ProvedEntry, "owner" | "due"> {
  const spoken = cited.map(({ text }) => normal(text)).join(" ");
  const wanted = normal(owner ?? "").trim();
  const name = speakers.find((each) => {
    const whole = normal(each).trim();
    if (wanted === "" || (whole !== wanted && whole.split(" ")[0] !== wanted)) return false;
    const isNamed = spoken.includes(` ${wanted} `);
    return isNamed || cited.some(({ speaker }) => speaker === each);
  });
  const isSaid = due !== undefined && spoken.includes(normal(due));
  return { ...(name !== undefined && { owner: name }), ...(isSaid && { due }) };
}

/** Its words in small letters, between blanks. */
function normal(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")} `;
}
