import { AppError } from "../../base/errors.ts";

export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_BYTES = 1_024;

/** Words that whoever guesses at this service tries first; none of them makes a password. */
const OWN_WORDS = ["voice", "session", "sessions", "service", "transcript", "admin", "local"];
const OF_OWN_WORDS = new RegExp(`^(?:${OWN_WORDS.join("|")})+$`);

/** True when nothing but such words is left without digits, signs and spaces. */
function isOfOwnWords(password: string): boolean {
  return OF_OWN_WORDS.test(password.toLowerCase().replaceAll(/[^\p{L}]/gu, ""));
}

/** Read when the first password is set: most processes set none. */
let common: Promise<ReadonlySet<string>> | undefined;

/** The passwords that people choose most, in lower case, as far as they are long enough. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  const words: readonly (string | number)[] = dictionary["passwords-common"];
  return new Set(words.map(String).filter((word) => word.length >= PASSWORD_MIN_LENGTH));
}

/**
 * Rejects with `invalid_body` when a new password is too short, too long, equals the e-mail
 * address, is made of the words of this service, or is one that everybody tries first.
 */
export async function checkPassword(password: string, email: string): Promise<void> {
  if (password.length < PASSWORD_MIN_LENGTH) {
    throw new AppError(
      "invalid_body",
      `The password must have at least ${PASSWORD_MIN_LENGTH} characters.`,
    );
  }
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES) {
    throw new AppError("invalid_body", `The password is longer than ${PASSWORD_MAX_BYTES} bytes.`);
  }
  if (password.toLowerCase() === email.toLowerCase()) {
    throw new AppError("invalid_body", "The password must not be the e-mail address.");
  }
  if (isOfOwnWords(password)) {
    throw new AppError(
      "invalid_body",
      "The password is made of words of this service, which are tried first. Choose another.",
    );
  }
  common ??= readCommon();
  if ((await common).has(password.toLowerCase())) {
    throw new AppError(
      "invalid_body",
      "This password is one of the most common ones, which are tried first. Choose another.",
    );
  }
}
