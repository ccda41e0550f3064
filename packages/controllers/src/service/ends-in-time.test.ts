/** What has to end does so within seconds of the cloud's own time, whatever the process before was in the middle of, and while the cloud is unwell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

/** What a new process gives a request of the one before to take effect, and a moment for its own. */
const SECONDS_MS = 6_000;
/** Of each request to the cloud. */
const LATENCY_MS = 500;
const COUNT = 20;

const names = Array.from({ length: COUNT }, (_, i) => `web-${i}`);
const full = (): never => {
  throw new CloudError('quota', 'no more addresses');
};

async function begun(prepare: (rig: Rig) => void = () => {}): Promise<Rig> {
  const rig = await createRig();
  prepare(rig);
  rig.api.nodes.put(nodeOf('n1'));
  for (const name of names) rig.api.apply(name, webSpec);
  await rig.start();
  await rig.clock.advance(60_000);
  rig.cloud.configure({ latencyMs: LATENCY_MS });
  return rig;
}

async function msUntil(rig: Rig, isOver: () => boolean): Promise<number> {
  const from = rig.clock.monotonic();
  while (!isOver() && rig.clock.monotonic() < from + 600_000) await rig.clock.advance(100);
  return rig.clock.monotonic() - from;
}

const isGone = ({ api, cloud }: Rig): boolean => api.services.objects.size === 0 && cloud.parts().length === 0;
const isLetGo = ({ api, cloud }: Rig): boolean =>
  cloud.parts().length === 0 &&
  names.every((name) => {
    const { metadata, status } = api.get(name) ?? {};
    return (metadata?.finalizers ?? []).length === 0 && (status?.loadBalancer?.ingress ?? []).length === 0;
  });

interface Case {
  readonly prepare?: (rig: Rig) => void;
  /** What is asked for. */
  readonly ask: (rig: Rig) => void;
  readonly isOver: (rig: Rig) => boolean;
}

const deleteAll = ({ api }: Rig): void => names.forEach((name) => api.delete(name));

const cases: Readonly<Record<string, Case>> = {
  'a deletion after a full quota': {
    prepare: ({ provider }) => void (provider.before = full),
    ask: deleteAll,
    isOver: isGone,
  },
  'a deletion': { ask: deleteAll, isOver: isGone },
  'another type': {
    ask: ({ api }) => names.forEach((name) => api.apply(name, { ...webSpec, type: 'ClusterIP' })),
    isOver: isLetGo,
  },
};

for (const [what, { ask, isOver, prepare }] of Object.entries(cases)) {
  test(`${what} in a fail-over takes seconds longer than without one`, async () => {
    const calm = await begun(prepare);
    ask(calm);
    const cloudMs = await msUntil(calm, () => isOver(calm));
    await calm.stop();
    const rig = await begun(prepare);
    await rig.stop();
    ask(rig);
    await rig.start();
    const ms = await msUntil(rig, () => isOver(rig));
    assert.ok(ms <= cloudMs + SECONDS_MS, `${ms} ms, and ${cloudMs} without a fail-over`);
    await rig.stop();
  });

  test(`${what} that a restart is amid takes seconds longer than without one`, async () => {
    const calm = await begun(prepare);
    ask(calm);
    const cloudMs = await msUntil(calm, () => isOver(calm));
    await calm.stop();
    const rig = await begun(prepare);
    ask(rig);
    await rig.clock.advance(cloudMs / 2);
    await rig.stop();
    assert.ok(!isOver(rig), 'the restart is amid it');
    await rig.start();
    const ms = await msUntil(rig, () => isOver(rig));
    assert.ok(ms <= cloudMs + SECONDS_MS, `${ms} ms, and ${cloudMs} without a restart`);
    await rig.stop();
  });
}

test('a deletion ends while every second look at the cloud fails', async () => {
  const rig = await begun();
  await rig.stop();
  const { provider } = rig;
  let looks = 0;
  provider.observing = () => {
    if (++looks % 2 === 0) throw new CloudError('unavailable', 'the cloud is unwell');
  };
  deleteAll(rig);
  await rig.start();
  const ms = await msUntil(rig, () => isGone(rig));
  assert.ok(looks >= 4, `${looks} looks`);
  assert.ok(ms <= 30_000, `${ms} ms, ${looks} looks`);
  await rig.stop();
});
