import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import type { Entity, Relation } from "../../api/records.ts";

const LEAST_RADIUS = 7;
const MOST_RADIUS = 26;
const STEPS = 300;
const MARGIN = 12;
/** Few circles need not stand in the corners. */
const MOST_STRETCH = 2.2;
/** Of a label below its circle, in the drawing's units; letters are about as wide as half their height. */
const LABEL_HEIGHT = 14;
const LETTER_WIDTH = 6.6;
const LABEL_LETTERS = 22;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface PlacedEntity {
  readonly entity: Entity;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Cut where it is long. */
  readonly label: string;
  /** Middle of the label, moved to where all of it is inside. */
  readonly labelX: number;
  /** False where the label would lie over that of a larger one. */
  readonly hasRoom: boolean;
}

/** All relations of two entities as one line. */
interface Tie {
  readonly source: string;
  readonly target: string;
  readonly weight: number;
}

interface Body extends SimulationNodeDatum {
  readonly entity: Entity;
  readonly radius: number;
}

/** One tie for each two entities that are shown, whatever the direction and kind of their relations. */
export function tiesOf(entities: readonly Entity[], relations: readonly Relation[]): Tie[] {
  const shown = new Set(entities.map(({ id }) => id));
  const ties = new Map<string, Tie>();
  for (const { source_id: from, target_id: to, weight } of relations) {
    if (from === to || !shown.has(from) || !shown.has(to)) continue;
    const [source, target] = from < to ? [from, to] : [to, from];
    const key = `${source} ${target}`;
    ties.set(key, { source, target, weight: weight + (ties.get(key)?.weight ?? 0) });
  }
  return [...ties.values()];
}

/** The area grows with the mentions, so the radius with their root. */
export function radiusOf(mentions: number, most: number): number {
  const share = most > 0 ? Math.min(1, Math.max(0, mentions / most)) : 0;
  return LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * Math.sqrt(share);
}

/** Where each entity stands in a drawing of that size: the same for the same graph, and all inside. */
export function placeEntities(
  entities: readonly Entity[],
  ties: readonly Tie[],
  { width, height }: Size,
): PlacedEntity[] {
  const most = Math.max(0, ...entities.map((each) => each.mention_count));
  const bodies = entities.map(
    (entity): Body => ({ entity, radius: radiusOf(entity.mention_count, most) }),
  );
  const links = ties.map(
    ({ source, target, weight }): SimulationLinkDatum<Body> & { weight: number } => ({
      source,
      target,
      weight,
    }),
  );
  const strength = 2_400 / Math.max(12, bodies.length);
  const simulation = forceSimulation(bodies)
    .force(
      "ties",
      forceLink<Body, (typeof links)[number]>(links)
        .id(({ entity }) => entity.id)
        .distance(70)
        .strength(({ weight }) => Math.min(0.5, 0.08 * weight)),
    )
    .force("apart", forceManyBody<Body>().strength(-strength))
    .force("room", forceCollide<Body>(({ radius }) => radius + LABEL_HEIGHT).strength(0.9))
    .force("across", forceX<Body>(width / 2).strength(0.05 * Math.min(1, height / width)))
    .force("down", forceY<Body>(height / 2).strength(0.05 * Math.min(1, width / height)))
    .stop();
  for (let step = 0; step < STEPS; step += 1) {
    simulation.tick();
    for (const body of bodies) keepInside(body, { width, height });
  }
  const placed = bodies.map(({ entity, radius, x = 0, y = 0 }) => ({ entity, radius, x, y }));
  return labelled(spread(placed, { width, height }), width);
}

interface Circle {
  readonly entity: Entity;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Draws the circles apart until they fill the drawing; what was apart stays so. */
function spread(circles: readonly Circle[], { width, height }: Size): Circle[] {
  const across = stretchOf(
    circles.map(({ x, radius }) => [x, radius + MARGIN]),
    width,
  );
  const room = circles.map(({ y, radius }): [number, number] => [y, radius + MARGIN]);
  const down = stretchOf(room, height - LABEL_HEIGHT);
  return circles.map((each) => ({ ...each, x: across(each.x), y: down(each.y) }));
}

/** Stretches the places, each with the room that it needs to both sides, over the whole length. */
function stretchOf(
  places: readonly (readonly [at: number, room: number])[],
  length: number,
): (at: number) => number {
  const room = Math.max(0, ...places.map(([, each]) => each));
  const least = Math.min(...places.map(([at]) => at));
  const most = Math.max(...places.map(([at]) => at));
  const factor = most > least ? (length - 2 * room) / (most - least) : 0;
  if (factor < 1) return (at) => at;
  const by = Math.min(factor, MOST_STRETCH);
  const begin = (length - (most - least) * by) / 2;
  return (at) => begin + (at - least) * by;
}

function keepInside(body: Body, { width, height }: Size): void {
  const room = body.radius + MARGIN;
  // The simulation begins around 0; before that a body has no place.
  body.x = Math.min(width - room, Math.max(room, body.x ?? width / 2));
  body.y = Math.min(height - room - LABEL_HEIGHT, Math.max(room, body.y ?? height / 2));
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Labels for as many as have the room, the most mentioned first. */
function labelled(circles: readonly Circle[], width: number): PlacedEntity[] {
  const taken: Box[] = [];
  const labels = new Map<string, { label: string; labelX: number; hasRoom: boolean }>();
  for (const { entity, x, y, radius } of circles.toSorted((a, b) => b.radius - a.radius)) {
    const label = shortened(entityName(entity));
    const half = ([...label].length * LETTER_WIDTH) / 2;
    const labelX = Math.min(width - half - 2, Math.max(half + 2, x));
    const top = y + radius + 2;
    const box = { left: labelX - half, right: labelX + half, top, bottom: top + LABEL_HEIGHT };
    const hasRoom = !taken.some((other) => overlap(box, other));
    if (hasRoom) taken.push(box);
    labels.set(entity.id, { label, labelX, hasRoom });
  }
  return circles.map((each) => ({
    ...each,
    ...(labels.get(each.entity.id) ?? { label: "", labelX: each.x, hasRoom: false }),
  }));
}

/** What people call it: a voice that nobody has named is `Speaker 1`, as in the words. */
export function entityName({ name, type }: Pick<Entity, "name" | "type">): string {
  const number = type === "speaker" ? /^S(\d+)$/.exec(name)?.[1] : undefined;
  return number === undefined ? name : `Speaker ${number}`;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** At most so many letters, the last an ellipsis where there were more. */
export function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= LABEL_LETTERS) return name;
  return `${letters.slice(0, LABEL_LETTERS - 1).join("")}…`;
}
