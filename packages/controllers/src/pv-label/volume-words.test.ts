import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { failureText } from './volume-words.ts';

test('who creates a volume reads what a provider wrote for people, and of any other error nothing', () => {
  assert.match(failureText(new CloudError('unavailable', 'the API of the cloud is down')), /is down \(unavailable\)/u);
  assert.doesNotMatch(failureText(new TypeError('fetch https://cloud/?signature=s3cret failed')), /s3cret/u);
});
