/** What a direct read of one part proves, and what it does not. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  effectOf,
  isCloudError,
  type LoadBalancerPart,
  type PartAnswer,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import type { FaultRule } from '../../fake/fault-rules.ts';
import { Home } from '../home.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { PartReader } from './observe/read-parts.ts';
import { callContext, Rig, served, serviceNamed, type RigOptions } from './rig.suite.ts';

const EMPTY: readonly FaultRule[] = [
  {
    effect: 'empty',
    service: 'load-balancer',
    operation: 'GET /loadbalancers',
    when: ({ path }) => path.endsWith('loadbalancers'),
  },
  {
    effect: 'empty',
    service: 'network',
    operation: 'GET /floatingips',
    when: ({ path }) => path.endsWith('floatingips'),
  },
  {
    effect: 'empty',
    service: 'network',
    operation: 'GET /security-groups',
    when: ({ path }) => path.endsWith('security-groups'),
  },
];

async function servedRig(options: RigOptions = {}): Promise<{ rig: Rig; parts: readonly LoadBalancerPart[] }> {
  const rig = await Rig.open({ ...options, loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  await rig.bring(web);
  const parts = await rig.look(web);
  assert.deepEqual(parts.map(({ kind }) => kind).toSorted(), ['floating-ip', 'load-balancer', 'security-group']);
  return { rig, parts };
}

function questions(rig: Rig, parts: readonly LoadBalancerPart[], name = 'web'): readonly PartQuestion[] {
  const owner = { clusterId: rig.clusterId, uid: serviceNamed(name).uid };
  return parts.map(({ id, kind }) => ({ id, kind, owner }));
}

const kindsOf = (answers: readonly PartAnswer[]): readonly string[] => answers.map(({ kind }) => kind);

test('parts are there although all lists are empty, and absent once they are gone', async () => {
  const { parts, rig } = await servedRig();
  const asked = questions(rig, parts);
  rig.cloud.faults.set(...EMPTY);
  assert.deepEqual(await rig.look(serviceNamed('web')), []);
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['there', 'there', 'there']);
  assert.deepEqual(kindsOf(await rig.provider.read(questions(rig, parts, 'other'), callContext())), [
    'absent',
    'absent',
    'absent',
  ]);
  rig.cloud.faults.set();
  await rig.bring(serviceNamed('web'), false);
  const answers = await rig.provider.read(asked, callContext());
  assert.deepEqual(kindsOf(answers), ['absent', 'absent', 'absent']);
  assert.ok(answers.every((answer) => answer.kind === 'absent' && answer.proof.includes('404')));
});

test('one that is being deleted is there', async () => {
  const { parts, rig } = await servedRig();
  rig.cloud.octavia.settings.deleteMs = 60_000;
  const asked = questions(rig, parts).filter(({ kind }) => kind === 'load-balancer');
  for (let pass = 0; pass < 3; pass++) await rig.pass(rig.desired(serviceNamed('web'), false)).catch(() => undefined);
  assert.equal((await rig.look(serviceNamed('web')))[0]?.state, 'deleting');
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['there']);
});

test('whoever shares a load balancer has a part of it while his tag is there', async () => {
  const rig = await Rig.open({ loadBalancer: { maxSharedLb: 3 } });
  const first = serviceNamed('first');
  const made = served(first, await rig.bring(first));
  const id = made.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const second = serviceNamed('second', { ports: [{ name: '', port: 81, protocol: 'TCP', nodePort: 30_081 }] });
  const sharing = { ...second, annotations: annotated({ loadBalancerId: id }) };
  await rig.bring(sharing);
  const owner = { clusterId: rig.clusterId, uid: second.uid };
  const asked = [{ kind: 'shared-load-balancer', id, owner }];
  rig.cloud.faults.set(...EMPTY);
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['there']);
  rig.cloud.faults.set();
  // One who stays has the tag that cloud-provider-openstack writes too, on the load balancer and on a listener.
  const third = serviceNamed('third', { ports: [portOf(82)], annotations: sharing.annotations });
  assert.equal((await rig.bring(third)).refused, undefined);
  await rig.bring(sharing, false);
  const ask = async (): Promise<PartAnswer | undefined> => (await rig.provider.read(asked, callContext()))[0];
  assert.equal((await ask())?.kind, 'absent');
  // A list that leaves out proves nothing: whose the tag is then is not clear, it could be this Service's as well.
  rig.cloud.faults.set({ effect: 'empty', service: 'load-balancer', operation: 'GET /listeners' });
  assert.equal((await ask())?.kind, 'failed');
});

test('nobody has a part of a load balancer that he has left to those who share it', async () => {
  const rig = await Rig.open();
  const first = serviceNamed('first', { namespace: 'team-a' });
  const made = served(first, await rig.bring(first));
  const id = made.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const more = { namespace: 'team-b', ports: [portOf(81)], annotations: annotated({ loadBalancerId: id }) };
  rig.namespaces.set(first.uid, 'team-b');
  await rig.bring(serviceNamed('second', more));
  const asked = [{ kind: 'load-balancer', id, owner: { clusterId: rig.clusterId, uid: first.uid } }];
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['there']);
  await rig.bring(made, false);
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['absent']);
});

test('a failure, and a 404 that is not the service’s own, prove nothing', async () => {
  const { parts, rig } = await servedRig();
  const rules: readonly FaultRule[] = [
    ...[400, 401, 403, 409, 429, 500, 503].map((status): FaultRule => ({ effect: 'status', status })),
    ...[404, 410].map((status): FaultRule => ({ effect: 'proxy', status })),
    { effect: 'refused' },
    { effect: 'cut' },
  ];
  for (const rule of rules) {
    const service = (one: 'network' | 'load-balancer'): FaultRule => ({ ...rule, service: one });
    rig.cloud.faults.set(service('network'), service('load-balancer'));
    const answers = await rig.provider.read(questions(rig, parts), callContext());
    assert.deepEqual(kindsOf(answers), ['failed', 'failed', 'failed'], JSON.stringify(rule));
  }
});

test('what is no ID is asked about nowhere; a kind that OpenStack does not have is not known to be gone', async () => {
  const { rig } = await servedRig();
  const owner = { clusterId: rig.clusterId, uid: 'x' };
  rig.cloud.calls.reset();
  const ids = ['..', '../../v2.0/quotas', 'A'.repeat(36), ''];
  const answers = await rig.provider.read(
    ids.map((id) => ({ kind: 'floating-ip', id, owner })),
    callContext(),
  );
  assert.deepEqual(kindsOf(answers), ['absent', 'absent', 'absent', 'absent']);
  assert.equal(rig.cloud.calls.all().length, 0);
  for (const kind of ['dns', 'constructor', '__proto__', 'toString']) {
    const id = '00000000-0000-4000-8000-000000000000';
    const [answer] = await rig.provider.read([{ kind, id, owner }], callContext());
    assert.ok(answer?.kind === 'failed' && isCloudError(answer.error, 'unsupported'), kind);
  }
});

test('of what nobody has marked it is said that it is nobody’s', async () => {
  const rig = await Rig.open();
  const { security_group: group } = await rig.client.request<{ security_group: { readonly id: string } }>(
    callContext(),
    {
      service: 'network',
      operation: 'POST /v2.0/security-groups',
      method: 'POST',
      path: '/v2.0/security-groups',
      body: { security_group: { name: 'by-hand' } },
    },
  );
  const owner = { clusterId: rig.clusterId, uid: 'x' };
  const asked = [{ kind: 'security-group', id: group.id, owner }];
  assert.deepEqual(await rig.provider.read(asked, callContext()), [{ kind: 'there', isUnowned: true }]);
});

test('a 404 proves nothing before a server of the cluster was seen in this place', async () => {
  const { rig } = await servedRig();
  const home = new Home();
  const { client, clock } = rig;
  const reader = new PartReader({ client, clock, home });
  const id = '00000000-0000-4000-8000-000000000000';
  const ask = async (): Promise<PartAnswer | undefined> => {
    const owner = { clusterId: rig.clusterId, uid: 'x' };
    return (await reader.read([{ kind: 'load-balancer', id, owner }], callContext()))[0];
  };
  const early = await ask();
  assert.ok(early?.kind === 'failed' && isCloudError(early.error, 'retry-after'), 'nobody is told of it yet');
  await clock.sleep(60_000);
  const late = await ask();
  assert.ok(late?.kind === 'failed' && isCloudError(late.error, 'configuration'));
  home.sawById();
  assert.equal((await ask())?.kind, 'absent');
});

test('a part that was seen here is gone by a 404, in a cluster whose nodes are no servers of nova too', async () => {
  const { parts, rig } = await servedRig({ hasServers: false });
  await rig.clock.sleep(60_000);
  await rig.bring(serviceNamed('web'), false);
  const asked = questions(rig, parts);
  assert.deepEqual(kindsOf(await rig.provider.read(asked, callContext())), ['absent', 'absent', 'absent']);
  const [first] = asked;
  assert.ok(first);
  const unseen = { ...first, id: '00000000-0000-4000-8000-000000000000' };
  assert.deepEqual(kindsOf(await rig.provider.read([unseen], callContext())), ['failed'], 'it was never here');
});

test('what is made is named; a refusal after a change says that there was one', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const desired = rig.desired(web);
  const [create] = rig.provider.plan(desired, await rig.look(web)).actions;
  assert.ok(create);
  rig.cloud.faults.set({ effect: 'status', status: 403, service: 'load-balancer', operation: 'POST /loadbalancers' });
  const effectNow = (): Promise<unknown> =>
    rig.provider.apply(create, desired, callContext()).then(
      () => 'done',
      (error: unknown) => effectOf(error),
    );
  assert.equal(await effectNow(), 'none');
  rig.cloud.faults.set({ effect: 'lost', service: 'load-balancer', operation: 'POST /loadbalancers', times: 1 });
  assert.equal(await effectNow(), 'unknown');
  rig.cloud.faults.set();
  let floating: unknown;
  for (let pass = 0; pass < 10 && floating === undefined; pass++) {
    const parts = await rig.look(web);
    const [action] = rig.provider.plan(desired, parts).actions;
    if (action?.part === 'floating-ip') {
      rig.cloud.faults.set({ effect: 'status', status: 409, service: 'network', operation: 'PUT /floatingips' });
      floating = await rig.provider.apply(action, desired, callContext()).then(
        () => 'done',
        (error: unknown) => effectOf(error),
      );
    } else if (action) {
      const result = await rig.provider.apply(action, desired, callContext());
      if (action.kind === 'create') assert.equal(result.kind !== 'failed' && result.made?.kind, 'load-balancer');
    }
    await rig.clock.sleep(5_000);
  }
  assert.equal(floating, 'unknown', 'the address was made before its tags were refused');
});
