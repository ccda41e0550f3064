/** The memory cloud as a fixture of the conformance suite, in process or over HTTP. */
import type { NodeRef } from '@outrigger/cloud-provider';
import type { CloudFailure, ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import { createMemoryCloud, serveMemoryCloud, type FaultRule, type MemoryCloud } from './index.ts';

export interface MemoryFixture extends ProviderFixture {
  readonly cloud: MemoryCloud;
}

/** The memory provider knows of no such thing; who breaks its promises on purpose does. */
export const NETWORK_ANNOTATION = 'example.com/network';
const WISHES = { hints: true, nodeTags: { team: 'infra', stage: 'test' } };

export async function memoryFixture(over: 'process' | 'http'): Promise<MemoryFixture> {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  const served = over === 'http' ? await serveMemoryCloud(cloud) : undefined;
  const configOf = (endpoint: string): { fileName: string; text: string } => ({
    fileName: 'cloud.json',
    text: JSON.stringify({ endpoint, ...WISHES }),
  });
  return {
    cloud,
    clock,
    ...(served
      ? { config: configOf(served.endpoint), http: { root: served.endpoint, config: configOf } }
      : { config: { fileName: 'cloud.json', text: JSON.stringify(WISHES) } }),
    createMachine: async (name) => {
      cloud.createInstance({ name });
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async ({ name }: NodeRef) => void cloud.updateInstance(name, { state: 'shutdown' }),
    deleteMachine: async ({ name }: NodeRef) => void cloud.deleteInstance(name),
    listMachines: async () => cloud.instances().map(({ name }) => name),
    fail: async (how) => cloud.setFaults(how ? [ruleOf(how)] : []),
    lag: async (listLagMs) => cloud.configure({ listLagMs }),
    setMaintenance: async ({ name }, state) =>
      void cloud.updateInstance(name, { maintenance: state ? { state } : null }),
    requests: async () => cloud.calls().total,
    requestsOf: { lookUp: 1, createRoutes: 1, volumes: 1 },
    listParts: async () => cloud.parts().map(({ id }) => id),
    createNamedThings: async (namespace) => {
      const tags = { nonce: `${cloud.parts().length}` };
      const { id, kind } = cloud.createPart({ kind: 'network', tags, attributes: { namespace } });
      const wish = { annotations: { [NETWORK_ANNOTATION]: id } };
      return [{ kind, id, wish, isUsed: async () => cloud.part(id)?.attributes['usedBy'] !== undefined }];
    },
    createForeignRoute: async (destination, { name }) =>
      void cloud.createRoute({ destination, instanceId: name, nodeName: '', clusterId: 'another' }),
    limitRoutes: async (routes) => cloud.configure({ quota: { routes } }),
    zones: cloud.zones,
    createVolume: async (id, zones) => {
      cloud.createVolume({ id, zones });
      return { name: id, uid: `uid-${id}`, source: 'flexVolume', driver: 'outrigger.dev/memory', handle: id };
    },
    deleteVolume: async ({ handle }) => void cloud.deleteVolume(handle),
    [Symbol.asyncDispose]: async () => served?.[Symbol.asyncDispose](),
  };
}

function ruleOf(how: CloudFailure): FaultRule {
  if (how.kind !== 'status') return { effect: how.kind };
  const { retryAfterSeconds, status } = how;
  return { effect: 'status', status, retryAfterSeconds };
}
