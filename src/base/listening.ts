import { errorMessage } from "./errors.ts";

/** A port that somebody chose, or the usual one, which may be another when it is taken. */
export interface PortChoice {
  port: number;
  isDefault: boolean;
}

/**
 * Listens on the chosen port, and on any free one when only the usual one was meant and it is
 * taken: a second process of a machine needs no settings. An error names the setting.
 */
export async function listenOn(
  setting: string,
  { port, isDefault }: PortChoice,
  listen: (port: number) => Promise<number>,
): Promise<number> {
  try {
    return await listen(port);
  } catch (error) {
    const message = errorMessage(error);
    if (!message.includes("EADDRINUSE")) throw error;
    if (isDefault) return listen(0);
    throw new Error(`${setting} ${port} is taken by another program: choose another (${message})`, {
      cause: error,
    });
  }
}
