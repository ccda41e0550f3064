/** Which releases the tests run on: the one table to touch when Kubernetes or etcd publishes a patch. */

/** A supported minor release, as in `startControlPlane({kubernetes: '1.37'})`. */
export type KubernetesMinor = '1.37' | '1.36' | '1.35' | '1.34';

/** The programs of a control plane that can be asked for. */
export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl';

/** Exact versions, with their leading `v`. */
export interface Release {
  readonly kubernetes: string;
  readonly etcd: string;
}

/** The current release and the three before it: what upstream itself supports, plus one. */
export const RELEASES: Readonly<Record<KubernetesMinor, Release>> = {
  '1.37': { kubernetes: 'v1.37.1', etcd: 'v3.7.1' },
  '1.36': { kubernetes: 'v1.36.3', etcd: 'v3.6.16' },
  '1.35': { kubernetes: 'v1.35.4', etcd: 'v3.6.16' },
  '1.34': { kubernetes: 'v1.34.4', etcd: 'v3.6.16' },
};

/** Runs when nobody says otherwise. */
export const DEFAULT_KUBERNETES: KubernetesMinor = '1.37';

/** Reads `1.37` or `v1.37.1`; throws a `RangeError` that lists what there is. */
export function parseKubernetesMinor(text: string): KubernetesMinor {
  const minor = /^v?(?<minor>\d+\.\d+)(?:\.\d+)?$/.exec(text)?.groups?.['minor'];
  if (minor !== undefined && Object.hasOwn(RELEASES, minor)) return minor as KubernetesMinor;
  throw new RangeError(`Kubernetes "${text}" is not supported; there are ${Object.keys(RELEASES).join(', ')}`);
}

/** The exact version of one program in a release. */
export function versionOf(component: Component, release: Release): string {
  return component === 'etcd' ? release.etcd : release.kubernetes;
}
