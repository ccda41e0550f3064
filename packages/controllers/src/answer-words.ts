/** A cloud's answer about a machine, in a sentence. Pure. */
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import type { Fact } from './finding.ts';

/** `now`: monotonic, as `asOf` is. */
export function factOfAnswer({ asOf, result }: DatedAnswer, now: number, how = 'Look-up'): Fact {
  const agoMs = Math.max(0, now - asOf);
  switch (result.kind) {
    case 'found': {
      const { providerID, state, type, zone, addresses } = result.instance;
      const at = (addresses ?? []).map((one) => `${one.type} ${one.address}`).join(', ');
      const details = [type && `type ${type}`, zone && `zone ${zone}`, at].filter(Boolean).join(', ');
      const which = state === 'running' ? 'running' : 'shut down';
      return { text: `${how}: its machine is ${providerID}, ${which}${details && `: ${details}`}.`, agoMs };
    }
    case 'missing':
      return { text: `${how}: the cloud did not list its machine (inconclusive).`, agoMs };
    case 'absent':
      return { text: `${how}: the cloud confirmed that its machine does not exist: ${result.proof}.`, agoMs };
    default:
      return { text: `${how}: the request to the cloud failed: ${result.error.message}.`, agoMs };
  }
}
