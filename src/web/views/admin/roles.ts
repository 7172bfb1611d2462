import type { User } from "../../api/records.ts";

/** From the one with the fewest rights on. */
export const ROLES: readonly User["role"][] = ["participant", "moderator", "admin"];
