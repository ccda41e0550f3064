import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tagChanges, tagsFor } from './ownership.ts';

test('a tag that is asked for no more is taken away, whatever its name', () => {
  for (const key of ['team', 'constructor', '__proto__']) {
    const there = tagsFor({
      owner: { clusterId: 'c', uid: 'u' },
      service: { namespace: 'a', name: 'web' },
      clusterTags: {},
      additional: Object.fromEntries([[key, 'x']]),
    });
    assert.ok(tagChanges(there, {}).remove.includes(key), key);
  }
});
