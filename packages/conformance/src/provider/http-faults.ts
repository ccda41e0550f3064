/** The suite's own proxy between a provider that speaks HTTP and its cloud. */
import type { ConfigText } from '@outrigger/cloud-provider';
import { startFaultProxy } from '@outrigger/testing';
import type { CloudFailure, ProviderFixture } from './provider-fixture.ts';

export interface HttpFaults extends AsyncDisposable {
  /** That leads through the proxy. */
  readonly config: ConfigText;
  /** How the cloud fails from now on. */
  fail(how: Exclude<CloudFailure, { kind: 'empty' }> | undefined): void;
  /** From now on, no request is answered, until `fail`. */
  hang(): void;
}

export async function httpFaults({ config, root }: NonNullable<ProviderFixture['http']>): Promise<HttpFaults> {
  const { origin, pathname, search } = new URL(root);
  const proxy = await startFaultProxy({ target: origin });
  return {
    config: config(`${proxy.url}${pathname === '/' ? '' : pathname}${search}`),
    fail: (how) => {
      proxy.clear();
      if (how?.kind === 'lost') {
        proxy.add({ fault: { type: 'lose-answer' }, match: { when: ({ method }) => method !== 'GET' } });
      } else if (how) {
        const { retryAfterSeconds, status: code } = how;
        proxy.add({ fault: { type: 'status', code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } });
      }
    },
    hang: () => void proxy.add({ fault: { type: 'hang' } }),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
