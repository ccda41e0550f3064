/** Follows the nodes by watching the API, and tells each step with the time since the node was registered. */
import { resources, systemClock, watcher, WatchListMemory, type Client, type Node } from '@outrigger/kube';
import { isTainted, missingOf, tellNode } from './node-story.ts';
import { seconds, type Screen } from './screen.ts';

export interface Narrator {
  /** Resolves when all nodes have converged; rejects when the signal aborts. */
  readonly converged: Promise<void>;
  /** The node as it was last seen. */
  node(name: string): Node | undefined;
  /** Milliseconds from registered to taint gone. */
  initialisedAfter(name: string): number | undefined;
  /** A step that is not in the API: the cloud was asked. */
  tell(name: string, text: string): void;
}

/** Starts to watch. `names`: the nodes that the story is about. */
export function narrate(options: {
  readonly client: Client;
  readonly names: readonly string[];
  readonly screen: Screen;
  readonly signal: AbortSignal;
}): Narrator {
  const { client, names, screen, signal } = options;
  const nodes = new Map<string, Node>();
  const registeredAt = new Map<string, number>();
  const initialised = new Map<string, number>();
  const width = Math.max(...names.map((name) => name.length));
  const since = (name: string): number => systemClock.monotonic() - (registeredAt.get(name) ?? systemClock.monotonic());
  const tell = (name: string, text: string): void =>
    screen.line(
      `  ${screen.dim(`+${seconds(since(name)).trim()}`.padStart(9))}  ${screen.bold(name.padEnd(width))}  ${text}`,
    );

  const follow = async (): Promise<void> => {
    const events = watcher(client.of(resources.nodes), {
      clock: systemClock,
      random: () => 0.5,
      signal,
      watchList: new WatchListMemory(),
    });
    for await (const event of events) {
      if (event.type !== 'apply' && event.type !== 'init-apply') continue;
      const name = event.object.metadata?.name ?? '';
      if (!names.includes(name)) continue;
      const before = nodes.get(name);
      if (before === undefined) registeredAt.set(name, systemClock.monotonic());
      const story = tellNode(before, event.object);
      if (story.length > 0) tell(name, story.join('; '));
      if (before !== undefined && isTainted(before) && !isTainted(event.object)) initialised.set(name, since(name));
      nodes.set(name, event.object);
      if (names.every((name) => missingOf(nodes.get(name)).length === 0)) return;
    }
    signal.throwIfAborted();
    throw new Error('the watch ended');
  };
  return {
    converged: follow(),
    node: (name) => nodes.get(name),
    initialisedAfter: (name) => initialised.get(name),
    tell,
  };
}
