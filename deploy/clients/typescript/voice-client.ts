/**
 * A device and a viewer of the voice session service, for browsers and Node 22 or newer, without a
 * dependency. Both survive a connection that breaks: they connect again, later each time, and go on
 * where they were. They sign in with live tickets, as browsers cannot set a WebSocket's headers.
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const MOST_TRIES = 20;
const ANSWER_MS = 10_000;
/** The service is heard of every few seconds; after so long the connection is dead. */
const SILENCE_MS = 75_000;
/** Sent ahead of what is acknowledged, at most. */
const WINDOW_BYTES = 256 * 1024;
const PIECE_BYTES = 3_200;
/** Close codes after which the same would happen again. */
const FINAL_CODES = new Set([4400, 4401, 4403, 4404, 4409]);

/** The service said no, and will again. */
export class Refused extends Error {}

/** The connection broke, or was not made; it is worth another try. */
class Broken extends Error {}

/** A frame of the service: see its AsyncAPI document for the members of each type. */
export interface Frame {
  type: string;
  seq?: number;
  at?: string;
  [member: string]: unknown;
}

export interface Access {
  /** Address of the service, such as https://voice.example.com. */
  base: string;
  /** `{ authorization: "Bearer …" }` of a person, `{ "x-api-key": "…" }` of a device. */
  headers: Readonly<Record<string, string>>;
  /** Told before each further try. */
  onRetry?: (reason: string, waitMs: number) => void;
}

