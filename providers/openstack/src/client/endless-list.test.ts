import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import type { Fetch } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import { OpenStackClient } from './openstack-client.ts';

const TOKEN = {
  issued_at: '2026-01-01T00:00:00Z',
  expires_at: '2027-01-01T00:00:00Z',
  project: { id: 'p' },
  catalog: [{ type: 'compute', endpoints: [{ interface: 'public', region: 'r', url: 'http://nova/v2.1' }] }],
};

test('a list to which the cloud always names another page ends, by the size of what it answers', async () => {
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  let pages = 0;
  const fetch: Fetch = async (url) => {
    if (url.endsWith('/auth/tokens')) {
      const headers = new Headers({ 'x-subject-token': 't' });
      return { status: 201, headers, text: () => Promise.resolve(JSON.stringify({ token: TOKEN })) };
    }
    pages += 1;
    assert.ok(pages < 100, 'it has no end');
    const links = [{ rel: 'next', href: `http://nova/v2.1/servers/detail?marker=${pages}` }];
    const text = JSON.stringify({ servers: [{ id: `${pages}` }], servers_links: links });
    // A gibibyte, by its own word: one that is takes seconds to make and to read.
    const long = { length: 2 ** 30, trim: () => text, toString: () => text } as unknown as string;
    return { status: 200, headers: new Headers(), text: () => Promise.resolve(long) };
  };
  const { signal } = new AbortController();
  const call: CallContext = {
    signal,
    priority: 'normal',
    logger: silentLogger,
    call: (_operation, send) => send(signal),
  };
  await using client = new OpenStackClient({
    connection: {
      keystone: 'http://keystone/v3',
      auth: { body: {}, as: 'u', secrets: [] },
      region: 'r',
      endpointType: 'public',
      tls: {},
      proxies: { http: '', https: '', except: '' },
      requestTimeoutMs: 5_000,
    } as unknown as ConstructorParameters<typeof OpenStackClient>[0]['connection'],
    host: { callContext: () => call, clock, logger: silentLogger, redact: () => {} },
    userAgent: 'test/1',
    fetch,
  });
  const request = {
    service: 'compute',
    operation: 'GET /servers/detail',
    path: '/servers/detail',
    collection: 'servers',
  } as const;
  await assert.rejects(client.list(call, request), (error) => {
    assert.ok(isCloudError(error, 'unavailable'), String(error));
    assert.match(
      error.message,
      /^nova \(compute\): GET \/servers\/detail: more than 5000 pages, or \d+ MiB in all lists that are being read;/u,
    );
    return true;
  });
});
