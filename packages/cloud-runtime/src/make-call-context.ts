/** How the host makes the context of a call of the contract. */
import type { CallContext, CallPriority } from '@outrigger/cloud-provider';
import type { Logger } from '@outrigger/kube';

/** Makes the context of one call of the contract. `OpenedProvider.callContext` is one. */
export type MakeCallContext = (options: {
  readonly signal: AbortSignal;
  readonly priority: CallPriority;
  readonly logger?: Logger;
  /** UIDs of the objects for whose sake the call is made: its requests are remembered with them. */
  readonly about?: readonly string[];
  /** How often each request is sent at most, where that is less than the call budget's. */
  readonly maxAttempts?: number | undefined;
  /** The call changes nothing in the cloud: its requests are cut off at once when `signal` aborts, where writes may finish. Default: false. */
  readonly reads?: boolean;
}) => CallContext;
