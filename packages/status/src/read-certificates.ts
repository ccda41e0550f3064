/**
 * What the replicas of the manager serve to an API server that calls a webhook. Each says so itself, on the very port that is called: the
 * proxy of the API server reaches it as the call does, and nobody has to be known there.
 */
import { urlOf } from '@outrigger/cloud-controller-manager';
import { SERVING_CERTIFICATE_PATH } from '@outrigger/controller-manager';
import { createTransport, type CallOptions, type Clock, type Pod, type Service, type Transport } from '@outrigger/kube';
import type { ClusterFacts, Fact, ServedCertificate } from './cluster-facts.ts';
import { serverNameOf, type ClientConfig } from './judge-webhooks.ts';
import type { ReadCluster } from './read-cluster.ts';
import type { LeaderAccess } from './read-leader.ts';
import { askFirst, directWay, wayByProxy, type Way } from './ways-to-manager.ts';

/** As `admissionregistration.k8s.io/v1` has it. */
const DEFAULT_PORT = 443;

export interface ReadCertificatesOptions {
  readonly access: LeaderAccess;
  readonly call: CallOptions;
  readonly clock: Clock;
  readonly cluster: ReadCluster;
  /** To the API server. */
  readonly transport: Transport;
}

interface Replica {
  readonly name: string;
  readonly ways: readonly Way[];
}

/** Why nobody can be asked. */
interface Unasked extends Pick<ServedCertificate, 'isMissing'> {
  readonly why: string;
}

/** Never throws. */
export async function readCertificates(options: ReadCertificatesOptions): Promise<ClusterFacts['certificates']> {
  const { webhooks } = options.cluster;
  const configs = ('value' in webhooks ? webhooks.value : []).flatMap((one) =>
    (one.webhooks ?? []).map(({ clientConfig = {} }) => [serverNameOf(clientConfig), clientConfig] as const),
  );
  await using owned = new AsyncDisposableStack();
  const read = await Promise.all(
    [...new Map(configs)].map(async ([serverName, config]): Promise<[string, readonly ServedCertificate[]]> => {
      const replicas = replicasOf(config, options, owned);
      if ('why' in replicas) {
        const { why, ...missing } = replicas;
        return [serverName, [{ replica: '', pem: { unknown: why }, ...missing }]];
      }
      const path = `${SERVING_CERTIFICATE_PATH}${encodeURIComponent(serverName)}`;
      const served = replicas.map(async ({ name, ways }): Promise<ServedCertificate> => {
        return { replica: name, pem: pemOf(name, await askFirst(ways, path, options)) };
      });
      return [serverName, await Promise.all(served)];
    }),
  );
  return new Map(read);
}

/** Those that the API server may call. */
function replicasOf(
  { service, url = '' }: ClientConfig,
  options: ReadCertificatesOptions,
  owned: AsyncDisposableStack,
): readonly Replica[] | Unasked {
  const { access, call, cluster, transport } = options;
  if (!service)
    return URL.canParse(url) ? [directly(new URL(url).origin, options, owned)] : { why: 'the webhook has no URL' };
  const { name = '', namespace = '', port = DEFAULT_PORT } = service;
  const { pods } = cluster;
  const found = serviceIn(cluster, namespace, name);
  if ('isMissing' in found) return found;
  // Who names a manager means that one.
  if (access.url !== undefined) {
    const target = targetOf('why' in found ? undefined : found, port);
    return [directly(Object.assign(new URL(access.url), { port: String(target) }).origin, options, owned)];
  }
  if ('why' in found) return found;
  if ('unknown' in pods) return { why: pods.unknown };
  const selected = pods.value.filter((pod) => isSelected(pod, found));
  if (selected.length === 0) return { why: `the Service ${namespace}/${name} selects no Pod of the manager that runs` };
  return selected.map((pod) => {
    const { podIP } = pod.status ?? {};
    const target = targetOf(found, port, pod);
    return {
      name: `Pod ${namespace}/${pod.metadata?.name ?? ''}`,
      ways: [
        wayByProxy(pod, target, namespace, transport, call),
        ...(access.configOf && podIP !== undefined ? directly(urlOf(podIP, target), options, owned).ways : []),
      ],
    };
  });
}

function serviceIn({ webhookServices }: ReadCluster, namespace: string, name: string): Service | Unasked {
  if ('unknown' in webhookServices) return { why: webhookServices.unknown };
  const found = webhookServices.value.find((one) => isNamed(one, name, namespace));
  return found ?? { why: `there is no Service ${namespace}/${name}`, isMissing: true };
}

/** Without credentials: what it serves is to be judged, whatever it is. */
function directly(url: string, { call, clock }: ReadCertificatesOptions, owned: AsyncDisposableStack): Replica {
  const config = { server: url, tls: { insecureSkipVerify: true } };
  return { name: url, ways: [directWay(url, owned.use(createTransport(config, { clock, retry: false })), call)] };
}

function isNamed({ metadata }: Service, name: string, namespace: string): boolean {
  return metadata?.name === name && metadata.namespace === namespace;
}

/** The port of a Pod that a port of the Service leads to; where that is a name, a container's port has it. */
function targetOf(service: Service | undefined, port: number, pod?: Pod): number {
  const target = service?.spec?.ports?.find((one) => one.port === port)?.targetPort;
  if (typeof target === 'number') return target;
  const ports = pod?.spec?.containers?.flatMap((container) => container.ports ?? []);
  return ports?.find(({ name }) => name === target)?.containerPort ?? port;
}

function isSelected({ metadata, status }: Pod, service: Service): boolean {
  const wanted = Object.entries(service.spec?.selector ?? {});
  return (
    status?.phase === 'Running' &&
    metadata?.namespace === service.metadata?.namespace &&
    wanted.every(([key, value]) => metadata?.labels?.[key] === value)
  );
}

function pemOf(name: string, page: Fact<{ readonly status: number; readonly text: string }>): Fact<string> {
  if ('unknown' in page) return page;
  const { status, text } = page.value;
  if (status === 200) return { value: text };
  return { unknown: `${name} does not tell which certificate it serves: status ${status}` };
}
