// Over 400 lines: one rig, and one test for each way in which the condition can be wrong or contested.
/** The condition `LoadBalancerReady` of a Service: what it says, when it is written, and what it costs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { CloudError, cloudErrorCodes, type CloudErrorCode } from '@outrigger/cloud-provider';
import type { Condition, Patch, Service } from '@outrigger/kube';
import { failedReadiness, waitingReadiness } from './readiness.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { readyCondition } from './well-known-names.ts';

function ready(rig: Rig, name: string = 'web'): Condition | undefined {
  return rig.api.get(name)?.status?.conditions?.find(({ type }) => type === readyCondition);
}

const told = (rig: Rig): string => `${ready(rig)?.status} ${ready(rig)?.reason}`;

async function started(apply: (rig: Rig) => void = (rig) => void rig.api.apply('web', webSpec)): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  apply(rig);
  await rig.start();
  return rig;
}

async function served(): Promise<Rig> {
  const rig = await started();
  await rig.clock.advance(10_000);
  assert.equal(told(rig), 'True Ready');
  return rig;
}

const statusOf = (patch: Patch): Service['status'] =>
  'body' in patch ? (patch.body as Pick<Service, 'status'>).status : undefined;

/** What each patch said of it. */
function sayings(rig: Rig): readonly string[] {
  return rig.api.patches.map(({ patch }) => {
    return statusOf(patch)?.conditions?.find(({ type }) => type === readyCondition)?.reason ?? '-';
  });
}

const reads = (rig: Rig): readonly number[] => [rig.api.patches.length, rig.provider.observes];

/** Another writer, which takes it away each time. */
function takeAlways(rig: Rig): void {
  rig.api.services.store.subscribe((change) => {
    if (change.type === 'delete' || !change.object.status?.conditions?.length) return;
    const { conditions: _, ...status } = change.object.status;
    setImmediate(() => rig.api.services.put({ ...change.object, metadata: { ...change.object.metadata }, status }));
  });
}

test('a new Service is Provisioning with its finalizer and Ready with its addresses: two writes, as before', async () => {
  const rig = await started();
  await rig.clock.advance(10_000);
  const [first, ...others] = sayings(rig);
  assert.deepEqual(
    [first, others.at(-1), others.slice(0, -1).filter((one) => one !== '-')],
    ['Provisioning', 'Ready', []],
  );
  const last = rig.api.patches.at(-1);
  assert.ok(last && statusOf(last.patch)?.loadBalancer, 'the same patch writes the addresses');
  const { lastTransitionTime, message } = ready(rig) ?? {};
  assert.match(lastTransitionTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(message ?? '', /./);
  await rig.stop();
});

test('a Service that does not change costs no write and no look; a new process writes it no second time', async () => {
  const rig = await served();
  const before = reads(rig);
  await rig.clock.advance(3_600_000);
  assert.deepEqual(reads(rig), before);
  await rig.stop();
  await rig.start();
  await rig.clock.advance(60_000);
  assert.equal(rig.api.patches.length, before[0]);
  await rig.stop();
});

test('a node that joins changes nothing of it', async () => {
  const rig = await served();
  const { length } = rig.api.patches;
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.partsOf('uid-1').find(({ kind }) => kind === 'load-balancer')?.attributes['backEnds'], [
    'memory://r/n1',
    'memory://r/n2',
  ]);
  assert.equal(rig.api.patches.length, length);
  await rig.stop();
});

test('a generation that it does not know is written: kubectl wait believes no older one', async () => {
  const rig = await served();
  const before = reads(rig);
  rig.api.apply('web', webSpec, { ...rig.api.get('web')?.metadata, generation: 2 });
  await rig.clock.advance(10_000);
  assert.equal(ready(rig)?.observedGeneration, 2);
  assert.deepEqual(reads(rig), [Number(before[0]) + 1, before[1]], 'one write, and no look at the cloud');
  await rig.stop();
});

