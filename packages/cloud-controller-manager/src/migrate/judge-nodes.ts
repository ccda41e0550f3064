/** Nodes: initialised by the cloud that takes over, and by kubelets that leave that to somebody else. Pure. */
import type { Node } from '@outrigger/kube';
import { missing, ok, unknown, type Check } from './check.ts';
import type { MigrationTarget, ObservedKubelet, Seen } from './observed-cluster.ts';
import { flagsOf } from './seen-program.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';
/** Stable name and the beta name before it. */
const LABELS = [
  ['node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'],
  ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'],
  ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'],
] as const;
/** Where distributions write down with which flags a node was started. */
const NODE_ARGS = ['k3s.io/node-args', 'rke2.io/node-args'];

export function judgeNodes({ nodes }: Seen<'nodes'>, { providerName }: MigrationTarget): readonly Check[] {
  if (!nodes.known) return [unknown(`nodes could not be listed: ${nodes.why}`, 'use a user who may list nodes')];
  const all = nodes.value;
  if (all.length === 0) return [ok('there are no nodes')];
  const checks: Check[] = [];
  const say = (found: readonly Node[], text: string, todo: string): void => {
    if (found.length > 0)
      checks.push(missing(`${found.length} of ${all.length} nodes ${text}`, todo, found.map(nameOf)));
  };
  say(
    all.filter(({ spec }) => !spec?.providerID),
    'have no provider ID',
    'let the current manager initialize them, or delete them',
  );
  say(all.filter(isTainted), `have the taint ${UNINITIALIZED}`, 'let the current manager initialize them first');
  const prefixes = new Map(all.flatMap(({ spec }) => (spec?.providerID ? [[prefixOf(spec.providerID), spec]] : [])));
  if (providerName !== '') {
    say(
      all.filter(({ spec }) => spec?.providerID && prefixOf(spec.providerID) !== providerName),
      `have a provider ID of another provider than ${providerName}`,
      'their provider IDs cannot be changed: Outrigger ignores them, except as back ends of load balancers (OpenStack: foreign-nodes in cloud.conf; true if such nodes join later). For others, delete the node and let it register again',
    );
  } else if (prefixes.size > 1) {
    say(
      all,
      `have provider IDs of different providers: ${[...prefixes.keys()].toSorted().join(', ')}`,
      'choose one: --cloud-provider',
    );
  }
  say(
    all.filter(({ status }) => !status?.addresses?.some(({ type }) => type === 'InternalIP' || type === 'ExternalIP')),
    'have no address',
    'see the logs of the current manager and of the kubelet',
  );
  say(
    all.filter(({ metadata }) => LABELS.some(([stable, beta]) => differs(metadata?.labels ?? {}, stable, beta))),
    'have a beta label of type, zone or region whose stable one is missing or says something else',
    'Outrigger makes the stable label equal to the beta one: correct the beta label where it is the wrong one',
  );
  const names = [...prefixes.keys()].join(', ');
  return checks.length > 0 ? checks : [ok(`all ${all.length} nodes are initialized, with provider IDs of ${names}`)];
}

export function judgeKubelets({ kubelets, nodes }: Seen<'kubelets' | 'nodes'>): readonly Check[] {
  if (!nodes.known) return [unknown(`nodes could not be listed: ${nodes.why}`, 'use a user who may list nodes')];
  const judged = nodes.value.map((node) => ({ node, ...judgeKubelet(node, kubelets.get(nameOf(node))) }));
  const of = (state: string): readonly string[] =>
    judged.filter((one) => one.state === state).map(({ node, why }) => `${nameOf(node)}: ${why}`);
  const total = judged.length;
  const [bad, unseen, good] = [of('missing'), of('unknown'), of('ok')];
  const checks: Check[] = [];
  if (bad.length > 0) {
    const todo = 'start them with --cloud-provider=external, without --cloud-config; one node after the other';
    checks.push(
      missing(`${bad.length} of ${total} kubelets do not leave their node to a cloud-controller-manager`, todo, bad),
    );
  }
  if (unseen.length > 0) {
    const todo = 'look at their command lines on the nodes, or grant get on nodes/proxy';
    checks.push(
      unknown(
        `of ${unseen.length} of ${total} kubelets it could not be seen whether they have --cloud-provider=external`,
        todo,
        unseen,
      ),
    );
  }
  if (good.length > 0) checks.push(ok(`${good.length} of ${total} kubelets have --cloud-provider=external`));
  const foreign = nodes.value.filter((node) => setsOtherID(node, kubelets.get(nameOf(node))));
  if (foreign.length > 0) {
    const todo = 'take providerID out of the configuration of these kubelets: a node keeps the one that it has';
    checks.push(
      missing(
        `${foreign.length} of ${total} kubelets are configured with another provider ID than their node has`,
        todo,
        foreign.map(nameOf),
      ),
    );
  }
  return checks.length > 0 ? checks : [ok('there are no nodes')];
}

/** What it says itself is better than what it left on its node. */
function judgeKubelet(
  node: Node,
  kubelet: ObservedKubelet | undefined,
): { readonly state: Check['state']; readonly why: string } {
  const flags = kubelet?.flags;
  if (flags?.known) return byFlag(flags.value.get('cloud-provider') ?? '');
  const annotations = node.metadata?.annotations ?? {};
  const started = NODE_ARGS.map((key) => kubeletArgOf(annotations[key])).find((value) => value !== undefined);
  if (started !== undefined) return byFlag(started);
  // The kubelet takes it away when it is started without the flag. The taint proves nothing: anybody may have set it.
  if (annotations[PROVIDED_NODE_IP] !== undefined) return { state: 'ok', why: PROVIDED_NODE_IP };
  return { state: 'unknown', why: flags?.why ?? 'not asked' };
}

function byFlag(value: string): { readonly state: Check['state']; readonly why: string } {
  return { state: value === 'external' ? 'ok' : 'missing', why: `--cloud-provider=${value}` };
}

/** `["agent","--kubelet-arg","cloud-provider=external"]`. */
function kubeletArgOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let words: unknown;
  try {
    words = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(words)) return undefined;
  const given = words
    .map(String)
    .map((word) => word.replace(/^--kubelet-arg=/u, ''))
    .filter((word) => word.startsWith('cloud-provider='));
  return given.length === 0 ? undefined : flagsOf([`--${given.at(-1)}`]).get('cloud-provider');
}

function setsOtherID({ spec }: Node, kubelet: ObservedKubelet | undefined): boolean {
  if (!kubelet?.providerID.known || kubelet.providerID.value === '') return false;
  return spec?.providerID !== undefined && kubelet.providerID.value !== spec.providerID;
}

function differs(labels: Readonly<Record<string, string>>, stable: string, beta: string): boolean {
  return labels[beta] !== undefined && labels[stable] !== labels[beta];
}

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === UNINITIALIZED) ?? false;
}

function prefixOf(providerID: string): string {
  return providerID.replace(/:\/\/.*$/su, '');
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? '';
}
