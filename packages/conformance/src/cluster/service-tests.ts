/** What is promised of Services of type LoadBalancer. */
import { isIP } from 'node:net';
import { resources, type Service } from '@outrigger/kube';
import {
  addressesOf,
  balancedSpec,
  EXCLUDED,
  FINALIZER,
  hasFinalizer,
  type ClusterRig,
  type JudgedService,
} from './cluster-rig.ts';
import type { ServiceIdentity } from './cluster-fixture.ts';
import type { ClusterTest } from './cluster-test.ts';
import { shown } from './patience.ts';
import { BrokenPromise, NotDeclared, NotVerifiable } from './verdict.ts';

const SERVICE = 'https://kubernetes.io/docs/concepts/services-networking/service/';
const EXTERNAL = 'https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/';
const CLEANUP = `${EXTERNAL}#garbage-collecting-load-balancers`;
const SERVICE_CONTROLLER =
  'https://github.com/kubernetes/cloud-provider/blob/v0.36.0/controllers/service/controller.go';
/** "should be able to change the type and ports of a TCP service". */
const UPSTREAM_SPEC = 'https://github.com/kubernetes/kubernetes/blob/v1.36.0/test/e2e/network/loadbalancer.go';
const NOBODYS_CLASS = 'conformance.outrigger.dev/nobody';

