import { AppError } from "../../../src/base/errors.ts";
import {
  ACK_WAIT,
  type CommandQueue,
  MAX_UNDER_WAY,
  type QueuedCommand,
} from "../../../src/bus/command-queue.ts";
import type { BrokerLine } from "./broker.ts";
import type { Kernel, Planned } from "./kernel.ts";

const DEDUPE_MS = 120_000;
const PUT_MS = 3_000;
/** Without any sign of the server a reading ends. */
const DEAF_MS = 45_000;

interface Message {
  id: string;
  data: Uint8Array;
  /** With a reader: until it answers or its time is over. */
  pending: Planned | undefined;
  isReady: boolean;
}

interface Reader {
  line: BrokerLine;
  onCommand(command: QueuedCommand): void;
  end(): void;
}

interface Partition {
  messages: Set<Message>;
  reader: Reader | undefined;
}

/** The commands as the server keeps them: a work queue of each partition. */
export class CommandBroker {
  readonly #kernel: Kernel;
  readonly #partitions = new Map<number, Partition>();
  readonly #known = new Map<string, number>();
  readonly counts = { redelivered: 0, forgotten: 0 };

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  connect(line: BrokerLine): CommandQueue {
    return new BrokerQueue(this, line);
  }

  /** The server lost its disk: it is a transport, and is made again. */
  forget(): void {
    this.counts.forgotten += 1;
    this.#known.clear();
    for (const partition of this.#partitions.values()) {
      for (const { pending } of partition.messages) pending?.cancel();
      partition.messages.clear();
    }
  }

  put(partition: number, id: string, data: Uint8Array): void {
    const now = this.#kernel.now;
    const at = this.#known.get(id);
    if (at !== undefined && now - at < DEDUPE_MS) return;
    this.#known.set(id, now);
    const { messages } = this.#of(partition);
    messages.add({ id, data, pending: undefined, isReady: true });
    this.#serve(partition);
  }

  read(partition: number, reader: Reader): void {
    const of = this.#of(partition);
    of.reader?.end();
    of.reader = reader;
    for (const message of of.messages) {
      message.pending?.cancel();
      message.pending = undefined;
      message.isReady = true;
    }
    this.#serve(partition);
  }

  leave(partition: number, reader: Reader): void {
    const of = this.#of(partition);
    if (of.reader === reader) of.reader = undefined;
  }

  #of(partition: number): Partition {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const fresh: Partition = { messages: new Set(), reader: undefined };
    this.#partitions.set(partition, fresh);
    return fresh;
  }

  #serve(partition: number): void {
    const { messages, reader } = this.#of(partition);
    if (reader === undefined) return;
    let underWay = 0;
    for (const { isReady } of messages) if (!isReady) underWay += 1;
    for (const message of messages) {
      if (underWay >= MAX_UNDER_WAY) return;
      if (!message.isReady) continue;
      underWay += 1;
      this.#hand(partition, message, reader);
    }
  }

  #hand(partition: number, message: Message, { line, onCommand }: Reader): void {
    const { messages } = this.#of(partition);
    message.isReady = false;
    const again = (ms: number): void => {
      message.pending?.cancel();
      message.pending = this.#kernel.plan(ms, () => {
        if (!messages.has(message)) return;
        this.counts.redelivered += 1;
        message.isReady = true;
        this.#serve(partition);
      });
    };
    again(ACK_WAIT);
    const done = (): void =>
      line.send(() => {
        message.pending?.cancel();
        messages.delete(message);
        this.#serve(partition);
      });
    line.answer(() =>
      onCommand({
        data: message.data,
        done,
        drop: done,
        again: (ms) => line.send(() => again(ms)),
      }),
    );
  }
}

class BrokerQueue implements CommandQueue {
  readonly #broker: CommandBroker;
  readonly #line: BrokerLine;

  constructor(broker: CommandBroker, line: BrokerLine) {
    this.#broker = broker;
    this.#line = line;
  }

  put(partition: number, id: string, data: Uint8Array): Promise<void> {
    return this.#line.request(PUT_MS, () => this.#broker.put(partition, id, data));
  }

  post(partition: number, id: string, data: Uint8Array): void {
    this.#line.send(() => this.#broker.put(partition, id, data));
  }

  async read(
    partition: number,
    signal: AbortSignal,
    onCommand: (command: QueuedCommand) => void,
  ): Promise<void> {
    const line = this.#line;
    const { machine } = line;
    let end: (error?: AppError) => void = () => {};
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => (error === undefined ? resolve() : reject(error));
    });
    const reader: Reader = {
      line,
      onCommand: (command) => {
        if (!signal.aborted) onCommand(command);
      },
      end: () => line.answer(() => end()),
    };
    await line.request(PUT_MS, () => this.#broker.read(partition, reader));
    const leave = (): void => {
      line.send(() => this.#broker.leave(partition, reader));
      end();
    };
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    let deafSince: number | undefined;
    const watch = machine.every(15_000, () => {
      deafSince = line.isUp ? undefined : (deafSince ?? machine.monotonic());
      if (deafSince === undefined || machine.monotonic() - deafSince < DEAF_MS) return;
      end(new AppError("unavailable", "Nothing is heard of the commands any more."));
    });
    try {
      await ended;
    } finally {
      watch.cancel();
      signal.removeEventListener("abort", leave);
    }
  }
}
