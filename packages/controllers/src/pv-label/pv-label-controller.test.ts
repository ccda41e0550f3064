import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { createVolumeLookUps } from '@outrigger/cloud-runtime';
import { noMetrics, silentLogger, StatusError, type PersistentVolume, type Store } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { Finding } from '../finding.ts';
import { Journal } from '../journal.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { createPvLabelController, type PvLabelController } from './pv-label-controller.ts';
import { inZone, REGION, TellingCloud, volumeOf, ZONE, type VolumeSpec } from './pv-label-rig.suite.ts';

class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly api = new FakeNodeApi();
  readonly cloud = new TellingCloud();
  readonly events: string[] = [];
  readonly journal: Journal;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;

  readonly controller: PvLabelController;

  constructor(dryRun = false) {
    const { api, clock } = this;
    this.journal = new Journal({ clock, logger: silentLogger, dryRun, redact: (text) => text });
    const lookUps = createVolumeLookUps({
      volumes: this.cloud,
      callContext: ({ priority, signal }) => ({
        priority,
        signal,
        logger: silentLogger,
        call: (_operation, send) => send(signal),
      }),
      clock,
      priority: 'normal',
      signal: this.#ended.signal,
    });
    this.controller = createPvLabelController({
      client: api.client,
      store: api.store as unknown as Store<PersistentVolume>,
      lookUps,
      events: { record: ({ metadata }, { reason }) => void this.events.push(`${metadata?.name} ${reason}`) },
      clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      journal: this.journal.of('persistent-volume-label-controller'),
    });
  }

  put(name: string, spec?: VolumeSpec): void {
    this.api.put(volumeOf(name, spec) as object);
  }

  async start(): Promise<void> {
    this.#running = this.controller.run(this.#ended.signal);
    await this.clock.advance(0);
  }

  labels(name: string): Readonly<Record<string, string>> | undefined {
    return this.api.nodes.get(name)?.metadata?.labels;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.clock.advance(0);
    await this.#running;
  }
}

const labelled = { [ZONE]: 'a', [REGION]: 'region-1' };

test('100 volumes cost one look-up and one write each, and nothing afterwards', async () => {
  await using rig = new Rig();
  for (let i = 0; i < 100; i++) {
    rig.put(`v${i}`);
    rig.cloud.answers.set(`v${i}`, inZone('a'));
  }
  await rig.start();
  await rig.clock.advance(3_600_000);
  assert.equal(rig.cloud.calls.length, 1);
  assert.equal(rig.api.writes.length, 100);
  assert.deepEqual(rig.labels('v99'), labelled);
  const { spec } = rig.api.nodes.get('v0') as unknown as PersistentVolume;
  assert.equal(spec?.nodeAffinity?.required?.nodeSelectorTerms.length, 1);
});

test('a volume that appears later is labelled too; one that is complete, or a CSI driver’s, is not asked about', async () => {
  await using rig = new Rig();
  await rig.start();
  rig.put('complete', { labels: labelled, affinity: ['a'] });
  rig.put('csi', { source: { csi: { driver: 'd', volumeHandle: 'csi' } } });
  rig.cloud.answers.set('later', inZone('a'));
  rig.put('later');
  await rig.clock.advance(0);
  assert.deepEqual(rig.cloud.calls, [['later']]);
  assert.deepEqual(rig.labels('later'), labelled);
});

test('a cloud that fails is asked again, less and less often; a person hears of it from the third time on', async () => {
  await using rig = new Rig();
  rig.cloud.answers.set('v', { kind: 'failed', error: new CloudError('unavailable', 'no') });
  rig.put('v');
  await rig.start();
  await rig.clock.advance(1_000);
  assert.deepEqual([rig.cloud.calls.length, rig.events], [2, []]);
  await rig.clock.advance(2_000);
  assert.deepEqual([rig.cloud.calls.length, rig.events], [3, ['v VolumeLookUpFailed']]);
  rig.put('v', { labels: { app: 'changed' } });
  await rig.clock.advance(0);
  assert.equal(rig.cloud.calls.length, 3, 'a change of the volume asks nothing sooner');
  rig.cloud.answers.set('v', inZone('a'));
  await rig.clock.advance(4_000);
  assert.deepEqual(rig.labels('v'), { app: 'changed', ...labelled });
});

