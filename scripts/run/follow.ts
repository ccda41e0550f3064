/** Follows the nodes and the Services by watching the API, and tells each change. */
import {
  resources,
  systemClock,
  reflector,
  WatchListMemory,
  type Client,
  type Node,
  type Resource,
  type Service,
} from '@outrigger/kube';
import type { Narrator } from './narrator.ts';
import { isTainted, tellNode } from './node-story.ts';
import { tellService } from './service-story.ts';

/** The objects as they were last seen, by name. */
export interface Seen {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly services: ReadonlyMap<string, Service>;
  /** Milliseconds from registered to taint gone, by node. */
  readonly initialisedAfter: ReadonlyMap<string, number>;
  /** Rejects when a watch has failed; never resolves. */
  readonly failed: Promise<never>;
}

export interface FollowOptions {
  readonly client: Client;
  readonly narrator: Narrator;
  readonly signal: AbortSignal;
}

/** Starts to watch. */
export function follow(options: FollowOptions): Seen {
  const { narrator } = options;
  const registeredAt = new Map<string, number>();
  const initialisedAfter = new Map<string, number>();
  const nodes = new Map<string, Node>();
  const services = new Map<string, Service>();
  const watches = [
    watch(resources.nodes, nodes, options, (name, before, after) => {
      if (before === undefined) registeredAt.set(name, systemClock.monotonic());
      if (before !== undefined && after !== undefined && isTainted(before) && !isTainted(after)) {
        initialisedAfter.set(name, systemClock.monotonic() - (registeredAt.get(name) ?? 0));
      }
      narrator.tell(name, after === undefined ? ['Node deleted'] : tellNode(before, after));
    }),
    watch(resources.services, services, options, (name, before, after) => {
      narrator.tell(name, tellService(before, after));
    }),
  ];
  const failed = Promise.race(watches);
  // Whoever waits is told; when nobody does any more, it is of no interest.
  failed.catch(() => {});
  return { nodes, services, initialisedAfter, failed };
}

async function watch<T extends Node | Service>(
  resource: Resource<T>,
  seen: Map<string, T>,
  { client, signal }: FollowOptions,
  told: (name: string, before: T | undefined, after: T | undefined) => void,
): Promise<never> {
  const events = reflector(client.of(resource), {
    clock: systemClock,
    random: () => 0.5,
    signal,
    watchList: new WatchListMemory(),
  });
  let listed: Set<string> | undefined;
  for await (const event of events) {
    if (event.type === 'init') listed = new Set();
    if (event.type === 'init-done') {
      for (const [name, before] of seen) {
        if (listed?.has(name) !== false) continue;
        seen.delete(name);
        told(name, before, undefined);
      }
      listed = undefined;
    }
    if (event.type === 'init' || event.type === 'init-done') continue;
    const name = event.object.metadata?.name ?? '';
    const before = seen.get(name);
    if (event.type === 'delete') {
      seen.delete(name);
      listed?.delete(name);
    } else {
      seen.set(name, event.object);
      listed?.add(name);
    }
    told(name, before, seen.get(name));
  }
  signal.throwIfAborted();
  throw new Error(`the watch of ${resource.plural} ended`);
}
