/** The three acts of `make run`: what is done to begin each, and what is still missing before it is over. */
import { resources, systemClock, type Client, type Service } from '@outrigger/kube';
import type { HollowNodes } from '@outrigger/testing';
import type { RunCloud } from './cloud.ts';
import type { Seen } from './follow.ts';
import type { Narrator } from './narrator.ts';
import { missingOf } from './node-story.ts';
import { addressOf } from './service-story.ts';

/** A cluster of three nodes that asks for a load balancer and then loses a machine. */
export interface Stage {
  readonly client: Client;
  readonly cloud: RunCloud;
  readonly kubelets: Pick<HollowNodes, 'add' | 'stop'>;
  readonly narrator: Narrator;
  readonly seen: Seen;
  readonly signal: AbortSignal;
  readonly nodes: readonly string[];
  readonly service: string;
  /** The node that leaves, and its instance. */
  readonly leaving: { readonly node: string; readonly instanceId: string };
}

export interface Act {
  readonly title: string;
  begin(): Promise<unknown>;
  /** `node-1: no route`; empty when the act is over. */
  missing(): readonly string[];
}

export function actsOf(stage: Stage): readonly Act[] {
  return [joining(stage), serving(stage), leaving(stage)];
}

function joining({ client, kubelets, nodes, seen, signal }: Stage): Act {
  const giveRange = (name: string, index: number): Promise<unknown> => {
    const range = `10.244.${index}.0/24`;
    const body = { type: 'strategic', body: { spec: { podCIDR: range, podCIDRs: [range] } } } as const;
    return client.of(resources.nodes).patch({ name }, body, { signal });
  };
  return {
    title: 'Three nodes join: what the cloud knows of them, and a route to their pods',
    begin: async () => {
      await kubelets.add(nodes.length);
      await Promise.all(nodes.map(giveRange));
    },
    missing: () =>
      nodes.flatMap((name) => {
        const missing = missingOf(seen.nodes.get(name));
        return missing.length === 0 ? [] : [`${name}: ${missing.join(', ')}`];
      }),
  };
}

function serving(stage: Stage): Act {
  const { cloud, nodes, service } = stage;
  const act = servingAct(stage);
  return {
    ...act,
    missing: () => {
      if (backEndsOf(cloud).length === nodes.length) return act.missing();
      return [...act.missing(), `${service}: its back ends are not the ${nodes.length} nodes`];
    },
  };
}

/** In whichever cloud: over when the Service has its address. */
export function servingAct({
  client,
  seen,
  service,
  signal,
}: Pick<Stage, 'client' | 'seen' | 'service' | 'signal'>): Act {
  const body: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service, namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: service }, ports: [{ port: 80, protocol: 'TCP' }] },
  };
  return {
    title: 'A Service asks for a load balancer',
    begin: () => client.of(resources.services).create(body, { namespace: 'default', signal }),
    missing: () => {
      const object = seen.services.get(service);
      return object === undefined || addressOf(object) === '' ? [`${service}: no address`] : [];
    },
  };
}

function leaving({ client, cloud, kubelets, leaving, narrator, seen, service, signal }: Stage): Act {
  const { instanceId, node } = leaving;
  return {
    title: `A machine goes: ${node} is deleted in the cloud`,
    begin: () => {
      kubelets.stop(node);
      cloud.inside.deleteInstance(instanceId);
      narrator.tell(node, [`instance ${instanceId} deleted`, 'its kubelet is silent']);
      const time = new Date(systemClock.now()).toISOString().replace(/\.\d+Z$/u, 'Z');
      const message = 'Kubelet stopped posting node status.';
      const condition = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message };
      // kube-controller-manager, which does not run here, does this when it has heard nothing for 40 s.
      const status = { conditions: [{ ...condition, lastTransitionTime: time }] };
      const body = { type: 'strategic', body: { status } } as const;
      return client.of(resources.nodes).patch({ name: node }, body, { subresource: 'status', signal });
    },
    missing: () => {
      const missing: string[] = [];
      // What it is doing right now has not been told yet.
      if (cloud.open() > 0) missing.push('the cloud is still being asked');
      if (seen.nodes.has(node)) missing.push(`${node}: not deleted`);
      if (cloud.inside.routes().some(({ nodeName }) => nodeName === node)) missing.push(`${node}: its route is there`);
      if (backEndsOf(cloud).some((id) => id.endsWith(`/${instanceId}`)))
        missing.push(`${service}: ${node} is a back end`);
      return missing;
    },
  };
}

function backEndsOf({ inside }: RunCloud): readonly string[] {
  return inside
    .parts()
    .filter(({ kind }) => kind === 'load-balancer')
    .flatMap(({ attributes }) => attributes['backEnds'] as readonly string[]);
}
