import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { VimSession } from '../client/vim-client.ts';
import { readView } from './views.ts';

test('a view of which vCenter always has another page ends as unavailable', async () => {
  let pages = 0;
  const page = (): Promise<unknown> => {
    pages += 1;
    assert.ok(pages <= 6_000, 'it has no end');
    return Promise.resolve({ returnval: { token: `${pages}`, objects: [] } });
  };
  const session = { retrieve: page, request: page, content: {} } as unknown as VimSession;
  const container = { type: 'ContainerView', reference: 'view-1' };
  await assert.rejects(
    async () => {
      for await (const _ of readView(session, {} as CallContext, container, { specs: [] }));
    },
    (error) => {
      assert.ok(isCloudError(error, 'unavailable'), String(error));
      assert.match(error.message, /^vCenter: RetrievePropertiesEx: more than 5000 pages/u);
      return true;
    },
  );
});
