/**
 * What RKE2 makes of its configuration, as far as a cloud-controller-manager meets it. Read in its sources (github.com/rancher/rke2 at 6ce1a80,
 * `pkg/cli/cmds` and `pkg/executor/staticpod`) and those of k3s, of which it is made (`pkg/daemons/agent`, `pkg/nodeconfig`). Pure.
 */
import type { Node } from '@outrigger/kube';
import { hollowNode, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { parse } from 'yaml';

export type Rke2Role = 'server' | 'agent';

export interface Rke2NodeOptions {
  readonly name: string;
  readonly role: Rke2Role;
  /** `config.yaml` of this node. */
  readonly config: string;
  /** `config.yaml` of the servers, which also tell agents whether the built-in manager is disabled. */
  readonly serverConfig: string;
}

type Config = Readonly<Record<string, unknown>>;

/** The keys that have to do with nodes and clouds. */
const AGENT_KEYS =
  'cloud-provider-config cloud-provider-name kubelet-arg node-external-ip node-ip node-label node-name node-taint server token'.split(
    ' ',
  );
const KEYS: Readonly<Record<Rke2Role, readonly string[]>> = {
  agent: AGENT_KEYS,
  server: [...AGENT_KEYS, 'disable', 'disable-cloud-controller', 'enable-servicelb', 'kube-controller-manager-arg'],
};

/**
 * The Node that its kubelet registers; with what RKE2's own manager makes of it, if that is not disabled. Throws for a key that is none
 * of this role (RKE2 itself only logs it), and for a combination that RKE2 refuses.
 */
export function rke2Node({ config, name, role, serverConfig }: Rke2NodeOptions): Node {
  const settings = readConfig(config, role);
  const isBuiltInOff = readConfig(serverConfig, 'server')['disable-cloud-controller'] === true;
  const labels =
    role === 'server' ? ['control-plane', 'etcd'].map((one) => [`node-role.kubernetes.io/${one}`, 'true']) : [];
  const node = hollowNode({ name, images: 1, labels: Object.fromEntries(labels) });
  const taints = node.spec?.taints?.filter(({ key }) => key !== UNINITIALIZED_TAINT || isExternal(settings)) ?? [];
  return {
    ...node,
    metadata: {
      ...node.metadata,
      annotations: { ...node.metadata?.annotations, 'rke2.io/node-args': JSON.stringify([role, ...wordsOf(settings)]) },
    },
    spec: isBuiltInOff ? { taints } : { providerID: `rke2://${name}` },
  };
}

function readConfig(text: string, role: Rke2Role): Config {
  const config = parse(text) as Config;
  const unknown = Object.keys(config).filter((key) => !KEYS[role].includes(key));
  if (unknown.length > 0) throw new Error(`no setting of an RKE2 ${role} here: ${unknown.join(', ')}`);
  const isCloudNamed = 'cloud-provider-name' in config || 'cloud-provider-config' in config;
  if (isCloudNamed && 'node-external-ip' in config) {
    throw new Error('RKE2 does not take node-external-ip together with cloud-provider-name or cloud-provider-config');
  }
  return config;
}

/** Without the built-in manager, nothing else gives a kubelet this flag. */
function isExternal(config: Config): boolean {
  const args = [config['kubelet-arg'] ?? []].flat().map(String);
  const given = args.findLast((arg) => arg.startsWith('cloud-provider='));
  return given === undefined ? config['cloud-provider-name'] === 'external' : given === 'cloud-provider=external';
}

/** As the annotation has them. */
function wordsOf(config: Config): readonly string[] {
  return Object.entries(config).flatMap(([key, value]) => [value].flat().flatMap((one) => [`--${key}`, String(one)]));
}