test('a volume that the cloud does not know is asked about three times, then left until it is another one', async () => {
  await using rig = new Rig();
  rig.put('v');
  await rig.start();
  await rig.clock.advance(86_400_000);
  assert.equal(rig.cloud.calls.length, 3);
  rig.put('v', { labels: { app: 'changed' } });
  await rig.clock.advance(86_400_000);
  assert.equal(rig.cloud.calls.length, 3);
  assert.deepEqual([rig.api.writes, rig.events], [[], []]);
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v', { uid: 'another' });
  await rig.clock.advance(0);
  assert.deepEqual(rig.labels('v'), labelled);
});

test('a label that differs is told once and stays; when it is taken away, it is set', async () => {
  await using rig = new Rig();
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v', { labels: { [ZONE]: 'mine' } });
  await rig.start();
  rig.put('v', { labels: { [ZONE]: 'mine', app: 'x' } });
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.events, rig.api.writes], [['v LabelsDiffer'], []]);
  rig.put('v');
  await rig.clock.advance(0);
  assert.deepEqual(rig.labels('v'), labelled);
});

test('a write that is refused because the volume has changed overwrites nothing, and is planned anew', async () => {
  await using rig = new Rig();
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v');
  let raced = false;
  rig.api.before = ({ verb }) => {
    if (verb !== 'patch' || raced) return;
    raced = true;
    rig.put('v', { labels: { [ZONE]: 'mine' } });
  };
  await rig.start();
  await rig.clock.advance(60_000);
  assert.deepEqual([rig.labels('v'), rig.events], [{ [ZONE]: 'mine' }, ['v LabelsDiffer']]);
});

test('an answer of the API server that is lost leads to no second write', async () => {
  await using rig = new Rig();
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v');
  rig.api.after = () => {
    throw new StatusError('PATCH', 500, { reason: 'InternalError', code: 500 });
  };
  await rig.start();
  await rig.clock.advance(600_000);
  assert.deepEqual([rig.labels('v'), rig.api.writes.length], [labelled, 1]);
});

test('a store that is behind the last write leads to no second one', async () => {
  await using rig = new Rig();
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v');
  rig.api.before = () => void (rig.api.holdWatch = true);
  await rig.start();
  await rig.clock.advance(600_000);
  rig.api.holdWatch = false;
  rig.api.publish();
  await rig.clock.advance(600_000);
  assert.equal(rig.api.writes.length, 1);
});

test('a dry run says what would be done, and does nothing', async () => {
  await using rig = new Rig(true);
  rig.cloud.answers.set('v', inZone('a'));
  rig.put('v');
  await rig.start();
  assert.deepEqual(
    rig.journal.plans().map(({ actions, subject }) => [subject.name, actions.map(({ summary }) => summary)]),
    [
      [
        'v',
        [`set the labels ${ZONE}=a, ${REGION}=region-1, require ${ZONE} in (a) and ${REGION} in (region-1) of nodes`],
      ],
    ],
  );
  const requirements = [
    { key: ZONE, operator: 'In', values: ['a'] },
    { key: REGION, operator: 'In', values: ['region-1'] },
  ];
  assert.deepEqual(rig.journal.plans()[0]?.actions[0]?.changes, [
    { field: `metadata.labels[${ZONE}]`, from: undefined, to: '"a"' },
    { field: `metadata.labels[${REGION}]`, from: undefined, to: '"region-1"' },
    {
      field: 'spec.nodeAffinity.required.nodeSelectorTerms',
      from: undefined,
      to: JSON.stringify([{ matchExpressions: requirements }]),
    },
  ]);
  assert.deepEqual(rig.api.writes, []);
});