/** One WebSocket, opened with a ticket; its frames are taken one by one. */
class Socket {
  readonly #socket: WebSocket;
  readonly #frames: Frame[] = [];
  #closed: Error | "done" | undefined;
  #wake: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.#frames.push(JSON.parse(data) as Frame);
      this.#wake();
    };
    socket.onclose = ({ code, reason }) => {
      const told = `closed with ${code}: ${reason || "the connection was lost"}`;
      if (code === 1000) this.#closed = "done";
      else this.#closed = FINAL_CODES.has(code) ? new Refused(told) : new Broken(told);
      this.#wake();
    };
    // Node tells of some broken connections by this alone.
    socket.onerror = () => {
      this.#closed ??= new Broken("the connection was lost");
      this.#wake();
    };
  }

  /** Throws Refused or Broken. */
  static async open(path: string, access: Access): Promise<Socket> {
    const { ticket } = await post<{ ticket: string }>(access, "/auth/live-ticket");
    const base = access.base.replace(/\/+$/, "").replace(/^http/, "ws");
    const socket = new WebSocket(`${base}/api${path}?ticket=${encodeURIComponent(ticket)}`);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => socket.close(), ANSWER_MS);
      socket.onopen = () => resolve();
      const fail = () => reject(new Broken(`no connection to ${base}`));
      socket.onclose = fail;
      socket.onerror = fail;
      for (const end of ["open", "close", "error"]) {
        socket.addEventListener(end, () => clearTimeout(timer));
      }
    });
    return new Socket(socket);
  }

  /** The next frame that is there; "none" after `ms` without one; "done" after the code 1000. */
  async next(ms: number): Promise<Frame | "none" | "done"> {
    if (this.#frames.length === 0 && this.#closed === undefined) await this.#wait(ms);
    const frame = this.#frames.shift();
    if (frame !== undefined) return frame;
    if (this.#closed === "done") return "done";
    if (this.#closed !== undefined) throw this.#closed;
    return "none";
  }

  send(message: object | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  close(): void {
    this.#socket.close();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Calls the REST interface; throws Refused or Broken. */
async function post<T>({ base, headers }: Access, path: string, body: object = {}): Promise<T> {
  const url = `${base.replace(/\/+$/, "")}/api${path}`;
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch {
    throw new Broken(`no answer of ${url}`);
  }
  const text = await answer.text().catch(() => "");
  if (answer.ok) return (text === "" ? {} : JSON.parse(text)) as T;
  const message = `${answer.status}: ${messageOf(text)}`;
  const isPassing = answer.status >= 500 || answer.status === 408 || answer.status === 429;
  throw isPassing ? new Broken(message) : new Refused(message);
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message);
  } catch {
    return text.slice(0, 200);
  }
}

/** Makes `attempt` until it returns; waits longer after each failure in a row. */
async function persistently<T>(
  attempt: (works: () => void) => Promise<T>,
  onRetry: Access["onRetry"],
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(() => {
        tries = 0;
      });
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      if (tries >= MOST_TRIES) throw new Refused(`gave up after ${tries} tries: ${error.message}`);
      const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1));
      const waitMs = longest * (0.5 + Math.random() / 2);
      onRetry?.(error.message, waitMs);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

export interface ViewOptions {
  sessionId: string;
  /** The newest `seq` that was seen; 0 for all from the beginning. */
  fromSeq?: number;
  /** Gets each durable event once and in order, and hypotheses (without `at`) as they come. */
  onFrame(frame: Frame): void;
}

/** Follows a session until it has ended; resolves with its last status. Throws Refused. */
export function viewSession(access: Access, options: ViewOptions): Promise<string> {
  let seq = options.fromSeq ?? 0;
  const attempt = async (works: () => void): Promise<string> => {
    const socket = await Socket.open("/live", access);
    try {
      socket.send({ type: "Subscribe", session_id: options.sessionId, from_seq: seq });
      for (;;) {
        const frame = await socket.next(SILENCE_MS);
        if (typeof frame === "string") throw new Broken("the service went silent or away");
        works();
        if (frame.type === "Error") {
          const told = `${frame.code}: ${frame.message}`;
          throw frame.retryable === true ? new Broken(told) : new Refused(told);
        }
        if (frame.type === "SessionEnded") return String(frame.status);
        const isDurable = frame.at !== undefined && frame.seq !== undefined;
        if (isDurable && Number(frame.seq) <= seq) continue;
        if (isDurable) seq = Number(frame.seq);
        options.onFrame(frame);
      }
    } finally {
      socket.close();
    }
  };
  return persistently(attempt, access.onRetry);
}

export interface StreamOptions {
  deviceId: string;
  /** `{ encoding, sample_rate, channels, title?, transcript?, … }` of Configure. */
  configuration: { sample_rate: number; channels: number } & Readonly<Record<string, unknown>>;
  /** The next bytes of 16-bit PCM, at most so many; an empty array at the end. */
  read(bytes: number): Promise<Uint8Array>;
  /** 1 is the speed of life; more for recordings. */
  speed?: number;
  onSession?: (sessionId: string) => void;
  /** Words of the own session (`transcript`, if the owner set `may_read`), warnings and errors. */
  onFrame?: (frame: Frame) => void;
}

/** Streams audio as a device; holds what is not acknowledged, so that a cut loses and repeats nothing. */
class DeviceStream {
  readonly #access: Access;
  readonly #options: StreamOptions;
  readonly #bytesPerMs: number;
  sessionId: string | undefined;
  #seq: number | undefined;
  #kept = new Uint8Array(0);
  keptFrom = 0;
  #sent = 0;
  #isAtEnd = false;

  constructor(access: Access, options: StreamOptions) {
    this.#access = access;
    this.#options = options;
    const { sample_rate: rate, channels } = options.configuration;
    this.#bytesPerMs = ((options.speed ?? 1) * rate * channels * 2) / 1000;
  }

  async connect(works: () => void): Promise<void> {
    const path = `/devices/${this.#options.deviceId}/stream`;
    const socket = await Socket.open(path, this.#access);
    try {
      await this.#stream(socket, works);
    } finally {
      socket.close();
    }
    if (this.#isAtEnd && this.#kept.length === 0) return;
    throw new Refused("the session has ended before all audio was taken");
  }

  async #stream(socket: Socket, works: () => void): Promise<void> {
    const { configuration } = this.#options;
    const goesOn = this.sessionId === undefined ? {} : { session_id: this.sessionId };
    const isKnown = this.#seq !== undefined && configuration.transcript === true;
    const from = isKnown ? { from_seq: this.#seq } : {};
    socket.send({ type: "Configure", ...configuration, ...goesOn, ...from });
    let [hasBegun, isClosing, due] = [false, false, 0];
    for (;;) {
      const isFull = this.#sent - this.keptFrom >= WINDOW_BYTES;
      const mayGo = hasBegun && !isClosing && !isFull;
      const frame = await socket.next(mayGo ? Math.max(0, due - performance.now()) : SILENCE_MS);
      if (frame === "done") return;
      if (frame !== "none") {
        if (frame.type === "Begin") {
          this.#begin(Number(frame.audio_offset_bytes), String(frame.session_id));
          [hasBegun, due] = [true, performance.now()];
          works();
        } else this.#hear(frame);
      } else if (!mayGo) throw new Broken("the service went silent");
      else if (await this.#next(socket)) {
        due = Math.max(due, performance.now() - 1_000) + PIECE_BYTES / this.#bytesPerMs;
      } else {
        socket.send({ type: "CloseStream" });
        isClosing = true;
      }
    }
  }

  #begin(offset: number, sessionId: string): void {
    if (offset < this.keptFrom) {
      throw new Refused("the service asks for audio that this device has no more");
    }
    if (this.sessionId === undefined) {
      this.#options.onSession?.(sessionId);
      // A session that was running already has bytes of an earlier stream.
      this.keptFrom = offset;
    }
    this.sessionId = sessionId;
    this.#forget(offset);
    this.#sent = offset;
  }

  #forget(offset: number): void {
    if (offset <= this.keptFrom) return;
    this.#kept = this.#kept.slice(offset - this.keptFrom);
    this.keptFrom = offset;
  }

  /** Sends the next piece; false when all was sent. */
  async #next(socket: Socket): Promise<boolean> {
    const at = this.#sent - this.keptFrom;
    let piece = this.#kept.slice(at, at + PIECE_BYTES);
    if (piece.length === 0 && !this.#isAtEnd) {
      piece = new Uint8Array(await this.#options.read(PIECE_BYTES));
      this.#isAtEnd = piece.length === 0;
      const kept = new Uint8Array(this.#kept.length + piece.length);
      kept.set(this.#kept);
      kept.set(piece, this.#kept.length);
      this.#kept = kept;
    }
    if (piece.length === 0) return false;
    socket.send(piece);
    this.#sent += piece.length;
    return true;
  }

  #hear(frame: Frame): void {
    if (frame.at !== undefined && frame.seq !== undefined) this.#seq = frame.seq;
    if (frame.type === "AudioAck") this.#forget(Number(frame.audio_offset_bytes));
    else this.#options.onFrame?.(frame);
  }
}

/** Streams all audio and stops the session; resolves with its id and bytes. Throws Refused. */
export async function streamAudio(
  access: Access,
  options: StreamOptions,
): Promise<{ sessionId: string; bytes: number }> {
  const stream = new DeviceStream(access, options);
  await persistently((works) => stream.connect(works), access.onRetry);
  const sessionId = stream.sessionId ?? "";
  const path = `/devices/${options.deviceId}/session/stop`;
  await persistently(() => post(access, path, { session_id: sessionId }), access.onRetry);
  return { sessionId, bytes: stream.keptFrom };
}
