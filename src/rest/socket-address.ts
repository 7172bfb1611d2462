/** The host that a request was sent to. */
interface Addressed {
  host?: string | undefined;
  "x-forwarded-proto"?: string | undefined;
}

/** The address of a WebSocket, based on `publicUrl`, else on the request's own address. */
export function socketAddress(
  publicUrl: string | undefined,
  { host, "x-forwarded-proto": scheme }: Addressed,
  path: string,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/^http/, "ws").replace(/\/+$/, "") + path;
  const isHost =
    host !== undefined &&
    /^[A-Za-z0-9.\-_]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/.test(host);
  return `${scheme === "https" ? "wss" : "ws"}://${isHost ? host : "localhost"}${path}`;
}
