import { AppError } from "../base/errors.ts";
import { type Runtime, systemRuntime } from "../base/runtime.ts";
import { chooseEngine, type EngineRequest } from "./engine-choice.ts";
import { type Asker, FairSlots } from "./fair-slots.ts";
import type { Placement } from "./placement.ts";
import type { Transcribers, TranscriptionStream } from "./transcription-stream.ts";
import type { WorkerClient } from "./worker-client.ts";

/**
 * Opens readings on the least loaded worker that has the engine, and reports their success to the
 * placement.
 */
export class WorkerTranscribers implements Transcribers {
  readonly #placement: Placement;
  readonly #client: WorkerClient;
  readonly #key: string | undefined;
  readonly #engine: string | undefined;
  readonly #slots: FairSlots;

  /** @param engine the installation's choice, where neither request nor workspace has one */
  constructor(
    placement: Placement,
    client: WorkerClient,
    key: string | undefined,
    engine?: string,
    runtime: Pick<Runtime, "monotonic"> = systemRuntime,
  ) {
    this.#slots = new FairSlots(runtime);
    this.#placement = placement;
    this.#client = client;
    this.#key = key;
    this.#engine = engine;
    placement.onUpdate(() => this.#slots.serve((name) => placement.room(name)));
  }

  get isCrowded(): boolean {
    return this.#slots.isCrowded;
  }

  open(request: EngineRequest, asker?: Asker): TranscriptionStream {
    const engine = chooseEngine(this.#placement.engines(), request, this.#engine).name;
    const { tenant } = request;
    const isFair = this.#slots.mayOpen(asker?.id, this.#placement.room(engine));
    const address = isFair ? this.#placement.pick(engine) : undefined;
    if (address === undefined) {
      const error = this.#withoutRoom(engine);
      if (error.code === "overloaded") this.#slots.wait({ tenant, engine }, asker);
      throw error;
    }
    const instance = this.#placement.instanceAt(address);
    const stream = this.#client.openTranscription(address, {
      key: this.#key,
      isGone: () => this.#placement.isGone(address, instance),
    });
    return this.#observed(address, stream, { engine, tenant, id: asker?.id });
  }

  #withoutRoom(engine: string): AppError {
    if (this.#placement.status().length === 0) {
      return new AppError("unavailable", "No worker is running; audio waits until one is.");
    }
    if (this.#placement.hasEngine(engine)) {
      return new AppError("overloaded", "All workers are busy; audio waits for its turn.");
    }
    return new AppError(
      "engine_unavailable",
      `No worker has the engine "${engine}" at the moment; the audio waits until one has.`,
    );
  }

  #observed(
    address: string,
    stream: TranscriptionStream,
    { engine, tenant, id }: { engine: string; tenant: string | undefined; id: string | undefined },
  ): TranscriptionStream {
    const placement = this.#placement;
    let ended = (_error: AppError | undefined): void => {};
    const end = (error: AppError): void => {
      stream.cancel();
      leave();
      ended(error);
    };
    const leave = this.#slots.take({ tenant, end }, id);
    return {
      send: (message) =>
        stream.send(
          message.$case === "open"
            ? { $case: "open", value: { ...message.value, engine, share: tenant } }
            : message,
        ),
      onDrain: (listener) => stream.onDrain(listener),
      finish: () => stream.finish(),
      cancel: () => {
        leave();
        stream.cancel();
      },
      onMessage: (listener) =>
        stream.onMessage((message) => {
          if (message.$case === "opened") placement.succeeded(address, "audio");
          listener(message);
        }),
      onEnd: (listener) => {
        ended = listener;
        stream.onEnd((error) => {
          leave();
          // Faults of one session's audio, or of one engine, do not count against the worker.
          const isEngine = error?.code === "engine_unavailable";
          const isItsOwn = error?.retryable === true && !isEngine;
          if (isItsOwn || error?.code === "internal") placement.failed(address, "audio");
          listener(error);
        });
      },
    };
  }
}
