import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "../supervisor/error-code.ts";

/** A StepError for what the disk of a folder refuses; the error itself when it is something else. */
export function diskFault(error: unknown, folder: string): unknown {
  switch (errorCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return new StepError(
        `the disk of ${folder} is full`,
        "make room and do it again: what was copied already is not copied again",
      );
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return new StepError(
        `${folder} cannot be used (${errorCode(error)})`,
        "do it as the user who starts the service (root, where root does), and look at who owns the folder",
      );
    case "EIO":
    case "ESTALE":
    case "ENOTCONN":
      return new StepError(
        `the disk of ${folder} does not work (${errorCode(error)})`,
        "look at the disk or its connection, and do it again",
      );
    default:
      return error;
  }
}
