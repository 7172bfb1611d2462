import { createHmac } from "node:crypto";
import { randomText } from "../../access/secret.ts";

/** No vowels, so that no words come out (RFC 8628 §6.1): 8 of 20 letters are 34.6 bits. */
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const OWN_CODE = /^[0-9A-Z]{6,32}$/;

/** A new code, bare. */
export function newPairingCode(): string {
  return randomText(LENGTH, ALPHABET);
}

/**
 * A code as it is compared: upper case without dashes and spaces; undefined
 * when it can be no code. A code that a device made itself has 6 to 32 letters
 * or digits.
 */
export function normalisePairingCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, "").toUpperCase();
  return OWN_CODE.test(code) ? code : undefined;
}

/** As a person reads it: XXXX-XXXX. */
export function showPairingCode(code: string): string {
  return code.length === LENGTH ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
}

/**
 * How a code is kept at rest. A plain hash of 34 bits could be searched
 * through; the pepper lives outside the database.
 */
export function pairingCodeHash(pepper: Uint8Array, code: string): Buffer {
  return createHmac("sha256", pepper).update(`pairing-code\u0000${code}`).digest();
}
