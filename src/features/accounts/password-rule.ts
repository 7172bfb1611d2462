import { AppError } from "../../base/errors.ts";
import { PASSWORD_MAX_BYTES, PASSWORD_MIN_LENGTH } from "./password-hasher.ts";

/** Rejects with `invalid_body` a password that nobody should have. */
export function checkPassword(password: string, email: string): void {
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
}
