import { SecondsHistogram } from "../../src/base/metrics/seconds-histogram.ts";
import type { ChatAnswer, ModelFault } from "./chat-client.ts";

type Outcome = "answered" | ModelFault | "given_up";

const FAMILIES = {
  voice_model_up: ["gauge", "Whether the language model answered when it was asked last"],
  voice_model_requests_total: ["counter", "Requests to the language model, by outcome"],
  voice_model_tokens_total: ["counter", "Tokens that the language model read and wrote"],
  voice_model_sentences_total: [
    "counter",
    "Sentences of the language model that were shown, or dropped as nothing that they cite bears them",
  ],
  voice_model_request_seconds: ["histogram", "How long answers of the language model took"],
} as const;

/** Figures of one language model, in the text format of Prometheus. */
export class ModelMetrics {
  readonly #requests = new Map<Outcome, number>();
  readonly #tokens = { read: 0, written: 0 };
  readonly #sentences = { shown: 0, dropped: 0 };
  readonly #seconds = new SecondsHistogram();

  answered({ tokens }: ChatAnswer, ms: number): void {
    this.#count("answered");
    this.#tokens.read += tokens.read;
    this.#tokens.written += tokens.written;
    this.#seconds.add(ms / 1_000);
  }

  failed(outcome: Exclude<Outcome, "answered">): void {
    this.#count(outcome);
  }

  sentences({ shown, dropped }: { shown: number; dropped: number }): void {
    this.#sentences.shown += shown;
    this.#sentences.dropped += dropped;
  }

  text(isUp: boolean): string {
    const requests = [...this.#requests].map(
      ([outcome, value]) => `voice_model_requests_total{outcome="${outcome}"} ${value}`,
    );
    const { read, written } = this.#tokens;
    const { shown, dropped } = this.#sentences;
    const lines = [
      ...family("voice_model_up"),
      `voice_model_up ${isUp ? 1 : 0}`,
      ...family("voice_model_requests_total"),
      ...requests,
      ...family("voice_model_tokens_total"),
      `voice_model_tokens_total{kind="read"} ${read}`,
      `voice_model_tokens_total{kind="written"} ${written}`,
      ...family("voice_model_sentences_total"),
      `voice_model_sentences_total{outcome="shown"} ${shown}`,
      `voice_model_sentences_total{outcome="dropped"} ${dropped}`,
      ...family("voice_model_request_seconds"),
      ...this.#seconds.lines("voice_model_request_seconds"),
    ];
    return `${lines.join("\n")}\n`;
  }

  #count(outcome: Outcome): void {
    this.#requests.set(outcome, (this.#requests.get(outcome) ?? 0) + 1);
  }
}

function family(name: keyof typeof FAMILIES): string[] {
  const [type, help] = FAMILIES[name];
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
