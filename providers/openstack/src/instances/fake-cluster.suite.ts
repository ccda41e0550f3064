/** For tests: the provider over the fake OpenStack, without sockets, on the host's side of the contract. */
import type { NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack, type FakeOpenStack } from '../../fake/fake-openstack.ts';
import { fakeCloudConf, NOWHERE } from '../../fake/fake-cloud-conf.ts';
import { inProcessFetch } from '../../fake/in-process-fetch.ts';
import { seededRandom } from '../../fake/seeded-random.ts';
import { seedProject, type SeededProject } from '../../fake/seed-project.ts';
import { createOpenStackProvider } from '../openstack-provider.ts';

/** An OpenStack in memory with the project of a cluster in it. */
export interface FakeProject {
  readonly clock: FakeClock;
  readonly cloud: FakeOpenStack;
  readonly seeded: SeededProject;
}

export interface FakeCluster extends FakeProject, AsyncDisposable {
  readonly opened: OpenedProvider;
}

export function makeFakeProject(): FakeProject {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  return { clock, cloud, seeded: seedProject(cloud) };
}

/** `networking`: lines of `[Networking]`. Default of `project`: one of its own. */
export async function openFakeCluster({
  networking = '',
  project = makeFakeProject(),
}: { readonly networking?: string; readonly project?: FakeProject } = {}): Promise<FakeCluster> {
  const { clock, cloud } = project;
  const text = fakeCloudConf({ region: cloud.region, more: `[Networking]\n${networking}` });
  const opened = await openProvider(createOpenStackProvider({ environment: NOWHERE, fetch: inProcessFetch(cloud) }), {
    cluster: { id: 'cluster-1', name: 'test' },
    config: { fileName: 'cloud.conf', text },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 100_000 } } },
  });
  return { ...project, opened, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** The node that a kubelet registers on this server. */
export function nodeOf(name: string, id?: string): NodeRef {
  const providerID = id === undefined ? undefined : `openstack:///${id}`;
  return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
}
