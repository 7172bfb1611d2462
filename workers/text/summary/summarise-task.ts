import { AppError } from "../../../src/base/errors.ts";
import { SummariseRequest, SummariseResponse } from "../../../src/wire/gen/voice/v1/text.ts";
import { listActionItems } from "./action-items.ts";
import { fillCustomSections } from "./custom-sections.ts";
import { listDecisions } from "./decisions.ts";
import { summariseBriefly, summariseInDetail } from "./detailed.ts";
import { listOpenQuestions } from "./open-questions.ts";
import { describeSpeakers } from "./speakers.ts";
import { readSpokenText, type SpokenText } from "./spoken-text.ts";
import { nothing, type Summariser, type SummaryDraft } from "./summary-draft.ts";
import { listTopics } from "./topics.ts";

/** Version of the method; it changes when equal words would give another summary. */
const ENGINE = "extractive-5";
/** Progress is reported when it has grown by this much. */
const PROGRESS_STEP = 0.05;
/** From this share of unclear words on, the summary begins with a warning. */
const MOSTLY = 1 / 2;
const NOT_UNDERSTOOD = "Most of this recording could not be understood.";

const SUMMARISERS: ReadonlyMap<string, Summariser> = new Map([
  ["brief", summariseBriefly],
  ["detailed", summariseInDetail],
  ["action_items", listActionItems],
  ["decisions", listDecisions],
  ["topics", listTopics],
  ["open_questions", listOpenQuestions],
  ["custom_sections", fillCustomSections],
  ["speakers", describeSpeakers],
]);

/** Summarise of the gRPC service: selects sentences that were said, invents none. */
export function* summariseTask(request: Uint8Array): Generator<Uint8Array | undefined, void> {
  const decoded = decode(request);
  const summarise = SUMMARISERS.get(decoded.summaryType);
  if (summarise === undefined) {
    throw new AppError("bad_request", `There is no summary type "${decoded.summaryType}".`);
  }
  yield encode({ $case: "progress", value: { fraction: 0 } });
  const text = yield* readSpokenText(decoded);
  yield undefined;
  const draft = withWarning(yield* work(summarise, text), text);
  yield encode({ $case: "summary", value: { engine: ENGINE, ...draft } });
}

function* work(
  summarise: Summariser,
  text: SpokenText,
): Generator<Uint8Array | undefined, SummaryDraft> {
  if (text.segments.every((segment) => segment.text.trim() === "")) {
    return nothing("Nothing was said.");
  }
  if (text.sentences.length === 0) return nothing("No sentence was heard clearly.");
  const steps = summarise(text);
  let told = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (step.value - told < PROGRESS_STEP) {
      yield undefined;
      continue;
    }
    told = step.value;
    yield encode({ $case: "progress", value: { fraction: told } });
  }
}

/** Adds a warning when most words are unclear. */
function withWarning({ text, items }: SummaryDraft, { unclearShare }: SpokenText): SummaryDraft {
  if (unclearShare <= MOSTLY) return { text, items };
  return { text: `${NOT_UNDERSTOOD}${items.length > 0 ? "\n" : " "}${text}`, items };
}

function decode(request: Uint8Array): SummariseRequest {
  try {
    return SummariseRequest.decode(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no SummariseRequest.", { cause: error });
  }
}

function encode(message: NonNullable<SummariseResponse["message"]>): Uint8Array {
  return SummariseResponse.encode({ message }).finish();
}
