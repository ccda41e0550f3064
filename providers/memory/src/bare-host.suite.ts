/** A host that lets every request through, and a call of it: for tests of what the provider itself says. */
import type { CallContext, ProviderHost } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';

export const CALL: CallContext = {
  signal: new AbortController().signal,
  priority: 'normal',
  logger: silentLogger,
  call: (_operation, send) => send(CALL.signal),
};

/** `text`: the cloud config. */
export function bareHost(clock: ProviderHost['clock'], text?: string): ProviderHost {
  return {
    cluster: { id: 'cluster-1', name: 'test' },
    clock,
    logger: silentLogger,
    config: text === undefined ? undefined : { fileName: 'cloud.json', text },
    callContext: () => CALL,
    capabilitiesChanged: () => {},
    redact: () => {},
  };
}
