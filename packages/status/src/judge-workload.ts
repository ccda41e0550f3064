/** Of a Deployment or DaemonSet that runs the program: whether its Pods are there. Pure. */
import type { Workload } from './cluster-facts.ts';
import type { WorkloadStatus } from './cluster-status.ts';
import { shell } from './shell-command.ts';
import { counted, type Tell } from './tell-problem.ts';

export function workloadOf({ kind, metadata, spec, status }: Workload, tell: Tell): WorkloadStatus {
  const { name = '', namespace = '' } = metadata ?? {};
  const image = spec?.template?.spec?.containers?.[0]?.image ?? '';
  const version = /:([^:/@]+)(?:@.*)?$/u.exec(image)?.[1];
  const isDaemonSet = kind === 'DaemonSet';
  const desired = isDaemonSet ? (status?.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  const ready = (isDaemonSet ? status?.numberReady : status?.readyReplicas) ?? 0;
  const updated = (isDaemonSet ? status?.updatedNumberScheduled : status?.updatedReplicas) ?? 0;
  if (ready < desired || desired === 0) {
    const lacks = desired === 0 ? 'is to have no Pod' : `has ${ready} of ${counted(desired, 'Pod')} ready`;
    tell({
      severity: ready === 0 ? 'error' : 'warning',
      section: 'workloads',
      about: `${isDaemonSet ? 'DaemonSet' : 'Deployment'} ${namespace}/${name}`,
      message: `It ${lacks}.`,
      ...(desired === 0 && {
        remedy: isDaemonSet ? 'Check its node selector: no node has these labels.' : 'Set its replicas to 1 or more.',
      }),
      commands: [shell`kubectl --namespace=${namespace} describe ${isDaemonSet ? 'daemonset' : 'deployment'} ${name}`],
      ...(ready === 0 && { runbook: 'OutriggerDown' }),
    });
  }
  return {
    kind: isDaemonSet ? 'DaemonSet' : 'Deployment',
    namespace,
    name,
    image,
    ...(version !== undefined && { version }),
    desired,
    ready,
    updated,
  };
}
