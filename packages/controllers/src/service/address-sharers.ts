/** Services that share a load balancer share its addresses, which their statuses say: who else may have lost what one has lost. Pure. */
import { keyOfObject, type ResourceEvent, type Service, type Store } from '@outrigger/kube';
import { ingressOf } from './load-balancer-service.ts';

/** Keys of the others whose status says an address that this Service's has lost. */
export function sharersOfLost(change: ResourceEvent<Service>, services: Store<Service>): readonly string[] {
  if (change.type === 'add') return [];
  const left = change.type === 'update' ? ipsOf(change.object) : [];
  const lost = ipsOf(change.previous).filter((ip) => !left.includes(ip));
  if (lost.length === 0) return [];
  const saying = Iterator.from(services.values()).filter((one) => ipsOf(one).some((ip) => lost.includes(ip)));
  return saying
    .map(keyOfObject)
    .filter((key) => key !== change.key)
    .toArray();
}

const ipsOf = (service: Service): readonly string[] => ingressOf(service).flatMap(({ ip }) => ip ?? []);