export const serviceTests: readonly ClusterTest[] = [
  {
    name: 'services / a load balancer gets an address',
    feature: 'services',
    source: `${SERVICE}#loadbalancer`,
    run: async (rig) => {
      const judged = await rig.judgedService();
      await rig.balanced(judged);
      for (const { ip, hostname } of (await rig.service(judged.identity)).status?.loadBalancer?.ingress ?? []) {
        if (ip !== undefined && isIP(ip) === 0)
          throw new BrokenPromise(`status.loadBalancer has the IP ${ip}, which is none`);
        if (ip === undefined && !hostname)
          throw new BrokenPromise('status.loadBalancer has an entry without IP and host name');
      }
    },
  },
  {
    name: 'services / the finalizer is there before the load balancer',
    feature: 'services',
    source: CLEANUP,
    run: finalizerFirst,
  },
  {
    name: 'services / an Event tells that the load balancer is there',
    feature: 'services',
    source: SERVICE_CONTROLLER,
    run: async (rig) => {
      const { identity } = await rig.judgedService();
      const look = (): Promise<readonly string[]> => eventReasons(rig, identity);
      await rig.patience.until('there is an Event EnsuredLoadBalancer of the Service', look, (reasons) =>
        reasons.includes('Normal EnsuredLoadBalancer'),
      );
    },
  },
  {
    name: 'services / a deleted Service goes',
    feature: 'services',
    source: CLEANUP,
    run: async (rig) => {
      const judged = await rig.newService('deleted', balancedSpec('deleted'));
      await rig.balanced(judged);
      await rig.deleteService(judged.identity);
      await rig.untilServiceIsGone(judged.identity);
    },
  },
  {
    name: 'services / the finalizer stays until nothing is left in the cloud',
    feature: 'services',
    source: CLEANUP,
    hooks: ['loadBalancers'],
    run: async (rig) => {
      const judged = await rig.newService('cleaned-up', balancedSpec('cleaned-up'));
      await rig.balanced(judged);
      if ((await inCloud(rig, judged.identity)).length === 0)
        throw new NotVerifiable('the fixture shows nothing in the cloud for a Service that has an address');
      await rig.deleteService(judged.identity);
      await rig.untilServiceIsGone(judged.identity);
      const left = await inCloud(rig, judged.identity);
      if (left.length > 0)
        throw new BrokenPromise(`the Service is gone, and this is left in the cloud: ${left.join(', ')}`);
    },
  },
  {
    name: 'services / a Service that is no load balancer any more loses its address',
    feature: 'services',
    source: UPSTREAM_SPEC,
    run: async (rig) => {
      const { identity } = await retyped(rig);
      const look = (): Promise<Service> => rig.service(identity);
      await rig.patience.until('status.loadBalancer is empty', look, (seen) => addressesOf(seen).length === 0);
      // The API server empties it by itself: what the manager does of it comes after.
      await rig.patience.stays(async () => {
        const found = addressesOf(await look());
        return found.length === 0 ? undefined : `the Service got the address ${found.join(', ')} again`;
      });
    },
  },
  {
    name: 'services / a Service that is no load balancer any more loses its finalizer',
    feature: 'services',
    source: CLEANUP,
    run: async (rig) => {
      const { identity } = await retyped(rig);
      const look = (): Promise<Service> => rig.service(identity);
      await rig.patience.until(`the finalizer ${FINALIZER} is removed`, look, (seen) => !hasFinalizer(seen));
      const left = rig.fixture?.loadBalancers ? await inCloud(rig, identity) : [];
      if (left.length > 0)
        throw new BrokenPromise(`the finalizer is gone, and this is left in the cloud: ${left.join(', ')}`);
    },
  },
  {
    name: 'services / a Service of another load balancer class is left alone',
    feature: 'services',
    source: `${SERVICE}#load-balancer-class`,
    run: async (rig) => {
      const spec = { ...balancedSpec('other-class'), loadBalancerClass: NOBODYS_CLASS };
      await isLeftAlone(rig, await rig.newService('other-class', spec), `its class is ${NOBODYS_CLASS}`);
    },
  },
  {
    name: 'services / a Service of another type is left alone',
    feature: 'services',
    source: `${SERVICE}#publishing-services-service-types`,
    run: async (rig) => {
      const spec = { ...balancedSpec('other-type'), type: 'NodePort' as const };
      await isLeftAlone(rig, await rig.newService('other-type', spec), 'its type is NodePort');
    },
  },
  {
    name: 'services / a changed port keeps the address',
    feature: 'services',
    source: UPSTREAM_SPEC,
    run: async (rig) => {
      const judged = await rig.newService('changed', balancedSpec('changed'));
      const { identity } = judged;
      const before = (await rig.balanced(judged)).join(', ');
      const [port] = balancedSpec('changed').ports ?? [];
      await rig.changeService(identity, { ports: [{ ...port, port: 8_080 }] });
      await rig.patience.stays(async () => {
        const seen = await rig.service(identity);
        const after = addressesOf(seen).join(', ');
        if (after !== before) return `the address was ${before} and became ${after || 'none'}`;
        return hasFinalizer(seen) ? undefined : `the finalizer ${FINALIZER} was removed`;
      });
    },
  },
  {
    name: 'services / externalTrafficPolicy Local keeps its health check node port',
    feature: 'services',
    source: `${EXTERNAL}#preserving-the-client-source-ip`,
    run: async (rig) => {
      const spec = { ...balancedSpec('local'), externalTrafficPolicy: 'Local' as const };
      const judged = await rig.newService('local', spec);
      const given = judged.created.spec?.healthCheckNodePort ?? 0;
      if (given === 0) throw new NotVerifiable('the API server gave the Service no healthCheckNodePort');
      await rig.balanced(judged);
      const found = (await rig.service(judged.identity)).spec?.healthCheckNodePort;
      if (found !== given) throw new BrokenPromise(`spec.healthCheckNodePort was ${given} and became ${found}`);
    },
  },
  {
    name: 'services / a Service without node ports gets an address, or a warning',
    feature: 'services',
    source: `${SERVICE}#load-balancer-nodeport-allocation`,
    run: async (rig) => {
      const spec = { ...balancedSpec('no-node-ports'), allocateLoadBalancerNodePorts: false };
      const { identity } = await rig.newService('no-node-ports', spec);
      const look = async (): Promise<{ readonly served: boolean; readonly warnings: readonly string[] }> => ({
        served: addressesOf(await rig.service(identity)).length > 0,
        warnings: (await eventReasons(rig, identity)).filter((reason) => reason.startsWith('Warning ')),
      });
      const what = 'a Service with allocateLoadBalancerNodePorts: false gets an address, or an Event that says why not';
      const { served, warnings } = await rig.patience.until(
        what,
        look,
        (seen) => seen.served || seen.warnings.length > 0,
      );
      if (!served) throw new NotDeclared(`the manager says that it cannot: ${warnings.join(', ')}`);
    },
  },
  {
    name: 'services / an initialised node becomes a back end',
    feature: 'services',
    source: 'https://kubernetes.io/docs/concepts/architecture/cloud-controller/#service-controller',
    machine: 'own',
    hooks: ['backEnds'],
    run: async (rig) => {
      const { name } = await rig.newInitialisedNode({ backEnd: true });
      const judged = await rig.judgedService();
      await rig.balanced(judged);
      await untilBackEnd(rig, judged, name, true);
    },
  },
  {
    name: 'services / an excluded node is no back end',
    feature: 'services',
    source:
      'https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-exclude-from-external-load-balancers',
    machine: 'own',
    hooks: ['backEnds'],
    run: async (rig) => {
      const { name } = await rig.newInitialisedNode({ backEnd: true });
      const judged = await rig.judgedService();
      await rig.balanced(judged);
      await untilBackEnd(rig, judged, name, true);
      const body = { metadata: { labels: { [EXCLUDED]: 'true' } } };
      const { signal } = rig.patience;
      await rig.client.of(resources.nodes).patch({ name }, { type: 'merge', body }, { signal });
      await untilBackEnd(rig, judged, name, false);
    },
  },
];

