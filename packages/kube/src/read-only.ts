/** The layer that lets nothing but reads through to the API server: what a dry run forgets to leave out ends here. */
import type { TransportLayer } from './transport.ts';
import { layerOver } from './transport/transport-layer.ts';

/** A write that was not sent. */
export class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  readonly code = 'read-only';
}

/**
 * Refuses (`ReadOnlyError`, code `read-only`) every request but `GET`. Put it last in the list of layers, next to the
 * connection. `onRefused` hears of what was refused, without its body.
 */
export function readOnly(onRefused?: (what: string) => void): TransportLayer {
  return (inner) =>
    layerOver(inner, async (request) => {
      if (request.method === 'GET') return inner.send(request);
      const what = `${request.method} ${request.path.replace(/\?.*$/su, '')}`;
      onRefused?.(what);
      throw new ReadOnlyError(`${what} is not sent: this program only reads (--dry-run)`);
    });
}
