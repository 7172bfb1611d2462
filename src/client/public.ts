// What both entries of the package give besides the client itself.
export { CLOSE } from "../wire/close-codes.ts";
export type { Credentials, TokenSource } from "./access.ts";
export type { CallOptions, Send } from "./api-client.ts";
export { AccessEnded, type UnstoredAudio } from "./audio-sender.ts";
export type { AudioStream, AudioStreamOptions } from "./audio-stream.ts";
export type { BackOff } from "./back-off.ts";
export {
  ApiError,
  AuthenticationError,
  ChannelError,
  ConflictError,
  type ErrorCode,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  SignatureError,
  Unreachable,
  UploadError,
  VoiceError,
} from "./errors.ts";
export type { Cursor, Follower, FollowOptions } from "./follow.ts";
export type {
  ServerFrame,
  StreamConfiguration,
  StreamServerFrame,
  WebhookMessage,
} from "./frames.ts";
export type { components, operations, paths } from "./gen/api-schema.ts";
export type { Upload, UploadOptions, UploadStore } from "./upload.ts";
export type {
  Answer,
  ClientOptions,
  Completeness,
  NewSession,
  Segment,
  Session,
  SessionDetail,
  SessionQuery,
  WaitOptions,
} from "./voice-client.ts";
export { type HeadersLike, type VerifyOptions, verifyWebhook } from "./webhook.ts";
