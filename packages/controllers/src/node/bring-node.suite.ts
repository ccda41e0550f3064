/** For tests: what becomes of a node when its plan is carried out. */
import type { Node } from '@outrigger/kube';
import type { NodePlan } from './actions.ts';
import { applyWrites } from './apply.ts';
import { FakeNodeApi } from './fake-node-api.suite.ts';

export interface Brought {
  /** As it is then. */
  readonly node: Node;
  readonly api: FakeNodeApi;
  readonly plan: NodePlan;
}

/** Carries out the writes of a plan on an API that holds only this node, which is named `node0`. */
export async function bringNode(node: Node, plan: NodePlan): Promise<Brought> {
  const api = new FakeNodeApi();
  api.put(node);
  if (plan.kind === 'act') {
    await applyWrites(api.store.get('node0')!, plan.actions, {
      nodes: api.client.of({} as never) as never,
      signal: new AbortController().signal,
    });
  }
  return { node: api.nodes.get('node0')!, api, plan };
}
