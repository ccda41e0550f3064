/** All of a Service that a load balancer may depend on, without what this controller writes itself. Pure. */
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { requestOf } from './adoption.ts';
import { identityOf } from './load-balancer-service.ts';

/** Of one version: it is asked for by each step about it. */
const texts = new WeakMap<Service, string>();

/** The same text for two versions between which nothing has to be looked at. */
export function wakingText(service: Service): string {
  let text = texts.get(service);
  if (text === undefined) texts.set(service, (text = writeText(service)));
  return text;
}

function writeText(service: Service): string {
  const { ingress: _, annotations, ...rest } = identityOf(service);
  const { [loadBalancerOwnerAnnotation]: __, ...others } = annotations;
  const { type, loadBalancerSourceRanges } = service.spec ?? {};
  const deleting = service.metadata?.deletionTimestamp;
  // To be asked for the same parts again is news: it is to be answered.
  const asked = rest.adopt && requestOf(service)?.lastTransitionTime;
  return JSON.stringify({ ...rest, asked, annotations: others, type, loadBalancerSourceRanges, deleting });
}