const told = (finding: Finding | undefined): readonly string[] =>
  [...(finding?.observed ?? []), ...(finding?.planned ?? [])].map(
    ({ agoMs, inMs, text }) =>
      `${text}${agoMs === undefined ? '' : ` ago ${agoMs}`}${inMs === undefined ? '' : ` in ${inMs}`}`,
  );

test('an explanation says whether the volume is of interest, what the cloud said, and when it is asked again', async () => {
  await using rig = new Rig();
  rig.put('leaving', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  rig.put('csi', { source: { csi: { driver: 'd', volumeHandle: 'csi' } } });
  rig.put('complete', { labels: labelled, affinity: ['a'] });
  rig.put('differs', { labels: { [ZONE]: 'mine' } });
  rig.put('unknown');
  rig.put('failing');
  rig.put('nowhere');
  rig.cloud.answers.set('differs', inZone('a'));
  rig.cloud.answers.set('nowhere', { kind: 'found', labels: {} });
  rig.cloud.answers.set('failing', { kind: 'failed', error: new CloudError('unavailable', 'no') });
  assert.equal(rig.controller.explain('failing'), undefined, 'it does not run');
  await rig.start();
  const flex = (name: string): string => `It is the volume "${name}" of flexVolume "outrigger.dev/memory".`;
  assert.equal(rig.controller.explain('nobody'), undefined);
  assert.deepEqual(rig.controller.explain('failing')?.about, ['uid-failing']);
  const expected: Readonly<Record<string, readonly string[]>> = {
    leaving: [flex('leaving'), 'It has not been looked up in the cloud.', 'Nothing: the volume is being deleted.'],
    csi: [
      'Nothing: only volumes of awsElasticBlockStore, azureDisk, cinder, gcePersistentDisk, vsphereVolume and flexVolume are looked up; a CSI driver sets the topology of its own.',
    ],
    complete: [
      flex('complete'),
      'It has not been looked up in the cloud.',
      'Nothing: it has its zone and region labels and a node affinity.',
    ],
    differs: [
      flex('differs'),
      `The cloud gave the labels ${ZONE}=a, ${REGION}=region-1. ago 0`,
      `Labels differ from the cloud and are not changed: ${ZONE} is mine, in the cloud a. Correct the label, or remove it to have it set.`,
    ],
    nowhere: [
      flex('nowhere'),
      'The cloud gave the labels (none). ago 0',
      'Nothing: the cloud gives no zone or region that is missing.',
    ],
    unknown: [flex('unknown'), 'The cloud did not know it. ago 0', 'Look it up in the cloud. in 30000'],
    failing: [flex('failing'), 'The last look-up failed: no (unavailable). ago 0', 'Look it up in the cloud. in 1000'],
  };
  for (const [name, lines] of Object.entries(expected)) assert.deepEqual(told(rig.controller.explain(name)), lines);
  await rig.clock.advance(400_000);
  assert.match(
    told(rig.controller.explain('unknown')).at(-1) ?? '',
    /^Nothing: the cloud does not know it\. It is not asked again/u,
  );
});

test('an explanation says what would be written, that a write failed, and when it is tried again', async () => {
  for (const dryRun of [true, false]) {
    await using rig = new Rig(dryRun);
    rig.cloud.answers.set('v', inZone('a'));
    rig.put('v');
    rig.api.before = ({ verb }) => {
      if (verb === 'patch') throw new StatusError('PATCH', 500, { reason: 'InternalError', code: 500 });
    };
    await rig.start();
    const write = `Set the labels ${ZONE}=a, ${REGION}=region-1, require ${ZONE} in (a) and ${REGION} in (region-1) of nodes.`;
    assert.equal(
      told(rig.controller.explain('v')).at(-1),
      dryRun ? write : `${write} The last attempt failed. in 1000`,
    );
  }
});
