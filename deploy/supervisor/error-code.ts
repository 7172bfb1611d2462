/** The system's or the server's code of an error, such as EADDRINUSE or 28P01, else its text. */
export function errorCode(error: unknown): string {
  if (error instanceof Error) {
    return "code" in error && typeof error.code === "string" ? error.code : error.message;
  }
  return String(error);
}
