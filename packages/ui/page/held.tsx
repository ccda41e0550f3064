/** What is not done without a person, or not yet: deletions that are held, and what belongs to nobody. */
import type { JSX } from 'preact';
import type { Line, NodeRow, OrphanRow } from '../src/view-types.ts';
import { Empty, State } from './pieces.tsx';
import { distance, many } from './words.ts';

export interface HeldProps {
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly orphans: ReadonlyMap<string, OrphanRow>;
  readonly now: number;
  readonly onOpen: (kind: string, name: string) => void;
}

/** More would be read by nobody; the nodes' own table has all. */
const SHOWN = 200;

export function Held({ nodes, now, onOpen, orphans }: HeldProps): JSX.Element {
  const held = [...nodes.values()].filter(({ state }) => state === 'held');
  return (
    <div class="scroll">
      <h2>Held deletions</h2>
      {held.length === 0 ? (
        <Empty title="No deletion is held back">
          A node is deleted when two reads have confirmed that its machine does not exist.
        </Empty>
      ) : (
        <>
          <p class="summary">
            {many(held.length, 'node')}: so many machines seem to be gone that a longer proof is needed.
          </p>
          <ul class="list">
            {held.slice(0, SHOWN).map(({ lines, name }) => (
              <Item key={name} title={name} state="held" lines={lines} now={now} onOpen={() => onOpen('node', name)} />
            ))}
          </ul>
        </>
      )}
      <h2>Orphans</h2>
      {orphans.size === 0 ? (
        <Empty title="No orphans">
          All that carries the name of this cluster in the cloud belongs to a Service or a node.
        </Empty>
      ) : (
        <ul class="list">
          {[...orphans.values()].slice(0, SHOWN).map(({ kind, lines, name, parts }) => (
            <Item
              key={`${kind} ${name}`}
              title={parts.length > 0 ? parts.map((part) => `${part.kind} ${part.id}`).join(', ') : `route ${name}`}
              state="orphan"
              lines={lines}
              now={now}
              onOpen={() => onOpen(kind, name)}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface ItemProps {
  readonly title: string;
  readonly state: string;
  readonly lines: readonly Line[];
  readonly now: number;
  readonly onOpen: () => void;
}

function Item({ lines, now, onOpen, state, title }: ItemProps): JSX.Element {
  return (
    <li class="list-item">
      <State state={state} />
      <button type="button" class="link" onClick={onOpen}>
        {title}
      </button>
      <span class="list-text">
        {lines
          .flatMap(({ planned }) => planned)
          .map(({ at, text }) => (at === undefined ? text : `${text} (${distance(at, now)})`))
          .join(' ')}
      </span>
    </li>
  );
}
