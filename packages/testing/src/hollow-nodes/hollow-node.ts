/** The Node object that a kubelet registers when it runs with `--cloud-provider=external`. */
import type { Node, NodeAddress, NodeCondition } from '@outrigger/kube';

export interface HollowNodeOptions {
  readonly name: string;
  /**
   * The kubelet's `--node-ip`, one address or one per family: becomes `alpha.kubernetes.io/provided-node-ip`, and the
   * InternalIP that stands until the cloud sets addresses. Absent: no annotation, and only the Hostname address.
   */
  readonly ip?: string | readonly string[];
  /** Default: `v1.37.1`. */
  readonly kubeletVersion?: string;
  /** Go's name of the architecture. Default: `amd64`. */
  readonly arch?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** What the machine's firmware says of itself. Default: one made of the name. */
  readonly systemUUID?: string;
  /** Other taints of `--register-with-taints`; the `uninitialized` one comes last. */
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
  /** Milliseconds since the Unix epoch: the time of the first heartbeat. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Container images listed in the status. Default: 42, which makes an object of 10 KB. The kubelet's limit is 50. */
  readonly images?: number;
}

/** Set by the kubelet, taken away by the cloud-controller-manager. k8s.io/cloud-provider/api `well_known_taints.go`. */
export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';
const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';

/** About 10 KB of JSON, not yet Ready. `kubelet_node_status.go` `initialNode` is the model. */
export function hollowNode(options: HollowNodeOptions): Node {
  const { name, arch = 'amd64', kubeletVersion = 'v1.37.1', now = Date.UTC(2026, 0, 1), images = 42 } = options;
  const ips = options.ip === undefined ? [] : [options.ip].flat();
  const resources = {
    cpu: '8',
    'ephemeral-storage': '101430960Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    memory: '32864948Ki',
    pods: '110',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': arch,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...options.labels,
      },
      annotations: {
        ...(ips.length > 0 && { [PROVIDED_NODE_IP]: ips.join(',') }),
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      taints: [...(options.taints ?? []), { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' }],
    },
    status: {
      addresses: initialAddresses(name, ips),
      capacity: resources,
      allocatable: { ...resources, 'ephemeral-storage': '93478772582', memory: '32762548Ki' },
      conditions: conditionsOf(false, now, now),
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      images: Array.from({ length: images }, (_, index) => imageOf(index)),
      nodeInfo: {
        architecture: arch,
        bootID: uuidOf(`boot ${name}`),
        containerRuntimeVersion: 'containerd://2.2.1',
        kernelVersion: '6.12.57+deb13-cloud-amd64',
        kubeProxyVersion: '',
        kubeletVersion,
        machineID: uuidOf(`machine ${name}`).replaceAll('-', ''),
        operatingSystem: 'linux',
        osImage: 'Debian GNU/Linux 13 (trixie)',
        systemUUID: options.systemUUID ?? uuidOf(`system ${name}`),
      },
      runtimeHandlers: ['', 'runc'].map((handler) => ({
        name: handler,
        features: { recursiveReadOnlyMounts: true, userNamespaces: true },
      })),
    },
  };
}

/**
 * The conditions of a heartbeat at `now`; `Ready` has been as it is since `readySince`. Both in milliseconds since the
 * Unix epoch.
 */
export function conditionsOf(ready: boolean, now: number, readySince: number): NodeCondition[] {
  const healthy = (type: string, reason: string, message: string): NodeCondition => ({
    type,
    status: 'False',
    reason,
    message,
    lastHeartbeatTime: timeOf(now),
  });
  return [
    healthy('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    healthy('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    healthy('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      reason: ready ? 'KubeletReady' : 'KubeletNotReady',
      message: ready
        ? 'kubelet is posting ready status'
        : 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
      lastHeartbeatTime: timeOf(now),
      lastTransitionTime: timeOf(readySince),
    },
  ];
}

/** `metav1.Time`: whole seconds. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The kubelet's `nodestatus.NodeAddress` with an external provider and no address set yet. */
function initialAddresses(name: string, ips: readonly string[]): NodeAddress[] {
  const internal = ips.slice(0, 1).map((address) => ({ type: 'InternalIP', address }));
  return [...internal, { type: 'Hostname', address: name }];
}

function imageOf(index: number): { names: string[]; sizeBytes: number } {
  const repository = `registry.example.com/team-${index % 7}/component-${index}`;
  const digest = uuidOf(`image ${index}`).replaceAll('-', '').repeat(2);
  return {
    names: [`${repository}@sha256:${digest}`, `${repository}:v1.${index}.0`],
    sizeBytes: 310_000_000 - index * 7_654_321,
  };
}

/** The same text gives the same UUID, so that a golden file stays as it is (FNV-1a, four times over). */
function uuidOf(text: string): string {
  let hex = '';
  for (let part = 0; part < 4; part++) {
    let hash = 0x811c9dc5 ^ part;
    for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    hex += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
