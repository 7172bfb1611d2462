import { randomText } from "../../access/secrets.ts";

const PREFIX = "vgc_";
/** 131 random bits in base 62. */
const RANDOM_LENGTH = 22;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH}}$`);

/** Makes a guest code. It is shown once and stored as a hash. */
export function newGuestCode(): string {
  return PREFIX + randomText(RANDOM_LENGTH);
}

/** True when `text` has the form of a guest code; it may still open nothing. */
export function isGuestCode(text: string): boolean {
  return FORM.test(text);
}
