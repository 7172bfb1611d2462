import type { BackOffWaits } from "../../src/base/back-off.ts";
import { errorMessage } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { QueueFigures, QueueOwner } from "../../src/base/queue-metrics.ts";
import { type Runtime, systemRuntime, type Timer } from "../../src/base/runtime.ts";
import { FairTurns } from "../../src/base/work/fair-turns.ts";
import type { LanguageModelStatus, ModelAbility } from "../../src/wire/language-model.ts";
import { type ChatAnswer, ChatClient, type ChatRequest, ModelError } from "./chat-client.ts";
import { ModelMetrics } from "./model-metrics.ts";
import type { ModelSettings } from "./model-settings.ts";
import { probeAbilities } from "./probe.ts";

const POLL_MS = 60_000;
const LONGEST_WAIT_MS = 10 * 60_000;
const WAITING = { capacity: 200, share: 50 };

interface LanguageModelOptions {
  settings: ModelSettings;
  log: Log;
  /** Called when it began or ceased to answer, or its abilities were found out. */
  onChange?: () => void;
  runtime?: Pick<Runtime, "after" | "every">;
  /** Waits between the tries of a request; as ChatClient has them when absent. */
  waits?: BackOffWaits;
}

/**
 * The language model of this process: its abilities are found out once, a bounded number of requests is
 * under way at once, for tenants in turn, and whether it answers is known before somebody asks.
 */
export class LanguageModel implements QueueOwner {
  readonly metrics = new ModelMetrics();
  readonly #options: LanguageModelOptions;
  readonly #client: ChatClient;
  readonly #turns: FairTurns;
  readonly #stopping = new AbortController();
  #abilities: readonly ModelAbility[] | undefined;
  /** True when its abilities are to be found out, for the first time or anew. */
  #isUnknown = true;
  #fault: string | undefined;
  #probing: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(options: LanguageModelOptions) {
    this.#options = options;
    const { concurrency } = options.settings;
    this.#client = new ChatClient(options.settings, options.waits);
    this.#turns = new FairTurns({
      queue: "model_requests",
      what: "Asking the language model",
      atOnce: concurrency,
      atOnceOfOne: concurrency,
      waiting: WAITING,
      longestWaitMs: LONGEST_WAIT_MS,
      retryAfter: 10,
    });
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  get settings(): ModelSettings {
    return this.#options.settings;
  }

  /** What it is and whether it answers, for operators and for who asks. */
  get status(): LanguageModelStatus {
    const { model, isLocal } = this.#options.settings;
    const isKnown = this.#abilities !== undefined;
    const reason = this.#fault ?? (isKnown ? undefined : "It has not answered yet.");
    return {
      name: model,
      local: isLocal,
      answers: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      abilities: this.#abilities ?? [],
    };
  }

  /** Looks at once and then each minute whether it answers. */
  start(): void {
    const { runtime = systemRuntime } = this.#options;
    this.#timer = runtime.every(POLL_MS, () => void this.probe());
    void this.probe();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stopping.abort();
    await this.#probing;
  }

  /** Finds out whether it answers, and its abilities when they are not known; never rejects. */
  probe(): Promise<void> {
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /**
   * Asks when it is the tenant's turn. Rejects with ModelError, with `overloaded` when too much waits,
   * and with `signal.reason` when that aborts.
   */
  ask(request: ChatRequest, tenant: string, signal: AbortSignal): Promise<ChatAnswer> {
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    return this.#turns.run(tenant, () => this.#ask(request, either), either);
  }

  /** The text for the operations port. */
  metricsText(): string {
    return this.metrics.text(this.status.answers);
  }

  async #ask(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
    const began = performance.now();
    try {
      const answer = await this.#client.chat(request, signal);
      this.metrics.answered(answer, performance.now() - began);
      this.#note(undefined);
      return answer;
    } catch (error) {
      this.metrics.failed(error instanceof ModelError ? error.fault : "given_up");
      if (error instanceof ModelError) this.#noteFault(error);
      throw error;
    }
  }

  async #probe(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      if (this.#isUnknown) {
        const found = await probeAbilities(this.#client, signal);
        this.#abilities = found;
        this.#isUnknown = false;
        const fields = { model: this.#options.settings.model, abilities: found };
        this.#options.log.info(fields, "the language model answers");
        this.#fault = undefined;
        this.#options.onChange?.();
      } else {
        await this.#client.check(signal);
        this.#note(undefined);
      }
    } catch (error) {
      if (!signal.aborted) this.#note(errorMessage(error));
    }
  }

  #noteFault(error: ModelError): void {
    // A server that takes other requests answers; what it can do may have changed with its model.
    if (error.fault === "rejected") this.#isUnknown = true;
    else this.#note(error.message);
  }

  #note(fault: string | undefined): void {
    if (this.#fault === fault) return;
    this.#fault = fault;
    const { log, settings, onChange } = this.#options;
    const fields = { model: settings.model };
    if (fault === undefined) log.info(fields, "the language model answers again");
    else log.warn({ ...fields, error: fault }, "the language model does not answer");
    onChange?.();
  }
}
