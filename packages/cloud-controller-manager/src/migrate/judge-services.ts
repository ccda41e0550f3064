/** Services of type LoadBalancer: recorded as such, and at rest. Pure. */
import { loadBalancerOwnerAnnotation, loadBalancerOwnerIn } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { missing, ok, unknown, type Check } from './check.ts';
import type { MigrationTarget, Seen } from './observed-cluster.ts';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

export function judgeServices({ services }: Seen<'services'>, { providerName }: MigrationTarget): readonly Check[] {
  if (!services.known) {
    return [
      unknown(`Services could not be listed: ${services.why}`, 'use a user who may list Services in all namespaces'),
    ];
  }
  const all = services.value.filter((one) => one.spec?.type === 'LoadBalancer' || hasFinalizer(one));
  // Those of a class are the controller's that serves the class.
  const served = all.filter(({ spec }) => spec?.loadBalancerClass === undefined);
  const checks: Check[] = [];
  const say = (found: readonly Service[], text: string, todo: string): void => {
    if (found.length > 0) checks.push(missing(`${found.length} Services ${text}`, todo, found.map(nameOf)));
  };
  say(
    served.filter((one) => hasAddress(one) && !hasFinalizer(one)),
    `have a load balancer and no finalizer ${FINALIZER}`,
    'find out which controller serves them: if it is not the manager that is replaced, recreate them with its spec.loadBalancerClass, or their load balancers are created a second time',
  );
  say(
    all.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined),
    'are being deleted',
    'let the manager that created their load balancers delete them first',
  );
  say(
    all.filter((one) => one.spec?.type !== 'LoadBalancer' && one.metadata?.deletionTimestamp === undefined),
    'have another type by now, and their load balancers are not deleted yet',
    'let the manager that created them delete them first',
  );
  say(
    served.filter((one) => one.spec?.type === 'LoadBalancer' && !hasAddress(one)),
    'of type LoadBalancer have no address yet',
    'let the current manager serve them first, or delete them',
  );
  say(
    providerName === ''
      ? []
      : served.filter(
          ({ metadata }) => ![undefined, providerName].includes(loadBalancerOwnerIn(metadata?.annotations)),
        ),
    `are recorded as another provider's than ${providerName}`,
    `Outrigger does not touch them; ${loadBalancerOwnerAnnotation} names their provider`,
  );
  if (checks.length > 0) return checks;
  const others = all.length - served.length;
  const rest = others === 0 ? '' : `; ${others} more have a class and stay with its controller`;
  return [ok(`${served.length} Services of type LoadBalancer have their finalizer and an address${rest}`)];
}

function hasFinalizer({ metadata }: Service): boolean {
  return metadata?.finalizers?.includes(FINALIZER) ?? false;
}

function hasAddress({ status }: Service): boolean {
  return (status?.loadBalancer?.ingress?.length ?? 0) > 0;
}

function nameOf({ metadata }: Service): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
