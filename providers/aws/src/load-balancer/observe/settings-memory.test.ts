import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { SETTINGS_TAG, settingsHash, SettingsMemory } from './settings-memory.ts';

const HOUR_MS = 3_600_000;

test('attributes are read once an hour; of what AWS does not show yet, or no more, the tag counts', async () => {
  const clock = new FakeClock();
  const memory = new SettingsMemory(clock);
  const tags = { [SETTINGS_TAG]: settingsHash({ a: '1' }) };
  let answer: () => Record<string, string> = () => {
    throw new CloudError('not-found', 'LoadBalancerNotFound');
  };
  const read = (): Promise<string | undefined> => memory.of('arn:new', tags, async () => answer(), {} as never);
  // Each has its moment of the hour.
  await clock.advance(HOUR_MS);
  assert.equal(await read(), tags[SETTINGS_TAG]);
  answer = () => ({ a: '2' });
  assert.equal(await read(), settingsHash({ a: '2' }), 'which is not taken for an answer');
  answer = () => {
    throw new CloudError('unavailable', 'down');
  };
  assert.equal(await read(), tags[SETTINGS_TAG], 'not read again within the hour');
  await clock.advance(HOUR_MS);
  await assert.rejects(read(), { code: 'unavailable' });
});