const failures: readonly (readonly [Error, string])[] = [
  [new CloudError('quota', 'no address is left'), 'False QuotaExceeded'],
  [new CloudError('invalid', 'no such flavor'), 'False Refused'],
  [new CloudError('not-owned', 'somebody else has it'), 'False NotOwned'],
  [new CloudError('some-day/new_code' as 'quota', 'of a newer contract'), 'False SomeDayNewCode'],
  [new Error('secret'), 'False Failed'],
];

test('what fails says so by its code, and names what the cloud said', async () => {
  for (const [error, expected] of failures) {
    const rig = await started((one) => {
      one.provider.before = () => {
        throw error;
      };
      one.api.apply('web', webSpec);
    });
    await rig.clock.advance(1_000);
    assert.equal(told(rig), expected);
    const { message = '' } = ready(rig) ?? {};
    assert.equal(message.includes(error.message), expected !== 'False Failed', message);
    rig.provider.before = () => {};
    await rig.clock.advance(2_000_000);
    assert.equal(told(rig), 'True Ready');
    await rig.stop();
  }
});

test('a failure that goes on is written once, whatever request ID each try brings', async () => {
  let tries = 0;
  const rig = await started((one) => {
    one.provider.before = () => {
      throw new CloudError('unavailable', `request req-${(tries += 1)}a${tries * 7919} came back with a 503`);
    };
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(3_600_000);
  assert.ok(tries > 10, `${tries}`);
  assert.equal(told(rig), 'False Unavailable');
  const said = sayings(rig).filter((reason) => reason !== '-');
  assert.deepEqual(said, ['Provisioning', 'Unavailable']);
  await rig.stop();
});

test('a long failure is written once too, wherever its end is cut for the length of a request ID', async () => {
  let tries = 0;
  const rig = await started((one) => {
    one.provider.before = () => {
      const id = `req-${'0123456789'.repeat(7).slice(0, (tries += 1) % 61)}7`;
      throw new CloudError('unavailable', `request ${id} failed: ${`the service abc-${id} is away; `.repeat(12)}`);
    };
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(3_600_000);
  assert.ok(tries > 10, `${tries}`);
  assert.deepEqual(
    sayings(rig).filter((reason) => reason !== '-'),
    ['Provisioning', 'Unavailable'],
  );
  rig.provider.before = () => {
    throw new CloudError('unavailable', `something else: ${'it is not as it was; '.repeat(20)}`);
  };
  await rig.clock.advance(600_000);
  assert.match(ready(rig)?.message ?? '', /something else/, 'what is news is written');
  await rig.stop();
});

test('a message is cut at 256 characters, and never within a character', async () => {
  const rig = await started((one) => {
    one.provider.before = () => {
      throw new CloudError('conflict', `x${'🛶'.repeat(1_000)}`);
    };
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(1_000);
  const { message = '' } = ready(rig) ?? {};
  assert.ok(message.length <= 256 && message.length > 250, `${message.length}`);
  assert.ok(message.isWellFormed());
  await rig.stop();
});

test('lastTransitionTime is when the status changed, not when its reason did', async () => {
  const rig = await started((one) => {
    one.provider.before = () => {
      throw new CloudError('unavailable', 'down');
    };
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(1_000);
  const first = ready(rig);
  rig.provider.before = () => {
    throw new CloudError('quota', 'none is left');
  };
  await rig.clock.advance(30_000);
  assert.equal(told(rig), 'False QuotaExceeded');
  assert.equal(ready(rig)?.lastTransitionTime, first?.lastTransitionTime);
  rig.provider.before = () => {};
  await rig.clock.advance(600_000);
  assert.equal(told(rig), 'True Ready');
  assert.notEqual(ready(rig)?.lastTransitionTime, first?.lastTransitionTime);
  await rig.stop();
});

test('a wait that lasts names the parts that are waited for, in one write', async () => {
  const rig = await started((one) => {
    one.cloud.configure({ loadBalancerDelayMs: 600_000 });
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(300_000);
  assert.equal(told(rig), 'False WaitingForPart');
  assert.match(ready(rig)?.message ?? '', /load-balancer/);
  assert.deepEqual(
    sayings(rig).filter((one) => one !== '-'),
    ['Provisioning', 'WaitingForPart'],
  );
  await rig.stop();
});

test('a wait of which the cloud says itself that it takes long names the parts at the first look', async () => {
  const rig = await started((one) => {
    one.cloud.configure({ loadBalancerDelayMs: 600_000 });
    const { inner } = one.provider;
    const apply = inner.apply.bind(inner);
    inner.apply = async (...asked) => {
      const result = await apply(...asked);
      return result.kind === 'pending' ? { ...result, pollAfterMs: 20_000 } : result;
    };
    one.api.apply('web', webSpec);
  });
  await rig.clock.advance(19_000);
  assert.equal(told(rig), 'False Provisioning');
  const before = rig.provider.observes;
  await rig.clock.advance(2_000);
  assert.deepEqual([told(rig), rig.provider.observes], ['False WaitingForPart', before + 1]);
  await rig.stop();
});

test('the parts that are waited for are named in one order, whatever that of the cloud is', () => {
  assert.deepEqual(
    waitingReadiness(['pool p1', 'listener l1'], true),
    waitingReadiness(['listener l1', 'pool p1'], true),
  );
});

test('without nodes it is not ready: at once where there was none, and while the last ones are kept', async () => {
  const none = await createRig();
  none.api.apply('web', webSpec);
  await none.start();
  await none.clock.advance(10_000);
  assert.equal(told(none), 'False NoNodes');
  none.api.nodes.put(nodeOf('n1'));
  await none.clock.advance(10_000);
  assert.equal(told(none), 'True Ready');
  await none.stop();

  const rig = await served();
  rig.api.nodes.remove('n1');
  await rig.clock.advance(10_000);
  assert.equal(told(rig), 'False NoNodes');
  const { length } = rig.api.patches;
  await rig.clock.advance(200_000);
  assert.equal(rig.api.patches.length, length);
  rig.api.nodes.put(nodeOf('n1'));
  await rig.clock.advance(10_000);
  assert.equal(told(rig), 'True Ready');
  await rig.stop();
});

test('a wish that is refused says so, though what was there before still serves', async () => {
  const rig = await served();
  rig.api.apply('web', { ...webSpec, sessionAffinity: 'ClientIP' });
  rig.provider.plan = () => {
    throw new CloudError('unsupported', 'no session affinity here');
  };
  await rig.clock.advance(10_000);
  assert.equal(told(rig), 'False Refused');
  assert.ok(rig.api.get('web')?.status?.loadBalancer?.ingress?.length);
  await rig.stop();
});

test('it goes with the load balancer: of a Service of another type nothing is left', async () => {
  const rig = await served();
  rig.api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.partsOf('uid-1'), []);
  assert.equal(ready(rig), undefined);
  await rig.stop();
});

test('a deletion that fails says why', async () => {
  const rig = await served();
  rig.provider.before = () => {
    throw new CloudError('forbidden', 'the account may not delete');
  };
  rig.api.delete('web');
  await rig.clock.advance(30_000);
  assert.equal(told(rig), 'False Forbidden');
  await rig.stop();
});

test('a failure that passes by itself is no failure any more: nodes are as they were', async () => {
  const rig = await served();
  rig.provider.before = () => {
    throw new CloudError('unavailable', 'down');
  };
  rig.provider.observing = () => {
    throw new CloudError('unavailable', 'down');
  };
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(3_000);
  assert.equal(told(rig), 'False Unavailable');
  rig.api.nodes.remove('n2');
  await rig.clock.advance(600_000);
  assert.equal(told(rig), 'True Ready');
  await rig.stop();
});

test('another writer that changes it is answered with back-off, without a look at the cloud, and told', async () => {
  const rig = await served();
  const before = reads(rig);
  const isTrue = ({ status }: Service): boolean => status?.conditions?.some((one) => one.status === 'True') ?? false;
  const change = (): void => {
    const service = rig.api.get('web') ?? {};
    const conditions = service.status?.conditions?.map((one) => ({ ...one, status: 'False', reason: 'Other' })) ?? [];
    rig.api.services.put({ ...service, metadata: { ...service.metadata }, status: { ...service.status, conditions } });
  };
  rig.api.services.store.subscribe((one) => {
    if (one.type !== 'delete' && isTrue(one.object)) setImmediate(change);
  });
  change();
  for (let i = 0; i < 100; i++) await rig.clock.settle();
  assert.equal(rig.api.patches.length - Number(before[0]), 1, 'once at once');
  await rig.clock.advance(3_600_000);
  const writes = rig.api.patches.length - Number(before[0]);
  assert.ok(writes > 10 && writes < 20, `${writes} in an hour`);
  assert.equal(rig.provider.observes, before[1]);
  const events = rig.events.filter(({ reason }) => reason === 'FieldContested');
  assert.ok(events.length > 0 && events.length <= 3, `${events.length}`);
  assert.match(events[0]?.message ?? '', /writes status\.conditions/);
  await rig.stop();
});

test('one that is as it should be and has no condition, as after a take-over, is not written for that alone', async () => {
  const rig = await served();
  const service = rig.api.get('web') ?? {};
  const { conditions: _, ...status } = service.status ?? {};
  rig.api.services.put({ ...service, metadata: { ...service.metadata }, status });
  const before = rig.api.patches.length;
  await rig.clock.advance(3_600_000);
  assert.equal(rig.api.patches.length, before);
  const says = (): readonly unknown[] | undefined =>
    rig.api.get('web')?.status?.conditions?.map(({ reason, type }) => [type, reason]);
  // Without a node port.
  rig.api.services.put({ ...rig.api.get('web'), spec: { ...webSpec, ports: [{ port: 81, protocol: 'TCP' }] } });
  await rig.clock.advance(60_000);
  assert.deepEqual(says(), [['LoadBalancerReady', 'Refused']]);
  rig.api.services.put({ ...rig.api.get('web'), spec: webSpec });
  await rig.clock.advance(60_000);
  assert.deepEqual(says(), [['LoadBalancerReady', 'Ready']]);
  await rig.stop();
});

test('a server that refuses the condition keeps nothing from being done', async () => {
  const rig = await started((one) => {
    one.provider.before = () => {
      throw new CloudError('quota', 'none is left');
    };
    one.api.apply('web', webSpec);
  });
  rig.api.before = () => {
    const { length } = rig.api.patches;
    if (length > 0) throw new Error('refused by a webhook');
  };
  await rig.clock.advance(1_000_000);
  const failed = rig.events.filter(({ reason }) => reason === 'SyncLoadBalancerFailed');
  assert.ok(
    failed.every(({ message }) => message.includes('none is left')),
    JSON.stringify(failed),
  );
  rig.api.before = () => {};
  rig.provider.before = () => {};
  await rig.clock.advance(1_000_000);
  assert.equal(told(rig), 'True Ready');
  await rig.stop();
});

test('a Service that is refused before it is recorded, and becomes another type, says nothing of it any more', async () => {
  const udp = { ...webSpec, ports: [{ port: 9, protocol: 'SCTP' as const, nodePort: 30_009 }] };
  const rig = await started((one) => void one.api.apply('web', udp));
  await rig.clock.advance(1_000);
  assert.equal(told(rig), 'False Refused');
  assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, []);
  rig.api.apply('web', { ...udp, type: 'ClusterIP' });
  await rig.clock.advance(1_000);
  assert.equal(ready(rig), undefined);
  const { length } = rig.api.patches;
  await rig.clock.advance(600_000);
  assert.equal(rig.api.patches.length, length);
  await rig.stop();
});

test('the reference page has the reason of each code', async () => {
  const page = await readFile(new URL('../../../../docs/reference/service-conditions.md', import.meta.url), 'utf8');
  for (const code of Object.keys(cloudErrorCodes)) {
    const { reason } = failedReadiness(new CloudError(code as CloudErrorCode, 'x'));
    assert.ok(page.includes(`\`${reason}\``), reason);
  }
});

test('a changed wish is not Ready before the cloud has done what it asks for, and each state is told in one write', async () => {
  const rig = await served();
  const { length } = rig.api.patches;
  rig.cloud.configure({ loadBalancerDelayMs: 60_000 });
  const ports = [{ port: 81, protocol: 'TCP' as const, nodePort: 30_081 }];
  rig.api.apply('web', { ...webSpec, ports }, { ...rig.api.get('web')?.metadata, generation: 2 });
  for (let seconds = 0; seconds < 50; seconds++) {
    await rig.clock.advance(1_000);
    assert.equal(ready(rig)?.status, 'False', `${seconds} s: ${told(rig)}`);
  }
  await rig.clock.advance(60_000);
  assert.deepEqual(sayings(rig).slice(length), ['Provisioning', 'WaitingForPart', 'Ready']);
  assert.deepEqual([told(rig), ready(rig)?.observedGeneration], ['True Ready', 2]);
  await rig.stop();
});

test('what it says wakes nobody: a cloud that fails otherwise each time is tried with back-off', async () => {
  const rig = await served();
  let tries = 0;
  rig.provider.before = () => {
    throw new CloudError((tries += 1) % 2 === 0 ? 'unavailable' : 'timeout', 'down');
  };
  rig.api.nodes.put(nodeOf('n2'));
  for (let seconds = 0; seconds < 60; seconds++) {
    await rig.clock.advance(1_000);
    await rig.clock.settle();
  }
  assert.ok(tries >= 3 && tries <= 5, `${tries} tries in a minute`);
  await rig.stop();
});

test('another writer that takes it away while the cloud fails brings no try forward', async () => {
  const rig = await served();
  let tries = 0;
  rig.provider.before = () => {
    tries += 1;
    throw new CloudError('unavailable', 'down');
  };
  takeAlways(rig);
  rig.api.nodes.put(nodeOf('n2'));
  for (let seconds = 0; seconds < 60; seconds++) {
    await rig.clock.advance(1_000);
    await rig.clock.settle();
  }
  assert.ok(tries >= 3 && tries <= 5, `${tries} tries in a minute`);
  assert.ok(rig.api.patches.length < 20, `${rig.api.patches.length} writes`);
  await rig.stop();
});

test('another writer that takes it from a Service that is refused before it is recorded is answered with back-off', async () => {
  const sctp = { ...webSpec, ports: [{ port: 9, protocol: 'SCTP' as const, nodePort: 30_009 }] };
  const rig = await started((one) => void one.api.apply('web', sctp));
  takeAlways(rig);
  for (let seconds = 0; seconds < 600; seconds++) {
    await rig.clock.advance(1_000);
    await rig.clock.settle();
  }
  const { length } = rig.api.patches;
  assert.ok(length >= 3 && length <= 12, `${length} writes in ten minutes`);
  await rig.stop();
});

test('a Service that was refused, is mended and changes while it is recorded, is recorded at once', async () => {
  const rig = await started((one) => {
    one.api.apply('web', { ...webSpec, ports: [{ port: 9, protocol: 'SCTP', nodePort: 30_009 }] });
  });
  for (let i = 0; i < 8; i++) {
    rig.api.apply('web', { ...webSpec, ports: [{ port: 10 + i, protocol: 'SCTP', nodePort: 30_009 }] });
    await rig.clock.advance(1_000);
  }
  rig.api.before = () => {
    rig.api.before = () => {};
    rig.api.services.holdWatch = true;
    rig.api.services.put({ ...rig.api.get('web'), status: {} });
    rig.api.services.holdWatch = false;
  };
  rig.api.apply('web', webSpec);
  await rig.clock.advance(1_000);
  rig.api.services.publish();
  await rig.clock.advance(1_000);
  assert.equal(rig.api.get('web')?.metadata?.finalizers?.length, 1);
  await rig.stop();
});

test("another program's condition of this name, on a Service that asks for no load balancer, stays", async () => {
  const rig = await started();
  const theirs: Condition = {
    type: readyCondition,
    status: 'True',
    reason: 'Theirs',
    message: '',
    lastTransitionTime: '',
  };
  const metadata = { name: 'plain', namespace: 'default', uid: 'uid-plain' };
  rig.api.services.put({ metadata, spec: { ...webSpec, type: 'ClusterIP' }, status: { conditions: [theirs] } });
  await rig.clock.advance(10_000);
  assert.deepEqual(ready(rig, 'plain'), theirs);
  await rig.stop();
});
