/** What a pass carries along, and what the effects of its steps are about. */
import type { ReconcileContext, Service } from '@outrigger/kube';
import type { ServiceEvent } from './step-types.ts';

/** What the effects of one step are about. */
export interface About extends Pick<ReconcileContext, 'logger' | 'signal'> {
  readonly key: string;
  readonly service: Service;
}

/** A pass, under its lock. */
export interface Pass extends About, Pick<ReconcileContext, 'park'> {
  readonly lock: string;
  /** One action has ended, while others are still to come. */
  readonly onApplied: (event: Extract<ServiceEvent, { kind: 'applied' }>) => void;
}
