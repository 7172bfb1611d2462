import { AppError } from "../../base/errors.ts";

export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_BYTES = 1_024;

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
 * address, or is one that everybody tries first.
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
  common ??= readCommon();
  if ((await common).has(password.toLowerCase())) {
    throw new AppError(
      "invalid_body",
      "This password is one of the most common ones, which are tried first. Choose another.",
    );
  }
}
