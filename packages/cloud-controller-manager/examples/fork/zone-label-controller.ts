/** The zone-label-controller of this fork: gives each node its zone under one more label, for software that knows only that one. */
import type { CloudController, LeaderContext } from '@outrigger/cloud-controller-manager';
import { string, type FlagGroup, type RunningController } from '@outrigger/controller-manager';
import { createWorkQueue, resources, runController, storeRule, type Node } from '@outrigger/kube';

interface ZoneLabelOptions {
  zoneLabel: string;
}

/** `--zone-label`, which the fork's program has besides all others. */
const zoneLabelFlags: FlagGroup<ZoneLabelOptions> = {
  title: 'Zone label',
  flags: {
    zoneLabel: { type: string, default: '', usage: 'The label that each node is given with its zone as the value.' },
  },
};

const NAME = 'zone-label-controller';
const ZONE = 'topology.kubernetes.io/zone';

/** What is to be written to this node; `undefined`: nothing. Pure. */
export function planZoneLabel({ metadata = {} }: Node, label: string): Readonly<Record<string, string>> | undefined {
  const { [ZONE]: zone, [label]: found } = metadata.labels ?? {};
  return zone === undefined || zone === found ? undefined : { [label]: zone };
}

export const zoneLabelController: CloudController = {
  name: NAME,
  aliases: ['zone-label'],
  flags: zoneLabelFlags,
  // Zones are labels of nodes: it asks no cloud, so one does for all of them.
  scope: 'cluster',
  whyNot: (options) => (options.of(zoneLabelFlags).zoneLabel === '' ? '--zone-label is not set' : undefined),
  // What the program is granted by `rbac` follows from these.
  rules: [storeRule(resources.nodes), { resource: resources.nodes, verbs: ['patch'] }],
  build,
};

function build(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, metrics, options, stores } = context;
  const { zoneLabel } = options.of(zoneLabelFlags);
  const journal = context.journal.of(NAME);
  const nodes = stores.open(resources.nodes);
  const reconcile = async (name: string): Promise<void> => {
    const node = nodes.get(name);
    const labels = node && planZoneLabel(node, zoneLabel);
    if (!labels) return;
    const summary = `set the label ${zoneLabel} to ${labels[zoneLabel]}`;
    // A dry run notes what would be done; else it is done, and noted for explanations.
    await journal.perform(
      { kind: 'Node', name, uid: node.metadata?.uid ?? '' },
      [{ kind: 'patch-object', summary }],
      () => client.of(resources.nodes).patch({ name }, { type: 'merge', body: { metadata: { labels } } }),
    );
  };
  return {
    run: async (signal) => {
      const queue = createWorkQueue<string>({ name: 'zone-label', clock, metrics });
      const unsubscribe = nodes.subscribe(({ key }) => queue.add(key));
      const { logger } = context;
      await runController({ name: NAME, queue, reconciler: { reconcile }, workers: 2, clock, logger, metrics, signal });
      unsubscribe();
    },
  };
}
