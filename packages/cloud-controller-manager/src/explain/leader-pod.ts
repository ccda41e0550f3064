/**
 * Which Pod the leader runs in. Of the namespace of its Lease alone: in others, people who may do nothing else make Pods of any name and
 * label.
 */
import type { KubeObject, Pod } from '@outrigger/kube';

/** The value of `app.kubernetes.io/component` in our manifests and chart. */
const COMPONENT = 'cloud-controller-manager';

/** Field selectors of the Pods among which it is: a namespace may have a Pod for each node, and more. */
export function selectorsOfLeader(host: string): readonly string[] {
  // Whatever is no name would be read as more of the selector.
  return /^[\w.-]+$/u.test(host) ? [`metadata.name=${host}`, `spec.nodeName=${host}`] : [];
}

/** Managers that our manifests did not make have no label of ours, but this name. */
export function isOfManager({ metadata }: KubeObject): boolean {
  return (
    metadata?.labels?.['app.kubernetes.io/component'] === COMPONENT || metadata?.name?.includes(COMPONENT) === true
  );
}

/** Whether a kubelet has made it of a static one: of any name and label, but on its own node. */
export function isMirror({ metadata }: KubeObject): boolean {
  return metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

/** `pods`: of the namespace of the Lease. `host`: `hostOf` its holder. `undefined`: it runs outside of the cluster, or in another namespace. */
export function leaderPod(pods: readonly Pod[], host: string): Pod | undefined {
  // The address of one that has ended may be another's by now.
  const running = pods.filter(({ status }) => status?.phase === 'Running');
  return (
    running.find((pod) => pod.metadata?.name === host && !isMirror(pod)) ??
    running.find((pod) => pod.spec?.nodeName === host && isOfManager(pod))
  );
}

/** Why there is none, and what to do. */
export function noLeaderPod(namespace: string, host: string): string {
  return `no Pod of the manager runs in the namespace ${namespace} under the name ${host} or on the node ${host}: name the manager with --server`;
}
