/** Types of entities. When a name fits two types equally well, the earlier one here wins. */
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
