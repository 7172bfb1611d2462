/** What an entity can be; of two readings of one name the earlier here wins a tie. */
export const ENTITY_TYPES = [
  "speaker",
  "person",
  "organisation",
  "place",
  "date",
  "money",
  "number",
  "topic",
] as const;

export type EntityType = (typeof ENTITY_TYPES)[number];
