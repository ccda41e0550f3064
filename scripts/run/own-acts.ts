/** The acts of `make run` with a cloud of the author's own: nothing is done to its machines, and all that was made in it is taken back. */
import { isNotFound, resources, type Client } from '@outrigger/kube';
import type { HollowNodes } from '@outrigger/testing';
import { servingAct, type Act } from './acts.ts';
import type { Seen } from './follow.ts';
import { missingOf } from './node-story.ts';
import type { OwnCloud } from './own-cloud.ts';
import type { Program } from './program.ts';

export interface OwnStage {
  readonly client: Client;
  readonly cloud: Pick<OwnCloud, 'hasLoadBalancers' | 'hasRoutes' | 'machines'>;
  readonly kubelets: Pick<HollowNodes, 'add' | 'stop'>;
  readonly seen: Seen;
  /** Names of machines that are in the cloud. */
  readonly nodes: readonly string[];
  readonly service: string;
  readonly signal: AbortSignal;
}

/** Without the last one, which is `takingBack`: that has to be played whatever came of these. */
export function ownActsOf(stage: OwnStage): readonly Act[] {
  return stage.cloud.hasLoadBalancers ? [joining(stage), servingAct(stage)] : [joining(stage)];
}

function joining({ client, cloud, kubelets, nodes, seen, signal }: OwnStage): Act {
  const route = cloud.hasRoutes ? ', and a route to their pods' : '';
  return {
    title: `${nodes.length === 1 ? 'A node joins' : `${nodes.length} nodes join`}: what the cloud knows of them${route}`,
    begin: async () => {
      await kubelets.add(nodes.length);
      if (!cloud.hasRoutes) return;
      await Promise.all(
        nodes.map((name, index) => {
          const range = `10.244.${index}.0/24`;
          const body = { type: 'strategic', body: { spec: { podCIDR: range, podCIDRs: [range] } } } as const;
          return client.of(resources.nodes).patch({ name }, body, { signal });
        }),
      );
    },
    missing: () =>
      nodes.flatMap((name) => {
        const missing = missingOf(seen.nodes.get(name), { routes: cloud.hasRoutes, ...cloud.machines.get(name) });
        return missing.length === 0 ? [] : [`${name}: ${missing.join(', ')}`];
      }),
  };
}

/** The Service goes, then the nodes: what was made for them in the cloud goes with them. */
export function takingBack({ client, kubelets, nodes, seen, service, signal }: OwnStage): Act {
  const gone = async (deleted: Promise<unknown>): Promise<void> => {
    await deleted.catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  };
  return {
    title: 'All of it is taken back: the Service is deleted, then the nodes',
    begin: async () => {
      await gone(client.of(resources.services).delete({ namespace: 'default', name: service }, { signal }));
      for (const name of nodes) {
        if (!seen.nodes.has(name)) continue;
        kubelets.stop(name);
        await gone(client.of(resources.nodes).delete({ name }, { signal }));
      }
    },
    missing: () => [
      ...(seen.services.has(service) ? [`${service}: its load balancer is not gone`] : []),
      ...nodes.filter((name) => seen.nodes.has(name)).map((name) => `${name}: not deleted`),
    ],
  };
}

export interface EndOptions {
  /** Plays the last act. Resolves with whether all of it is gone. */
  readonly takeBack: () => Promise<boolean>;
  readonly program: Pick<Program, 'stop'>;
  readonly cloud: Pick<OwnCloud, 'removeRoutes'>;
  readonly tell: (text: string) => void;
}

/** What has to be done at the end, each whatever became of the one before it. Resolves with whether nothing is left in the cloud. Never rejects. */
export async function endRun({ cloud, program, takeBack, tell }: EndOptions): Promise<boolean> {
  const failed = (what: string) => (error: unknown) => {
    tell(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  };
  const isGone = await takeBack().catch(failed('what was made could not be taken back; look for it in the cloud'));
  // Before the routes are deleted: it would make them again.
  const code = await program.stop().catch(failed('the program could not be stopped'));
  const left = await cloud.removeRoutes().catch(failed('routes of this run may still be in the cloud'));
  if (left !== undefined && left.length > 0) tell(`routes that are still in the cloud: ${left.join(', ')}`);
  return isGone === true && code === 0 && left?.length === 0;
}
