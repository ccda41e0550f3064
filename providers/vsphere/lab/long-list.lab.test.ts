/** A list of several pages whose session is ended between them: `make e2e-vsphere`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CallContext, type Instances, type NodeRef } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { openedHost } from '../../../packages/provider-kit/src/opened-host.suite.ts';
import { openVcenter } from '../src/inventory/open-vcenter.ts';
import { createVsphereProvider } from '../src/vsphere-provider.ts';
import { LabVcenter, startLabOrSkip, type LabMachine, type WireRule } from './lab.ts';

/** Three pages. */
const MACHINES = 600;
const NEXT_PAGE = 'ContinueRetrievePropertiesEx';
const ABSENT_UUID = '00000000-0000-4000-8000-000000000001';

const once = (skip: number): WireRule => ({ method: NEXT_PAGE, skip, count: 1, killSessions: true });
/** How often sessions end, and between which pages. */
const ENDS: readonly { readonly name: string; readonly rules: readonly WireRule[] }[] = [
  { name: 'between the first page and the second', rules: [once(0)] },
  { name: 'between the second page and the third', rules: [once(1)] },
  {
    name: 'between the first and the second, and in the next try between the second and the third',
    rules: [once(0), once(1)],
  },
  {
    name: 'in every try, between the second page and the third',
    rules: [{ method: NEXT_PAGE, skip: 1, killSessions: true }],
  },
  { name: 'in every try, between the first page and the second', rules: [{ method: NEXT_PAGE, killSessions: true }] },
];

function nodeOf(lab: LabVcenter, { biosUuid, name }: LabMachine, reference: string): NodeRef {
  const annotations = { 'vsphere.outrigger.dev/machine': `${lab.instanceUuid}/${reference}` };
  return { name, uid: name, providerID: `vsphere://${biosUuid}`, systemUUID: biosUuid, labels: {}, annotations };
}

test('a list of 600 machines whose session ends between its pages fails or is whole, and nothing is concluded from it', async (t) => {
  const [lab] = (await startLabOrSkip(t, [{ machines: MACHINES }])) ?? [];
  if (!lab) return;
  const machines = await lab.machines();
  assert.equal(machines.length, MACHINES);
  await using owned = new AsyncDisposableStack();
  const { host, opened } = await openedHost(systemClock, { random: () => 0.5 });
  owned.use(opened);
  const vcenter = openVcenter({
    host,
    settings: {
      server: '127.0.0.1',
      port: lab.port,
      credentials: { kind: 'user', user: lab.user, password: lab.password },
      insecure: true,
    },
  });
  owned.defer(() => vcenter.close());
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  const pagesOf = async (): Promise<number> => (await lab.calls()).filter(({ method }) => method === NEXT_PAGE).length;

  await t.test('three pages', async () => {
    await vcenter.machines(call);
    await lab.calls(true);
    assert.equal((await vcenter.machines(call)).machines.length, MACHINES);
    assert.deepEqual(
      (await lab.calls()).map(({ method }) => method),
      ['RetrievePropertiesEx', NEXT_PAGE, NEXT_PAGE],
    );
  });

  for (const { name, rules } of ENDS) {
    await t.test(name, async (t) => {
      await lab.setRules(rules);
      await lab.calls(true);
      const listed = await vcenter.machines(call).then(
        (list) => new Set(list.machines.map(({ reference }) => reference)).size,
        (error: unknown) => (isCloudError(error, 'unavailable') ? 'failed' : Promise.reject(error)),
      );
      t.diagnostic(`${listed === 'failed' ? 'failed' : `${listed} machines`} by ${await pagesOf()} further pages`);
      assert.ok(listed === 'failed' || listed === MACHINES, `${listed} of ${MACHINES}`);
      assert.ok((await pagesOf()) > 0);
      await lab.setRules([]);
      assert.equal((await vcenter.machines(call)).machines.length, MACHINES);
    });
  }

  const instances = await providerInstances(owned, lab);
  await t.test('of nodes none is missing, and none is proved to be gone', async () => {
    for (const { rules } of ENDS.slice(2)) {
      await lab.setRules(rules);
      const refs = machines.map((machine) => nodeOf(lab, machine, machine.reference));
      const kinds = await instances.of.lookUp(refs, 'state', instances.call).then(
        (answers) => new Set(answers.map(({ result }) => result.kind)),
        () => new Set(['failed']),
      );
      assert.ok(!kinds.has('missing') && !kinds.has('absent'), [...kinds].join());
      await lab.setRules([]);
    }
  });

  await t.test('a machine that is gone is proved so by a whole list only', async () => {
    const [machine] = machines;
    assert.ok(machine);
    // Its proof takes a list of all, in which none of its name may be hidden.
    const gone = nodeOf(lab, { ...machine, name: 'gone', biosUuid: ABSENT_UUID }, 'vm-99999');
    const kindOf = async (): Promise<string> =>
      instances.of.read(gone, 'state', instances.call).then(
        ({ result }) => result.kind,
        () => 'failed',
      );
    await lab.calls(true);
    assert.equal(await kindOf(), 'absent');
    assert.ok((await pagesOf()) >= 2, 'the proof takes the whole list');
    for (const { name, rules } of ENDS.filter((one) => one.name.includes('every'))) {
      await lab.setRules(rules);
      assert.equal(await kindOf(), 'failed', name);
      await lab.setRules([]);
    }
  });
});

async function providerInstances(
  owned: AsyncDisposableStack,
  lab: LabVcenter,
): Promise<{ readonly of: Instances; readonly call: CallContext }> {
  const opened = owned.use(
    await openProvider(createVsphereProvider({ environment: { env: {}, workingDirectory: '/nowhere' } }), {
      cluster: { id: 'cluster-1', name: 'test' },
      clock: systemClock,
      logger: silentLogger,
      random: () => 0.5,
      config: { fileName: 'cloud.conf', text: LabVcenter.config([lab]) },
    }),
  );
  const { instances } = opened.capabilities;
  assert.ok(instances);
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  return { of: instances, call };
}
