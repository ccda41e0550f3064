/** What the memory cloud says of single parts, and what it never says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOf, isCloudError, type LoadBalancers, type PartQuestion } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { bareHost, CALL } from './bare-host.suite.ts';
import { createMemoryCloud, createMemoryProvider, type FaultRule, type MemoryCloud } from './index.ts';

const ME = { clusterId: 'cluster-1', uid: 'uid-1' };

async function setUp(): Promise<{ cloud: MemoryCloud; balancers: LoadBalancers; clock: FakeClock }> {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  const { loadBalancers } = await createMemoryProvider({ cloud }).open(bareHost(clock));
  assert.ok(loadBalancers);
  return { cloud, balancers: loadBalancers, clock };
}

async function kindsOf(balancers: LoadBalancers, ...asked: readonly PartQuestion[]): Promise<readonly string[]> {
  const answers = (await balancers.read?.(asked, CALL)) ?? [];
  return answers.map(({ kind }) => kind);
}

test('a part is there by its ID and by its owner, whatever the lists say; what is gone, or another’s, is absent', async () => {
  const { balancers, cloud } = await setUp();
  const { id } = cloud.createPart({ kind: 'dns', tags: { ...ME }, attributes: {} });
  const unowned = cloud.createPart({ kind: 'address', tags: {}, attributes: {} });
  const other = cloud.createPart({ kind: 'address', tags: { ...ME, uid: 'uid-2' }, attributes: {} });
  cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
  const asked: readonly PartQuestion[] = [
    { kind: 'dns', id, owner: ME },
    { kind: 'dns', owner: ME },
    { kind: 'address', id: unowned.id, owner: ME },
    { kind: 'address', id: other.id, owner: ME },
    { kind: 'address', owner: ME },
    { kind: 'dns', id: 'dns-77', owner: ME },
  ];
  assert.deepEqual(await kindsOf(balancers, ...asked), ['there', 'there', 'there', 'absent', 'absent', 'absent']);
  cloud.deletePart(id);
  assert.deepEqual(await kindsOf(balancers, ...asked.slice(0, 2)), ['absent', 'absent']);
});

test('a kind that it does not know cannot be asked about, and an ID of another kind is not the part that was asked about', async () => {
  const { balancers, cloud } = await setUp();
  const { id } = cloud.createPart({ kind: 'dns', tags: { ...ME }, attributes: {} });
  const answers = await balancers.read?.(
    [
      { kind: 'volume', id, owner: ME },
      { kind: 'volume', owner: ME },
      { kind: 'address', id, owner: ME },
    ],
    CALL,
  );
  assert.deepEqual(
    answers?.map((answer) =>
      answer.kind === 'failed' ? [answer.kind, isCloudError(answer.error, 'unsupported')] : [answer.kind],
    ),
    [['failed', true], ['failed', true], ['absent']],
  );
});

test('a failure is no proof, and neither is a 404 that is not the cloud’s own', async () => {
  const { balancers, cloud } = await setUp();
  const rules: readonly FaultRule[] = [404, 410, 403, 429, 500, 503].map((status) => ({ effect: 'status', status }));
  for (const rule of rules) {
    cloud.setFaults([rule]);
    const questions = [{ kind: 'dns', owner: ME }] as const;
    assert.deepEqual(await kindsOf(balancers, ...questions), ['failed'], String(rule.status));
  }
});

test('what is made is named in the answer; what is refused was not made, what is lost may have been', async () => {
  const { balancers, cloud } = await setUp();
  const desired = { wanted: true, owner: ME, backEnds: [], service: { uid: ME.uid } } as never;
  const action = { kind: 'create', part: 'address', summary: '', input: {} } as const;
  const { id } = cloud.createPart({ kind: 'address', tags: { ...ME }, attributes: {} });
  assert.deepEqual(await balancers.apply(action, desired, CALL), { kind: 'done', made: { kind: 'address', id } });
  cloud.deletePart(id);
  cloud.configure({ quota: { parts: 0 } });
  const effect = (): Promise<unknown> =>
    balancers.apply(action, desired, CALL).catch((error: unknown) => effectOf(error));
  assert.equal(await effect(), 'none');
  cloud.setFaults([{ effect: 'status', status: 404 }]);
  assert.equal(await effect(), 'none');
  cloud.configure({ quota: {} });
  cloud.setFaults([{ effect: 'lost' }]);
  assert.equal(await effect(), 'unknown');
});
