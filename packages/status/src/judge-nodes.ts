/** Which nodes wait for their initialization. Pure. Entry point: `nodesOf`. */
import type { Node } from '@outrigger/kube';
import { ageText } from './age-text.ts';
import { newestEvent } from './cluster-events.ts';
import type { NodesStatus, Problem, WaitingNode } from './cluster-status.ts';
import { eventsAbout, type IndexedFacts } from './indexed-facts.ts';
import { shell } from './shell-command.ts';
import { PATIENCE_MS, tellAll, type Tell } from './tell-problem.ts';
import { millisecondsOf, secondsOf, timeOf } from './wire-time.ts';

export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';

export function nodesOf(nodes: readonly Node[], facts: IndexedFacts, tell: Tell): NodesStatus {
  const waiting = nodes
    .filter(({ spec }) => spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT))
    .map((node): WaitingNode => {
      const name = node.metadata?.name ?? '';
      const created = millisecondsOf(node.metadata?.creationTimestamp);
      const event = newestEvent(eventsAbout(facts, 'Node', node).filter(({ type }) => type === 'Warning'));
      const reason = facts.plans.get(`node/${name}`) ?? event?.message;
      return {
        name,
        ...(created !== undefined && { since: timeOf(created) }),
        waitedSeconds: secondsOf(facts.at - (created ?? facts.at)),
        ...(reason !== undefined && { reason }),
      };
    })
    .toSorted((a, b) => b.waitedSeconds - a.waitedSeconds);
  const late = waiting.filter(({ waitedSeconds }) => waitedSeconds * 1000 >= PATIENCE_MS);
  tellAll(late.map(nodeProblem), { section: 'nodes', thing: 'node' }, tell);
  return { total: nodes.length, initialized: nodes.length - waiting.length, waiting };
}

function nodeProblem({ name, reason, waitedSeconds }: WaitingNode): Problem {
  return {
    severity: 'error',
    section: 'nodes',
    about: `Node ${name}`,
    message: `It has not been initialized for ${ageText(waitedSeconds * 1_000)}: ${reason ?? 'no Event says why'}`,
    commands: [shell`outrigger explain node ${name}`, shell`kubectl describe node ${name}`],
    runbook: 'OutriggerNodesUninitialized',
  };
}
