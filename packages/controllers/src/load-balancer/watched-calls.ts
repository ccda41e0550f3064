/** What becomes of the requests that a provider makes in one call of the contract. */
import type { CallContext } from '@outrigger/cloud-provider';

/** A call whose requests go out one after the other, each when the call budget has a place for it, goes on for so long at most. */
export const LONGEST_CALL_MS = 300_000;

export interface CallWatcher {
  /** A request waits for the call budget. */
  readonly onAsked?: () => void;
  /** It is sent, once or once more. */
  readonly onSent: () => void;
}

export function watchedCalls(context: CallContext, { onAsked, onSent }: CallWatcher): CallContext {
  const { logger, priority, signal } = context;
  return {
    signal,
    priority,
    logger,
    call: (operation, send) => {
      onAsked?.();
      return context.call(operation, (sending) => {
        onSent();
        return send(sending);
      });
    },
  };
}
