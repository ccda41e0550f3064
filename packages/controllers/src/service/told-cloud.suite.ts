/** For tests: the controller over a cloud whose parts, and a provider whose plans, are what a test says. */
import assert from 'node:assert/strict';
import {
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { partsAnnotation } from './well-known-names.ts';

export const ME: Owner = { clusterId: CLUSTER, uid: 'uid-1' };
export const OTHER: Owner = { clusterId: CLUSTER, uid: 'uid-2' };
export const IDLE: LoadBalancerPlan = { actions: [], complete: false, ingress: [] };
export const READY: LoadBalancerPlan = { actions: [], complete: true, ingress: [{ hostname: 'lb.test' }] };
/** Much less than what passes before nothing is believed. */
export const SOON_MS: number = 20_000;

type PartOptions = Partial<Pick<LoadBalancerPart, 'owner' | 'state'>>;
export const partOf = (name: string, more: PartOptions = {}): LoadBalancerPart => {
  const [kind = '', id = ''] = name.split(' ');
  return { kind, id, owner: ME, state: 'ready', attributes: {}, ...more };
};
export const actionOn = (
  kind: LoadBalancerAction['kind'],
  name: string,
  ends?: readonly PartName[],
): LoadBalancerAction => {
  const [part = '', id] = name.split(' ');
  return { kind, part, id, summary: '', input: {}, ...(ends && { ends }) };
};

/** A cloud whose parts are what a test says, and a provider that plans what it says. */
export interface Told {
  readonly rig: Rig;
  parts: readonly LoadBalancerPart[];
  serve: (parts: readonly LoadBalancerPart[]) => LoadBalancerPlan;
  remove: (parts: readonly LoadBalancerPart[]) => LoadBalancerPlan;
  /** What an action does to the parts. */
  apply: (action: LoadBalancerAction) => LoadBalancerActionResult;
}

export const mine = (parts: readonly LoadBalancerPart[]): readonly LoadBalancerPart[] =>
  parts.filter(({ owner }) => owner === ME);

/** Deletes one after the other what is the Service's. */
function deleteAll(parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
  const [first] = mine(parts).filter(({ state }) => state !== 'deleting');
  if (!first) return { ...IDLE, complete: mine(parts).length === 0 };
  return { ...IDLE, actions: [actionOn('delete', `${first.kind} ${first.id}`)] };
}

/** Serves with a load balancer, and makes one where it sees none. */
export function makeLoadBalancer(parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
  if (parts.some(({ kind }) => kind === 'load-balancer')) return READY;
  return { ...IDLE, actions: [actionOn('create', 'load-balancer')] };
}

/** Neither can it be asked about parts, nor does it say that its looks show all. */
export async function createTold(): Promise<Told> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const told: Told = {
    rig,
    parts: [],
    serve: () => READY,
    remove: deleteAll,
    apply: ({ id, kind, part }) => {
      if (kind === 'delete') told.parts = told.parts.filter((one) => one.kind !== part || one.id !== id);
      return { kind: 'done' };
    },
  };
  const { provider } = rig;
  delete provider.read;
  provider.namedByOwner = [];
  provider.observe = (services) =>
    Promise.resolve(services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: told.parts })));
  provider.plan = (desired, parts) => (desired.wanted ? told.serve(parts) : told.remove(parts));
  provider.apply = (action) => {
    provider.applied.push(`${action.kind} ${action.part} ${action.id}`);
    return Promise.resolve(told.apply(action));
  };
  return told;
}

/** A Service that is served with these parts, and has been looked at. */
export async function served(...names: readonly string[]): Promise<Told> {
  const told = await createTold();
  told.parts = names.map((name) => partOf(name));
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(10_000);
  assert.deepEqual(told.rig.reasons('web'), []);
  return told;
}

/** As of a program that wrote down nothing of the parts: a new process has to expect anything. */
export function withoutRecord({ rig: { api } }: Told): void {
  const { metadata, ...service } = api.get('web') ?? {};
  const { [partsAnnotation]: _, ...annotations } = metadata?.annotations ?? {};
  api.services.put({ ...service, metadata: { ...metadata, annotations } });
}

/** Has the Service looked at, as a changed node would. */
export async function lookAgain({ rig }: Told): Promise<void> {
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(10_000);
}

export async function goesWithin(told: Told, ms: number): Promise<void> {
  const { rig } = told;
  rig.api.delete('web');
  await rig.clock.advance(ms);
  assert.equal(rig.api.get('web'), undefined, 'the finalizer has gone');
  await rig.stop();
}

export async function waits({ rig }: Told): Promise<void> {
  rig.api.delete('web');
  await rig.clock.advance(80_000);
  assert.ok(rig.api.get('web'), 'nothing is not believed yet');
  await rig.clock.advance(50_000);
  assert.equal(rig.api.get('web'), undefined);
  await rig.stop();
}

/** What the cloud shows: of these kinds nothing. Others' lists go on. */
export const without = (told: Told, ...kinds: readonly string[]): void => {
  told.parts = told.parts.filter(({ kind }) => !kinds.includes(kind));
};
