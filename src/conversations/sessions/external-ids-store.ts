import { UniqueIntegrityConstraintViolationError } from "slonik";
import { AppError } from "../../base/errors.ts";

const INDEX = "sessions_external_id";

/** Rejects with `external_id_taken` where the database says that another session has the id. */
export async function orTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isTaken = error instanceof UniqueIntegrityConstraintViolationError;
    throw isTaken && error.constraint === INDEX ? externalIdTaken(undefined) : error;
  }
}

/** Of another session of the workspace; `other` is its id, for whoever may read it. */
export function externalIdTaken(other: string | undefined): AppError {
  const which = other === undefined ? "Another session" : `Session ${other}`;
  const message = `${which} of this workspace has this \`external_id\` already.`;
  return new AppError("external_id_taken", message);
}
