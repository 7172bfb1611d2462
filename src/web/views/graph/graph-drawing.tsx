import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Graph } from "../../api/records.ts";
import { entityName, placeEntities, tiesOf } from "./graph-layout.ts";

const WIDE = { width: 820, height: 600 };
const NARROW = { width: 360, height: 420 };
const NARROW_SCREEN = "(max-width: 62rem)";
const THICKEST = 5;

interface DrawingProps {
  graph: Graph;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

/**
 * The graph as a picture: it stands still, so that there is nothing to wait for. By keyboard and for
 * screen readers the list beside it does the same.
 */
export function GraphDrawing({ graph, chosen, onChoose }: DrawingProps): VNode {
  const size = useNarrow() ? NARROW : WIDE;
  const { entities, relations } = graph;
  const { ties, placed } = useMemo(() => {
    const found = tiesOf(entities, relations);
    return { ties: found, placed: placeEntities(entities, found, size) };
  }, [entities, relations, size]);
  const places = new Map(placed.map((each) => [each.entity.id, each]));
  const near = useMemo(() => {
    const found = new Set<string>();
    for (const { source, target } of ties) {
      if (source === chosen) found.add(target);
      if (target === chosen) found.add(source);
    }
    return found;
  }, [ties, chosen]);
  const isDim = (id: string) => chosen !== undefined && id !== chosen && !near.has(id);
  return (
    <svg
      class="graph-drawing"
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label={`A drawing of ${entities.length} names and how they hang together; the list has the same`}
    >
      {ties.map(({ source, target, weight }) => {
        const from = places.get(source);
        const to = places.get(target);
        if (from === undefined || to === undefined) return null;
        return (
          <line
            key={`${source} ${target}`}
            class="graph-tie"
            data-lit={source === chosen || target === chosen}
            data-dim={isDim(source) || isDim(target)}
            x1={from.x}
            y1={from.y}
            x2={to.x}
            y2={to.y}
            stroke-width={Math.min(THICKEST, 1 + Math.log2(1 + weight))}
          />
        );
      })}
      {placed.map(({ entity, x, y, radius, label, labelX, hasRoom }) => {
        const isLit = entity.id === chosen || near.has(entity.id);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list beside it is for keyboards
          <g
            key={entity.id}
            class="graph-node"
            data-type={entity.type}
            data-dim={isDim(entity.id)}
            data-chosen={entity.id === chosen}
            onClick={() => onChoose(entity.id)}
          >
            <title>{`${entityName(entity)}, ${entity.mention_count} mentions`}</title>
            <circle cx={x} cy={y} r={radius} />
            {(isLit || hasRoom) && (
              <text x={labelX} y={y + radius + 12}>
                {label}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW_SCREEN).matches);
  useEffect(() => {
    const stop = new AbortController();
    const query = matchMedia(NARROW_SCREEN);
    query.addEventListener("change", () => setNarrow(query.matches), { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return isNarrow;
}
