import { silentLog } from "../../src/base/log.ts";
import {
  type CustomSection,
  SummariseRequest,
  SummariseResponse,
  type Summary,
  type TextSegment,
} from "../../src/wire/gen/voice/v1/text.ts";
import { LanguageModel } from "../../workers/language-model/language-model.ts";
import type { ModelSettings } from "../../workers/language-model/model-settings.ts";
import {
  decodeGround,
  encodeGround,
  type GroundRequest,
  type GroundResponse,
  groundTask,
} from "../../workers/text/grounding/ground-task.ts";
import { ModelTurns } from "../../workers/text/model-answers/model-turns.ts";
import { ModelNotes } from "../../workers/text/model-notes/model-notes.ts";
import { summariseTask } from "../../workers/text/summary/summarise-task.ts";
import type { ModelServer } from "./model-server.ts";

export const SHARE = { mayLeave: false, tenant: "tenant", tokens: 1_000_000, later: false };

/** What a language model makes of notes and questions, in this process. */
export class NotesBench {
  readonly model: LanguageModel;
  readonly notes: ModelNotes;
  readonly turns: ModelTurns;
  /** How many sentences were compared with what they cite. */
  grounded = 0;

  constructor(server: Pick<ModelServer, "url">, settings: Partial<ModelSettings> = {}) {
    this.model = new LanguageModel({
      settings: {
        ...{ baseUrl: server.url, model: "small", key: undefined, isLocal: true },
        ...{ requestTokens: 8_000, timeoutMs: 5_000, concurrency: 2, ...settings },
      },
      log: silentLog,
      waits: { firstMs: 10 },
    });
    const ground = async (request: GroundRequest): Promise<GroundResponse> => {
      this.grounded += request.sentences.length;
      return groundHere(request);
    };
    this.notes = new ModelNotes({ model: this.model, ground });
    this.turns = new ModelTurns({ model: this.model, ground });
  }

  /** The summary as a worker makes it, by rule first. */
  async summarise(
    summaryType: string,
    segments: readonly TextSegment[],
    options: {
      share?: typeof SHARE;
      language?: string;
      sections?: readonly CustomSection[];
      onProgress?: (at: number) => void;
    } = {},
  ): Promise<Summary> {
    const { share = SHARE, language = "en", onProgress = () => {}, sections = [] } = options;
    const request = {
      ...{ summaryType, language, segments: [...segments], model: share },
      sections: [...sections],
    };
    const { signal } = new AbortController();
    return this.notes.word(request, byRule(request), { signal, onProgress });
  }
}

/** Which of the citations of each sentence bear it. */
export function groundHere(request: GroundRequest): GroundResponse {
  for (const bytes of groundTask(encodeGround(request))) {
    if (bytes !== undefined) return decodeGround<GroundResponse>(bytes);
  }
  throw new Error("The task ended without an answer.");
}

/** The summary by rule. */
export function byRule(request: SummariseRequest): Summary {
  for (const bytes of summariseTask(SummariseRequest.encode(request).finish())) {
    const message = bytes === undefined ? undefined : SummariseResponse.decode(bytes).message;
    if (message?.$case === "summary") return message.value;
  }
  throw new Error("The task ended without a summary.");
}
