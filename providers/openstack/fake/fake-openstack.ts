/**
 * An OpenStack in memory, for tests alone: keystone, nova, neutron, octavia and cinder with the shapes and the rules that the
 * real ones show. What it is asked, how it fails and what there is in it are the test's to say.
 */
import type { Clock } from '@outrigger/cloud-provider';
import { volumeRoutes, Volumes } from './cinder/volumes.ts';
import { CallLog } from './call-log.ts';
import { Refusal, type Caller, type FakeRequest, type FakeResponse, type FakeService } from './fake-http.ts';
import { FaultRules, type FaultRule } from './fault-rules.ts';
import { createIdentifiers, type Identifiers } from './identifiers.ts';
import { identityRoutes, keystoneRefusal, UNAUTHENTICATED, type CatalogueEntry } from './keystone/identity-api.ts';
import { Identity } from './keystone/identity.ts';
import { networkRoutes, tooLong } from './neutron/network-api.ts';
import { NetworkExtensions } from './neutron/network-extensions.ts';
import { Networking } from './neutron/networking.ts';
import { computeRoutes } from './nova/compute-api.ts';
import { Compute } from './nova/compute.ts';
import type { FakeServer } from './nova/server.ts';
import { loadBalancerRoutes } from './octavia/load-balancer-api.ts';
import { Octavia } from './octavia/octavia.ts';
import type { RouteTable } from './route-table.ts';
import { errorBody } from './service-error.ts';
import { networksOfServer } from './nova/server-networks.ts';

export interface FakeOpenStackOptions {
  readonly clock: Clock;
  /** From 0 to 1. IDs come of it too. */
  readonly random: () => number;
}

/** A connection that broke: what `fetch` throws and `serve` shows by closing the socket. */
export class BrokenConnection extends Error {}

export class FakeOpenStack {
  readonly clock: Clock;
  readonly ids: Identifiers;
  readonly identity: Identity;
  readonly compute: Compute;
  readonly networking: Networking;
  readonly octavia: Octavia;
  readonly volumes: Volumes;
  readonly extensions: NetworkExtensions = new NetworkExtensions();
  readonly faults: FaultRules;
  readonly calls: CallLog = new CallLog();
  /** Of every request, in milliseconds. Default: 0. */
  latencyMs = 0;
  region = 'RegionOne';
  catalogue: readonly CatalogueEntry[] = [
    { type: 'identity', name: 'keystone', path: '/identity' },
    { type: 'compute', name: 'nova', path: '/compute/v2.1' },
    { type: 'network', name: 'neutron', path: '/network' },
    { type: 'load-balancer', name: 'octavia', path: '/load-balancer' },
    { type: 'block-storage', name: 'cinder', path: '/volume/v3/%(project_id)s' },
  ];
  readonly #routes: Readonly<Record<FakeService, RouteTable>>;

  constructor({ clock, random }: FakeOpenStackOptions) {
    this.clock = clock;
    this.ids = createIdentifiers(clock, random);
    this.faults = new FaultRules(random);
    this.identity = new Identity(clock, this.ids);
    this.compute = new Compute(this.ids);
    this.networking = new Networking(this.ids);
    this.octavia = new Octavia({ clock, ids: this.ids, networking: this.networking });
    this.volumes = new Volumes(this.ids);
    this.#routes = {
      identity: identityRoutes({
        identity: this.identity,
        ids: this.ids,
        region: () => this.region,
        catalogue: () => this.catalogue,
      }),
      compute: computeRoutes({
        compute: this.compute,
        networksOf: (server: FakeServer) => networksOfServer(this.networking, server),
      }),
      network: networkRoutes(this.networking, this.extensions),
      'load-balancer': loadBalancerRoutes(this.octavia),
      volume: volumeRoutes(this.volumes),
    };
  }

  /** One request to one service. Throws `BrokenConnection`, or the signal's reason. */
  async handle(request: FakeRequest, signal?: AbortSignal): Promise<FakeResponse> {
    const matched = this.#routes[request.service].match(request.method, request.path);
    const operation = nameOf(matched?.route.name ?? `${request.method} ${request.path}`);
    const fault = this.faults.next(operation, request);
    const note = (status: number): void => {
      const { service, target, body } = request;
      this.calls.add({ service, operation, target, body, at: this.clock.now(), status });
    };
    const delay = this.latencyMs + (fault?.effect === 'slow' ? fault.delayMs : 0);
    if (delay > 0) await this.clock.sleep(delay, signal);
    signal?.throwIfAborted();
    switch (fault?.effect) {
      case 'refused':
        note(0);
        throw new BrokenConnection('connection refused');
      case 'hang':
        note(0);
        return await new Promise<never>((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });
      case 'status':
      case 'proxy':
        note(fault.status);
        return faultAnswer(request.service, fault);
      case 'run':
        fault.run();
        break;
      default:
    }
    this.octavia.provisioning.settle();
    const response = this.#serve(request, matched);
    if (fault?.effect === 'lost') {
      note(0);
      throw new BrokenConnection('the connection broke before the answer');
    }
    note(response.status);
    if (fault?.effect === 'cut') {
      const text = JSON.stringify(response.body);
      return { ...response, body: undefined, text: text.slice(0, text.length / 2) };
    }
    return fault?.effect === 'empty' ? { ...response, body: emptied(response.body) } : response;
  }

  #serve(request: FakeRequest, matched: ReturnType<RouteTable['match']>): FakeResponse {
    try {
      const isTooLong = request.service === 'network' ? tooLong(request.method, request.target) : undefined;
      if (isTooLong) throw isTooLong;
      const caller = this.identity.callerOf(request.headers['x-auth-token'] ?? '');
      if (!caller && matched?.route.isPublic !== true) throw keystoneRefusal(401, 'Unauthorized', UNAUTHENTICATED);
      if (!matched) {
        return { status: 404, body: errorBody(request.service, 404, 'The resource could not be found.') };
      }
      return matched.route.handler({ request, params: matched.params, caller: caller ?? NOBODY });
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      throw error;
    }
  }
}

const NOBODY: Caller = { userId: '', projectId: '', roles: [] };

/** Without the version: `GET /servers/{id}`. */
const nameOf = (name: string): string => name.replace(/ \/v\d(\.\d+)?(\/lbaas|\/\{project\})?(?=\/)/, ' ');

function faultAnswer(service: FakeService, fault: FaultRule): FakeResponse {
  if (fault.effect === 'proxy') {
    const text = `<html><body><h1>${fault.status}</h1>\nNo server is available to handle this request.\n</body></html>\n`;
    return { status: fault.status, headers: { 'content-type': 'text/html' }, text };
  }
  if (fault.effect !== 'status') throw new Error(`no answer for ${fault.effect}`);
  const { status, retryAfterSeconds, body } = fault;
  return {
    status,
    ...(retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }),
    body: body ?? errorBody(service, status, `fault ${status}`),
  };
}

/** A list without what it holds, and without its next page. */
function emptied(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const lists = Object.entries(body).filter(([name]) => !name.endsWith('_links'));
  return Object.fromEntries(lists.map(([name, value]) => [name, Array.isArray(value) ? [] : value]));
}

export function createFakeOpenStack(options: FakeOpenStackOptions): FakeOpenStack {
  return new FakeOpenStack(options);
}
