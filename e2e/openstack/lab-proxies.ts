/** A region of the lab whose neutron and octavia are reached through proxies that fail on demand. Entry point: `openFaultyRegion`. */
import { FakeClock, startFaultProxy, type FaultProxy } from '@outrigger/testing';
import type { Lab } from './lab.ts';

const REGION = 'FaultyRegion';
const ENDPOINTS = {
  compute: 'http://127.0.0.1:18774/v2.1',
  network: 'http://127.0.0.1:19696',
  'load-balancer': 'http://127.0.0.1:19876',
};

export interface FaultyRegion extends AsyncDisposable {
  /** For `[Global] region`. */
  readonly name: string;
  readonly network: FaultProxy;
  readonly loadBalancer: FaultProxy;
  /** Of the proxies: a `latency` lasts until a test lets its time pass. */
  readonly clock: FakeClock;
}

/** Made by the administrator, and gone when it is disposed of. */
export async function openFaultyRegion({ admin }: Lab): Promise<FaultyRegion> {
  await using opening = new AsyncDisposableStack();
  const clock = new FakeClock();
  const [network, loadBalancer] = await Promise.all([
    startFaultProxy({ target: ENDPOINTS.network, clock }),
    startFaultProxy({ target: ENDPOINTS['load-balancer'], clock }),
  ]);
  opening.use(network);
  opening.use(loadBalancer);
  const services = await admin.list<{ readonly id: string; readonly type: string }>('identity', '/services');
  await admin.request('identity', 'POST', '/regions', { body: { region: { id: REGION } } });
  opening.defer(async () => void (await admin.request('identity', 'DELETE', `/regions/${REGION}`)));
  const urls = { ...ENDPOINTS, network: network.url, 'load-balancer': loadBalancer.url };
  for (const [type, url] of Object.entries(urls)) {
    const service_id = services.find((one) => one.type === type)?.id;
    const body = { endpoint: { service_id, interface: 'public', url, region_id: REGION } };
    const { endpoint } = await admin.request<{ endpoint: { readonly id: string } }>('identity', 'POST', '/endpoints', {
      body,
    });
    opening.defer(async () => void (await admin.request('identity', 'DELETE', `/endpoints/${endpoint.id}`)));
  }
  const owned = opening.move();
  return { name: REGION, network, loadBalancer, clock, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
