/** How the text of a statement begins that is to be planned once for a connection. */
const MARK = /^\s*\/\* planned once \*\//;
/** Most named statements. Each connection keeps the plans of all that it ran, some 100 kB each. */
const MOST_NAMED = 40;

/** SQLSTATE of a name that the connection knows not, or for another statement. */
const LOST = new Set(["26000", "42P05"]);
/** SQLSTATE of a plan whose result has other types since a migration, among other things. */
const NOT_SUPPORTED = "0A000";

/** What the driver's client takes instead of a text: the name is sent in its place from then on. */
interface NamedStatement {
  name: string;
  text: string;
}

/**
 * Names the statements whose text begins with the comment `planned once`, so that PostgreSQL parses
 * each once for a connection and need not plan it each time: for small statements that is most of
 * their cost. Only for those that are asked often and whose best plan is the same for all values, as
 * PostgreSQL may settle on a general plan. The first 40 texts are named.
 */
export class NamedStatements {
  readonly #named = new Map<string, NamedStatement>();
  #isOff = false;

  /** The statement under its name; its text if it has none. */
  of(text: string): string | NamedStatement {
    if (this.#isOff || !MARK.test(text)) return text;
    const known = this.#named.get(text);
    if (known !== undefined) return known;
    if (this.#named.size >= MOST_NAMED) return text;
    const named = { name: `voice_${this.#named.size + 1}`, text };
    this.#named.set(text, named);
    return named;
  }

  /**
   * Takes an error of a named statement. True when the connection's statements are of no use any
   * more, so that it must be closed. A pooler between us and the server that hands connections
   * around loses names: then none are given any more.
   */
  isOutdated(state: string | undefined): boolean {
    if (state !== undefined && LOST.has(state)) {
      this.#isOff = true;
      return true;
    }
    return state === NOT_SUPPORTED;
  }
}
