import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/timestamp.ts";
import type { CharacterRecord, WorkshopRecord } from "./workshops-directory.ts";

export const nameMember = Type.String({ minLength: 1, maxLength: 200, pattern: "\\S" });
export const descriptionMember = Type.String({ maxLength: 4_000 });

export const workshopParams = Type.Object({
  workshop_id: Type.String({ description: "UUID of the workshop" }),
});

export const characterParams = Type.Object({
  workshop_id: Type.String({ description: "UUID of the workshop" }),
  character_id: Type.String({ description: "UUID of the character" }),
});

export const workshopSchema = Type.Object({
  id: Type.String(),
  workspace_id: Type.String(),
  name: Type.String({ examples: ["The Seagull, spring production"] }),
  description: Type.String(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const characterSchema = Type.Object({
  id: Type.String(),
  workshop_id: Type.String(),
  name: Type.String({ examples: ["Nina"] }),
  description: Type.String(),
  is_active: Type.Boolean({
    description: "Its name joins the vocabulary of linked sessions and is suggested for speakers",
  }),
  created_at: timestamp,
  updated_at: timestamp,
});

export function presentWorkshop(workshop: WorkshopRecord): Static<typeof workshopSchema> {
  return {
    id: workshop.id,
    workspace_id: workshop.workspaceId,
    name: workshop.name,
    description: workshop.description,
    created_at: toTimestamp(workshop.createdAt),
    updated_at: toTimestamp(workshop.updatedAt),
  };
}

/** A character as in 2.5 of the interface. */
export function presentCharacter(character: CharacterRecord): Static<typeof characterSchema> {
  return {
    id: character.id,
    workshop_id: character.workshopId,
    name: character.name,
    description: character.description,
    is_active: character.isActive,
    created_at: toTimestamp(character.createdAt),
    updated_at: toTimestamp(character.updatedAt),
  };
}
