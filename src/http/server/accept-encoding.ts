/** How an answer may be compressed, the better first. */
const CODINGS = ["br", "gzip"] as const;
export type Coding = (typeof CODINGS)[number];

/** `gzip;q=0.5`; a weight that is none counts as 0, since the caller meant to restrict. */
const ITEM = /^([\w!#$%&'*+.^`|~-]+)(?:\s*;\s*q\s*=\s*([^;\s]*))?/i;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const KNOWN_HEADERS = 100;

const chosen = new Map<string, Coding | undefined>();

/**
 * The coding that an Accept-Encoding (RFC 9110 §12.5.3) likes best of ours; undefined to send the
 * bytes as they are, which is never refused.
 */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined || header === "") return undefined;
  // Few clients send many different ones.
  if (chosen.has(header)) return chosen.get(header);
  const coding = choose(weightsOf(header));
  if (chosen.size < KNOWN_HEADERS) chosen.set(header, coding);
  return coding;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const text of header.toLowerCase().split(",")) {
    const [, name, weight = "1"] = ITEM.exec(text.trim()) ?? [];
    if (name === undefined) continue;
    weights.set(name === "x-gzip" ? "gzip" : name, WEIGHT.test(weight) ? Number(weight) : 0);
  }
  return weights;
}

function choose(weights: ReadonlyMap<string, number>): Coding | undefined {
  const others = weights.get("*") ?? 0;
  let best: Coding | undefined;
  // Without a word of it, the plain bytes are what suits if nothing else does.
  let weight = weights.get("identity") ?? 0;
  for (const coding of CODINGS) {
    const own = weights.get(coding) ?? others;
    if (own > weight || (own === weight && own > 0 && best === undefined)) {
      best = coding;
      weight = own;
    }
  }
  return best;
}