/** By all that the API server tells of the Service; and, where the fixture can look, by what is in the cloud before there is an address. */
async function finalizerFirst(rig: ClusterRig): Promise<void> {
  const judged = await rig.newService('finalizer', balancedSpec('finalizer'));
  const { history, identity } = judged;
  await rig.patience.until(
    'the Service gets an address',
    async () => {
      const things = rig.fixture?.loadBalancers ? await inCloud(rig, identity) : [];
      // Read after the look into the cloud: what was there then had a finalizer by now.
      const seen = await rig.service(identity);
      if (things.length > 0 && !hasFinalizer(seen))
        throw new BrokenPromise(
          `there is ${things.join(', ')} in the cloud, and no finalizer ${FINALIZER}`,
          shown(seen.metadata),
        );
      return addressesOf(seen);
    },
    (addresses) => addresses.length > 0,
  );
  const told = (): boolean => history.states.some((seen) => addressesOf(seen).length > 0);
  await rig.patience.until('the watch of the Service tells of its address', () => Promise.resolve(told()), Boolean);
  const bare = history.states.find((seen) => addressesOf(seen).length > 0 && !hasFinalizer(seen));
  if (bare)
    throw new BrokenPromise(
      `the Service had an address, and no finalizer ${FINALIZER}`,
      shown({ ...bare.metadata, ...bare.status }),
    );
}

/** A Service that was a load balancer and is of type ClusterIP now; of the first test that asks. */
function retyped(rig: ClusterRig): Promise<JudgedService> {
  return rig.once('retyped service', async () => {
    const judged = await rig.newService('retyped', balancedSpec('retyped'));
    await rig.balanced(judged);
    await rig.changeService(judged.identity, { type: 'ClusterIP' });
    return judged;
  });
}

async function isLeftAlone(rig: ClusterRig, { identity }: JudgedService, why: string): Promise<void> {
  await rig.whileAtWork(rig.judgedService().then((served) => rig.balanced(served)));
  await rig.patience.stays(async () => {
    const seen = await rig.service(identity);
    if (hasFinalizer(seen)) return `the Service got the finalizer ${FINALIZER}, although ${why}`;
    if (addressesOf(seen).length > 0)
      return `the Service got the address ${addressesOf(seen).join(', ')}, although ${why}`;
    const things = rig.fixture?.loadBalancers ? await inCloud(rig, identity) : [];
    return things.length > 0 ? `there is ${things.join(', ')} in the cloud, although ${why}` : undefined;
  });
}

async function untilBackEnd(
  rig: ClusterRig,
  { identity }: JudgedService,
  node: string,
  wanted: boolean,
): Promise<void> {
  const what = `node ${node} is ${wanted ? 'a' : 'no'} back end of the Service`;
  const look = async (): Promise<readonly string[]> =>
    (await rig.fixture?.backEnds?.(identity, rig.patience.signal)) ?? [];
  await rig.patience.until(what, look, (backEnds) => backEnds.includes(node) === wanted);
}

async function inCloud(rig: ClusterRig, identity: ServiceIdentity): Promise<readonly string[]> {
  return (await rig.fixture?.loadBalancers?.(identity, rig.patience.signal)) ?? [];
}

/** `Warning SyncLoadBalancerFailed`, … */
async function eventReasons(rig: ClusterRig, { namespace, uid }: ServiceIdentity): Promise<readonly string[]> {
  const { signal } = rig.patience;
  const { items } = await rig.client
    .of(resources.coreEvents)
    .list({ namespace, fieldSelector: `involvedObject.uid=${uid}`, signal });
  return items.map(({ type, reason }) => `${type} ${reason}`);
}
