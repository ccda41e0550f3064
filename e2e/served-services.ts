/** What the cloud holds for a cluster's Services, against what it should hold. Pure. */
import type { Service } from '@outrigger/kube';
import type { MemoryPart } from '@outrigger/provider-memory';

/** All that a load balancer of the memory cloud consists of. */
const KINDS = ['address', 'dns', 'firewall', 'load-balancer'];

/** In sentences; empty when nothing is leaked, lost or wrong. `parts`: all of the cloud, of this one cluster. */
export function faultsOfServices(services: readonly Service[], parts: readonly MemoryPart[]): readonly string[] {
  const served = services.filter(({ spec }) => spec?.type === 'LoadBalancer');
  const uids = new Set(served.map(({ metadata }) => metadata?.uid));
  const leaked = parts.filter(({ tags }) => !uids.has(tags['uid'])).map(({ id }) => `leaked: ${id}`);
  const others = services.filter((service) => !served.includes(service)).flatMap(faultsOfUnserved);
  return [...leaked, ...others, ...served.flatMap((service) => faultsOfServed(service, parts))];
}

/** The address that the Service says it has. */
export function addressOf({ status }: Service): string | undefined {
  return status?.loadBalancer?.ingress?.[0]?.ip;
}

function faultsOfUnserved(service: Service): readonly string[] {
  const name = service.metadata?.name ?? '';
  return [
    ...(addressOf(service) === undefined ? [] : [`${name}: still says that it has an address`]),
    ...(service.metadata?.finalizers?.length ? [`${name}: still has its finalizer`] : []),
  ];
}

function faultsOfServed(service: Service, all: readonly MemoryPart[]): readonly string[] {
  const name = service.metadata?.name ?? '';
  if (service.metadata?.deletionTimestamp !== undefined) return [`${name}: is not deleted yet`];
  const parts = all.filter(({ tags }) => tags['uid'] === service.metadata?.uid);
  const kinds = parts.map(({ kind }) => kind).toSorted();
  if (kinds.join() !== KINDS.join()) return [`${name}: has the parts ${kinds.join() || 'none'}, not ${KINDS.join()}`];
  const of = (kind: string): MemoryPart['attributes'] => parts.find((part) => part.kind === kind)?.attributes ?? {};
  const faults: string[] = [];
  const ip = of('address')['ip'];
  if (addressOf(service) !== ip)
    faults.push(`${name}: says ${addressOf(service) ?? 'nothing'}, its address is ${String(ip)}`);
  for (const kind of ['dns', 'load-balancer'])
    if (of(kind)['ip'] !== ip)
      faults.push(`${name}: its ${kind} leads to ${String(of(kind)['ip'])}, not ${String(ip)}`);
  const wanted = portsOf(service.spec?.ports);
  for (const kind of ['firewall', 'load-balancer']) {
    const there = portsOf(of(kind)['ports'] as Ports);
    if (there !== wanted) faults.push(`${name}: its ${kind} has the ports ${there}, not ${wanted}`);
  }
  return faults;
}

type Ports = readonly { readonly port: number; readonly protocol?: string | undefined }[] | undefined;

function portsOf(ports: Ports = []): string {
  return ports.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join();
}
