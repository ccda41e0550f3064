import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { TargetMemory } from '../nlb/target-memory.ts';
import { aCall, scriptedAws } from '../scripted-aws.suite.ts';
import { SETTINGS_TAG, SettingsMemory, settingsHash } from './settings-memory.ts';

const IDS = Array.from({ length: 300 }, (_, n) => `arn:aws:elasticloadbalancing:eu-1:1:loadbalancer/net/a${n}/${n}`);
const LOOKS = 60;

/** What each look of a period reads; the last one is when the period is over. */
async function looksOf(
  clock: FakeClock,
  periodMs: number,
  look: () => Promise<readonly string[]>,
): Promise<readonly (readonly string[])[]> {
  const all: (readonly string[])[] = [];
  for (let n = 0; n < LOOKS; n++) {
    await clock.advance(periodMs / LOOKS);
    all.push(await look());
  }
  return all;
}

function assertSpread(looks: readonly (readonly string[])[]): void {
  assert.deepEqual(looks.flat().toSorted(), IDS.toSorted(), 'each one once');
  const most = Math.max(...looks.map((reads) => reads.length));
  assert.ok(most <= 15, `${most} of ${IDS.length} in one of ${LOOKS} looks`);
}

test('attributes are read once an hour, and not all of them in one look', async () => {
  const clock = new FakeClock();
  const memory = new SettingsMemory(clock);
  const settings = { a: '1' };
  const look = async (): Promise<readonly string[]> => {
    const reads: string[] = [];
    for (const id of IDS) {
      const read = async (): Promise<typeof settings> => {
        reads.push(id);
        return settings;
      };
      await memory.of(id, { [SETTINGS_TAG]: settingsHash(settings) }, read, aCall);
    }
    return reads;
  };
  assert.deepEqual(await look(), []);
  for (let hour = 0; hour < 2; hour++) assertSpread(await looksOf(clock, 3_600_000, look));
});

test('targets are read at the start, then once in ten minutes, and not those of all groups in one look', async () => {
  const clock = new FakeClock();
  const aws = scriptedAws({ DescribeTargetHealth: () => ({ TargetHealthDescriptions: [] }) });
  const memory = new TargetMemory(aws, clock);
  const look = async (): Promise<readonly string[]> => {
    const before = aws.calls.length;
    for (const id of IDS) await memory.of(id, aCall);
    return aws.calls.slice(before).map(({ input }) => input['TargetGroupArn'] as string);
  };
  assert.deepEqual(await look(), IDS);
  for (let turn = 0; turn < 2; turn++) assertSpread(await looksOf(clock, 600_000, look));
});
