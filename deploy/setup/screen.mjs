import process from "node:process";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

/**
 * Progress on the terminal: one line per step. On a terminal the line turns and counts seconds, in
 * a pipe each step prints a plain line when it starts to take long and one when it ends.
 * Writing to a terminal that was closed is no error here: the service has to stop cleanly then.
 */
export class Screen {
  #stream;
  #lively;
  #coloured;
  #current;

  constructor(stream = process.stdout, env = process.env) {
    this.#stream = stream;
    this.#lively = stream.isTTY === true && env.TERM !== "dumb" && !env.CI;
    this.#coloured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
    stream.on("error", () => undefined);
  }

  step(title) {
    this.#current?.pause();
    const step = new Step(title, this, this.#lively);
    this.#current = step;
    return step;
  }

  line(text = "") {
    this.#wipe();
    this.#put(`${text}\n`);
    this.#current?.draw();
  }

  warn(text) {
    this.line(`${this.paint("33", "!")} ${text}`);
  }

  fail(text) {
    this.line(`${this.paint("31", "✗")} ${text}`);
  }

  /** A StepError: what is wrong, then what to do. */
  problem(error) {
    this.fail(error.message);
    this.line(`\n  What to do: ${error.advice}\n`);
  }

  paint(code, text) {
    return this.#coloured ? `\u001b[${code}m${text}\u001b[0m` : text;
  }

  /** Writes over the current line; `mark` may hold colour codes, `text` is cut to the width. */
  redraw(mark, text) {
    const width = this.#stream.columns || 80;
    this.#put(`\r\u001b[2K${mark}${text.slice(0, width - 3)}`);
  }

  end(step) {
    if (this.#current === step) this.#current = undefined;
  }

  #wipe() {
    if (this.#lively && this.#current) this.#put("\r\u001b[2K");
  }

  #put(text) {
    if (!this.#stream.destroyed) this.#stream.write(text);
  }
}

class Step {
  #title;
  #screen;
  #lively;
  #note = "";
  #startedAt = performance.now();
  #frame = 0;
  #timer;

  constructor(title, screen, lively) {
    this.#title = title;
    this.#screen = screen;
    this.#lively = lively;
    if (lively) {
      this.#timer = setInterval(() => this.draw(), FRAME_MS);
      this.draw();
    } else {
      this.#timer = setTimeout(() => screen.line(`… ${title}`), 1000);
    }
    this.#timer.unref();
  }

  note(text) {
    this.#note = text;
  }

  draw() {
    if (!this.#lively) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const note = this.#note ? `: ${this.#note}` : "";
    const frame = this.#screen.paint("36", FRAMES[this.#frame]);
    this.#screen.redraw(`${frame} `, `${this.#title}${note} ${this.#seconds()}`);
  }

  done(detail = "") {
    this.#finish(this.#screen.paint("32", "✓"), detail);
  }

  fail(detail = "") {
    this.#finish(this.#screen.paint("31", "✗"), detail);
  }

  pause() {
    clearInterval(this.#timer);
    clearTimeout(this.#timer);
  }

  #finish(mark, detail) {
    this.pause();
    if (this.#lively) this.#screen.redraw("", "");
    this.#screen.end(this);
    const text = detail ? `: ${detail}` : "";
    this.#screen.line(`${mark} ${this.#title}${text} ${this.#screen.paint("2", this.#seconds())}`);
  }

  #seconds() {
    return `(${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s)`;
  }
}

/** Runs `work` as a step of the screen; a failure is marked and thrown on: its words come last. */
export async function runStep(screen, title, work) {
  const step = screen.step(title);
  try {
    const result = await work(step);
    step.done(typeof result === "string" ? result : "");
    return result;
  } catch (error) {
    step.fail();
    throw error;
  }
}
