/** Codes with which the service closes its WebSockets, see RFC 6455 section 7.4. */
export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  tooLarge: 1009,
  protocol: 4400,
  auth: 4401,
  forbidden: 4403,
  unknownSession: 4404,
  idle: 4408,
  superseded: 4409,
  tooSlow: 4410,
  rate: 4429,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];
