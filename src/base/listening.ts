import { errorMessage } from "./errors.ts";

/** A port from the settings, or the default port, which may be replaced when it is taken. */
export interface PortChoice {
  port: number;
  isDefault: boolean;
}

/** The host as it stands in an address before its port. */
export function inAddress(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Listens on the chosen port. When the port is only the default and taken, it picks a free one, so
 * that a second process on a machine needs no settings. Errors name the setting.
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
