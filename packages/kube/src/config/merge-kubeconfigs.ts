/**
 * Many kubeconfig files as one, as client-go merges `$KUBECONFIG`: the first file that has an entry wins, whole;
 * the first that sets `current-context` wins.
 * https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files
 */
import { delimiter } from 'node:path';
import type { Entry, KubeconfigFile } from './kubeconfig-file.ts';
import type { KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig-schema.ts';

export interface MergedKubeconfig {
  /** The files that were found, first wins. */
  readonly paths: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

function firstWins<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  return new Map([...maps].reverse().flatMap((map) => [...map]));
}

export function mergeKubeconfigs(files: readonly KubeconfigFile[]): MergedKubeconfig {
  return {
    paths: files.map((file) => file.path),
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    clusters: firstWins(files.map((file) => file.clusters)),
    users: firstWins(files.map((file) => file.users)),
    contexts: firstWins(files.map((file) => file.contexts)),
  };
}

/** The paths in `$KUBECONFIG`: empty ones and repetitions are left out. */
export function splitKubeconfigVariable(value: string): readonly string[] {
  return [...new Set(value.split(delimiter).filter((path) => path !== ''))];
}
